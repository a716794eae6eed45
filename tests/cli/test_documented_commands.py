"""Every `trickformer` command in README and docs is one that the command line takes, and its players exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from trickformer import players
from trickformer.cli import _spread, app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

NO_SPECS = {"bidder", "smart"}  # the player of examples/oh_hell, and a convention that `belief train` takes


def _commands():
    for page in PAGES:
        for block in re.findall(r"^```(?:sh|bash)?\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M):
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("trickformer "):
                    yield pytest.param(line, id=f"{page.relative_to(ROOT)}: {line[:60]}")


@pytest.mark.parametrize("line", list(_commands()))
def test_a_command_is_one(line):
    words = _spread(shlex.split(line, comments=True)[1:])
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="trickformer")
    while isinstance(command, TyperGroup):
        name = words.pop(0)
        found = command.get_command(context, name)
        assert found is not None, f"there is no command {name}"
        command, context = found, typer.Context(found, info_name=name, parent=context)
    given = command.make_context(context.info_name, words).params
    for option in ("a", "b", "players", "player", "opponents"):
        specs = given.get(option)
        for spec in specs if isinstance(specs, list | tuple) else [specs]:
            if isinstance(spec, str) and spec not in NO_SPECS:
                players.parse(spec)
