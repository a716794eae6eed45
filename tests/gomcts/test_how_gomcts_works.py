"""The search on docs/how-gomcts-works.md runs as written and gives what the page shows."""

from __future__ import annotations

import importlib.util
import re
import sys
import xml.etree.ElementTree as ET

import pytest
from support.pages import ROOT, python_blocks

PAGE = ROOT / "docs" / "how-gomcts-works.md"
FIGURE = ROOT / "docs" / "gomcts-tree.svg"


def _rows(printed):
    """Return policy, Q, visits and value by card; other CPUs may round their last digits otherwise."""
    lines = (line.split() for line in printed.splitlines())
    return {words[0]: list(map(float, words[1:])) for words in lines if re.fullmatch(r"[2-9TJQKA][CDHS]", words[0])}


@pytest.fixture(scope="module")
def shown():
    (block,) = re.findall(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return block


def test_the_block_prints_what_the_page_shows(shown, capsys):
    (block,) = python_blocks(PAGE)
    exec(compile(block, PAGE.name, "exec"), {})
    printed = capsys.readouterr().out
    for line in (0, 1, -2, -1):  # tokens, head of the table, choices, illegal histories
        assert printed.splitlines()[line] == shown.splitlines()[line]
    rows, expected = _rows(printed), _rows(shown)
    assert rows.keys() == expected.keys() and len(rows) == 5
    for card, numbers in expected.items():
        assert rows[card][:2] == pytest.approx(numbers[:2], abs=0.03)
        if len(numbers) > 2:
            assert rows[card][2] == pytest.approx(numbers[2], abs=40)
            assert rows[card][3] == pytest.approx(numbers[3], abs=0.1)


def test_the_figure_shows_the_search_of_the_page(shown):
    text = FIGURE.read_text(encoding="utf-8")
    assert len(text) < 30_000
    root = ET.fromstring(text)
    words = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    visits = {card: int(numbers[2]) for card, numbers in _rows(shown).items() if len(numbers) > 2}
    for card, suit in (("5C", "5♣"), ("3D", "3♦")):
        assert words[words.index(suit) + 1] == str(visits[card] - 1), "the first visit is the model's own value"


def test_the_figure_is_drawn_by_its_script(tmp_path):
    spec = importlib.util.spec_from_file_location("draw_search", ROOT / "tools" / "draw_search.py")
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script  # `dataclass` looks the module up
    spec.loader.exec_module(script)
    script.main([str(tmp_path / "tree.svg")])
    drawn, kept = (ET.parse(path).getroot() for path in (tmp_path / "tree.svg", FIGURE))
    for name in ("rect", "style"):
        tag = f"{{http://www.w3.org/2000/svg}}{name}"
        assert drawn.find(tag) is not None and kept.find(tag) is not None
    first = [each.text for each in kept.iter() if each.text in ("5♣", "3♦")]
    assert first == [each.text for each in drawn.iter() if each.text in ("5♣", "3♦")] == ["5♣", "3♦"]
