"""Numbers of a tournament's charts, which the figures of the report and the page of the run draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trickformer.tournaments.conclusion import labels

if TYPE_CHECKING:
    from trickformer.tournaments.results import TournamentResults

_MOST_BINS, _FEWEST_BINS = 40, 8


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95% interval.

    Attributes:
        label: What the value belongs to, such as a seating or a player.
        value: The value.
        ci95: Ends of the interval; None if the deals allow none.
    """

    label: str
    value: float
    ci95: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class IntervalChart:
    """Values with their intervals on one axis, from top to bottom, with a line at 0.

    Attributes:
        title: Title.
        axis: Quantity, then unit and better direction.
        rows: The values.
    """

    title: str
    axis: tuple[str, str]
    rows: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Distribution of the differences of the deals.

    Attributes:
        title: Title.
        axis: Quantity, then unit and better direction.
        edges: Ends of the bins, one more than there are bins.
        counts: Number of deals in each bin.
        mean: Mean of the differences.
    """

    title: str
    axis: tuple[str, str]
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    mean: float


def charts(results: TournamentResults) -> tuple[IntervalChart, IntervalChart | Histogram]:
    """Compute the charts of a tournament.

    Args:
        results: Results of the tournament.

    Returns:
        For a match of two players the differences by seating, and the histogram of the deals' differences. For more
        players the ratings, and the difference of each pair.
    """
    result = results.result()
    if "rows" in result:
        return _match_chart(result), _histogram(result, results.rows[results.pairs[0]][0].deals)
    return _ratings_chart(result), _pairs_chart(result)


def _match_chart(result: dict[str, Any]) -> IntervalChart:
    names = ["mean over seats" if label == "Seats" else label for label in result["rows"]]
    rows = [_estimate(name, row["difference"], row["ci95"]) for name, row in zip(names, result["rows"].values())]
    return IntervalChart(
        title="A − B" if result.get("teams") else "A − B by seating",
        axis=_axis(result, "A − B", "A"),
        rows=tuple(rows),
    )


def _ratings_chart(result: dict[str, Any]) -> IntervalChart:
    names, sign = labels(result), 1 if result["higher_is_better"] else -1
    rows = []
    for r in result["ratings"]:
        ends = [None if end is None else sign * end for end in r["ci95"]]
        rows.append(_estimate(names[r["player"]], sign * r["rating"], ends[::sign]))
    return IntervalChart("Rating", _axis(result, "score minus the mean of all players", None), tuple(rows))


def _pairs_chart(result: dict[str, Any]) -> IntervalChart:
    names, rows = labels(result), []
    for match in result["matches"]:
        row, pair = match["rows"]["All"], " − ".join(names[i] for i in match["players"])
        rows.append(_estimate(pair, row["difference"], row["ci95"]))
    return IntervalChart("Pairs", _axis(result, "difference in score", "the first"), tuple(rows))


def _histogram(result: dict[str, Any], deals: np.ndarray) -> Histogram:
    mean = float(deals.mean())
    if np.ptp(deals) == 0:
        edges, counts = np.array([deals[0] - 0.25, deals[0] + 0.25]), np.array([len(deals)])
    else:
        bins = min(_MOST_BINS, max(_FEWEST_BINS, round(2 * len(deals) ** 0.5)))
        counts, edges = np.histogram(deals, bins=bins)
    return Histogram(
        title="One deal" if len(deals) == 1 else f"{len(deals):,} deals; the red line is their mean, {mean:+.2f}",
        axis=_axis(result, "A − B, mean over the deal's seatings", "A"),
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
        mean=mean,
    )


def _estimate(label: str, value: float, ci95: Sequence[float | None]) -> Estimate:
    low, high = ci95
    return Estimate(label, value, None if low is None or high is None else (low, high))


def _axis(result: dict[str, Any], quantity: str, player: str | None) -> tuple[str, str]:
    """Label an axis by its quantity, and by its unit and the better direction."""
    side = "right" if result["higher_is_better"] else "left"
    better = f"{side} is better" if player is None else f"{side} of 0: {player} is better"
    return quantity, f"{result['unit']} ({better})"
