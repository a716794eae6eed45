"""Players by name: those of this package, of installed packages, and the engines of engines.toml."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from pydantic import BaseModel

from trickformer.base import TrickformerError, UnknownNameError
from trickformer.engines import entries
from trickformer.plumbing import plugins

_PACKAGE = "trickformer.players"
_HELPERS = {"registry", "specs"}  # modules of this package that are not players
NAMES = tuple(
    sorted(m.name for m in pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__) if m.name not in _HELPERS)
)


def names() -> tuple[str, ...]:
    """The players of this package, then those of installed ones, then the engines of engines.toml."""
    more = (*plugins.names(plugins.PLAYERS), *entries.read())
    return (*NAMES, *(name for name in dict.fromkeys(more) if name not in NAMES))


def module(name: str) -> ModuleType:
    """The module of a player. Raises UnknownNameError, and TrickformerError for an installed one that cannot be
    imported."""
    if name in NAMES:
        return importlib.import_module(f"{_PACKAGE}.{name}")
    found = plugins.module(plugins.PLAYERS, name) if name else None
    if found is None and (entry := entries.read().get(name)):
        from trickformer.players import engine

        found = engine.make_player_module(name, entry)
    if found is None:
        raise UnknownNameError("player", name, names())
    return found


def options_of(name: str) -> type[BaseModel]:
    """The options model of a player. Raises UnknownNameError."""
    return module(name).Options


def describe(name: str) -> str:
    """One line on what a player does; raises UnknownNameError."""
    return (module(name).__doc__ or "").strip().partition("\n")[0]


def games_of(name: str) -> tuple[str, ...] | None:
    """The games that a player is for; None: any. Raises UnknownNameError."""
    return getattr(module(name), "GAMES", None)


def summarize(name: str) -> str:
    """A line of at most 80 columns: the player's name, its games, what it does."""
    try:
        games, about = games_of(name), describe(name)
    except TrickformerError as e:  # in a module of another package: the other players are listed
        games, about = None, str(e)
    line = f"{name:<11} {'any' if games is None else ', '.join(games):<18} {about}"
    return line if len(line) <= 80 else line[:79].rstrip() + "…"
