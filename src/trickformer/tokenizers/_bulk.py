"""Hands that the core plays by itself, in bulk: what seats have seen of them, and what their actions were worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class CoreHands:
    """Whole hands of a game of the core."""

    table: Any  # of the game
    history: np.ndarray  # uint8 [n, H], the core's
    scores: np.ndarray  # int [n, players], the core's

    def seen(self, hand: np.ndarray, seat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What `seat` saw of each `hand`, and how the hand ended for it: hands int [k] and seats int [k] -> tokens
        int16 [k, T] and outcomes int32 [k]."""
        seats = seat.astype(np.uint8)
        return self.table.encode(self.history[hand], seats), self.table.outcomes(self.scores[hand], seats)
