"""Every `trickformer` command in README, docs, model cards and figures.toml exists, and so do its players."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from support.commands import check_command

from trickformer import players

ROOT = Path(__file__).parents[2]
CARDS = ROOT / "src" / "trickformer" / "checkpoints"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *CARDS.rglob("README.md"),
]

FIGURES = ROOT / "docs" / "results" / "figures.toml"

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.S | re.M)
_INDENTED = re.compile(r"^ {4}trickformer .*(?:\n {8}.*)*", re.M)
_INLINE = re.compile(r"`([^`]+)`")
_TEMPLATE = re.compile(r"\b[A-Z]+\b|\.\.\.|=$")  # a command or a spec with a part that the reader fills in


def _texts():
    for page in PAGES:
        yield page.relative_to(ROOT), page.read_text(encoding="utf-8")


def _inline(text: str) -> list[str]:
    """Inline code without its line breaks; fenced blocks are none."""
    return [" ".join(code.split()) for code in _INLINE.findall(_FENCED.sub("", text))]


def _commands():
    for page, text in _texts():
        blocks = [block for language, block in _FENCED.findall(text) if language in ("", "sh", "bash")]
        lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
        lines += [re.sub(r"\\\n\s*", "", block) for block in _INDENTED.findall(_FENCED.sub("", text))]
        lines += [code for code in _inline(text) if re.search(r" --(?!help)", code) and not _TEMPLATE.search(code)]
        for line in map(str.strip, lines):
            if line.startswith("trickformer "):
                yield pytest.param(line, id=f"{page}: {line[:60]}")


def _specs():
    start = re.compile(rf"({'|'.join(players.names())}):\w+=")
    for page, text in _texts():
        for code in _inline(text):
            if start.match(code) and not _TEMPLATE.search(code):
                yield pytest.param(code, id=f"{page}: {code[:60]}")


def _commands_of_figures():
    figures = tomllib.loads(FIGURES.read_text(encoding="utf-8"))["figures"] if FIGURES.exists() else {}
    for name, figure in figures.items():
        if figure["command"].startswith("trickformer "):
            yield pytest.param(figure["command"], id=f"figures.toml: {name}")


@pytest.mark.parametrize("line", [*_commands(), *_commands_of_figures()])
def test_a_command_is_one(line: str):
    check_command(line)


@pytest.mark.parametrize("spec", list(_specs()))
def test_a_spec_names_a_player_and_its_options(spec: str):
    name, _ = players.parse(spec)  # raises if the spec has an unknown option or a bad value
    assert name == spec.partition(":")[0]
