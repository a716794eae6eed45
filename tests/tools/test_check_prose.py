"""Tests of tools/check_prose.py: how it splits prose, its limits, and the tree itself."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "tools" / "check_prose.py"


def _load_checker():
    """Import the checker from its file; tools/ is not a package."""
    spec = importlib.util.spec_from_file_location("check_prose", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # `dataclass` looks the module up
    spec.loader.exec_module(module)
    return module


checker = _load_checker()


def test_sentences_of_prose():
    text = "One sentence of\nfive words. And is this one? *It is.* A value of 0.5 is: small"
    assert checker.sentences(text) == [
        "One sentence of five words",
        "And is this one",
        "*It is",
        "A value of 0.5 is: small",
    ]


def test_what_is_no_prose():
    text = (
        "---\nhide: [toc]\n---\n# A heading\n\n```sh\nrun this now\n```\n\n| a cell | b |\n|---|---|\n"
        "<!-- a note -->\nThe end [of a page](x.md)."
    )
    assert checker.sentences(text) == ["The end [of a page]"]


def test_an_item_and_a_paragraph_end_a_sentence():
    assert checker.sentences("First part\n\n- an item\n  of two lines\n- the next\n1. a step") == [
        "First part",
        "an item   of two lines",
        "the next",
        "a step",
    ]


def test_a_dot_between_links_is_no_word():
    page = checker.measure("a.md", "[One](a.md) · [Two](b.md)\n", is_guide=True)
    assert page.mean_words == 2
    assert checker.measure("a.md", "# Only a heading\n", is_guide=True).mean_words == 0


@pytest.mark.parametrize(("words", "n_faults"), [(20, 0), (21, 1)])
def test_the_limit_of_a_sentence(words, n_faults):
    assert len(checker.measure("a.md", "word " * words + ".\n", is_guide=False).faults()) == n_faults


@pytest.mark.parametrize(("size", "is_guide", "n_faults"), [(8192, True, 0), (8193, True, 1), (8193, False, 0)])
def test_the_limit_of_a_guide(size, is_guide, n_faults):
    assert len(checker.measure("a.md", "x" * size, is_guide).faults()) == n_faults


def test_the_program_names_the_page(tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    for name in checker.ROOT_PAGES:
        (tmp_path / name).write_text("Short and good.\n")
    assert checker.main([], tmp_path) == 0
    (tmp_path / "docs" / "long.md").write_text("word " * 30)
    assert checker.main([], tmp_path) == 1
    assert "docs/long.md: the mean sentence has 30.0 words, at most 20" in capsys.readouterr().out
    (tmp_path / "README.md").unlink()
    assert checker.main([], tmp_path) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_the_pages_of_the_tree(capsys):
    assert checker.main(["--list"]) == 0, capsys.readouterr().out
    assert "docs/games/skat.md" in capsys.readouterr().out
