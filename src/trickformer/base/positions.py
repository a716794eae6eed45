"""Interfaces by which a game serves searches over sampled worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from trickformer.base.views import View


class SampledWorlds(Protocol):
    """Sampled worlds of a decision, and games that a policy finishes from them."""

    illegal: int  # samples that explain nothing, which are left out
    searched: int  # all samples; 0 if none can fail

    def __len__(self) -> int: ...
    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        """Points [rows, actions] of the viewer after each action. Chance is the same for all actions."""
        ...


class WorldSimulator(Protocol):
    """Draws worlds of a decision and finishes games from there, by the game's scripted player or a solver."""

    @property
    def unit(self) -> float:
        """Points that are one unit of v(o)."""
        ...

    def can_evaluate(self, view: View) -> bool:
        """Return whether the results of such games are good estimates of the decision's value."""
        ...

    def worlds(self, view: View, n: int, rng: np.random.Generator) -> SampledWorlds:
        """n worlds that explain a view. Raises ValueError on a view that no deal explains."""
        ...
