"""Searches over sampled worlds.

A game of this package contributes modules in `search/<game>/`: `positions.py` with `make(game, belief)` for rollouts,
and `pimc.py` with `DEFAULTS` and `make(game, belief, settings)` for PIMC.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from types import ModuleType

from trickformer.base import Belief, Game, WorldSimulator

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if m.ispkg))


def part(name: str, what: str) -> ModuleType | None:
    """Import a module that a game contributes.

    Args:
        name: Name of the game.
        what: Name of the module.

    Returns:
        The module; None if the game has none.
    """
    module = f"{__name__}.{name}.{what}"
    return importlib.import_module(module) if name in NAMES and importlib.util.find_spec(module) else None


def scripted_positions(game: Game, belief: Belief) -> WorldSimulator | None:
    """Draw worlds by a belief and finish games by the game's scripted player, faster than by states of OpenSpiel.

    Args:
        game: The game.
        belief: Samples the worlds.

    Returns:
        The simulator of this package or of `Game.positions`; None if the game has none.
    """
    own = part(game.name, "positions")
    return game.positions(belief) if own is None else own.make(game, belief)
