"""Searches over sampled worlds."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

from trickformer.base import Belief, Game

if TYPE_CHECKING:
    from trickformer.search.sparta import Playing


def scripted(game: Game) -> bool:
    """Whether the core finishes games by the game's scripted player."""
    name = f"{__name__}.{game.name}"
    return bool(importlib.util.find_spec(name) and importlib.util.find_spec(f"{name}.positions"))


def scripted_positions(game: Game, belief: Belief) -> Playing | None:
    """Draw worlds by a belief and finish games by the game's scripted player, in the core.

    A game with a core has a module `search/<game>/positions.py` with `make(game, belief)`. None if there is none:
    states of OpenSpiel do it (search/states.py)."""
    if not scripted(game):
        return None
    return importlib.import_module(f"{__name__}.{game.name}.positions").make(game, belief)
