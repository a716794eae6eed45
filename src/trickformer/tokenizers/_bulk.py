"""Whole hands in bulk, by the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from trickformer.base import FastGame


def deals(dealt: Callable[[int, int], Sequence[int]], seed: int, first: int, n: int) -> np.ndarray:
    """What chance brings in deals `first` .. `first` + n of the series `seed`, as the core's tables take it: uint8
    [n, K]. dealt(seed, index): that of one deal."""
    width = len(dealt(seed, first))
    return np.array([dealt(seed, first + i) for i in range(n)], np.uint8).reshape(n, width)


class CoreGame(FastGame):
    """The fast form of a game of the core: its codec encodes and labels hands. Histories are uint8 [n, H]."""

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
