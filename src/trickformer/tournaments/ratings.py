"""Ratings of a tournament on the scale of the game's own scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trickformer.tournaments.intervals import interval

_DECIMALS = 11  # removes rounding errors, so that equal ratings compare as equal


@dataclass(frozen=True, slots=True)
class PlayerRating:
    """Points a hand by which a player is better than the mean of all players. A higher rating is always better."""

    player: int
    rating: float
    ci95: tuple[float, float] | None


def rate(
    differences: Mapping[tuple[int, int], np.ndarray],
    players: int,
    higher_is_better: bool,
    *,
    largest: float = np.inf,
    sequential: bool = False,
) -> list[PlayerRating]:
    """Rate players by least squares; the ratings sum to zero.

    The ratings r minimize the sum over pairs of (mean difference - (r_i - r_j))^2. They are linear in the differences.
    The rating of a player is therefore the mean of its ratings in the single deals, which give the interval.

    Args:
        differences: Score of i minus score of j in each deal, float64 [deals], by pair (i, j). The pairs connect all
            players.
        players: Number of players.
        higher_is_better: Whether higher scores are better.
        largest: Largest difference that a deal can have.
        sequential: Whether the intervals hold at all numbers of deals at once.

    Returns:
        The ratings, the best first.
    """
    design = np.zeros((len(differences), players))
    for row, (i, j) in enumerate(differences):
        design[row, i], design[row, j] = 1.0, -1.0
    sign = 1.0 if higher_is_better else -1.0
    by_deal = sign * (np.linalg.pinv(design) @ np.array(list(differences.values())))  # float64 [players, deals]
    ratings = [
        PlayerRating(i, float(x.mean()), interval(np.round(x, _DECIMALS), (-largest, largest), sequential=sequential))
        for i, x in enumerate(by_deal + 0.0)  # no negative zero
    ]
    return sorted(ratings, key=lambda r: (-round(r.rating, _DECIMALS - 2), r.player))  # equal ratings: by index
