"""Whole hands in bulk, computed by the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from trickformer.base import FastGame


def deals(chance_actions: Callable[[int, int], Sequence[int]], seed: int, first: int, n: int) -> np.ndarray:
    """Return the chance actions of deals `first` .. `first` + n, in the form of the core's tables.

    Args:
        chance_actions: Returns the chance actions of one deal for (seed, index).
        seed: The series.
        first: First deal.
        n: Number of deals.

    Returns:
        uint8 [n, K].
    """
    width = len(chance_actions(seed, first))
    return np.array([chance_actions(seed, first + i) for i in range(n)], np.uint8).reshape(n, width)


class CoreGame(FastGame):
    """Fast form of a game of the core, whose codec encodes and labels hands. Histories are uint8 [n, H]."""

    def __init__(self, codec: Any):
        self._codec = codec

    def encode(self, history: np.ndarray, seats: np.ndarray) -> np.ndarray:
        return self._codec.encode(history, seats)

    def outcomes(self, scores: np.ndarray, seats: np.ndarray) -> np.ndarray:
        return self._codec.outcomes(scores, seats)

    def labels(
        self,
        history: np.ndarray,
        seats: np.ndarray,
        seed: int,
        streams: np.ndarray,
        playouts: int,
        share: float,
        net: Any = None,
        worlds: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self._codec.labels(history, seats, seed, streams, playouts, share, net, worlds)
