"""A race between a blueprint's choice and others, all in the same worlds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

_WAVE = 50  # worlds between two eliminations
_SURE = 3.0  # standard errors that decide an elimination


@dataclass(frozen=True, slots=True)
class RaceResult:
    """Winner of a race, and the scores of all candidates."""

    choice: int
    value: float  # mean score of the choice
    gain: float  # mean score of the choice minus that of the blueprint's candidate
    tried: dict[int, int]  # number of worlds in which each candidate was tried
    means: dict[int, float]  # mean score of each candidate in these worlds


def race(
    worlds: int,
    candidates: Sequence[int],
    play: Callable[[slice, list[int]], np.ndarray],
    threshold: float,
    ucb: bool,
    target: int | None = None,
) -> RaceResult:
    """Choose the candidate of the best mean score, if it beats the first candidate by more than a threshold.

    Args:
        worlds: Number of worlds.
        candidates: The candidates, the blueprint's first.
        play: Maps a slice of the worlds and candidates to scores, [rows, candidates]. All candidates are tried in the
            same worlds, so that differences are paired.
        threshold: Least difference of the means.
        ucb: Whether to stop trying candidates that are surely worse.
        target: A candidate; once it is eliminated, the race may end with any other winner. None races to the end.
    """
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
        if len(racing) == 1 or (target is not None and target not in racing):
            break
    n = min(tried[candidate] for candidate in racing)
    means = scores[:n, [column[candidate] for candidate in racing]].mean(axis=0)
    best = int(means.argmax())
    if means[best] - means[0] <= threshold:
        best = 0
    each = {candidate: float(scores[: tried[candidate], i].mean()) for candidate, i in column.items()}
    return RaceResult(racing[best], float(means[best]), float(means[best] - means[0]), tried, each)


def _not_worse(scores: np.ndarray, candidates: list[int], threshold: float) -> list[int]:
    """Select the blueprint's candidate, which comes first, and those that may still beat it and all others."""
    n = len(scores)
    gain = scores - scores[:, :1]
    mean, error = gain.mean(axis=0), gain.std(axis=0) / np.sqrt(n)
    floor = max(threshold, float((mean - _SURE * error).max()))
    return [c for i, c in enumerate(candidates) if i == 0 or mean[i] + _SURE * error[i] + 1 / n >= floor]
