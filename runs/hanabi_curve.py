"""Print and draw the scores of searches in Hanabi by the time of a turn: runs/hanabi-curve.sh.

Usage: `python runs/hanabi_curve.py RUN ...`. Each RUN is the folder of a tournament of a search against
`partner:style=smart`. The figure is out/results/hanabi-curve.png.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from trickformer.plumbing.figures import drawing, save


class Point(NamedTuple):
    """A setting of a search."""

    seconds: float  # time of a turn
    mean: float  # points more than the script smart
    interval: list[float]  # ends of the 95% CI of `mean`


curves = defaultdict[str, list[Point]](list)
for run in sys.argv[1:]:
    result = json.loads(Path(run, "result.json").read_text())
    row, seconds = result["rows"]["All"], result["seconds_per_turn"]["a"]
    curves[result["a"].partition(":")[0]].append(Point(seconds, row["difference"], row["ci95"]))
    interval = f"[{row['ci95'][0]:+.2f}, {row['ci95'][1]:+.2f}]"
    print(f"{result['a']}: {row['a']:.2f}, {row['difference']:+.2f} {interval}, {1000 * seconds:.1f} ms a turn")

with drawing(figsize=(6.4, 4)) as (figure, axes):
    for name, points in curves.items():
        points.sort()
        times, means = [point.seconds for point in points], [point.mean for point in points]
        errors = [[abs(point.mean - point.interval[end]) for point in points] for end in (0, 1)]
        axes.errorbar(times, means, errors, label=name, marker="o", capsize=3)
    axes.set(
        xscale="log",
        xlim=(0.01, 1),
        xlabel="seconds a turn of the team",
        ylabel="points more than the script smart, 95% CI",
    )
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.legend(frameon=False)
    save(figure, Path("out/results/hanabi-curve.png"))
