"""Observation sequences. One module a game, named like the game; each exports `make(game) -> Tokenizer`."""

from __future__ import annotations

import importlib
import pkgutil

from trickformer.base import Game, Tokenizer, UnknownNameError

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def make(game: Game) -> Tokenizer:
    """The tokenizer of a game. Raises UnknownNameError for a game that has none."""
    if game.name not in NAMES:
        raise UnknownNameError("tokenizer", game.name, NAMES)
    return importlib.import_module(f"{__name__}.{game.name}").make(game)
