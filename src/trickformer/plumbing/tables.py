"""Format of numbers and names in the tables of reports."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from trickformer.base import MeanOfGames
from trickformer.plumbing.terminal import printable

SAW_STATE = "SAW THE TRUE STATE, hidden cards included"  # caveat of a player with `needs_state`


def mean_and_error(
    values: Sequence[float] | np.ndarray, samples: Sequence[int] | np.ndarray | None = None
) -> dict[str, float | None]:
    """Compute a mean and its standard error.

    Values of the same sample may depend on each other. The mean is then a ratio of two sums over samples: of the values
    and of their number. The error is the first-order error of this ratio (Cochran, Sampling Techniques, 1977, 6.3).

    Args:
        values: The values, [n].
        samples: Sample of each value, int [n]; by default each value is a sample.

    Returns:
        `mean` and `se`. They are None if the values or the samples are too few.
    """
    x = np.asarray(values, dtype=np.float64)
    if not len(x):
        return {"mean": None, "se": None}
    mean = float(x.mean())
    deviations = x - mean
    if samples is not None:  # sum them by sample
        deviations = np.bincount(np.unique(samples, return_inverse=True)[1], weights=deviations)
    n = len(deviations)
    return {"mean": mean, "se": float(np.sqrt((deviations**2).sum() * n / (n - 1)) / len(x)) if n > 1 else None}


def mean_of_games(results: Sequence[float]) -> MeanOfGames | None:
    """Average independent games.

    Args:
        results: Score of each game; 1 or 0 if games are won or lost.

    Returns:
        The mean, its standard error and the number of games; None without a game.
    """
    x = np.asarray(results, dtype=np.float64)
    if not len(x):
        return None
    return {"mean": float(x.mean()), "se": mean_and_error(x)["se"], "games": len(x)}


def plus_minus(x: dict[str, float | None], signed: bool = False, digits: int = 3) -> str:
    """Format a mean with its standard error.

    Args:
        x: Result of `mean_and_error`.
        signed: Whether positive means have a sign, too.
        digits: Number of decimals.
    """
    mean, error = x["mean"], x["se"]
    text = "-" if mean is None else f"{mean:{'+' if signed else ''}.{digits}f}"
    return text if error is None else f"{text} ± {error:.{digits}f}"


def format_difference(x: float | None, digits: int = 2) -> str:
    """Format a difference with its sign, never as -0.00; empty for None and NaN.

    Args:
        x: The difference.
        digits: Number of decimals.
    """
    return "" if x is None or np.isnan(x) else f"{round(x, digits) + 0.0:+.{digits}f}"


def format_interval(low: float | None, high: float | None) -> str:
    """Format an interval of a difference; empty if it has none.

    Args:
        low: Lower end.
        high: Upper end.
    """
    return "" if low is None or high is None else f"[{format_difference(low)}, {format_difference(high)}]"


def p_value(p: float) -> str:
    """Format a p value with three decimals.

    Args:
        p: The p value.
    """
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def seconds(s: float) -> str:
    """Format a time in s, ms or µs, whichever suits it.

    Args:
        s: Time in seconds.
    """
    for scale, unit in ((1, "s"), (1e3, "ms")):
        if s * scale >= 1:
            return f"{s * scale:.3g} {unit}"
    return f"{s * 1e6:.3g} µs"


def break_name(name: str, width: int) -> str:
    """Break a long name, such as a spec, into lines.

    Args:
        name: The name.
        width: Largest number of letters in a line. Lines end after a colon, a comma, a slash or a space if possible.
    """
    lines = [""]
    for piece in re.split(r"(?<=[:,/ ])", printable(name)):
        while piece:
            room = width - len(lines[-1])
            if len(piece.rstrip()) <= room or (not lines[-1] and len(piece) <= width):
                lines[-1] += piece
                break
            if lines[-1]:
                lines.append("")
                continue
            lines[-1], piece = piece[:width], piece[width:]
    return "\n".join(line.rstrip() for line in lines)
