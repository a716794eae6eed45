"""Curves of a training, which the figure of the report and the page of the run draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trickformer.selfplay.results import OPPONENTS, TrainingResults

LOSSES = (("policy_loss", "policy"), ("value_loss", "value"), ("action_loss", "action values"))
_UNITS = {"policy_loss": "nats a token", "value_loss": "nats a token", "action_loss": "squares of v(o)"}
_HELD_OUT = (("legal_share", "Probability of legal actions"), ("regret", "Regret, in units of v(o)"))
_SUCCESS = (("greedy_points", "seats that play ArgmaxVal*"), ("other_points", "other seats"))
_MOST_POINTS = 500  # largest number of points of a curve

# Place on the x axis, value, and the ends of the 95% interval; None for a value that is not finite, or no interval.
Point = tuple[float, float | None, float | None, float | None]


@dataclass(frozen=True, slots=True)
class TrainingCurve:
    """Values by training step or by iteration.

    Attributes:
        label: Name of the curve.
        points: Its points.
    """

    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class CurveChart:
    """Curves with common axes.

    Attributes:
        title: Title.
        axis: Name of the x axis, in one or two lines.
        curves: The curves, each with at least one point.
        marks: Places on the x axis where an iteration ends.
        zero: Whether the y axis shows 0.
    """

    title: str
    axis: tuple[str, ...]
    curves: tuple[TrainingCurve, ...]
    marks: tuple[int, ...] = ()
    zero: bool = False


def charts(results: TrainingResults) -> list[CurveChart]:
    """Compute the charts of a training: losses, success in self-play, held-out hands and matches.

    Args:
        results: Results of the training.

    Returns:
        The charts that have a point.
    """
    drawn = [*_loss_charts(results), _success_chart(results), *_held_out_charts(results), _match_chart(results)]
    with_points = [CurveChart(c.title, c.axis, tuple(filter(_has_value, c.curves)), c.marks, c.zero) for c in drawn]
    return [chart for chart in with_points if chart.curves]


def losses(results: TrainingResults, key: str) -> list[list[tuple[int, float]]]:
    """Return the training steps and the values of a loss, for each iteration.

    Args:
        results: Results of the training.
        key: Name of the loss in the log.

    Returns:
        Points (steps of the run so far, loss) of each iteration.
    """
    starts = [0, *iteration_ends(results)]
    return [
        [(start + e["at"], e[key]) for e in results.stage_entries("learn", i) if _is_number(e.get(key))]
        for i, start in enumerate(starts)
    ]


def iteration_ends(results: TrainingResults) -> list[int]:
    """Return the number of training steps up to the end of each iteration except the last.

    Args:
        results: Results of the training.
    """
    ends, steps = [], 0
    for i in range(results.config.iterations):
        entries = results.stage_entries("learn", i)
        steps += entries[-1].get("steps", 0) if entries else 0
        ends.append(steps)
    return ends


def _loss_charts(results: TrainingResults) -> list[CurveChart]:
    last = max((e["iteration"] for e in results.entries if e.get("stage") == "learn"), default=0)
    marks = tuple(iteration_ends(results)[:last])
    return [
        CurveChart(
            title=f"Training loss: {name}, in {_UNITS[key]}",
            axis=("training steps (lines: a new iteration)",),
            curves=(TrainingCurve(name, _thin([point for points in losses(results, key) for point in points])),),
            marks=marks,
        )
        for key, name in LOSSES
    ]


def _success_chart(results: TrainingResults) -> CurveChart:
    """Chart the mean score in the hands that each iteration learns from. Models of earlier iterations play them."""
    curves = []
    for key, label in _SUCCESS:
        by_iteration = [
            (i, [e[key] for e in results.stage_entries("play", i) if _is_number(e.get(key))])
            for i in range(results.config.iterations + 1)
        ]
        points = [_point(i, sum(values) / len(values)) for i, values in by_iteration if values]
        curves.append(TrainingCurve(label, tuple(points)))
    better = "higher" if results.game.higher_is_better else "lower"
    title = f"Success in self-play: mean score a hand, {better} is better"
    return CurveChart(title, ("iteration that learns from the hands",), tuple(curves))


def _held_out_charts(results: TrainingResults) -> list[CurveChart]:
    measured = [(i, results.stage_entries("measure", i)) for i in range(results.config.iterations + 1)]
    return [
        CurveChart(
            title=f"{title}, held-out hands",
            axis=("iteration",),
            curves=(TrainingCurve(title, tuple(_points_of(measured, key))),),
            zero=True,
        )
        for key, title in _HELD_OUT
    ]


def _points_of(measured: Iterable[tuple[int, Sequence[dict[str, object]]]], key: str) -> Iterable[Point]:
    for i, entries in measured:
        value = entries[-1].get(key) if entries else None
        if isinstance(value, int | float) and _is_number(value):
            yield _point(i, value)


def _match_chart(results: TrainingResults) -> CurveChart:
    names = {"previous": "the previous iteration", "baseline": results.config.baseline}
    curves = [
        TrainingCurve(
            f"against {names[opponent]}",
            tuple(
                _point(e["iteration"], e["difference"], e["low"], e["high"])
                for e in results.matches
                if e["opponent"] == opponent
            ),
        )
        for opponent in OPPONENTS
    ]
    better = "above" if results.game.higher_is_better else "below"
    title = f"Matches: {results.game.score_unit}, the model is better {better} 0"
    return CurveChart(title, ("iteration (thick: 95% interval)",), tuple(curves), zero=True)


def _thin(points: Sequence[tuple[int, float]]) -> tuple[Point, ...]:
    """Replace pieces of a long curve by their means, so that at most _MOST_POINTS points remain."""
    size = -(-len(points) // _MOST_POINTS)
    pieces = [points[first : first + size] for first in range(0, len(points), max(1, size))]
    return tuple(_point(piece[-1][0], sum(value for _, value in piece) / len(piece)) for piece in pieces)


def _point(at: int, value: float, low: float | None = None, high: float | None = None) -> Point:
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        low = high = None
    return at, value if math.isfinite(value) else None, low, high


def _has_value(curve: TrainingCurve) -> bool:
    return any(value is not None for _, value, _, _ in curve.points)


def _is_number(value: object) -> bool:
    """Return whether a field of a log, which may come from an untrusted source, is a number."""
    return type(value) in (int, float)
