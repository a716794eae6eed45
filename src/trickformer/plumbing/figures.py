"""Figures of reports, drawn without a display."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from trickformer.plumbing.files import whole
from trickformer.plumbing.tables import break_name

# Settings of most figures: small letters, and lines on the left and below only.
STYLE: dict[Any, Any] = {"font.size": 9.5, "axes.spines.top": False, "axes.spines.right": False}

_LETTER_WIDTH = 0.6  # mean width of a letter divided by the font size
_LEGEND_FONT = 8.5  # points


@contextmanager
def drawing(
    rows: int = 1, columns: int = 1, style: dict[Any, Any] | None = None, **options: Any
) -> Generator[tuple[Figure, Any]]:
    """Yield a new figure and its axes. Inside, only matplotlib's defaults and the given settings hold.

    A matplotlibrc in the current folder, which may be a stranger's, has no effect. The caller's settings and backend
    stay as they are, because pyplot is not used.

    Args:
        rows: Rows of axes.
        columns: Columns of axes.
        style: Settings of matplotlib (rcParams).
        options: Options of `matplotlib.pyplot.subplots`, such as `figsize` in inches.

    Yields:
        The figure, with the constrained layout, and its axes: one, or an array if there are several.
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams["text.parse_math"] = False  # names and paths may hold dollar signs
        matplotlib.rcParams.update(style or {})
        figure = Figure(figsize=options.pop("figsize", None), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure, figure.subplots(rows, columns, **options)


def add_legend(figure: Any, axes: Any, title: str | None = None) -> None:
    """Add the legend of axes below a figure, which must have the constrained layout.

    Labels are broken into lines, and the entries fill as many columns as fit. The figure grows by the height of the
    legend.

    Args:
        figure: The figure.
        axes: Axes with labelled artists. Without any, there is no legend.
        title: Title of the legend.
    """
    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    # Letters in the width of the figure, at 72 points an inch, less the space of a handle.
    letters = int(figure.get_figwidth() * 72 / (_LEGEND_FONT * _LETTER_WIDTH)) - 8
    labels = [break_name(label, letters) for label in labels]
    style: dict[str, Any] = {"loc": "outside lower center", "frameon": False, "fontsize": _LEGEND_FONT, "title": title}
    for columns in range(len(labels), 0, -1):
        legend = figure.legend(handles, labels, ncols=columns, **style)
        box = legend.get_window_extent(figure.canvas.get_renderer())
        if columns == 1 or box.width <= 0.98 * figure.bbox.width:
            figure.set_figheight(figure.get_figheight() + box.height / figure.dpi)
            return
        legend.remove()


def save(figure: Any, path: Path) -> None:
    """Write a figure as PNG, whole or not at all. Call it inside `drawing`, so that its settings hold.

    Args:
        figure: Figure of matplotlib.
        path: File to write.

    Raises:
        TrickformerError: The file cannot be written.
    """
    with whole(path) as draft:
        figure.savefig(draft, dpi=150, format="png", metadata={"Software": None})
