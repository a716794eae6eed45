"""Statistics of successes by mission.

All games of a player have different deals, so they are independent. Two players that are compared play the same deals;
their games of a deal are a pair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from trickformer.tournaments.intervals import interval
from trickformer.tournaments.statistics import p_value

_Z = float(stats.norm.ppf(0.975))  # half width of a 95% interval, in standard errors


def wilson(successes: np.ndarray, games: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the 95% interval of each rate successes / games (Wilson 1927).

    Args:
        successes: int array.
        games: Number of games of each rate.

    Returns:
        Lower and upper bounds, float64 in the shape of `successes`.
    """
    rate, z2 = np.asarray(successes) / games, _Z**2 / games
    middle = (rate + z2 / 2) / (1 + z2)
    half = _Z * np.sqrt(rate * (1 - rate) / games + (z2 / games) / 4) / (1 + z2)
    # At rates 0 and 1 one bound is the rate itself, but rounding would move it.
    return np.where(rate == 0, 0.0, middle - half), np.where(rate == 1, 1.0, middle + half)


def holm(p: np.ndarray) -> np.ndarray:
    """Correct p values for multiple tests (Holm 1979).

    Args:
        p: float64 [n].

    Returns:
        float64 [n], in the order of `p`.
    """
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(stepped, 1)
    return corrected


def mcnemar(only_a: int, only_b: int) -> float:
    """Compute the two-sided exact p of McNemar's test.

    Args:
        only_a: Pairs of games in which A alone succeeded.
        only_b: Pairs of games in which B alone succeeded.
    """
    if only_a + only_b == 0:
        return 1.0
    return float(stats.binomtest(int(only_a), int(only_a + only_b)).pvalue)


@dataclass(frozen=True)
class TeamComparison:
    """Comparison of A and B on the same games; arrays are [missions]."""

    only_a: np.ndarray  # int: games that A alone has won
    only_b: np.ndarray  # int: games that B alone has won
    p: np.ndarray  # float64: McNemar
    p_holm: np.ndarray  # float64: corrected for the number of missions
    p_all: float  # McNemar over the games of all missions
    wilcoxon: float  # Wilcoxon's signed-rank test over missions, on the pairs of success rates
    difference: float  # mean over missions of A's success rate minus B's
    ci95: tuple[float, float] | None  # interval of `difference`; None if the pairs of each mission are all equal


def compare(a: np.ndarray, b: np.ndarray) -> TeamComparison:
    """Compare two players on the same games.

    Args:
        a: bool [missions, games], successes of A.
        b: bool [missions, games], successes of B.
    """
    only_a, only_b = (a & ~b).sum(axis=1), (b & ~a).sum(axis=1)
    p = np.array([mcnemar(x, y) for x, y in zip(only_a, only_b)])
    pairs = a.astype(int) - b
    difference = float(pairs.mean())
    return TeamComparison(
        only_a=only_a,
        only_b=only_b,
        p=p,
        p_holm=holm(p),
        p_all=mcnemar(only_a.sum(), only_b.sum()),
        # Differences of counts rank as differences of rates do, because all missions have the same number of games.
        wilcoxon=p_value((only_a - only_b).astype(float)),
        difference=difference,
        ci95=interval(pairs[0].astype(float), (-1.0, 1.0)) if len(pairs) == 1 else _stratified_interval(pairs),
    )


def _stratified_interval(pairs: np.ndarray) -> tuple[float, float] | None:
    """Compute a 95% interval of the mean of pairs, int [missions, games], from the spread within each mission.

    It is Student's t with the degrees of freedom of Satterthwaite (1946).
    """
    missions, games = pairs.shape
    variances = pairs.var(axis=1, ddof=1) / games if games > 1 else np.zeros(missions)
    if not variances.any():
        return None
    freedom = variances.sum() ** 2 / ((variances**2).sum() / (games - 1))
    half = float(special.stdtrit(freedom, 0.975) * np.sqrt(variances.sum())) / missions
    difference = float(pairs.mean())
    return max(difference - half, -1.0), min(difference + half, 1.0)  # a difference of shares lies in -1..1


@dataclass(frozen=True)
class Attempts:
    """Expected number of games of the logbook, if each mission is repeated until it succeeds."""

    expected: float
    ci95: tuple[float, float]
    solved: np.ndarray  # bool [missions]: missions with a success; the sum is over these


def attempts(successes: np.ndarray, games: int) -> Attempts:
    """Compute the sum of games / successes over missions with a success.

    The interval is the delta method's for the logarithm of the sum, because the distribution of the sum is skewed to
    the right. The variance of 1 / rate is (1 - rate) / (games rate^3). The lower bound is at least one game a mission.

    Args:
        successes: int [missions].
        games: Number of games of each mission.
    """
    solved = successes > 0
    if not solved.any():
        return Attempts(math.nan, (math.nan, math.nan), solved)
    rate = successes[solved] / games
    expected = float((1 / rate).sum())
    relative = math.sqrt(float(((1 - rate) / (games * rate**3)).sum())) / expected
    low = max(expected * math.exp(-_Z * relative), float(solved.sum()))
    return Attempts(expected, (low, expected * math.exp(_Z * relative)), solved)


def compare_with_random(successes: np.ndarray, games: int, random: np.ndarray, random_games: int) -> np.ndarray:
    """Test by mission whether a player is better than random: Fisher's exact test, one-sided.

    Args:
        successes: int [missions], of the player.
        games: Number of the player's games of each mission.
        random: int [missions], successes of random games.
        random_games: Number of random games of each mission.

    Returns:
        float64 [missions], p corrected for the number of missions by Holm.
    """
    p = [
        stats.fisher_exact([[s, games - s], [r, random_games - r]], alternative="greater")[1]
        for s, r in zip(successes.tolist(), random.tolist())
    ]
    return holm(np.array(p, dtype=float))
