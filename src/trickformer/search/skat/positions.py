"""Games of Skat that the core's `rules` plays on, from worlds that explain a view, and the solver to their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trickformer import _core
from trickformer.base import View
from trickformer.belief.samplers.skat import SkatBelief, course
from trickformer.games.skat import evaluation
from trickformer.search.skat.pimc import OVERSAMPLE

OPEN = 5  # last tricks that are solved with open cards: the script plays them badly (docs/results/recipe.md)


@dataclass(slots=True)
class SkatSampledWorlds:
    """Worlds as the sampler of a view has them, int16 [n, 34]. Nothing is drawn on the way."""

    deals: _core.skat.DealSampler
    hidden: np.ndarray
    course: np.ndarray  # int64 [t]
    seeger: bool
    solver: _core.skat_search.Solver
    illegal: int = 0
    searched: int = 0

    def __len__(self) -> int:
        return len(self.hidden)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        tried = np.array(actions, dtype=np.int64)
        return _core.skat_search.play(self.deals, self.seeger, self.hidden[rows], self.course, tried, OPEN, self.solver)


class SkatPositions:
    """Decisions of any seat."""

    unit = 100.0

    def __init__(self, belief: SkatBelief, weighted: bool, seeger: bool):
        """weighted: worlds by what the others have bid, laid away and declared."""
        self._belief, self._seeger, self._oversample = belief, seeger, OVERSAMPLE if weighted else 0
        self._evaluation, self._model = evaluation(), _core.skat_search.BidModel()
        self._solver = _core.skat_search.Solver()

    def can_evaluate(self, view: View) -> bool:
        """Cards alone: of bids and declarations games say what they are worth to one who plays as the script does, with
        open cards at the end, which the defenders have more of."""
        return _core.skat_search.at_play(self._belief.seat_view(view))

    def worlds(self, view: View, n: int, rng: np.random.Generator) -> SkatSampledWorlds:
        """n worlds. Where they are weighted and few are likely, these come more often."""
        deals, seed = self._belief.deals_of(view), int(rng.integers(2**63))
        how = self._evaluation, self._model, self._seeger
        _, weight, _, _, hidden = _core.skat_search.draw_worlds(deals, *how, n, self._oversample, seed)
        # Systematic resampling: of worlds alike, each once.
        chosen = np.searchsorted(np.cumsum(weight), (np.arange(n) + rng.random()) / n).clip(max=len(hidden) - 1)
        return SkatSampledWorlds(
            deals, hidden[rng.permutation(chosen)], np.array(course(view), dtype=np.int64), self._seeger, self._solver
        )
