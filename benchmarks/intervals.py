"""Coverage of a match's intervals, false alarms of its sequential test, and power of its Wilcoxon test, by simulation.

The differences of deals come from four distributions:

- normal.
- skewed: a gamma distribution with skewness 1.5. No match of Hearts, Skat, Hanabi or The Crew so far was more skewed.
- won or lost: A alone wins 30% of the deals, and B alone 10%.
- rare wins: A alone wins 10% of the deals, and B none.

The rows are:

- coverage: share of the 95% intervals that cover the true difference. Matches without an interval do not count.
  Baseline: Student's t.
- false alarms: share of matches in which the sequential interval misses the true difference after at least one deal.
  Baseline: Student's t after every deal.
- power: share of matches with p < 0.05 by Wilcoxon's test after the number of deals that the report requests. The
  report promises 80%. Baseline: the number of deals by the formula for Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from benchmarks import Row, arguments, emit
from trickformer.tournaments.intervals import interval
from trickformer.tournaments.power import deals_to_resolve
from trickformer.tournaments.statistics import p_value

DEALS = (2, 3, 5, 10, 20, 50)
SKEWNESS = 1.5
_SHAPE = 4 / SKEWNESS**2
_FIRST_TEST = 2  # deals that Student's t needs


class Kind(NamedTuple):
    """Distribution of the difference of a deal."""

    quantiles: Callable[[np.ndarray], np.ndarray]  # probabilities -> differences
    mean: float

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw the differences of a match of n deals."""
        return np.round(self.quantiles(rng.random(n)), 11)


def _win_or_loss(a: float, b: float) -> Kind:
    """Return the distribution if A alone wins with probability `a`, and B alone with probability `b`."""
    return Kind(lambda u: (u < a).astype(float) - (u > 1 - b), a - b)


KINDS = {
    "normal": Kind(special.ndtri, 0.0),
    "skewed": Kind(lambda u: special.gammaincinv(_SHAPE, u), _SHAPE),
    "won or lost": _win_or_loss(0.3, 0.1),
    "rare wins": _win_or_loss(0.1, 0.0),
}


def coverage(kind: Kind, deals: int, matches: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the shares of our intervals and of Student's that cover the true difference."""
    ours = student = counted = 0
    for _ in range(matches):
        sample = kind.draw(rng, deals)
        ends = interval(sample)
        if ends is None:
            continue
        counted += 1
        ours += ends[0] - 1e-9 <= kind.mean <= ends[1] + 1e-9
        student += not _student_misses(sample, kind.mean)
    return ours / counted, student / counted


def false_alarms(kind: Kind, deals: int, matches: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the shares of matches in which our interval and Student's miss the difference after some deal."""
    ours = student = 0
    for _ in range(matches):
        sample = kind.draw(rng, deals)
        looks = [sample[:n] for n in range(_FIRST_TEST, deals + 1)]
        ours += any(_sequential_misses(look, kind.mean) for look in looks)
        student += any(_student_misses(look, kind.mean) for look in looks)
    return ours / matches, student / matches


class Power(NamedTuple):
    """Power of Wilcoxon's test."""

    ours: float  # after the number of deals that the report requests
    student: float  # after the number by the formula for Student's t
    deals: int  # number of deals that the report requests


def power(kind: Kind, shift: float, matches: int, rng: np.random.Generator) -> Power:
    """Measure the power for a true difference of `shift` standard deviations."""
    every = kind.quantiles((np.arange(4000) + 0.5) / 4000)
    effect = shift * float(every.std()) - float(every.mean())
    needed = deals_to_resolve(np.round(every + effect, 11))
    assert needed is not None
    by_student = max(2, math.ceil(((special.ndtri(0.975) + special.ndtri(0.8)) / shift) ** 2))
    shares = [
        np.mean([p_value(np.round(kind.draw(rng, n) + effect, 11)) < 0.05 for _ in range(matches)])
        for n in (needed, by_student)
    ]
    return Power(float(shares[0]), float(shares[1]), needed)


def _sequential_misses(sample: np.ndarray, mean: float) -> bool:
    ends = interval(sample, sequential=True)
    return ends is not None and not ends[0] - 1e-9 <= mean <= ends[1] + 1e-9


def _student_misses(sample: np.ndarray, mean: float) -> bool:
    if np.ptp(sample) == 0:
        return False
    half = special.stdtrit(len(sample) - 1, 0.975) * sample.std(ddof=1) / math.sqrt(len(sample))
    return abs(sample.mean() - mean) > half + 1e-9


def main() -> None:
    options = arguments(__doc__ or "")
    quick = options.quick
    rng = np.random.default_rng(1)
    rows = []
    for name, kind in KINDS.items():
        for deals in DEALS:
            ours, student = coverage(kind, deals, 2_000 if quick else 20_000, rng)
            rows.append(Row(f"coverage, {name}, {deals} deals", 100 * ours, 100 * student, "%"))
    deals = 150 if quick else 1_000
    for name, kind in KINDS.items():
        ours, student = false_alarms(kind, deals, 120 if quick else 1_000, rng)
        rows.append(Row(f"false alarms, {name}, after each of {deals} deals", 100 * ours, 100 * student, "%"))
    for name in ("normal", "skewed"):
        for shift in (0.3, 0.6):
            result = power(KINDS[name], shift, 500 if quick else 5_000, rng)
            label = f"power, {name}, difference {shift}, {result.deals} deals"
            rows.append(Row(label, 100 * result.ours, 100 * result.student, "%"))
    emit(rows, options.json)


if __name__ == "__main__":
    main()
