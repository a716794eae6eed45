"""Statistics of successes by mission. Each game is a deal of its own, and both players play it: games are independent
of each other, and the two players' games of a deal are a pair."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from trickformer.tournaments.intervals import interval
from trickformer.tournaments.statistics import p_value

_Z = float(stats.norm.ppf(0.975))


def wilson(successes: np.ndarray, games: int) -> tuple[np.ndarray, np.ndarray]:
    """95% interval of each rate successes / games: float64, in the shape of `successes`. Wilson (1927)."""
    rate, z2 = np.asarray(successes) / games, _Z**2 / games
    middle = (rate + z2 / 2) / (1 + z2)
    half = _Z * np.sqrt(rate * (1 - rate) / games + (z2 / games) / 4) / (1 + z2)
    # At the ends one bound is the rate itself, but for rounding.
    return np.where(rate == 0, 0.0, middle - half), np.where(rate == 1, 1.0, middle + half)


def holm(p: np.ndarray) -> np.ndarray:
    """p values float64 [n] corrected for their number: float64 [n]. Holm (1979)."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    found = np.empty(len(p))
    found[order] = np.minimum(stepped, 1)
    return found


def mcnemar(only_a: int, only_b: int) -> float:
    """Two-sided exact p of McNemar's test, from the pairs in which one player alone succeeded."""
    if only_a + only_b == 0:
        return 1.0
    return float(stats.binomtest(int(only_a), int(only_a + only_b)).pvalue)


@dataclass(frozen=True)
class TeamComparison:
    """A against B on the same games. By mission: arrays [missions]."""

    only_a: np.ndarray  # int: games that A alone has won
    only_b: np.ndarray
    p: np.ndarray  # float64: McNemar
    p_holm: np.ndarray  # float64: corrected for the number of missions
    p_all: float  # McNemar over the games of all missions
    wilcoxon: float  # Wilcoxon's signed-rank test over missions, on the pairs of success rates
    difference: float  # mean over missions of A's success rate minus B's
    ci95: tuple[float, float] | None  # None: one game of each mission, or all pairs of a mission are alike


def compare(a: np.ndarray, b: np.ndarray) -> TeamComparison:
    """The comparison of two players' successes, bool [missions, games] each."""
    only_a, only_b = (a & ~b).sum(axis=1), (b & ~a).sum(axis=1)
    p = np.array([mcnemar(x, y) for x, y in zip(only_a, only_b)])
    pairs = a.astype(int) - b
    difference = float(pairs.mean())
    return TeamComparison(
        only_a,
        only_b,
        p,
        holm(p),
        mcnemar(only_a.sum(), only_b.sum()),
        p_value((only_a - only_b).astype(float)),  # as the rates, for all missions have the same number of games
        difference,
        interval(pairs[0].astype(float), (-1.0, 1.0)) if len(pairs) == 1 else _stratified_interval(pairs),
    )


def _stratified_interval(pairs: np.ndarray) -> tuple[float, float] | None:
    """Compute a 95% interval of the mean of pairs, int [missions, games], from the spread within each mission.

    Student's t with the degrees of freedom of Satterthwaite (1946)."""
    missions, games = pairs.shape
    variances = pairs.var(axis=1, ddof=1) / games if games > 1 else np.zeros(missions)
    if not variances.any():
        return None
    freedom = variances.sum() ** 2 / ((variances**2).sum() / (games - 1))
    half = float(special.stdtrit(freedom, 0.975) * np.sqrt(variances.sum())) / missions
    difference = float(pairs.mean())
    return max(difference - half, -1.0), min(difference + half, 1.0)  # no share of games lies beyond


@dataclass(frozen=True)
class Attempts:
    """How many games the logbook takes, each mission played until it succeeds; of missions with a success."""

    expected: float
    ci95: tuple[float, float]
    solved: np.ndarray  # bool [missions]: those with a success, which the sum is over


def attempts(successes: np.ndarray, games: int) -> Attempts:
    """The sum of games / successes, int [missions], over missions with a success.

    The interval is the delta method's for the logarithm of the sum, for attempts are many more ways too few than too
    many: the variance of 1 / rate is (1 - rate) / (games rate^3). It does not go below one game a mission."""
    solved = successes > 0
    if not solved.any():
        return Attempts(math.nan, (math.nan, math.nan), solved)
    rate = successes[solved] / games
    expected = float((1 / rate).sum())
    relative = math.sqrt(float(((1 - rate) / (games * rate**3)).sum())) / expected
    low = max(expected * math.exp(-_Z * relative), float(solved.sum()))
    return Attempts(expected, (low, expected * math.exp(_Z * relative)), solved)


def ahead(successes: np.ndarray, games: int, random: np.ndarray, random_games: int) -> np.ndarray:
    """Whether a player does better than random, by mission: one-sided p of Fisher's exact test, corrected for the
    number of missions by Holm, float64 [missions]. successes, random: int [missions]."""
    p = [
        stats.fisher_exact([[s, games - s], [r, random_games - r]], alternative="greater")[1]
        for s, r in zip(successes.tolist(), random.tolist())
    ]
    return holm(np.array(p, dtype=float))
