"""World simulator of Skat for the player `rollout`: the scripted `rules` plays, and a solver plays the last tricks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Game, View
from trickformer.belief.samplers.skat import SkatBelief, WeightedSkatBelief, actions_after_deal
from trickformer.search.skat.worlds import WorldWeights

# Number of last tricks that are solved with open cards, because `rules` plays them badly (docs/results/recipe.md).
SOLVED_TRICKS = 5


@dataclass(slots=True)
class SkatSampledWorlds:
    """Sampled worlds of one view. The games have no chance events, so `play` ignores the seed."""

    sampler: _core.skat.DealSampler
    hidden: np.ndarray  # int16 [n, 34], rows of `SkatWorlds.hidden`
    actions: np.ndarray  # int64 [t], see `samplers.skat.actions_after_deal`
    seeger: bool  # scores are tournament points (extended Seeger-Fabian)
    solver: _core.skat_search.Solver
    illegal: int = 0
    searched: int = 0

    def __len__(self) -> int:
        return len(self.hidden)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        first_actions = np.array(actions, dtype=np.int64)
        return _core.skat_search.play(
            self.sampler, self.seeger, self.hidden[rows], self.actions, first_actions, SOLVED_TRICKS, self.solver
        )


class SkatPositions:
    """World simulator for decisions of any seat."""

    unit = 100.0  # points in one unit of v(o)

    def __init__(self, belief: SkatBelief, weighted: bool, seeger: bool):
        """Store the settings.

        Args:
            belief: Samples the worlds.
            weighted: Whether worlds are weighted by the others' bids, discards and declarations.
            seeger: Whether scores are tournament points (extended Seeger-Fabian).
        """
        self._belief, self._seeger = belief, seeger
        self._weights = WorldWeights(weighted, seeger)
        self._solver = _core.skat_search.Solver()

    def can_evaluate(self, view: View) -> bool:
        """Return whether the decision is the play of a card.

        The simulated games are no good estimates of bids and declarations: solving the last tricks with open cards
        helps the defenders more than the soloist.

        Args:
            view: View of the seat on turn.
        """
        return _core.skat_search.at_play(self._belief.seat_view(view))

    def worlds(self, view: View, n: int, rng: np.random.Generator) -> SkatSampledWorlds:
        """Sample worlds. Weighted worlds come in proportion to their weights.

        Args:
            view: View of the seat on turn.
            n: Number of worlds.
            rng: Source of all randomness.
        """
        sampler = self._belief.sampler_of(view)
        hidden = self._weights.draw(sampler, n, rng)
        actions = np.array(actions_after_deal(view), dtype=np.int64)
        return SkatSampledWorlds(sampler, hidden, actions, self._seeger, self._solver)


def make(game: Game, belief: Belief) -> SkatPositions:
    """Make the world simulator of Skat for rollouts.

    Args:
        game: The game.
        belief: Samples the worlds.
    """
    assert isinstance(belief, SkatBelief)
    return SkatPositions(belief, isinstance(belief, WeightedSkatBelief), bool(getattr(game, "seeger", True)))
