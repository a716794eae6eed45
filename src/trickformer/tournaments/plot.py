"""Figures of a tournament: differences with their intervals, and the distribution over deals."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import MaxNLocator

from trickformer.plumbing.figures import STYLE, drawing, save
from trickformer.plumbing.tables import break_name
from trickformer.tournaments.charts import Estimate, Histogram, IntervalChart, charts
from trickformer.tournaments.conclusion import labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from trickformer.tournaments.results import TournamentResults

_BLUE = "#2b6cb0"
_GREY = "#718096"
_RED = "#c05621"
_LABEL = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
_TITLES = {
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
    with open_figure(results) as figure:
        save(figure, path)


@contextmanager
def open_figure(results: TournamentResults) -> Generator[Figure]:
    """Yield the figure of a tournament, inside its settings.

    Args:
        results: Results of the tournament.

    Yields:
        Two panels. A match of two players has the rows and a histogram of the deals' differences. A tournament of more
        players has the ratings and the difference of every pair.
    """
    result = results.result()
    left, right = charts(results)
    two = isinstance(right, Histogram)
    names = [break_name(name, 60 if two else 26) for name in labels(result)]
    lines = max(name.count("\n") + 1 for name in names)
    height = 3.6 if two else 1.6 + max(4, len(result["matches"])) * (0.18 + 0.16 * lines)
    with drawing(1, 2, figsize=(10, height), style=STYLE | _TITLES) as (figure, panels):
        _draw_intervals(panels[0], left, 12 if two else 26)
        if isinstance(right, Histogram):
            _draw_histogram(panels[1], right)
            figure.suptitle("\n".join(names), fontsize=10.5)
        else:
            _draw_intervals(panels[1], right, 26)
        yield figure


def _draw_intervals(axes: Any, chart: IntervalChart, width: int) -> None:
    """Draw values with their intervals, the first at the top. `width` is the largest number of letters of a label."""
    heights = list(range(len(chart.rows)))[::-1]
    axes.axvline(0, color=_GREY, linewidth=1, linestyle=(0, (4, 3)))
    for at, row in zip(heights, chart.rows):
        _draw_estimate(axes, at, row)
    axes.set_yticks(heights, [_break_label(row.label, width) for row in chart.rows])
    axes.set_ylim(-0.6, len(chart.rows) - 0.25)
    axes.margins(x=0.12)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_title(chart.title)
    axes.set_xlabel("\n".join(chart.axis))


def _break_label(label: str, width: int) -> str:
    """Break a label into lines; a pair of players has a line for each."""
    return "\n".join(break_name(part, width) for part in label.replace(" − ", " −\n").split("\n"))


def _draw_estimate(axes: Any, at: int, row: Estimate) -> None:
    if row.ci95 is not None:
        axes.plot(row.ci95, [at, at], color=_BLUE, linewidth=2.2, solid_capstyle="butt")
    axes.plot(row.value, at, "o", color=_BLUE, markersize=6.5)
    axes.annotate(
        f"{row.value:+.2f}",
        (row.value, at),
        (0, 7),
        textcoords="offset points",
        ha="center",
        fontsize=9,
        bbox=_LABEL,
    )


def _draw_histogram(axes: Any, chart: Histogram) -> None:
    edges = chart.edges
    if len(chart.counts) == 1:
        axes.set_xlim(edges[0] - 2.75, edges[1] + 2.75)
    widths = [right - left for left, right in pairwise(edges)]
    axes.bar(edges[:-1], chart.counts, widths, align="edge", color=_BLUE, alpha=0.75, edgecolor="white", linewidth=0.6)
    axes.axvline(0, color=_GREY, linewidth=1, linestyle=(0, (4, 3)))
    axes.axvline(chart.mean, color=_RED, linewidth=1.8)
    axes.set_title(chart.title)
    axes.set_xlabel("\n".join(chart.axis))
    axes.set_ylabel("number of deals")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
