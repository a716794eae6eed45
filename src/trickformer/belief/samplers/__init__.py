"""Exact beliefs by game: uniform over the histories that explain a view.

Each game has one module, found by its file name, that exports `make(game) -> Belief`. The modules of card games take
odds as well, `make(game, log_odds)`. A module that can weight worlds by the other seats' actions exports
`weighted_belief(game)`. Modules with a leading underscore are helpers. A game of another package may bring its own
belief (`Game.belief`). If it does not, deals are drawn, and those that explain the view are kept (`_deals`).
"""

from __future__ import annotations

import importlib
import pkgutil

from trickformer.base import Belief, Game, LogOdds, TrickformerError
from trickformer.belief.samplers._cards import MAX_LOG_ODDS, PLACES, CardBelief
from trickformer.belief.samplers._deals import DealtBelief
from trickformer.belief.samplers._resampling import resample
from trickformer.belief.samplers._uniform import ExactBelief

__all__ = [
    "MAX_LOG_ODDS",
    "NAMES",
    "PLACES",
    "CardBelief",
    "DealtBelief",
    "ExactBelief",
    "has_weighted_belief",
    "resample",
    "sampler",
    "weighted_belief",
]

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def sampler(game: Game, log_odds: LogOdds | None = None) -> Belief:
    """Return the exact belief of a game: uniform over the histories that explain a view.

    In Hearts, Skat and The Crew worlds can be drawn by log odds of where the cards lie instead (samplers/_cards.py).
    The learned belief of a head is `sampler(game, heads.load(name, game))`.

    Args:
        game: The game.
        log_odds: Odds of where each card lies; None: all equal.

    Raises:
        TrickformerError: The game has no belief and none can be made for it, or its belief takes no odds.
    """
    if game.name not in NAMES:
        own = game.belief(log_odds)
        if own is None and log_odds is not None:
            raise TrickformerError(f"the worlds of {game.name} can only be drawn uniformly")
        return DealtBelief(game) if own is None else own
    make = importlib.import_module(f"{__name__}.{game.name}").make
    return make(game) if log_odds is None else make(game, log_odds)


def weighted_belief(game: Game) -> Belief:
    """Return the belief that weights worlds by the other seats' announcements and moves.

    Args:
        game: The game.

    Raises:
        TrickformerError: The game has no weights for its worlds.
    """
    if not has_weighted_belief(game):
        raise TrickformerError(f"the worlds of {game.name} can only be drawn uniformly")
    return importlib.import_module(f"{__name__}.{game.name}").weighted_belief(game)


def has_weighted_belief(game: Game) -> bool:
    """Return whether a game has weights for its worlds.

    Args:
        game: The game.
    """
    return game.name in NAMES and hasattr(importlib.import_module(f"{__name__}.{game.name}"), "weighted_belief")
