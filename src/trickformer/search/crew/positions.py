"""Positions and worlds of The Crew for the players `sparta` and `rollout`.

Worlds are uniform over the deals that are consistent with a view, or only over those in which the scripted player
`rules` would have taken the others' actions. The core finishes the missions by `rules`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Game, Memo, View
from trickformer.belief.samplers.crew import CrewBelief, mission_and_actions
from trickformer.search.sparta import Position


class CrewSampledWorlds:
    """Sampled worlds of one view, stored as rows of `CrewWorlds.hidden`, int16 [n, 48]."""

    illegal = 0
    searched = 0

    def __init__(self, sampler: _core.crew.DealSampler, hidden: np.ndarray, threads: int):
        self._sampler, self._hidden = sampler, hidden
        self._threads = threads

    def __len__(self) -> int:
        return len(self._hidden)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        return self._sampler.play(self._hidden[rows], np.array(actions), seed, self._threads)


class CrewPosition(Position):
    """A decision that SPARTA can search (`search.sparta.Position`)."""

    def __init__(self, view: View, positions: CrewPositions, searches: bool, rng: np.random.Generator):
        self.legal, self.rng = view.legal, rng
        self.searches = searches
        self._view, self._positions = view, positions
        (self.blueprint,) = _core.crew.rules_player([positions.belief.seat_view(view)])

    def sample_worlds(self, n: int, rng: np.random.Generator) -> CrewSampledWorlds:
        return self._positions.worlds(self._view, n, rng)

    def exact(self, n: int, rng: np.random.Generator) -> CrewSampledWorlds:
        """Sample worlds that are consistent with the others' moves; if all seats search, uniform worlds.

        Args:
            n: Number of worlds.
            rng: Source of all randomness.
        """
        return self._positions.draw(self._view, n, self._positions.assess_tries, rng)


@dataclass(frozen=True, slots=True)
class CrewPositions:
    """Positions of one seat that searches while the others play `rules`, or of all seats.

    Attributes:
        belief: Samples worlds that are consistent with a view.
        seat: Seat that searches; None: all seats.
        tries: Largest number of uniform draws. Only draws in which `rules` takes the others' actual actions become
            worlds. None: every draw becomes a world.
        assess_tries: As `tries`, for the worlds that re-estimate gains.
        threads: Number of threads for games.
        unit: Points in one unit of v(o).
    """

    belief: CrewBelief
    seat: int | None
    tries: int | None
    assess_tries: int | None
    threads: int
    unit: float = 1.0

    @property
    def has_exact_belief(self) -> bool:
        return self.assess_tries is not None

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
            tries: As the attribute `tries`. If it is set, there may be fewer than n worlds.
            rng: Source of all randomness.
        """
        sampler, seed = self.belief.sampler_of(view), int(rng.integers(2**63))
        if tries is None:
            return CrewSampledWorlds(sampler, sampler.sample(seed, n), self.threads)
        actions = np.array(mission_and_actions(view)[1:], dtype=np.int64)  # without the mission
        return CrewSampledWorlds(sampler, sampler.sample_consistent(actions, n, tries, seed), self.threads)


def make(game: Game, belief: Belief) -> CrewPositions:
    """Make the positions of The Crew for rollouts.

    Args:
        game: The game.
        belief: Samples the worlds.
    """
    assert isinstance(belief, CrewBelief)
    return CrewPositions(belief, seat=None, tries=None, assess_tries=None, threads=1)
