"""The number of deals that a match needs to show a difference of the size that it has measured."""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

FEWEST_DEALS = 10  # fewer say too little about the spread of the differences
FEWEST_RANKS = 6  # differences other than 0 that Wilcoxon's test needs for p < 0.05
_POWER = 0.8
_LEVEL_QUANTILE = float(special.ndtri(0.975))
_POWER_QUANTILE = float(special.ndtri(_POWER))


def deals_to_resolve(differences: np.ndarray) -> int | None:
    """Compute how many deals give Wilcoxon's signed-rank test p < 0.05 with a power of 80%.

    The differences stand for the true distribution: n = ((z_0.975 s0 + z_0.8 s1) / m)^2, where m is the mean of a
    difference's signed rank, s0 its deviation if the signs are random, and s1 the deviation that the test statistic has
    (Hajek's projection). Differences of 0 do not count, as in the test.

    Args:
        differences: Difference of each deal, float64 [deals].

    Returns:
        The number of deals, or None if there are fewer than ten, or the signed ranks have a mean of 0.
    """
    nonzero = differences[differences != 0]
    if len(differences) < FEWEST_DEALS or not len(nonzero):
        return None
    signed, projected = _signed_ranks(nonzero)
    mean = float(signed.mean())
    if abs(mean) < 1e-12:
        return None
    needed = (_LEVEL_QUANTILE * math.sqrt(float((signed**2).mean())) + _POWER_QUANTILE * float(projected.std())) / mean
    share = len(nonzero) / len(differences)
    return max(math.ceil(needed**2 / share), _deals_for_ranks(share))


def _signed_ranks(nonzero: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each difference's signed rank, as a share of all, and its projection of the test statistic."""
    n, signs = len(nonzero), np.sign(nonzero)
    signed = signs * (stats.rankdata(np.abs(nonzero)) - 0.5) / n
    group = np.unique(np.abs(nonzero), return_inverse=True)[1]
    by_group = np.bincount(group, weights=signs)
    above = by_group.sum() - np.cumsum(by_group)
    return signed, signed + ((above + by_group / 2) / n)[group]


def _deals_for_ranks(share: float) -> int:
    """Return the fewest deals that have six differences other than 0 in 80% of matches, if a share of them has."""
    deals = FEWEST_RANKS
    while stats.binom.sf(FEWEST_RANKS - 1, deals, share) < _POWER:
        deals += max(1, deals // 50)
    return deals
