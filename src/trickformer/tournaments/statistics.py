"""Statistics of a duplicate match. One sample is a deal with all its seatings: the hands of a deal share
their cards, so that only deals are independent."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

_RESAMPLES = 9999
_DECIMALS = 11  # equal differences of deals must tie exactly, and zero must be zero
_QUANTILES = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)  # of a two-sided 5% test with 80% power


@dataclass(frozen=True, slots=True)
class Row:
    """One column of Table 2 of the GO-MCTS paper: the seatings with the same number of A's, or all."""

    label: str
    a: float  # mean score of A's seats, over deals and seatings
    b: float
    difference: float  # A - B
    ci95: tuple[float, float] | None  # None: a single deal has no interval
    p: float
    deals: np.ndarray  # float64 [deals]: each deal's difference


def match(scores: np.ndarray, kinds: np.ndarray, seed: int, by_seats: bool = False) -> list[Row]:
    """The rows of a match: `All` first, then by falling number of A's, then `Seats` where asked for.

    scores: float64 [deals, seatings, seats]; kinds: int [seatings, seats], 0 for A and 1 for B. A seating
    counts as one: its difference is the mean of A's seats minus the mean of B's, and `All` is the mean over
    the seatings. `Seats` is the mean over all of A's seats minus that over all of B's.
    Where a seating is a team of A's or one of B's, as in a game whose seats share their scores, the row `Seats` is
    the only one, and named `All`.
    Raises ValueError where A or B is missing: from all seatings, or from one of those at which others are mixed."""
    is_a = kinds == 0
    count = is_a.sum(axis=1)  # int [seatings]
    seats = kinds.shape[1]
    if scores.size and {0, seats} == set(count.tolist()):
        return [_by_seats("All", scores, is_a, seed)]
    if scores.size == 0 or np.any((count == 0) | (count == seats)):
        raise ValueError("a match needs a deal, and both players in every seating")
    a = (scores * is_a).sum(axis=2) / count  # float64 [deals, seatings]
    b = (scores * ~is_a).sum(axis=2) / (seats - count)
    parts = [("All", np.ones(len(kinds), dtype=bool))]
    parts += [(f"{n}A/{seats - n}B", count == n) for n in range(seats - 1, 0, -1) if np.any(count == n)]
    rows = []
    for label, chosen in parts:
        deals = np.round((a - b)[:, chosen].mean(axis=1), _DECIMALS) + 0.0  # no negative zero
        mean_a, mean_b = float(a[:, chosen].mean()), float(b[:, chosen].mean())
        rows.append(_row(label, mean_a, mean_b, deals, seed))
    if by_seats:
        rows.append(_by_seats("Seats", scores, is_a, seed))
    return rows


def _by_seats(label: str, scores: np.ndarray, is_a: np.ndarray, seed: int) -> Row:
    a, b = (((scores * held).sum(axis=(1, 2))) / held.sum() for held in (is_a, ~is_a))  # float64 [deals]
    return _row(label, float(a.mean()), float(b.mean()), np.round(a - b, _DECIMALS) + 0.0, seed)


def _row(label: str, a: float, b: float, deals: np.ndarray, seed: int) -> Row:
    return Row(label, a, b, float(deals.mean()), interval(deals, seed), p_value(deals), deals)


@dataclass(frozen=True, slots=True)
class MixedTeamScore:
    """How two players who share a score get on at one table."""

    score: float  # mean of the mixed tables
    ci95: tuple[float, float] | None  # None: a single deal has no interval
    difference: float  # from the mean of the two teams of one player
    difference_ci95: tuple[float, float] | None


def score_mixed_teams(together: np.ndarray, teams: np.ndarray, seed: int) -> MixedTeamScore:
    """together: float64 [deals, mixed seatings], the scores of tables at which both sit; teams: float64 [deals, 2],
    those of the two teams."""
    scores = together.mean(axis=1)
    lost = np.round(scores - teams.mean(axis=1), _DECIMALS) + 0.0
    return MixedTeamScore(float(scores.mean()), interval(scores, seed), float(lost.mean()), interval(lost, seed))


def p_value(deals: np.ndarray) -> float:
    """Two-sided p of the Wilcoxon signed-rank test on float64 [deals]; 1 where all differences are zero."""
    if not np.any(deals):
        return 1.0
    found: Any = stats.wilcoxon(deals)
    return float(found.pvalue)


def interval(deals: np.ndarray, seed: int) -> tuple[float, float] | None:
    """95% bootstrap interval of the mean of float64 [deals]; None for one deal, a point where all agree.

    Bias-corrected and accelerated (Efron 1987), the percentile interval where that is degenerate."""
    if len(deals) < 2:
        return None
    if np.ptp(deals) == 0:
        return float(deals[0]), float(deals[0])
    batch = max(1, 4_000_000 // len(deals))  # float64 numbers held at a time
    for method in ("BCa", "percentile"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # checked below
            found = stats.bootstrap(
                (deals,),
                np.mean,
                n_resamples=_RESAMPLES,
                method=method,
                batch=batch,
                rng=np.random.default_rng(seed),
            ).confidence_interval
        if math.isfinite(found.low) and math.isfinite(found.high):
            break
    return float(found.low), float(found.high)


def deals_to_resolve(deals: np.ndarray) -> int | None:
    """How many deals give a 95% interval clear of 0 with 80% power, if float64 [deals] shows the true mean
    and spread; None where the mean is 0 or there is only one deal.

    n = ((z_0.975 + z_0.8) sd / mean)^2, the normal approximation."""
    mean = float(deals.mean())
    if len(deals) < 2 or mean == 0:
        return None
    return max(2, math.ceil((_QUANTILES * float(deals.std(ddof=1)) / mean) ** 2))


def extrapolate(row: Row, target: float) -> float | None:
    """The difference in a game of hands that ends when somebody has `target` points: target x difference /
    the larger mean (GO-MCTS paper, section 6.1); None unless that mean is positive."""
    larger = max(row.a, row.b)
    return target * row.difference / larger if larger > 0 else None
