"""Statistics of a duplicate match.

One sample is a deal with all its seatings. The hands of a deal share their cards, so that only deals are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trickformer.tournaments.intervals import interval, sequential_p_value

_CHUNK = 1 << 12  # deals computed at a time
_DECIMALS = 11  # of a deal's difference: removes rounding errors, so that equal differences tie in Wilcoxon's test


@dataclass(frozen=True, slots=True)
class MatchRow:
    """Scores of A and B in all seatings, or in those in which A holds the same number of seats.

    A row corresponds to a column of Table 2 of the GO-MCTS paper.
    """

    label: str  # All, Seats, or 3A/1B for seatings with three seats of A and one of B
    a: float  # mean score of A's seats, over deals and seatings
    b: float  # mean score of B's seats
    difference: float  # A - B
    ci95: tuple[float, float] | None  # of `difference`; None: the deals allow no interval
    p: float  # p value of the hypothesis that the difference is 0
    deals: np.ndarray  # float64 [deals]: the difference in each deal


def match(
    scores: np.ndarray,
    kinds: np.ndarray,
    by_seats: bool = False,
    *,
    outcomes: np.ndarray | None = None,
    sequential: bool = False,
) -> list[MatchRow]:
    """Compute the rows of a match: `All` first, then by falling number of A's seats, then `Seats` on request.

    The difference of a seating is the mean score of A's seats minus the mean score of B's seats. `All` is the mean
    difference of the seatings. `Seats` is the mean over A's seats in all seatings minus the mean over B's. In a game
    whose seats share their scores, one player holds all seats of a seating. Then the only row is `Seats`, named `All`.

    Args:
        scores: Scores, int or float64 [deals, seatings, seats].
        kinds: Player of each seat, 0 for A and 1 for B, int [seatings, seats].
        by_seats: Whether to add the row `Seats`.
        outcomes: Scores that a hand can have, [outcomes, seats]; they bound the intervals.
        sequential: Whether intervals and p values hold at all numbers of deals at once.

    Raises:
        ValueError: There is no deal, or only some seatings have both players.
    """
    is_a = kinds == 0
    count = is_a.sum(axis=1)  # seats of A, int [seatings]
    seats = kinds.shape[1]

    def row(label: str, a: np.ndarray, b: np.ndarray, weights: np.ndarray) -> MatchRow:
        deals = _differences(a, b)
        p = sequential_p_value(deals) if sequential else p_value(deals)
        ci95 = interval(deals, largest_differences(weights, outcomes), sequential=sequential)
        return MatchRow(label, float(a.mean()), float(b.mean()), float(deals.mean()), ci95, p, deals)

    def row_by_seats(label: str) -> MatchRow:
        a, b = _means_by_seats(scores, is_a)
        return row(label, a, b, is_a / is_a.sum() - ~is_a / (~is_a).sum())

    if scores.size and _are_teams(is_a):
        return [row_by_seats("All")]
    if scores.size == 0 or np.any((count == 0) | (count == seats)):
        raise ValueError("a match needs a deal, and both players in every seating")
    a, b = _means_by_seating(scores, is_a)
    weights = is_a / count[:, None] - ~is_a / (seats - count)[:, None]
    parts = [("All", np.ones(len(kinds), dtype=bool))]
    parts += [(f"{n}A/{seats - n}B", count == n) for n in range(seats - 1, 0, -1) if np.any(count == n)]
    rows = [row(label, a[:, chosen], b[:, chosen], weights[chosen] / chosen.sum()) for label, chosen in parts]
    return [*rows, row_by_seats("Seats")] if by_seats else rows


def deal_differences(scores: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Compute the differences A - B of the row `All` of `match`, without its interval and test.

    Args:
        scores: As in `match`.
        kinds: As in `match`.

    Returns:
        The difference of each deal, float64 [deals].
    """
    is_a = kinds == 0
    a, b = (_means_by_seats if _are_teams(is_a) else _means_by_seating)(scores, is_a)
    return _differences(a, b)


def _are_teams(is_a: np.ndarray) -> bool:
    """Return whether each seating has one player in all seats, and both players occur.

    `is_a` marks A's seats, bool [seatings, seats].
    """
    return {0, is_a.shape[1]} == set(is_a.sum(axis=1).tolist())


def _means_by_seats(scores: np.ndarray, is_a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean scores of all of A's seats and of all of B's, float64 [deals]."""
    a, b = (_average(scores, mask, (1, 2)) for mask in (is_a, ~is_a))
    return a, b


def _means_by_seating(scores: np.ndarray, is_a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean scores of A's seats and of B's in each seating, float64 [deals, seatings]."""
    a, b = (_average(scores, mask, (2,)) for mask in (is_a, ~is_a))
    return a, b


def _average(scores: np.ndarray, mask: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Return means, over axes of `scores`, of the scores that `mask` selects, bool [seatings, seats].

    Deals are computed in chunks, because scores * mask takes several times the memory of the scores.
    """
    count = mask.sum(axis=tuple(axis - 1 for axis in axes))
    chunks = [scores[first : first + _CHUNK] for first in range(0, len(scores), _CHUNK)]
    return np.concatenate([(chunk * mask).sum(axis=axes) / count for chunk in chunks])


def _differences(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the difference of each deal, float64 [deals], rounded so that equal ones tie and zero is not negative."""
    differences = a - b
    return np.round(differences.mean(axis=1) if differences.ndim > 1 else differences, _DECIMALS) + 0.0


def largest_differences(weights: np.ndarray, outcomes: np.ndarray | None) -> tuple[float, float]:
    """Compute the smallest and the largest difference that a deal can have.

    Args:
        weights: Weights of the scores in the difference, float64 [seatings, seats].
        outcomes: Scores that a hand can have, [outcomes, seats]; None if they are not known.
    """
    if outcomes is None:
        return -np.inf, np.inf
    by_seating = outcomes @ weights.T
    return float(by_seating.min(axis=0).sum()), float(by_seating.max(axis=0).sum())


@dataclass(frozen=True, slots=True)
class MixedTeamScore:
    """Score of mixed tables, at which two players sit together and share a score."""

    score: float  # mean of the mixed tables
    ci95: tuple[float, float] | None  # None: the deals allow no interval
    difference: float  # `score` minus the mean of the two teams in which one player holds all seats
    difference_ci95: tuple[float, float] | None


def score_mixed_teams(
    together: np.ndarray,
    teams: np.ndarray,
    support: tuple[float, float] = (-np.inf, np.inf),
    *,
    sequential: bool = False,
) -> MixedTeamScore:
    """Compare mixed tables with the two teams in which one player holds all seats.

    Args:
        together: Scores of the mixed tables, float64 [deals, mixed seatings].
        teams: Scores of the two teams, float64 [deals, 2].
        support: Smallest and largest score of a game. They bound the intervals.
        sequential: Whether the intervals hold at every look.
    """
    scores = together.mean(axis=1)
    differences = np.round(scores - teams.mean(axis=1), _DECIMALS) + 0.0
    span = support[1] - support[0]
    return MixedTeamScore(
        score=float(scores.mean()),
        ci95=interval(scores, support, sequential=sequential),
        difference=float(differences.mean()),
        difference_ci95=interval(differences, (-span, span), sequential=sequential),
    )


def p_value(deals: np.ndarray) -> float:
    """Compute the two-sided p value of Wilcoxon's signed-rank test.

    Args:
        deals: Difference of each deal, float64 [deals].

    Returns:
        The p value; 1 if all differences are zero.
    """
    if not np.any(deals):
        return 1.0
    from scipy import stats  # takes most of a second, which a program that only plays need not wait for

    # SciPy would count the zeros when it chooses between the exact distribution and the normal approximation.
    test: Any = stats.wilcoxon(deals[deals != 0])
    return float(test.pvalue)


def extrapolate(row: MatchRow, target: float) -> float | None:
    """Scale a difference from one hand to a game that ends at a number of points (GO-MCTS paper, section 6.1).

    Args:
        row: A row of a match.
        target: Points of a player at which the game ends.

    Returns:
        target x difference / the larger mean score, in points; None if that mean is not positive.
    """
    larger = max(row.a, row.b)
    return target * row.difference / larger if larger > 0 else None
