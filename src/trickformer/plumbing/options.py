"""Marks of player options, in the annotations of their fields: conditions, files, and defaults that depend on the game.

For example `Annotated[int, in_games("skat")]` is an option that only Skat has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from trickformer.base import Game, TrickformerError


@dataclass(frozen=True, slots=True)
class Applies:
    """Marks an option that only some methods, or players of some games, read."""

    to: str  # the method as a spec writes it, or the games; for error messages
    # Function of a player's options and the game: whether the option is read. With None for the game: in any game.
    test: Callable[[Any, Game | None], bool]


def in_games(*names: str) -> Applies:
    """Mark an option that a player has only in some games.

    Args:
        *names: Names of the games.
    """
    return Applies(" and ".join(names), lambda _, game: game is None or game.name in names)


@dataclass(frozen=True, slots=True)
class NamesFile:
    """Marks a text option that names a file or folder, unless it is one of some words."""

    words: Callable[[], Collection[str]] = tuple  # function that returns the words; by default there are none


@dataclass(frozen=True, slots=True)
class PerGame:
    """Marks an option whose default depends on the game, and maybe on other options."""

    default: Callable[[Any, Game], Any]  # function of the player's options and the game


def unread(options: BaseModel, game: Game | None = None) -> set[str]:
    """Return the options that the selected method does not read.

    Args:
        options: Options of a player.
        game: The game; None for options that no game reads.
    """
    return {name for name in type(options).model_fields if _obstacle(options, name, game)}


def refuse_unread(player: str, options: BaseModel, game: Game) -> None:
    """Refuse an option that was set although the selected method does not read it.

    Args:
        player: Name of the player, for the message.
        options: Its options.
        game: The game.

    Raises:
        TrickformerError: An option with another value than its default is not read.
    """
    settings = options.model_dump(exclude_defaults=True)
    for name, value in sorted(settings.items()):
        if mark := _obstacle(options, name, game):
            shown = str(value).lower() if isinstance(value, bool) else value
            elsewhere = f", not {game.name}" if mark.test(options, None) else ""
            raise TrickformerError(f"player {player!r}: {name}={shown} is for {mark.to}{elsewhere}")


def _obstacle(options: BaseModel, name: str, game: Game | None) -> Applies | None:
    """Return the first mark of an option whose condition fails; None if the option is read."""
    marks = (mark for mark in type(options).model_fields[name].metadata if isinstance(mark, Applies))
    return next((mark for mark in marks if not mark.test(options, game)), None)


def resolved_options(options: BaseModel, game: Game) -> dict[str, Any]:
    """Return every option that applies, with its value in a game.

    Args:
        options: Options of a player.
        game: The game.

    Returns:
        Values by name; None for an option that stays unset.
    """
    values = dict[str, Any]()
    not_read = unread(options, game)
    for name, field in type(options).model_fields.items():
        if name in not_read:
            continue
        values[name] = getattr(options, name)
        for mark in field.metadata:
            if isinstance(mark, PerGame) and values[name] is None:
                values[name] = mark.default(options, game)
    return values
