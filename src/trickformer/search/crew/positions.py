"""Worlds and playouts of `sparta` and `rollout` in The Crew: worlds that explain a view, uniform or by what the others
did, and missions that the core finishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Game, Memo, View
from trickformer.belief.samplers.crew import CrewBelief, course


class CrewSampledWorlds:
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

    def __init__(self, view: View, how: CrewPositions, searches: bool, rng: np.random.Generator):
        self.legal, self.rng, self.searches = view.legal, rng, searches
        self._view, self._how = view, how
        (self.blueprint,) = _core.crew.rules_player([how.belief.seat_view(view)])

    def sample_worlds(self, n: int, rng: np.random.Generator) -> CrewSampledWorlds:
        return self._how.worlds(self._view, n, rng)

    def exact(self, n: int, rng: np.random.Generator) -> CrewSampledWorlds:
        """Where all search, there is no exact belief but that of the rules."""
        return self._how.draw(self._view, n, self._how.assessed, rng)


@dataclass(frozen=True, slots=True)
class CrewPositions:
    """Decisions of one seat, which is searched, or of all, where it is None; the others play `rules`.

    tries: of the belief that is searched, draws among which those are looked for that explain what the others did;
    None: all are taken. assessed: the same of the belief that gains are judged by."""

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
        """n worlds, or those that are found among so many draws."""
        deals, seed = self.belief.deals_of(view), int(rng.integers(2**63))
        if tries is None:
            return CrewSampledWorlds(deals, deals.sample(seed, n), self.threads)
        explained = deals.sample_consistent(np.array(course(view)[1:], dtype=np.int64), n, tries, seed)
        return CrewSampledWorlds(deals, explained, self.threads)


def make(game: Game, belief: Belief) -> CrewPositions:
    """Decisions of any seat, which the core's `rules` plays on from."""
    assert isinstance(belief, CrewBelief)
    return CrewPositions(belief, seat=None, tries=None, assessed=None, threads=1)
