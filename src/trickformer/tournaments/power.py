"""The number of deals that a match needs to show a difference of the size that it has measured."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

FEWEST_DEALS = 10  # with fewer deals the spread of the differences is too uncertain
FEWEST_RANKS = 6  # differences other than 0 that Wilcoxon's test needs for p < 0.05
_POWER = 0.8  # probability that the match shows the difference
_LEVEL_QUANTILE = float(special.ndtri(0.975))
_POWER_QUANTILE = float(special.ndtri(_POWER))


def deals_to_resolve(differences: np.ndarray) -> int | None:
    """Compute how many deals give Wilcoxon's signed-rank test p < 0.05 with a power of 80%.

    The measured differences are taken for the true distribution. Then n = ((z_0.975 s0 + z_0.8 s1) / m)^2, where m is
    the mean signed rank, s0 the standard deviation of a signed rank under the null hypothesis (random signs), and s1
    the standard deviation of a deal's contribution to the test statistic (its Hajek projection). Differences of 0 do
    not count, as in the test.

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
    """Return the signed rank of each difference, divided by n, and its Hajek projection, both float64 [n].

    The projection adds the sum of the signs of the larger differences, divided by n, because a difference raises the
    ranks of all larger ones. Equally large differences count half, and so does the difference itself.
    """
    from scipy import stats  # slow to import

    n, signs = len(nonzero), np.sign(nonzero)
    signed = signs * (stats.rankdata(np.abs(nonzero)) - 0.5) / n
    group = np.unique(np.abs(nonzero), return_inverse=True)[1]  # differences of equal size, in ascending order
    sign_sums = np.bincount(group, weights=signs)  # by group
    above = sign_sums.sum() - np.cumsum(sign_sums)  # sum of the signs of all larger differences
    return signed, signed + ((above + sign_sums / 2) / n)[group]


def _deals_for_ranks(share: float) -> int:
    """Return the deals, at most 2% too many, that give six nonzero differences in 80% of matches, for their share."""
    from scipy import stats  # slow to import

    deals = FEWEST_RANKS
    while stats.binom.sf(FEWEST_RANKS - 1, deals, share) < _POWER:
        deals += max(1, deals // 50)  # steps of 2% suffice and keep the search short
    return deals
