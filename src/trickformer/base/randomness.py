"""Random generators of decisions."""

from __future__ import annotations

import numpy as np


def decision_rng(seed: int, deal: int, seat: int, number: int) -> np.random.Generator:
    """Return the generator of one decision.

    The generator does not depend on the seating or the player's name, so copies of a player decide alike. It is
    counter-based: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011).

    Args:
        seed: Seed of the series of deals, from 0 to 2**64 - 1; the other three have the same range.
        deal: Number of the deal in the series.
        seat: Seat that decides.
        number: Number of decisions that the seat has already made in the deal.
    """
    key = np.array([seed, deal], dtype=np.uint64)
    counter = np.array([0, number, seat, 0], dtype=np.uint64)  # Philox increments the first word with each draw
    return np.random.Generator(np.random.Philox(key=key, counter=counter))
