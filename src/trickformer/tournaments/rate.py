"""Ratings of a round robin on the scale of the game's own scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trickformer.tournaments.statistics import interval


@dataclass(frozen=True, slots=True)
class PlayerRating:
    """How many points a hand better than the average player of the field; higher is better."""

    player: int
    rating: float
    ci95: tuple[float, float] | None


def rate(differences: np.ndarray, higher_is_better: bool, seed: int) -> list[PlayerRating]:
    """Ratings, best first, that sum to zero.

    differences: float64 [players, players, deals], score of i minus score of j, antisymmetric. The
    ratings r minimize the sum over pairs of (mean difference - (r_i - r_j))^2; every pair has played the
    same deals, so that r_i is the mean of row i, the zero against itself included. That is linear in the
    deals: the interval is the bootstrap over them."""
    sign = 1.0 if higher_is_better else -1.0
    by_deal = sign * differences.mean(axis=1)  # float64 [players, deals]
    ratings = [PlayerRating(i, float(x.mean()), interval(x, seed)) for i, x in enumerate(by_deal)]
    return sorted(ratings, key=lambda r: (-r.rating, r.player))
