"""Measurements, most against a baseline of the same run: `python -m benchmarks.NAME [--quick] [--json]`."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One figure and its baseline."""

    row: str  # name of the row
    ours: float
    baseline: float | None  # None: there is no baseline
    unit: str
    spread: float | None = None  # (largest - smallest) / median over repeats of ours: the machine's noise

    @property
    def ratio(self) -> float | None:
        """ours / baseline; None without a baseline."""
        return self.ours / self.baseline if self.baseline else None


def emit(rows: Sequence[Row], as_json: bool) -> None:
    """Print rows as a table or as JSON.

    Args:
        rows: The rows.
        as_json: Whether to print one object on each line, with the keys row, ours, baseline, ratio, unit and spread.
    """
    if as_json:
        for r in rows:
            fields = {"row": r.row, "ours": r.ours, "baseline": r.baseline, "ratio": r.ratio, "unit": r.unit}
            print(json.dumps(fields | {"spread": r.spread}))
        return
    width = max((len(r.row) for r in rows), default=3)
    print(f"{'row':{width}} {'ours':>12} {'baseline':>12} {'ratio':>8} {'spread':>7}  unit")
    for r in rows:
        cells = [_number(r.ours, 12), _number(r.baseline, 12), _number(r.ratio, 8)]
        spread = "-" if r.spread is None else f"{r.spread:.0%}"
        print(f"{r.row:{width}} {' '.join(cells)} {spread:>7}  {r.unit}")


def measure(run: Callable[[], float], repeats: int) -> tuple[float, float]:
    """Call a function several times, after one call that does not count.

    Args:
        run: Returns one result, such as games a second.
        repeats: Number of results.

    Returns:
        The median of the results, and their spread as in `Row`.
    """
    run()
    results = [run() for _ in range(repeats)]
    median = statistics.median(results)
    return median, (max(results) - min(results)) / median


def arguments(description: str, game: Sequence[str] = ()) -> argparse.Namespace:
    """Parse the options of a benchmark.

    Args:
        description: Description on the help page.
        game: Choices of the option `--game`, the default first; empty: no such option.

    Returns:
        `quick` and `json` (bool), and `game` if there are choices.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="run smaller samples, within 45 seconds")
    parser.add_argument("--json", action="store_true", help="print one JSON object on each line")
    if game:
        parser.add_argument(
            "--game", choices=game, default=game[0], help="game of the positions (default: %(default)s)"
        )
    return parser.parse_args()


def _number(x: float | None, width: int) -> str:
    """Format a number with four significant digits, right-aligned."""
    if x is None:
        return f"{'-':>{width}}"
    return f"{x:>{width},.0f}" if abs(x) >= 1000 else f"{x:>{width}.4g}"
