"""Whole hands in bulk: what seats have seen of them, and how they ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


def deals(dealt: Callable[[int, int], Sequence[int]], seed: int, first: int, n: int) -> np.ndarray:
    """What chance brings in deals `first` .. `first` + n of the series `seed`, as the core's tables take it: uint8
    [n, K]. dealt(seed, index): that of one deal."""
    width = len(dealt(seed, first))
    return np.array([dealt(seed, first + i) for i in range(n)], np.uint8).reshape(n, width)


@dataclass(frozen=True, slots=True)
class BulkHands:
    """Whole hands, and what tells of them: the core's codec of the game, or a StateCodec."""

    codec: Any
    history: np.ndarray  # integers [n, H], as the codec has it
    scores: np.ndarray  # integers [n, players]

    def encode_hands(self, hand: np.ndarray, seat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What `seat` saw of each `hand`, and how the hand ended for it: hands int [k] and seats int [k] -> tokens
        int16 [k, T] and outcomes int32 [k]."""
        seats = seat.astype(np.uint8)
        return self.codec.encode(self.history[hand], seats), self.codec.outcomes(self.scores[hand], seats)
