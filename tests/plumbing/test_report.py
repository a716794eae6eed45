"""One report renders to a terminal, Markdown and JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from trickformer.plumbing import terminal
from trickformer.plumbing.report import REPORT, Report, ReportFigure

FULL = Report(
    {"mean": 1.5},
    "two hands, seed 1",
    [("", (("", "score"), [("A", "1.50"), ("B|C", "[0, 3]")])), ("More", (("x", "y"), [("1", "2")]))],
    title="A test",
    names={"A": "random"},
    notes=["* a note"],
    figures=[ReportFigure("scores", "plot.png", Path.touch)],
    method=["How it was measured."],
    resolved={"A": "random:all=options"},
    builds=[{"trickformer": "1", "torch": None}],
)


def test_brackets_in_names_are_no_markup(capsys):
    Report({}, "", [("", (("player", "argmax:checkpoint=/y/[best]", "[/b]"), [("[a]", "1", "2")]))]).print()
    text = capsys.readouterr().out
    assert all(name in text for name in ("/y/[best]", "[/b]", "[a]"))


def test_markdown_has_every_part_in_order():
    assert FULL.markdown() == (
        "# A test\n\ntwo hands, seed 1\n\n- A: `random`\n\n"
        "|  | score |\n| --- | ---: |\n| A | 1.50 |\n| B\\|C | [0, 3] |\n\n"
        "## More\n\n| x | y |\n| --- | ---: |\n| 1 | 2 |\n\n"
        "- \\* a note\n\n![scores](plot.png)\n\nHow it was measured.\n\n"
        "With all options:\n\n- A: `random:all=options`\n\nPlayed by trickformer 1.\n"
    )


def test_a_conclusion_and_keys_explain_the_tables(capsys):
    long = "gomcts:checkpoint=hearts-small,runs=50,steps=5"
    report = Report(
        {},
        "two hands",
        [("", (("", "score"), [("A", "1")])), ("", (("", long), [("B", "2")]))],
        keys=["score: points a hand", ""],
        appendix=[("Pairs", (("", "p"), [("A", "0.5")]), "p: of * a test")],
        conclusion="A is better.",
        title="T",
    )
    text = report.markdown()
    assert text.startswith("# T\n\ntwo hands\n\n**A is better.**\n")
    assert "| A | 1 |\n\nscore: points a hand\n" in text and text.endswith("| A | 0.5 |\n\np: of \\* a test\n")
    report.print()
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[-1] == "A is better." and "score: points a hand" in lines and "Pairs" not in lines
    assert [line.strip() for line in lines if "hearts" in line or "runs" in line] == [
        "checkpoint=hearts-small,",
        "runs=50,steps=5",
    ]


@pytest.mark.parametrize("width", [40, 60, 200])
def test_a_narrow_terminal_cuts_neither_names_nor_numbers(width, monkeypatch):
    """A table that is too wide goes on below, with the names of its rows."""
    head = ["the kind of seating", *(f"match {i}" for i in range(5))]
    rows = [[f"a long name of {row}", *(f"[+{row}.{i}5, +1{row}.{i}7]" for i in range(5))] for row in "34"]
    file = io.StringIO()
    monkeypatch.setattr(terminal, "console", lambda **_: Console(file=file, width=width))
    Report({}, "matches", [("", (head, rows))]).print()
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    for name, *cells in rows:
        for cell in cells:
            assert sum(cell in line for line in lines) == 1, "each number stands once"
        assert any(line.startswith(name[: width // 3].rstrip()) for line in lines)
    assert any(line.startswith("the kind of") for line in lines)


def test_parts_that_are_empty_leave_no_trace():
    assert Report({}, "a line", [], title="T").markdown() == "# T\n\na line\n"


def test_a_terminal_shows_cells_as_they_are(capsys):
    FULL.print()
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:2] == ["two hands, seed 1", "A  random"] and lines[-1] == "* a note"
    assert any(line.split() == ["B|C", "[0,", "3]"] for line in lines)


def test_json_is_one_line_on_standard_output_and_indented_on_file(tmp_path, capsys):
    FULL.print(as_json=True)
    assert capsys.readouterr().out == '{"mean": 1.5}\n'
    FULL.write(tmp_path, "summary.json")
    assert json.loads((tmp_path / "summary.json").read_text()) == FULL.result
    assert (tmp_path / REPORT).read_text() == FULL.markdown()
