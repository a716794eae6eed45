"""Base of the fast forms of the core's games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from trickformer.base import FastGame


def deals(chance_actions: Callable[[int, int], Sequence[int]], seed: int, first: int, n: int) -> np.ndarray:
    """Return the chance actions of n deals from number `first` on, as the core's tables take them.

    Args:
        chance_actions: Function of (seed, index) that returns the chance actions of one deal.
        seed: The series.
        first: Number of the first deal in the series.
        n: Number of deals.

    Returns:
        uint8 [n, K], where K is the number of chance actions of a deal.
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
