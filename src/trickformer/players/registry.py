"""Players by name: those of this package, of installed packages, and the engines of engines.toml."""

from __future__ import annotations

import importlib
import pkgutil
import textwrap
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from trickformer.base import TrickformerError, UnknownNameError
from trickformer.engines import entries
from trickformer.plumbing import plugins

_PACKAGE = "trickformer.players"
_HELPERS = {"registry", "specs"}  # modules of this package that are not players
NAMES = tuple(
    sorted(m.name for m in pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__) if m.name not in _HELPERS)
)


def names(game: str | None = None) -> tuple[str, ...]:
    """List the players of this package, then those of installed packages, then the engines of engines.toml.

    Args:
        game: Name of a game, to list only the players that play it. Whether a player has a model of the game is not
            checked, and a player whose module cannot be imported is on the list.
    """
    others = (*plugins.names(plugins.PLAYERS), *entries.read())
    every = (*NAMES, *(name for name in dict.fromkeys(others) if name not in NAMES))
    return every if game is None else tuple(name for name in every if _plays(name, game))


def _plays(name: str, game: str) -> bool:
    try:
        games = games_of(name)
    except TrickformerError:
        return True
    return games is None or game in games


def is_hidden_engine(name: str) -> bool:
    """Return whether specs cannot name an engine, because a player of a package has its name.

    Args:
        name: Name of an engine in engines.toml.
    """
    return name in NAMES or name in plugins.names(plugins.PLAYERS)


def module(name: str) -> ModuleType:
    """Import the module of a player.

    Args:
        name: Name of the player.

    Raises:
        UnknownNameError: There is no player of this name.
        TrickformerError: The module of an installed package cannot be imported.
    """
    if name in NAMES:
        return importlib.import_module(f"{_PACKAGE}.{name}")
    player_module = plugins.module(plugins.PLAYERS, name) if name else None
    if player_module is None and (entry := entries.read().get(name)):
        from trickformer.players import engine

        player_module = engine.make_player_module(name, entry)
    if player_module is None:
        raise UnknownNameError("player", name, names())
    return player_module


def options_of(name: str) -> type[BaseModel]:
    """Return the options model of a player.

    Args:
        name: Name of the player.

    Raises:
        UnknownNameError: There is no player of this name.
    """
    return module(name).Options


def describe(name: str) -> str:
    """Describe a player in one line.

    Args:
        name: Name of the player.

    Raises:
        UnknownNameError: There is no player of this name.
    """
    return (module(name).__doc__ or "").strip().partition("\n")[0]


def games_of(name: str) -> tuple[str, ...] | None:
    """List the games that a player can play.

    Args:
        name: Name of the player.

    Returns:
        Names of games; None for any game.

    Raises:
        UnknownNameError: There is no player of this name.
    """
    return getattr(module(name), "GAMES", None)


def presets_of(name: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the values that the presets of a player set, by preset and game. Most players have no presets by game.

    Args:
        name: Name of the player.

    Raises:
        UnknownNameError: There is no player of this name.
    """
    presets = getattr(module(name), "presets", None)
    return {} if presets is None else presets()


def _summarize(name: str) -> str:
    """Describe a player in lines of at most 80 columns: its name, its games, and what it does.

    Args:
        name: Name of the player.
    """
    try:
        games, description = games_of(name), describe(name)
    except TrickformerError as e:  # a broken module of another package must not hide the other players
        games, description = None, str(e)
    head = _row(name, "any" if games is None else ", ".join(games))
    return textwrap.fill(description, 80, initial_indent=head, subsequent_indent=" " * len(_row("", "")))


def summarize(chosen: Iterable[str]) -> str:
    """List players below a line of column heads.

    Args:
        chosen: Names of the players.
    """
    head = _row("player", "games") + "what it does"
    return "\n".join([head, *map(_summarize, chosen)])


def _row(name: str, games: str) -> str:
    """Return the first two columns of a line, with the space after them."""
    return f"{name:<11} {games:<18} "
