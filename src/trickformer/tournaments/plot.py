"""Figures of a tournament: differences with their intervals, and the distribution over deals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from trickformer.plumbing.figures import plt, save
from trickformer.plumbing.tables import break_name
from trickformer.tournaments.conclusion import labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trickformer.tournaments.results import TournamentResults

_BLUE = "#2b6cb0"
_GREY = "#718096"
_RED = "#c05621"
_LABEL = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
_STYLE: Any = {
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
}


def plot(results: TournamentResults, path: Path) -> None:
    """Write the figure of a tournament as PNG.

    Args:
        results: Results of the tournament.
        path: File to write.

    Raises:
        TrickformerError: The file cannot be written.
    """
    save(draw(results), path)


def draw(results: TournamentResults) -> Figure:
    """Draw a tournament.

    Args:
        results: Results of the tournament.

    Returns:
        Two panels. A match of two players has the rows and a histogram of the deals' differences. A tournament of more
        players has the ratings and the difference of every pair.
    """
    result = results.result()
    with plt.rc_context(_STYLE):
        two = "rows" in result
        names = [break_name(name, 60 if two else 26) for name in labels(result)]
        lines = max(name.count("\n") + 1 for name in names)
        height = 3.6 if two else 1.6 + max(4, len(result["matches"])) * (0.18 + 0.16 * lines)
        figure, panels = plt.subplots(1, 2, figsize=(10, height), layout="constrained")
        left, right = panels
        if two:
            _plot_match(left, right, result, results.rows[results.pairs[0]][0].deals)
            figure.suptitle("\n".join(names), fontsize=10.5)
        else:
            _plot_ratings(left, result, names)
            _plot_pairs(right, result, names)
    return figure


def _plot_match(left: Any, right: Any, result: dict[str, Any], deals: np.ndarray) -> None:
    rows = result["rows"]
    ticks = ["mean over\nseats" if label == "Seats" else label for label in rows]
    _intervals(left, ticks, list(rows.values()), "difference")
    left.set_title("A − B" if result.get("teams") else "A − B by seating")
    left.set_xlabel(_axis(result, "A − B", "A"))
    _histogram(right, deals)
    right.set_xlabel(_axis(result, "A − B, mean over the deal's seatings", "A"))


def _plot_ratings(axes: Any, result: dict[str, Any], names: list[str]) -> None:
    ratings, sign = result["ratings"], 1 if result["higher_is_better"] else -1
    rows = [
        {"rating": sign * r["rating"], "ci95": [None if end is None else sign * end for end in r["ci95"]]}
        for r in ratings
    ]
    _intervals(axes, [names[r["player"]] for r in ratings], rows, "rating")
    axes.set_title("Rating")
    axes.set_xlabel(_axis(result, "score minus the mean of all players", None))


def _plot_pairs(axes: Any, result: dict[str, Any], names: list[str]) -> None:
    matches = result["matches"]
    pairs = ["{} −\n{}".format(*(names[i] for i in m["players"])) for m in matches]
    _intervals(axes, pairs, [m["rows"]["All"] for m in matches], "difference")
    axes.set_title("Pairs")
    axes.set_xlabel(_axis(result, "difference in score", "the first"))


def _intervals(axes: Any, ticks: list[str], rows: list[dict[str, Any]], key: str) -> None:
    """Draw the value under `key` and the 95% interval of each row, the first row at the top."""
    y = np.arange(len(rows))[::-1]
    axes.axvline(0, color=_GREY, linewidth=1, linestyle=(0, (4, 3)))
    for at, row in zip(y, rows):
        low, high = row["ci95"]
        if low is not None:
            axes.plot([low, high], [at, at], color=_BLUE, linewidth=2.2, solid_capstyle="butt")
        axes.plot(row[key], at, "o", color=_BLUE, markersize=6.5)
        axes.annotate(
            f"{row[key]:+.2f}",
            (row[key], at),
            (0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            bbox=_LABEL,
        )
    axes.set_yticks(y, ticks)
    axes.set_ylim(-0.6, len(rows) - 0.25)
    axes.margins(x=0.12)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _histogram(axes: Any, deals: np.ndarray) -> None:
    if np.ptp(deals) == 0:
        axes.bar([deals[0]], [len(deals)], width=0.5, color=_BLUE, alpha=0.75)
        axes.set_xlim(deals[0] - 3, deals[0] + 3)
    else:
        bins = min(40, max(8, round(2 * len(deals) ** 0.5)))
        axes.hist(deals, bins=bins, color=_BLUE, alpha=0.75, edgecolor="white", linewidth=0.6)
    axes.axvline(0, color=_GREY, linewidth=1, linestyle=(0, (4, 3)))
    mean = float(deals.mean())
    axes.axvline(mean, color=_RED, linewidth=1.8)
    axes.set_title("One deal" if len(deals) == 1 else f"{len(deals):,} deals; the red line is their mean, {mean:+.2f}")
    axes.set_ylabel("number of deals")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def _axis(result: dict[str, Any], quantity: str, player: str | None) -> str:
    """Label an axis by its quantity, its unit and the better direction."""
    side = "right" if result["higher_is_better"] else "left"
    better = f"{side} is better" if player is None else f"{side} of 0: {player} is better"
    return f"{quantity}\n{result['unit']} ({better})"
