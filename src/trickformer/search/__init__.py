"""Searches over sampled worlds: PIMC (perfect-information Monte Carlo), rollouts, SPARTA and RL search.

Code for one game is in `search/<game>/`. The module `positions.py` there has `make(game, belief)` for rollouts, and
`pimc.py` has `DEFAULTS` and `make(game, belief, settings)` for PIMC.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from types import ModuleType

from trickformer.base import Belief, Game, WorldSimulator

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if m.ispkg))


def part(game_name: str, module_name: str) -> ModuleType | None:
    """Import a module of a game's folder.

    Args:
        game_name: Name of the game.
        module_name: Name of the module, such as `pimc`.

    Returns:
        The module; None if the game has none.
    """
    module = f"{__name__}.{game_name}.{module_name}"
    return importlib.import_module(module) if game_name in NAMES and importlib.util.find_spec(module) else None


def scripted_positions(game: Game, belief: Belief) -> WorldSimulator | None:
    """Return the game's own simulator, which is faster than one that steps OpenSpiel states.

    Args:
        game: The game.
        belief: Samples the worlds.

    Returns:
        The simulator in this package or that of `Game.positions`; None if there is neither.
    """
    own = part(game.name, "positions")
    return game.positions(belief) if own is None else own.make(game, belief)
