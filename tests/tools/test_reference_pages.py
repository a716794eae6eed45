"""Tests of tools/reference_pages.py: the generated reference names every command, option and player."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
import typer

from trickformer.cli import app
from trickformer.players import registry

FILE = Path(__file__).resolve().parents[2] / "tools" / "reference_pages.py"


def _load_generator():
    """Import the generator from its file; tools/ is not a package."""
    spec = importlib.util.spec_from_file_location("reference_pages", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


generator = _load_generator()


@pytest.fixture(scope="module")
def cli():
    return generator.cli_page()


@pytest.fixture(scope="module")
def players():
    return generator.players_page()


def _leaves(command, path):
    """Return the path and the command of each command that is no group."""
    if not hasattr(command, "commands"):
        return [(path, command)]
    return [leaf for name, child in command.commands.items() for leaf in _leaves(child, f"{path} {name}")]


def _section(page, title):
    """Return the text below a heading, up to the next heading."""
    lines = page.split("\n")
    start = lines.index(f"## {title}")
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("## ")), len(lines))
    return "\n".join(lines[start:end])


def test_every_command_has_a_section_with_all_its_options(cli):
    leaves = _leaves(typer.main.get_command(app), "trickformer")
    assert len(leaves) > 25
    for path, command in leaves:
        section = _section(cli, path)
        assert f"[`{path}`](#{path.replace(' ', '-')})" in cli, "the index links the section"
        for param in command.params:
            if not getattr(param, "hidden", False):
                word = param.opts[0] if param.opts[0].startswith("--") else param.metavar or param.name.upper()
                assert f"`{word}`" in section, (path, word)


def test_hidden_options_are_left_out(cli):
    hidden = [
        (path, param.opts[0])
        for path, command in _leaves(typer.main.get_command(app), "trickformer")
        for param in command.params
        if getattr(param, "hidden", False)
    ]
    assert hidden, "former names of options are hidden"
    for path, word in hidden:
        assert f"`{word}`" not in _section(cli, path)


def test_options_stand_in_their_panels(cli):
    section = _section(cli, "trickformer tournament")
    assert section.index("**Players**") < section.index("`--gauntlet`") < section.index("**Run**")
    assert section.index("**Machine**") < section.index("`--workers`")


def test_every_player_has_a_section_with_all_its_options(players):
    assert len(registry.NAMES) > 15
    for name in registry.NAMES:
        section = _section(players, name)
        assert f"[`{name}`](#{name})" in players
        for option in registry.options_of(name).model_fields:
            assert f"\n| `{option}` |" in section, (name, option)


def test_defaults_that_depend_on_the_game_name_the_games(players):
    (row,) = (line for line in _section(players, "gomcts").split("\n") if line.startswith("| `runs` |"))
    assert "hearts `400`" in row and "crew `50`" in row
    (row,) = (line for line in _section(players, "rollout").split("\n") if line.startswith("| `margin` |"))
    assert "hanabi `3.0`" in row and "a rollout with prior" in row


def test_tables_have_whole_rows(cli, players):
    for page in (cli, players):
        columns = 0
        for line in page.split("\n"):
            if not line.startswith("|"):
                columns = 0
                continue
            count = line.replace("\\|", "").count("|")
            assert columns in (0, count), line
            columns = count
