"""The Python of docs/training.md runs, block after block, on a run like the one that the page begins with."""

from __future__ import annotations

import re

import pytest
from support.pages import ROOT, python_blocks

from trickformer import checkpoints, players

PAGE = ROOT / "docs" / "training.md"
BLOCKS = python_blocks(PAGE)
SMALLER = "--bootstrap-hands 64 --sequences 64 --held-out 12 --tables 32 --iterations 0 --match-deals 0"


@pytest.fixture
def run(command, tmp_path, monkeypatch):
    """The page's first command with less work, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    typed = re.search(r"^trickformer (train .* --out out/tiny)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert typed is not None
    code, _, err = command(*typed[1].split(), *SMALLER.split())
    assert code == 0, err


@pytest.mark.slow
def test_every_block_runs(run, hearts, capsys):
    assert len(BLOCKS) >= 3
    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/training.md", "exec"), names)
    token, outcome = capsys.readouterr().out.splitlines()
    assert token and outcome.endswith(" points")
    assert "argmax:checkpoint=out/mine" in PAGE.read_text(encoding="utf-8")
    assert players.make("argmax:checkpoint=out/mine", hearts)
    assert checkpoints.abilities("out/mine") == (True, True)


def test_the_training_loop_is_short():
    (loop,) = (block for block in BLOCKS if "optimizer.step()" in block)
    assert len(loop.splitlines()) <= 30
