"""Beliefs that are uniform over the hidden histories behind a view."""

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
    """Hidden parts of a game; what a row of `hidden` holds is the subclass' to say."""

    hidden: np.ndarray  # int16 [n, H]
    log_weight: np.ndarray  # float64 [n], natural logarithm
    feasible: np.ndarray  # bool [n]
    view: View
    game: Game

    @abstractmethod
    def history(self, i: int) -> list[int]:
        """World i as OpenSpiel actions, chance included."""

    def state(self, i: int) -> State:
        """World i as a state whose view equals the one sampled from; ValueError if it is infeasible."""
        if not self.feasible[i]:
            raise ValueError(f"world {i} does not explain the view")
        state = self.game.spiel.new_initial_state()
        for action in self.history(i):
            state.apply_action(action)
        return state


W = TypeVar("W", bound=UniformWorlds)


def one_of_each(log_weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Of each row float64 [n, k] one, drawn by its weight; any, where all are -inf. -> int [n]"""
    most = log_weight.max(axis=1, keepdims=True)
    cumulative = np.where(np.isfinite(most), np.exp(log_weight - np.where(np.isfinite(most), most, 0.0)), 1.0)
    cumulative = cumulative.cumsum(axis=1)
    return (cumulative < rng.random((len(log_weight), 1)) * cumulative[:, -1:]).sum(axis=1)


class ExactBelief(Belief, Generic[W]):
    """Uniform over the hidden histories that explain a view."""

    consistent = True
    worlds: type[W]

    def __init__(self, game: Game):
        self._game = game
        self._view: View | None = None
        self._deals: Any = None

    @abstractmethod
    def _sampler(self, view: View) -> Any:
        """The sampler of a view; ValueError where no deal explains it."""

    @abstractmethod
    def _hidden_part(self, actions: list[int], deals: Any) -> np.ndarray:
        """int16 [H]: the hidden part of a history, as far as the view knows it to have happened."""

    def reset(self, view: View) -> None:
        """Condition on `view`. Raises ValueError where no deal explains it."""
        self._deals = self._sampler(view)
        self._view = view

    def sample(self, n: int, rng: np.random.Generator) -> W:
        """n independent worlds; all randomness comes from `rng`. Raises ValueError before any view."""
        deals, view = self._require_deals_and_view()
        hidden = deals.sample(int(rng.integers(2**63)), n)
        return self.worlds(hidden, np.zeros(n), np.ones(n, dtype=bool), view, self._game)

    @abstractmethod
    def log_prob(self, worlds: W) -> np.ndarray:  # pyright: ignore[reportIncompatibleMethodOverride]
        """float64 [n], natural logarithm of the probability with which a world is drawn, -inf for what does not explain
        the view."""

    def truth(self, state: State) -> W:
        """The hidden part of `state`, as a world of the view last given, for `log_prob`: the one thing here that
        reads a state, and no part of sampling. What the view does not know to have happened is left out."""
        deals, view = self._require_deals_and_view()
        hidden = self._hidden_part(list(state.history()), deals)[None]
        return self.worlds(hidden, np.zeros(1), np.ones(1, dtype=bool), view, self._game)

    def _require_deals_and_view(self) -> tuple[Any, View]:
        if self._deals is None or self._view is None:
            raise ValueError("a belief needs a view first; call reset")
        return self._deals, self._view
