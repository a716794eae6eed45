"""Picture of a review: the course of the hand for each seat, and the greatest mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trickformer.plumbing.figures import STYLE, add_legend, drawing, save
from trickformer.review.result import Review
from trickformer.review.text import name_seats

_LABEL = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
_TITLE = "Value of the best action before each decision; last point: result"
_MAX_LABELS = 5  # number of mistakes that get a label


def plot(review: Review, path: Path) -> None:
    """Write a PNG with the values over the decisions, the result and the greatest mistakes of each seat or team.

    Args:
        review: Review to draw.
        path: New PNG file.

    Raises:
        TrickformerError: The file cannot be written.
    """
    with drawing(figsize=(9, 4.2), style=STYLE) as (figure, axes):
        last = max((rating.number for rating in review.ratings), default=0) + 1
        colours: dict[int, Any] = {}  # of the line of each seat
        for curve in review.curves:
            numbers = [point.number for point in curve.points]
            values = [point.value for point in curve.points]
            if curve.result is not None:
                numbers, values = [*numbers, last], [*values, curve.result]
            (line,) = axes.plot(numbers, values, marker=".", linewidth=1.4, label=name_seats(curve))
            colours |= dict.fromkeys(curve.seats, line.get_color())
        for rating in review.mistakes[:_MAX_LABELS]:
            if rating.best is None or rating.best.value is None:
                continue
            axes.annotate(
                f"{rating.words}, not {rating.best.words}",
                (rating.number, rating.best.value),
                xytext=(4, 9),
                textcoords="offset points",
                fontsize=8,
                color=colours.get(rating.seat),
                bbox=_LABEL,
            )
        axes.axhline(0, color="#718096", linewidth=0.8, linestyle=(0, (4, 3)))
        axes.set_xlabel("decision")
        axes.set_ylabel(f"value in {review.unit}")
        axes.set_title(f"{_TITLE}\nReview by {review.analyst}", loc="left", fontsize=10.5, wrap=True)
        if review.curves:
            add_legend(figure, axes)
        save(figure, path)
