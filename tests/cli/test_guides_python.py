"""The Python of the guides that have no test of their own runs, on a small match if the block reads one."""

from __future__ import annotations

import sys

import pytest
from support.pages import ROOT, python_blocks

import trickformer as tf
from trickformer.tournaments.plan import Tournament

DOCS = ROOT / "docs"
ELSEWHERE = {"how-gomcts-works", "python", "training", "get-started", "add-a-game", "add-a-game-model"} | {
    "add-a-game-belief",
    "add-a-player",
    "style",  # its block is an example of a docstring
}
PAGES = {page.stem for page in DOCS.glob("*.md") if python_blocks(page)} - ELSEWHERE


def _block(page):
    (block,) = python_blocks(DOCS / f"{page}.md")
    return compile(block, f"docs/{page}.md", "exec")


def test_every_page_with_python_is_known():
    assert {"beliefs", "clusters", "engines", "records", "review"} == PAGES


def test_beliefs():
    names: dict[str, object] = {}
    exec(_block("beliefs"), names)
    assert names["belief"]


def test_engines(command, tmp_path):
    (tmp_path / "mybot.py").write_text(python_blocks(DOCS / "engines.md")[0])
    spec = f'engine:cmd="{sys.executable} {tmp_path / "mybot.py"}"'
    code, out, err = command("tournament", "hearts", "--a", spec, "--b", "random", "--deals", 1, "--seed", 1)
    assert code == 0, err
    assert "engine" in out


@pytest.fixture
def match(tmp_path, monkeypatch):
    """A folder with the records of four seatings of random players in out/match and out/run."""
    monkeypatch.chdir(tmp_path)
    for name in ("match", "run"):
        tf.tournament("hearts", a="random", b="rules", deals=1, seed=1, out=f"out/{name}")


def test_records(match, capsys):
    exec(_block("records"), {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 14 and all("random" in line for line in lines)


@pytest.mark.slow
def test_review(match, capsys):
    exec(_block("review"), {})
    *mistakes, means = capsys.readouterr().out.splitlines()
    assert mistakes and means.count(",") == 3


def test_clusters(monkeypatch):
    """The call has options of the command; tests/plumbing plays on a Ray cluster."""
    calls = []
    monkeypatch.setattr(tf, "tournament", lambda *args, **options: calls.append((args, options)), raising=False)
    exec(_block("clusters"), {})
    ((args, options),) = calls
    assert args == ("hearts",) and options["ray"] == "auto"
    assert options.keys() <= Tournament.model_fields.keys()
