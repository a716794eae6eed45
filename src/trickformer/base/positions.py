"""Interfaces by which a game serves searches over sampled worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from trickformer.base.views import View


class SampledWorlds(Protocol):
    """Sampled worlds of a decision, and games that a policy finishes from them."""

    illegal: int  # samples that do not explain the view, which are left out
    searched: int  # all samples; 0 if none can fail

    def __len__(self) -> int: ...
    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        """Finish a game from each world after each action.

        Args:
            rows: Worlds to play.
            actions: First actions to compare.
            seed: Seed of chance, which is the same for all actions.

        Returns:
            Points of the viewer, [rows, actions].
        """
        ...


class WorldSimulator(Protocol):
    """Source of worlds of a decision, and of games that the game's scripted player or a solver finishes from them."""

    @property
    def unit(self) -> float:
        """Points that are one unit of v(o)."""
        ...

    def can_evaluate(self, view: View) -> bool:
        """Return whether the results of these games are good estimates of the decision's value.

        Args:
            view: View of the seat on turn.
        """
        ...

    def worlds(self, view: View, n: int, rng: np.random.Generator) -> SampledWorlds:
        """Sample worlds that explain a view.

        Args:
            view: View of the seat on turn.
            n: Number of samples.
            rng: Source of all randomness.

        Raises:
            ValueError: No deal explains the view.
        """
        ...
