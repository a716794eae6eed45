"""Exact beliefs by game: they sample only hidden histories that are consistent with a view, by default uniformly.

The module of a game has the game's name and exports `make(game) -> Belief`. In Hearts, Skat and The Crew
`make(game, log_odds)` also takes log-odds of where the cards lie. If the other seats' actions can be used as evidence,
the module exports `weighted_belief(game)`. Modules with a leading underscore are shared helpers. A game of another
package may define its own belief (`Game.belief`). If it does not, deals are drawn at random and rejected if they are
inconsistent (`_deals`).
"""

from __future__ import annotations

import importlib
import inspect
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

# Names of the games with a module here.
NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def sampler(game: Game, log_odds: LogOdds | None = None) -> Belief:
    """Return a belief that draws consistent worlds exactly: uniformly, or in proportion to odds of where the cards lie.

    Only Hearts, Skat, The Crew and games of other packages can take odds (samplers/_cards.py). A belief head
    (belief/heads.py) can be `log_odds`: `sampler(game, heads.load(name, game))`.

    Args:
        game: The game.
        log_odds: Function from views to log-odds of each card's place; None: all worlds are equally likely.

    Raises:
        TrickformerError: Odds were given, and the game has no worlds drawn by odds. Or the game is from another
            package, has no belief, and its deals cannot be drawn at random.
    """
    own: Belief | None = None
    if game.name not in NAMES:
        own = game.belief(log_odds)
    else:
        make = importlib.import_module(f"{__name__}.{game.name}").make
        if log_odds is None:
            own = make(game)
        elif "log_odds" in inspect.signature(make).parameters:
            own = make(game, log_odds)
    if own is None and log_odds is not None:
        raise TrickformerError(f"{game.name} has no belief that a belief head can weight; use uniform worlds")
    return DealtBelief(game) if own is None else own


def weighted_belief(game: Game) -> Belief:
    """Return the belief that weights worlds by the likelihood of the other seats' actions.

    Args:
        game: The game.

    Raises:
        TrickformerError: The game has no weights for its worlds.
    """
    if not has_weighted_belief(game):
        raise TrickformerError(f"{game.name} has no weighted worlds; use uniform worlds")
    return importlib.import_module(f"{__name__}.{game.name}").weighted_belief(game)


def has_weighted_belief(game: Game) -> bool:
    """Return whether `weighted_belief` supports a game.

    Args:
        game: The game.
    """
    return game.name in NAMES and hasattr(importlib.import_module(f"{__name__}.{game.name}"), "weighted_belief")
