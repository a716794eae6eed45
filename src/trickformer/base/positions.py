"""Interfaces that a game implements for searches over sampled worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from trickformer.base.views import View


class SampledWorlds(Protocol):
    """Sampled worlds of a decision, from which simulated games start."""

    illegal: int  # samples that are inconsistent with the view and were dropped
    searched: int  # all samples, the dropped ones included; 0 if samples are consistent by construction

    def __len__(self) -> int: ...
    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        """Play each action in each world, and let a fixed policy finish the game.

        Args:
            rows: Indices of the worlds to play.
            actions: First actions to compare.
            seed: Seed of chance events. In one world, chance is the same after all actions.

        Returns:
            Final points of the viewer, [rows, actions].
        """
        ...


class WorldSimulator(Protocol):
    """Sampler of a decision's worlds, whose simulated games a scripted player or a solver finishes."""

    @property
    def unit(self) -> float:
        """Number of points in one unit of v(o)."""
        ...

    def can_evaluate(self, view: View) -> bool:
        """Return whether simulated games are good estimates of action values at this decision.

        Args:
            view: View of the seat on turn.
        """
        ...

    def worlds(self, view: View, n: int, rng: np.random.Generator) -> SampledWorlds:
        """Sample worlds that are consistent with a view.

        Args:
            view: View of the seat on turn.
            n: Number of samples.
            rng: Source of all randomness.

        Raises:
            ValueError: No deal explains the view.
        """
        ...
