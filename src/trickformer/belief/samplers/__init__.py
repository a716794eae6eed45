"""Exact beliefs by game: uniform over the histories that explain a view. One module a game, found by its file name;
each exports `make(game) -> Belief`; those of card games take odds as well, `make(game, log_odds)`. Modules with a
leading underscore are helpers."""

from __future__ import annotations

import importlib
import pkgutil

from trickformer.base import Belief, Game, UnknownNameError
from trickformer.belief.samplers._cards import MAX_LOG_ODDS, PLACES, CardBelief, LogOdds

__all__ = ["MAX_LOG_ODDS", "NAMES", "PLACES", "CardBelief", "LogOdds", "sampler"]

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def sampler(game: Game, log_odds: LogOdds | None = None) -> Belief:
    """The exact belief of `game`: uniform over the histories that explain a view. In Hearts, Skat and The Crew worlds
    can be drawn by log odds of where the cards lie instead (samplers/_cards.py): the learned belief of a head is
    `sampler(game, heads.load(name, game))`.

    Raises UnknownNameError for a game without one."""
    if game.name not in NAMES:
        raise UnknownNameError("deal sampler for game", game.name, NAMES)
    make = importlib.import_module(f"{__name__}.{game.name}").make
    return make(game) if log_odds is None else make(game, log_odds)
