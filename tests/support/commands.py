"""Commands that pages and scripts hold, read by the parser of the command line."""

from __future__ import annotations

import functools
import shlex

import typer
from typer.core import TyperGroup

from trickformer import players
from trickformer.cli import app, spread

NO_SPECS = {"bidder", "smart"}  # the player of examples/oh_hell, and a convention that `belief train` takes
SPEC_OPTIONS = ("a", "b", "players", "player", "opponents", "bootstrap", "guests")

_program = functools.cache(lambda: typer.main.get_command(app))  # takes most of the time of a check


def check_command(line: str) -> None:
    """Check that a command exists, with its options and players; the parser, `players.parse` or an assertion raises."""
    command = _program()
    words = spread(command, shlex.split(line, comments=True)[1:])
    context = typer.Context(command, info_name="trickformer")
    while isinstance(command, TyperGroup):
        name = words.pop(0)
        found = command.get_command(context, name)
        assert found is not None, f"there is no command {name}"
        command, context = found, typer.Context(found, info_name=name, parent=context)
    given = command.make_context(context.info_name, words).params
    for option in SPEC_OPTIONS:
        specs = given.get(option)
        for spec in specs if isinstance(specs, list | tuple) else [specs]:
            if isinstance(spec, str) and spec not in NO_SPECS:
                players.parse(spec)
