"""Exact beliefs by game: uniform over the histories that explain a view. One module a game, found by its file name;
each exports `make(game) -> Belief`; those of card games take odds as well, `make(game, log_odds)`; one that can weight
worlds by what the others have said exports `weighted(game)`. Modules with a leading underscore are helpers. A game of
another package may bring its belief along (`Game.belief`); if it does not, deals are drawn and those kept that explain
the view (`_deals`)."""

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
    """The exact belief of `game`: uniform over the histories that explain a view. In Hearts, Skat and The Crew worlds
    can be drawn by log odds of where the cards lie instead (samplers/_cards.py): the learned belief of a head is
    `sampler(game, heads.load(name, game))`.

    Raises TrickformerError for a game that has none and that none can be made for, and where odds are given to a belief
    that takes none."""
    if game.name not in NAMES:
        own = game.belief(log_odds)
        if own is None and log_odds is not None:
            raise TrickformerError(f"the worlds of {game.name} cannot be drawn by odds")
        return DealtBelief(game) if own is None else own
    make = importlib.import_module(f"{__name__}.{game.name}").make
    return make(game) if log_odds is None else make(game, log_odds)


def weighted_belief(game: Game) -> Belief:
    """The belief of `game` that weights worlds by what the others have said and done.

    Raises TrickformerError for a game that knows no such weights."""
    if not has_weighted_belief(game):
        raise TrickformerError(f"{game.name} knows no weights of its worlds, only uniform ones")
    return importlib.import_module(f"{__name__}.{game.name}").weighted_belief(game)


def has_weighted_belief(game: Game) -> bool:
    """Whether a game knows weights of its worlds."""
    return game.name in NAMES and hasattr(importlib.import_module(f"{__name__}.{game.name}"), "weighted_belief")
