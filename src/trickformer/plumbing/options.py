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
    """Marks an option that a player reads only under a condition: other options have some value, or in some games."""

    to: str  # the condition for error messages: the options as a spec writes them, or the games
    # Function of a player's options and the game: whether the option is read. With None for the game: in any game.
    test: Callable[[Any, Game | None], bool]
    setting: tuple[str, Any] | None = None  # option and value that make the player read the option, if there is one


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
    """Return the options whose condition (`Applies`) is not met.

    Args:
        options: Options of a player.
        game: The game; None for options that no game reads.
    """
    return set(_obstacles(options, game))


def unread_defaults(options: BaseModel, game: Game | None = None) -> set[str]:
    """Return the options that are not read and have their default value, so that nobody misses their effect.

    A value that is set for an option of other games does not count as a default.

    Args:
        options: Options of a player.
        game: The game; None for options that no game reads, by the defaults that hold in every game.
    """
    settings = options.model_dump(exclude_defaults=True)

    def has_default(name: str, mark: Applies) -> bool:
        if name not in settings:
            return True
        if game is None or (mark.test(options, None) and not _can_be_met(mark, options, game)):
            return False
        return settings[name] == _default(options.model_copy(update={name: None}), name, game)

    return {name for name, mark in _obstacles(options, game).items() if has_default(name, mark)}


def refuse_unread(player: str, options: BaseModel, game: Game) -> None:
    """Refuse an option that was set although its condition (`Applies`) is not met.

    Args:
        player: Name of the player, for the message.
        options: Its options.
        game: The game.

    Raises:
        TrickformerError: An option with another value than its default is not read.
    """
    obstacles = _obstacles(options, game)
    for name in sorted(obstacles.keys() - unread_defaults(options, game)):
        mark = obstacles[name]
        elsewhere, remedy = "", f"leave out {name}"
        if mark.setting is not None and _can_be_met(mark, options, game):
            key, other = mark.setting
            remedy = (f"leave out {key}" if other is None else f"give {_as_item(key, other)}") + f", or {remedy}"
        elif mark.test(options, None):
            elsewhere = f", not {game.name}"
        item = _as_item(name, getattr(options, name))
        raise TrickformerError(f"player {player!r}: {item} is for {mark.to}{elsewhere}; {remedy}")


def _as_item(key: str, value: Any) -> str:
    """Return an option as a spec writes it."""
    return f"{key}={str(value).lower() if isinstance(value, bool) else value}"


def _obstacles(options: BaseModel, game: Game | None) -> dict[str, Applies]:
    """Return the options that are not read, each with its first mark whose condition fails."""
    obstacles = dict[str, Applies]()
    for name, field in type(options).model_fields.items():
        marks = (mark for mark in field.metadata if isinstance(mark, Applies))
        if (mark := next((mark for mark in marks if not mark.test(options, game)), None)) is not None:
            obstacles[name] = mark
    return obstacles


def _with_setting(options: BaseModel, mark: Applies) -> BaseModel:
    """Return the options with the setting that meets a condition, or unchanged if there is none."""
    return options if mark.setting is None else options.model_copy(update=dict([mark.setting]))


def _can_be_met(mark: Applies, options: BaseModel, game: Game) -> bool:
    """Return whether an unmet condition holds in a game once the option that it names has another value."""
    return mark.test(_with_setting(options, mark), game)


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
    for name in type(options).model_fields:
        if name in not_read:
            continue
        values[name] = getattr(options, name)
        if values[name] is None:
            values[name] = _default(options, name, game)
    return values


def _default(options: BaseModel, name: str, game: Game) -> Any:
    """Return the default of an option in a game; None if the option stays unset."""
    marks = [mark for mark in type(options).model_fields[name].metadata if isinstance(mark, PerGame)]
    return marks[-1].default(options, game) if marks else None


def conditional_options(options: BaseModel, game: Game) -> dict[str, Any]:
    """Return the options that a player would read in a game if one setting changed (`Applies.setting`).

    Args:
        options: Options of a player.
        game: The game.

    Returns:
        Defaults by name; None for an option that stays unset.
    """
    values = dict[str, Any]()
    for name, mark in _obstacles(options, game).items():
        changed = _with_setting(options, mark)
        if name not in unread(changed, game):
            value = getattr(options, name)
            values[name] = _default(changed, name, game) if value is None else value
    return values
