"""The picture of a tournament: differences with their intervals, and how deals spread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trickformer.plumbing.figures import plt, save
from trickformer.plumbing.terminal import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trickformer.tournaments.results import TournamentResults

_BLUE, _GREY, _RED = "#2b6cb0", "#718096", "#c05621"
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
    """Write the picture as PNG. Raises TrickformerError if the disk refuses."""
    save(draw(results), path)


def draw(results: TournamentResults) -> Figure:
    """Draw a tournament: for a match its rows and the histogram of the deals' differences, for a round robin the
    ratings and every pair."""
    result = results.result()
    with plt.rc_context(_STYLE):
        two = "rows" in result
        height = 3.6 if two else 2.0 + 0.32 * max(4, len(result["matches"]))
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, height), layout="constrained")
        if two:
            rows = result["rows"]
            _intervals(left, list(rows), list(rows.values()), "difference")
            left.set_title("A − B" if result.get("teams") else "A − B by seating")
            left.set_xlabel(_unit(result, "difference in score a hand"))
            _histogram(right, results.rows[results.pairs[0]][0].deals)
            figure.suptitle(f"A: {_short(result['a'])}    B: {_short(result['b'])}", fontsize=10.5)
        else:
            ratings = result["ratings"]
            _intervals(left, [_short(r["spec"], 34) for r in ratings], ratings, "rating")
            left.set_title("Rating")
            left.set_xlabel("points a hand better than the field (right is better)")
            matches = result["matches"]
            labels = [f"P{m['players'][0] + 1} − P{m['players'][1] + 1}" for m in matches]
            _intervals(right, labels, [m["rows"]["All"] for m in matches], "difference")
            right.set_title("Pairs")
            right.set_xlabel(_unit(result, "difference in score a hand"))
            names = "   ".join(f"P{i + 1}: {_short(s, 30)}" for i, s in enumerate(result["players"]))
            figure.suptitle(names, fontsize=9, wrap=True)
    return figure


def _intervals(axes: Any, labels: list[str], rows: list[dict[str, Any]], key: str) -> None:
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
    axes.set_yticks(y, labels)
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
    axes.axvline(mean, color=_RED, linewidth=1.8, label=f"mean {mean:+.2f}")
    axes.legend(frameon=False, loc="upper right")
    axes.set_title(f"The {len(deals):,} deals, one sample each")
    axes.set_xlabel("A − B, mean over the deal's seatings")
    axes.set_ylabel("deals")


def _unit(result: dict[str, Any], what: str) -> str:
    side = "right" if result["higher_is_better"] else "left"
    return f"{what} ({side} of 0: the first is better)"


def _short(spec: str, length: int = 60) -> str:
    spec = printable(" ".join(spec.split()))
    return spec if len(spec) <= length else spec[: length - 1] + "…"
