"""A race between a blueprint's choice and others, all in the same worlds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

_WAVE = 50  # worlds between two looks at which are worse
_SURE = 3.0  # standard errors


@dataclass(frozen=True, slots=True)
class RaceResult:
    """Who won."""

    choice: int
    value: float  # its mean score
    gain: float  # by how much this is more than the blueprint's
    tried: dict[int, int]  # by candidate, worlds that it was tried in
    means: dict[int, float]  # by candidate, its mean score there


def race(
    worlds: int,
    candidates: Sequence[int],
    play: Callable[[slice, list[int]], np.ndarray],
    threshold: float,
    ucb: bool,
    asked: int | None = None,
) -> RaceResult:
    """The candidate of the best mean, if that is more than the first's, the blueprint's, by more than the threshold.

    play(rows, candidates): scores [len(rows), len(candidates)] in some of the worlds, which are the same for all, so
    that differences are paired. ucb: one that is surely worse is not tried to the end. asked: a candidate of which it
    is to be known only whether it wins; once it is out, the race may end with any other as its winner."""
    racing = list(candidates)
    scores = np.zeros((worlds, len(racing)))
    tried = dict.fromkeys(racing, 0)
    column = {candidate: i for i, candidate in enumerate(racing)}
    for first in range(0, worlds, _WAVE):
        rows = slice(first, min(first + _WAVE, worlds))
        columns = [column[candidate] for candidate in racing]
        scores[rows, columns] = play(rows, racing)
        for candidate in racing:
            tried[candidate] = rows.stop
        if ucb:
            racing = _not_worse(scores[: rows.stop, columns], racing, threshold)
        if len(racing) == 1 or (asked is not None and asked not in racing):
            break
    n = min(tried[candidate] for candidate in racing)
    means = scores[:n, [column[candidate] for candidate in racing]].mean(axis=0)
    best = int(means.argmax())
    if means[best] - means[0] <= threshold:
        best = 0
    each = {candidate: float(scores[: tried[candidate], i].mean()) for candidate, i in column.items()}
    return RaceResult(racing[best], float(means[best]), float(means[best] - means[0]), tried, each)


def _not_worse(scores: np.ndarray, candidates: list[int], threshold: float) -> list[int]:
    """The blueprint's, which comes first, and those that may still be better than it and than all others."""
    n = len(scores)
    gain = scores - scores[:, :1]
    mean, error = gain.mean(axis=0), gain.std(axis=0) / np.sqrt(n)
    floor = max(threshold, float((mean - _SURE * error).max()))
    return [c for i, c in enumerate(candidates) if i == 0 or mean[i] + _SURE * error[i] + 1 / n >= floor]
