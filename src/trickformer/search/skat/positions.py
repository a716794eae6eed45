"""Worlds and playouts of `rollout` in Skat: the core's `rules` plays, and the solver finishes the last tricks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Game, View
from trickformer.belief.samplers.skat import SkatBelief, WeightedSkatBelief, course
from trickformer.games.skat import evaluation
from trickformer.search.skat.pimc import OVERSAMPLE

OPEN = 5  # last tricks that are solved with open cards, because the script plays them badly (docs/results/recipe.md)


@dataclass(slots=True)
class SkatSampledWorlds:
    """Worlds in the form of a view's sampler, int16 [n, 34]. Their games have no chance events."""

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
        """Set up the decisions.

        Args:
            belief: Samples the worlds.
            weighted: Whether worlds are weighted by the others' bids, discards and declarations.
            seeger: Whether scores are tournament points (extended Seeger-Fabian).
        """
        self._belief, self._seeger = belief, seeger
        self._oversample = OVERSAMPLE if weighted else 0
        self._evaluation, self._model = evaluation(), _core.skat_search.BidModel()
        self._solver = _core.skat_search.Solver()

    def can_evaluate(self, view: View) -> bool:
        """Return whether the decision is the play of a card.

        Games would value bids and declarations for a player that plays like the script with open cards at the end,
        which helps the defenders more.

        Args:
            view: View of the seat on turn.
        """
        return _core.skat_search.at_play(self._belief.seat_view(view))

    def worlds(self, view: View, n: int, rng: np.random.Generator) -> SkatSampledWorlds:
        """Sample worlds. Weighted worlds come in proportion to their weights.

        Args:
            view: View of the seat on turn.
            n: Number of worlds.
            rng: Generator of the draws.
        """
        deals, seed = self._belief.deals_of(view), int(rng.integers(2**63))
        sample = _core.skat_search.draw_worlds(
            deals, self._evaluation, self._model, self._seeger, n, self._oversample, seed
        )
        weight, hidden = sample[1], sample[4]
        # Systematic resampling: worlds of equal weight come once each.
        chosen = np.searchsorted(np.cumsum(weight), (np.arange(n) + rng.random()) / n).clip(max=len(hidden) - 1)
        return SkatSampledWorlds(
            deals, hidden[rng.permutation(chosen)], np.array(course(view), dtype=np.int64), self._seeger, self._solver
        )


def make(game: Game, belief: Belief) -> SkatPositions:
    """Make the decisions of Skat for rollouts.

    Args:
        game: The game.
        belief: Samples the worlds.
    """
    assert isinstance(belief, SkatBelief)
    return SkatPositions(belief, isinstance(belief, WeightedSkatBelief), bool(getattr(game, "seeger", True)))
