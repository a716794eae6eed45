"""PIMC at a Hearts table: the whole decision is one call of the core (cpp/hearts/pimc_isa.cpp).

A world's actions are valued by multi-player UCT (Sturtevant 2008) as the mean reward of the root's children, or by
plain playouts; a card's value is its mean over worlds. The cards to pass are chosen one after the other, each by a
search of its own over the own cards still to choose, while the other seats pass as the scripted player would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Decision, Game, Memo, Player, Thought, View, World
from trickformer.belief.samplers.hearts import HeartsBelief
from trickformer.games.hearts import PLAYERS

DEFAULTS = {"worlds": 50, "runs": 2000, "c": 0.4, "eval": "uct", "playout": "light"}


class HeartsSearch(Player):
    """PIMC at any number of tables, one search after the other, in worlds that a belief draws."""

    batch = 1  # one view after the other

    def __init__(self, belief: HeartsBelief, *, worlds: int, runs: int, c: float, uct: bool, light: bool):
        self._belief = belief
        self._settings = worlds, runs, c, uct, light

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view, ties to the lowest card; a forced card is not searched.

        Raises ValueError on a view that no deal explains."""
        return [self._decide(v, r, bool(m.get("explain"))) for v, r, m in zip(views, rng, memo)]

    def _decide(self, view: View, rng: np.random.Generator, explain: bool) -> Decision:
        if len(view.legal) == 1:
            return Decision(view.legal[0])
        deals, seed, thought = self._belief.deals_of(view), int(rng.integers(2**63)), None
        if explain:
            found, worths, holders = _core.hearts.pimc_worlds(deals, *self._settings, seed)
            thought = Thought(worlds=tuple(_world(v, h, list(found)) for v, h in zip(worths, holders)))
        else:
            found = _core.hearts.pimc(deals, *self._settings, seed)
        best = max(found, key=lambda card: found[card][0])
        values = {card: value for card, (value, _) in found.items()}
        visits = {card: n for card, (_, n) in found.items()}
        return Decision(best, value=values[best], visits=visits, values=values, thought=thought)


def _world(values: np.ndarray, holders: np.ndarray, tried: list[int]) -> World:
    """float32 [52], NaN where a card was not tried; int8 [52], who holds each card."""
    cards = tuple(tuple(np.nonzero(holders == seat)[0].tolist()) for seat in range(PLAYERS))
    return World(cards, {card: float(values[card]) for card in tried if not np.isnan(values[card])})


def make(game: Game, belief: Belief, settings: Mapping[str, Any]) -> HeartsSearch:
    """Make the search of Hearts."""
    assert isinstance(belief, HeartsBelief)
    uct, light = settings["eval"] == "uct", settings["playout"] == "light"
    same = {key: settings[key] for key in ("worlds", "runs", "c")}
    return HeartsSearch(belief, uct=uct, light=light, **same)
