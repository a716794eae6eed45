"""SPARTA's parts of The Crew: worlds uniform over all that explain a view, and missions that the core plays on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer import _core
from trickformer.base import Memo, View
from trickformer.belief.samplers.crew import CrewBelief


class CrewDrawn:
    """Worlds as the sampler of a view has them, int16 [n, 48]."""

    illegal = 0
    searched = 0

    def __init__(self, deals: _core.crew.DealSampler, hidden: np.ndarray, threads: int):
        self._deals, self._hidden, self._threads = deals, hidden, threads

    def __len__(self) -> int:
        return len(self._hidden)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        return self._deals.play(self._hidden[rows], np.array(actions), seed, self._threads)


class CrewPosition:
    """A decision of a seat."""

    def __init__(self, view: View, belief: CrewBelief, searches: bool, rng: np.random.Generator, threads: int):
        self.legal, self.rng, self.searches = view.legal, rng, searches
        self._view, self._belief, self._threads = view, belief, threads
        (self.blueprint,) = _core.crew.rules_player([belief.seat_view(view)])

    def drawn(self, n: int, rng: np.random.Generator) -> CrewDrawn:
        deals = self._belief.deals_of(self._view)
        return CrewDrawn(deals, deals.sample(int(rng.integers(2**63)), n), self._threads)

    def exact(self, n: int, rng: np.random.Generator) -> CrewDrawn:
        """There is no other belief: what the others did is not read."""
        return self.drawn(n, rng)


class CrewPositions:
    """Decisions of one seat, which is searched, or of all, where it is None; the others play `rules`."""

    unit = 1.0

    def __init__(self, belief: CrewBelief, seat: int | None, threads: int):
        self._belief, self._seat, self._threads = belief, seat, threads

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> CrewPosition:
        searches = self._seat in (None, view.viewer) and len(view.legal) > 1
        return CrewPosition(view, self._belief, searches, rng, self._threads)
