"""PIMC at a Hearts table: the whole decision is one call of the core (cpp/hearts/pimc_isa.cpp).

A world's actions are valued by multi-player UCT (Sturtevant 2008) as the mean reward of the root's children, or by
plain playouts; a card's value is its mean over worlds. The cards to pass are chosen one after the other, each by a
search of its own over the own cards still to choose, while the other seats pass as the scripted player would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer import _core
from trickformer.base import Decision, Memo, View
from trickformer.belief.samplers.hearts import HeartsBelief


class HeartsSearch:
    """PIMC at any number of tables, one search after the other, in worlds that a belief draws."""

    batch = 1  # one view after the other

    def __init__(self, belief: HeartsBelief, *, worlds: int, runs: int, c: float, uct: bool, light: bool):
        self._belief = belief
        self._settings = worlds, runs, c, uct, light

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view, ties to the lowest card; a forced card is not searched.

        Raises ValueError on a view that no deal explains."""
        return [self._decide(v, r) for v, r in zip(views, rng)]

    def _decide(self, view: View, rng: np.random.Generator) -> Decision:
        if len(view.legal) == 1:
            return Decision(view.legal[0])
        found = _core.hearts.pimc(self._belief.deals_of(view), *self._settings, int(rng.integers(2**63)))
        best = max(found, key=lambda card: found[card][0])
        values = {card: value for card, (value, _) in found.items()}
        visits = {card: n for card, (_, n) in found.items()}
        return Decision(best, value=values[best], visits=visits, values=values)
