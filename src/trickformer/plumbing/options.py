"""Declarations of player options: what applies when, and defaults that depend on the game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from trickformer.base import Game, TrickformerError


@dataclass(frozen=True, slots=True)
class Applies:
    """Marks an option that only some methods read."""

    to: str  # the method, as a spec writes it
    test: Callable[[Any], bool]  # whether the options select this method


@dataclass(frozen=True, slots=True)
class PerGame:
    """Marks an option whose default depends on the game, and maybe on other options."""

    default: Callable[[Any, Game], Any]


def unread(options: BaseModel) -> set[str]:
    """The options that the selected method does not read."""
    marks = ((name, mark) for name, field in type(options).model_fields.items() for mark in field.metadata)
    return {name for name, mark in marks if isinstance(mark, Applies) and not mark.test(options)}


def refuse_unread(player: str, options: BaseModel) -> None:
    """Raises TrickformerError for a given option that the selected method does not read."""
    given = options.model_dump(exclude_defaults=True)
    for name in sorted(unread(options) & given.keys()):
        shown = str(given[name]).lower() if isinstance(given[name], bool) else given[name]
        marks = (mark for mark in type(options).model_fields[name].metadata if isinstance(mark, Applies))
        method = next(mark.to for mark in marks if not mark.test(options))
        raise TrickformerError(f"player {player!r}: {name}={shown} is for {method}")


def resolved_options(options: BaseModel, game: Game) -> dict[str, Any]:
    """Every option that applies, with the value that it has in a game. None: the option stays unset."""
    values = dict[str, Any]()
    idle = unread(options)
    for name, field in type(options).model_fields.items():
        if name in idle:
            continue
        values[name] = getattr(options, name)
        for mark in field.metadata:
            if isinstance(mark, PerGame) and values[name] is None:
                values[name] = mark.default(options, game)
    return values
