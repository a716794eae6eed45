"""The commands of docs/get-started.md print what the page shows, but for numbers that depend on the machine."""

from __future__ import annotations

import re

import pytest
from support.pages import ROOT, python_blocks

PAGE = ROOT / "docs" / "get-started.md"
TEXT = PAGE.read_text(encoding="utf-8")
SHOWN = re.findall(r"```text\n(.*?)```", TEXT, re.DOTALL)


def _words(text):
    """Return the lines without numbers, units of time and layout."""
    lines = (re.sub(r"[<+\-]?\d[\d.,]*( µs| ms)?", "#", line) for line in text.splitlines())
    return [" ".join(line.split()).replace("─", "") for line in lines if line.strip()]


def test_the_list_of_games_is_the_printed_one(command):
    code, out, err = command("games")
    assert code == 0, err
    assert out.split("\n") == SHOWN[0].split("\n")


@pytest.mark.slow
def test_the_report_is_the_printed_one(command):
    (typed,) = re.findall(r"^trickformer (tournament .*--b rules.*)$", TEXT, re.MULTILINE)
    code, out, err = command(*typed.split())
    assert code == 0, err
    printed, shown = " ".join(_words(out)), " ".join(_words(SHOWN[1]))
    assert printed == shown


def test_every_line_of_the_report_is_explained():
    explained = re.findall(r"^\| `([^`…#]+?)\s*…?`", TEXT, re.MULTILINE)
    assert len(explained) >= 7
    for phrase in explained:
        assert phrase.split(",")[0] in SHOWN[1], phrase


@pytest.mark.slow
def test_the_python_runs(capsys):
    (block,) = python_blocks(PAGE)
    exec(compile(block, PAGE.name, "exec"), {})
    assert re.fullmatch(r"-\d\.\d+ \(-\d\.\d+, -\d\.\d+\)\n", capsys.readouterr().out)
