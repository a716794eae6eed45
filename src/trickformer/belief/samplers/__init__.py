"""Exact beliefs by game: uniform over the histories that explain a view. One module a game, found by its file name;
each exports `make(game) -> Belief`. Modules with a leading underscore are helpers."""

from __future__ import annotations

import importlib
import pkgutil

from trickformer.base import Belief, Game, UnknownNameError

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def sampler(game: Game) -> Belief:
    """The exact belief of `game`: uniform over the histories that explain a view.

    Raises UnknownNameError for a game without one."""
    if game.name not in NAMES:
        raise UnknownNameError("deal sampler for game", game.name, NAMES)
    return importlib.import_module(f"{__name__}.{game.name}").make(game)
