"""Randomness of decisions."""

from __future__ import annotations

import numpy as np


def decision_rng(seed: int, deal: int, seat: int, number: int) -> np.random.Generator:
    """The generator for decision `number` of `seat` in `deal` of the series `seed`; all >= 0, below 2**64.

    Common random numbers: neither the seating nor the player's name is in the key, so that a player and
    its copy do the same. Counter-based: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011)."""
    key = np.array([seed, deal], dtype=np.uint64)
    counter = np.array([0, number, seat, 0], dtype=np.uint64)  # draws count in the first word
    return np.random.Generator(np.random.Philox(key=key, counter=counter))
