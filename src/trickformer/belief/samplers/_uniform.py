"""Base classes of exact beliefs, which never sample an impossible world, and of their worlds."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from trickformer.base import Belief, Game, View, Worlds

if TYPE_CHECKING:
    from trickformer.base import State


@dataclass(slots=True)
class UniformWorlds(Worlds):
    """Worlds of one view. A subclass for each game defines the meaning of the H columns of `hidden`."""

    hidden: np.ndarray  # int16 [n, H]
    log_weight: np.ndarray  # float64 [n], natural logarithm
    feasible: np.ndarray  # bool [n]
    view: View  # the view from which the worlds were sampled
    game: Game

    @abstractmethod
    def history(self, i: int) -> list[int]:
        """Return a world as OpenSpiel actions, chance included.

        Args:
            i: Index of the world.
        """

    def state(self, i: int) -> State:
        if not self.feasible[i]:
            raise ValueError(f"world {i} does not explain the view")
        state = self.game.spiel.new_initial_state()
        for action in self.history(i):
            state.apply_action(action)
        return state


W = TypeVar("W", bound=UniformWorlds)


def draw_one_of_each_row(log_weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one entry of each row with probability proportional to its weight.

    Args:
        log_weight: float64 [n, k], natural logarithms. If a whole row is -inf, its entries are equally likely.
        rng: Source of all randomness.

    Returns:
        int [n], column of the drawn entry of each row.
    """
    largest = log_weight.max(axis=1, keepdims=True)
    is_finite = np.isfinite(largest)
    weight = np.where(is_finite, np.exp(log_weight - np.where(is_finite, largest, 0.0)), 1.0)
    cumulative = weight.cumsum(axis=1)
    return (cumulative < rng.random((len(log_weight), 1)) * cumulative[:, -1:]).sum(axis=1)


class ExactBelief(Belief, Generic[W]):
    """Uniform distribution over the hidden histories that are consistent with a view.

    A subclass may weight them, but keeps every consistent history possible and all others impossible.
    """

    consistent = True
    worlds: type[W]  # class of the game's worlds

    def __init__(self, game: Game):
        self._game = game
        self._view: View | None = None
        self._sampler: Any = None

    @abstractmethod
    def _make_sampler(self, view: View) -> Any:
        """Return the sampler of a view; raise ValueError if no deal is consistent with it."""

    @abstractmethod
    def _hidden_part(self, actions: list[int], sampler: Any) -> np.ndarray:
        """Return a world as a row of `hidden`, int16 [H].

        `actions` is the history of the world: all OpenSpiel actions so far, chance included. `sampler` is the sampler
        of the present view. Events that the viewer cannot tell to have happened are -1, as in sampled worlds.
        """

    def reset(self, view: View) -> None:
        self._sampler = self._make_sampler(view)
        self._view = view

    def sample(self, n: int, rng: np.random.Generator) -> W:
        sampler, view = self._require_sampler_and_view()
        hidden = sampler.sample(int(rng.integers(2**63)), n)
        return self.worlds(hidden, np.zeros(n), np.ones(n, dtype=bool), view, self._game)

    @abstractmethod
    def log_prob(self, worlds: W) -> np.ndarray:  # pyright: ignore[reportIncompatibleMethodOverride]
        ...

    def truth(self, state: State) -> W:
        """Convert the true state to a world of the present view, for `log_prob` in tests and audits.

        This is the only function of a belief that reads a state. Sampling does not call it.

        Args:
            state: The true state behind the view.

        Raises:
            ValueError: `reset` was not called before.
        """
        sampler, view = self._require_sampler_and_view()
        hidden = self._hidden_part(list(state.history()), sampler)[None]
        return self.worlds(hidden, np.zeros(1), np.ones(1, dtype=bool), view, self._game)

    def _require_sampler_and_view(self) -> tuple[Any, View]:
        if self._sampler is None or self._view is None:
            raise ValueError("a belief needs a view first; call reset")
        return self._sampler, self._view
