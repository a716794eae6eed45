"""PIMC at a table of The Crew: all tables in one call of the core (cpp/crew/pimc.hpp)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer import _core
from trickformer.base import Decision, Memo, View
from trickformer.belief.samplers.crew import CrewBelief


class CrewSearch:
    """PIMC at any number of tables.

    belief: by which worlds are drawn. worlds: sampled for a decision. nodes: cards tried for an action in one of
    them."""

    batch = 1  # one view after the other

    def __init__(self, belief: CrewBelief, *, worlds: int, nodes: int):
        self._belief = belief
        self._settings = worlds, nodes

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view; its value is the share of worlds that can still succeed, where worlds were solved.

        Raises ValueError on a view that no deal explains."""
        seeds = np.array([r.integers(2**63) for r in rng], dtype=np.uint64)
        seen = [self._belief.seat_view(v) for v in views]
        found = _core.crew.pimc(seen, seeds, *self._settings, self._belief.odds(views))
        return [Decision(action, value=value if worlds else None) for action, value, worlds in found]
