"""The site's navigation (mkdocs.yml) names every page once, and no page that does not exist."""

from __future__ import annotations

import re

import pytest
from support.pages import ROOT

CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
HOOKS = (ROOT / "docs" / "_hooks.py").read_text(encoding="utf-8")
DOCS = ROOT / "docs"
GUIDES = sorted({*DOCS.glob("*.md"), *DOCS.glob("games/*.md")})


def _from_hooks():
    """Return the pages that the hooks add: those of the root and the generated ones."""
    return re.findall(r'"[A-Z]+\.md": "([\w-]+\.md)"', HOOKS) + re.findall(r'"(reference/\w+\.md)":', HOOKS)


def test_the_navigation_has_every_page_once():
    named = re.findall(r": ([\w/-]+\.md)$", CONFIG, re.MULTILINE)
    files = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert len(_from_hooks()) == 7
    assert sorted(named) == sorted([*files, *_from_hooks()])


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_guide_is_short(page):
    text = page.read_text(encoding="utf-8")
    assert len(text.encode()) <= 8 * 1024
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "#"))]
    sentences = re.split(r"[.:?!](?:\s+|$)", re.sub(r"\]\([^)]*\)", "]", " ".join(lines)))
    words = [len(sentence.split()) for sentence in sentences if len(sentence.split()) > 1]
    assert sum(words) / len(words) <= 20


def test_a_page_fetches_nothing():
    assert re.search(r"^  font: false", CONFIG, re.MULTILINE)
    source = (DOCS / "_theme" / "partials" / "source.html").read_text(encoding="utf-8")
    assert "data-md-component" not in source, "the component fetches from the repository's host"
