"""Generator of the reference pages, from the typed options of commands and players.

docs/_hooks.py adds the pages to the site when it is built, so they cannot go stale. `python tools/reference_pages.py`
prints them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from trickformer import games
from trickformer.cli import app
from trickformer.players import registry, specs
from trickformer.plumbing.options import Applies, PerGame

PROGRAM = "trickformer"
_NOTHING = "–"
_GAMES = ("hearts", "skat", "crew", "hanabi", "mines")  # in the order of the site

_CLI_HEAD = """# Command line

This page is generated from the program's typed options. `trickformer COMMAND --help` prints the same texts. Commands
with `--config` also read their options from a TOML file. Bad input prints one line to standard error and ends with exit
code 2. An interrupt (Ctrl-C) ends a command with exit code 130, SIGTERM with 143.
"""

_PLAYERS_HEAD = """# Players

This page is generated from the typed options of each player. `trickformer players NAME --game GAME` prints the same
texts with the defaults of a game. A player is named by a spec: `name:option=value,option=value`. A value with commas
stands in double quotes.
[The guide to players](../players.md) compares the players.
"""


def cli_page() -> str:
    """Return the page of all commands, in Markdown."""
    program: Any = typer.main.get_command(app)
    commands = list(_commands(program, (PROGRAM,)))
    rows = [f"| [`{' '.join(path)}`](#{'-'.join(path)}) | {_first_line(command.help)} |" for path, command in commands]
    index = "\n".join(["| command | purpose |", "|---|---|", *rows])
    shared = _table(("option", "value", "meaning"), _option_rows(program.params))
    parts = [_CLI_HEAD, index, "Options before the command:", shared]
    parts += [_command_section(path, command) for path, command in commands]
    return "\n\n".join(parts) + "\n"


def _commands(group: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the command of each leaf, in the program's order."""
    for name, command in group.commands.items():
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from _commands(command, (*path, name))
        else:
            yield (*path, name), command


def _command_section(path: tuple[str, ...], command: Any) -> str:
    context = typer.Context(command, info_name=" ".join(path))
    usage = " ".join([*path, *command.collect_usage_pieces(context)])
    parts = [f"## {' '.join(path)}", _text(command.help), f"```text\n{usage}\n```"]
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    if arguments:
        rows = [(f"`{param.metavar or param.name.upper()}`", _cell(param.help)) for param in arguments]
        parts.append(_table(("argument", "meaning"), rows))
    options = [param for param in command.params if param.param_type_name == "option"]
    panels: Mapping[str, str] = getattr(command, "panel_titles", {})
    titles = [*dict.fromkeys(panels.values()), ""]
    for title in titles:
        rows = _option_rows(param for param in options if panels.get(param.name, "") == title)
        if rows:
            parts += [f"**{title or 'Other'}**"] * (len(titles) > 1)
            parts.append(_table(("option", "value", "meaning"), rows))
    if command.epilog:
        label, example = command.epilog.split(": ", 1)
        parts.append(f"{label}: `{example}`")
    return "\n\n".join(parts)


def _option_rows(params: Iterable[Any]) -> list[tuple[str, str, str]]:
    """Return a row of the table for each option that help pages show."""
    rows: list[tuple[str, str, str]] = []
    for param in params:
        if param.param_type_name != "option" or param.hidden:
            continue
        words = ", ".join(f"`{word}`" for word in (*param.opts, *param.secondary_opts))
        kind = "" if param.is_flag else _kind(param.type_descriptor.annotation)
        rows.append((words, kind or _NOTHING, _cell(param.help)))
    return rows


def players_page() -> str:
    """Return the page of all players of this package, in Markdown."""
    loaded = {name: games.load(name) for name in _GAMES}
    rows = [
        f"| [`{name}`](#{name}) | {_games(name, 'any')} | {_cell(registry.describe(name))} |" for name in registry.NAMES
    ]
    index = "\n".join(["| player | games | purpose |", "|---|---|---|", *rows])
    sections = [_player_section(name, loaded) for name in registry.NAMES]
    return "\n\n".join([_PLAYERS_HEAD, index, *sections]) + "\n"


def _games(name: str, otherwise: str) -> str:
    return ", ".join(registry.games_of(name) or (otherwise,))


def _player_section(name: str, loaded: Mapping[str, Any]) -> str:
    text = inspect.cleandoc(registry.module(name).__doc__ or "")
    first_line = text.partition("\n")[0]
    rest = text.removeprefix(first_line)
    parts = [f"## {name}", _sentence(first_line), f"Games: {_games(name, 'any')}.", _text(rest)]
    fields = registry.options_of(name).model_fields
    rows: list[tuple[str, str, str, str]] = []
    for key, field in fields.items():
        limits = "".join(f" Read only by {mark.to}." for mark in field.metadata if isinstance(mark, Applies))
        meaning = _cell((field.description or "") + limits)
        rows.append((f"`{key}`", _kind(field.annotation), _default(name, key, field, loaded), meaning))
    table = _table(("option", "value", "default", "meaning"), rows) if rows else "No options."
    return "\n\n".join(part for part in (*parts, table) if part)


def _default(name: str, key: str, field: FieldInfo, loaded: Mapping[str, Any]) -> str:
    """Return the default of an option, or its defaults by game."""
    mark = next((mark for mark in field.metadata if isinstance(mark, PerGame)), None)
    if mark is None or field.default is not None:
        return _NOTHING if field.default in (None, "") else f"`{specs.text(field.default)}`"
    options = registry.options_of(name)()
    no_model = {"mines"} if "checkpoint" in type(options).model_fields else set[str]()
    limits = [mark for mark in field.metadata if isinstance(mark, Applies) and mark.test(options, None)]
    by_game: dict[str, str] = {}
    for game in registry.games_of(name) or loaded:
        if game not in no_model and all(limit.test(options, loaded[game]) for limit in limits):
            by_game[game] = specs.text(mark.default(options, loaded[game]))
    if by_game.keys() == loaded.keys() - no_model and len(set(by_game.values())) == 1:
        return f"`{next(iter(by_game.values()))}`"
    return ", ".join(f"{game} `{value}`" for game, value in by_game.items())


def _kind(annotation: Any) -> str:
    """Describe the type of an option in words."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return " or ".join(filter(None, map(_kind, get_args(annotation))))
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if origin is list:
        return f"list of {_kind(get_args(annotation)[0])}"
    names = {NoneType: "", bool: "true, false", int: "integer", float: "number", str: "text", Path: "path"}
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)))


def _sentence(text: str) -> str:
    """Return a phrase as a sentence: upper case first, a period at the end."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _first_line(text: str | None) -> str:
    return _cell((text or "").partition("\n")[0].partition(". ")[0].rstrip(".") + ".")


def _text(text: str | None) -> str:
    """Return a paragraph without the marks that Markdown would read."""
    return (text or "").strip().replace("<", "&lt;").replace("*", "\\*")


def _cell(text: str | None) -> str:
    return " ".join(_text(text).split()).replace("|", "\\|")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print(cli_page(), players_page(), sep="\n")
