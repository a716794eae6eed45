"""Hands that the core plays by itself, in bulk: what seats have seen of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

# Hands int [k] and seats int [k] -> tokens int16 [k, T] and outcomes int32 [k].
CoreHands: TypeAlias = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def seen(
    table: Any,
    history: np.ndarray,
    scores: np.ndarray,
    hand: np.ndarray,
    seat: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """What `seat` saw of each `hand`, and how the hand ended for it.

    history uint8 [n, H] and scores int [n, players] are the core's; table is that of a game."""
    seats = seat.astype(np.uint8)
    return table.encode(history[hand], seats), table.outcomes(scores[hand], seats)
