"""Searches over sampled worlds."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

from trickformer.base import Belief, Game

if TYPE_CHECKING:
    from trickformer.search.sparta import Playing


def scripted_positions(game: Game, belief: Belief) -> Playing | None:
    """Draw worlds by a belief and finish games by the game's scripted player, in the core.

    A game of this package has a module `search/<game>/positions.py` with `make(game, belief)`; one of another package
    gives its own (`Game.positions`). None if there is neither: states of OpenSpiel do it (search/states.py)."""
    name = f"{__name__}.{game.name}"
    if importlib.util.find_spec(name) and importlib.util.find_spec(f"{name}.positions"):
        return importlib.import_module(f"{name}.positions").make(game, belief)
    return None
