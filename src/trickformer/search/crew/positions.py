"""Worlds and playouts of `sparta` and `rollout` in The Crew.

Worlds explain a view; they are uniform, or the others' actions in them are the script's. The core finishes the
missions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Game, Memo, View
from trickformer.belief.samplers.crew import CrewBelief, course


class CrewSampledWorlds:
    """Worlds in the form of a view's sampler, int16 [n, 48]."""

    illegal = 0
    searched = 0

    def __init__(self, deals: _core.crew.DealSampler, hidden: np.ndarray, threads: int):
        self._deals, self._hidden = deals, hidden
        self._threads = threads

    def __len__(self) -> int:
        return len(self._hidden)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        return self._deals.play(self._hidden[rows], np.array(actions), seed, self._threads)


class CrewPosition:
    """A decision of a seat."""

    def __init__(self, view: View, positions: CrewPositions, searches: bool, rng: np.random.Generator):
        self.legal, self.rng = view.legal, rng
        self.searches = searches
        self._view, self._positions = view, positions
        (self.blueprint,) = _core.crew.rules_player([positions.belief.seat_view(view)])

    def sample_worlds(self, n: int, rng: np.random.Generator) -> CrewSampledWorlds:
        return self._positions.worlds(self._view, n, rng)

    def exact(self, n: int, rng: np.random.Generator) -> CrewSampledWorlds:
        """Sample worlds of the exact belief; if all seats search, the uniform belief is the only exact one.

        Args:
            n: Number of worlds.
            rng: Generator of the draws.
        """
        return self._positions.draw(self._view, n, self._positions.assessed, rng)


@dataclass(frozen=True, slots=True)
class CrewPositions:
    """Decisions of one seat that searches while the others play `rules`, or of all seats.

    Attributes:
        belief: Samples worlds that explain a view.
        seat: Seat that searches; None for all.
        tries: Draws among which worlds are selected that explain the others' actions; None takes all worlds.
        assessed: The same for the belief that re-estimates gains.
        threads: Number of threads for games.
        unit: Points in one unit of v(o).
    """

    belief: CrewBelief
    seat: int | None
    tries: int | None
    assessed: int | None
    threads: int
    unit: float = 1.0

    @property
    def knows_better(self) -> bool:
        return self.assessed is not None

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> CrewPosition:
        return CrewPosition(view, self, self.seat in (None, view.viewer) and len(view.legal) > 1, rng)

    def can_evaluate(self, view: View) -> bool:
        return True

    def worlds(self, view: View, n: int, rng: np.random.Generator) -> CrewSampledWorlds:
        return self.draw(view, n, self.tries, rng)

    def draw(self, view: View, n: int, tries: int | None, rng: np.random.Generator) -> CrewSampledWorlds:
        """Sample worlds.

        Args:
            view: View of the seat on turn.
            n: Number of worlds.
            tries: Draws among which worlds are selected that explain the others' actions; there may be fewer than n.
                None takes n draws.
            rng: Generator of the draws.
        """
        deals, seed = self.belief.deals_of(view), int(rng.integers(2**63))
        if tries is None:
            return CrewSampledWorlds(deals, deals.sample(seed, n), self.threads)
        explained = deals.sample_consistent(np.array(course(view)[1:], dtype=np.int64), n, tries, seed)
        return CrewSampledWorlds(deals, explained, self.threads)


def make(game: Game, belief: Belief) -> CrewPositions:
    """Make the decisions of The Crew for rollouts; the core's `rules` finishes the games.

    Args:
        game: The game.
        belief: Samples the worlds.
    """
    assert isinstance(belief, CrewBelief)
    return CrewPositions(belief, seat=None, tries=None, assessed=None, threads=1)
