"""A race that compares a blueprint's choice with other candidates in the same worlds, and drops inferior ones early."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

_WAVE = 50  # number of worlds played between two eliminations
_ERRORS = 3.0  # half-width of the confidence bounds that decide an elimination, in standard errors


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
    """Choose the candidate with the best mean score if it beats the first candidate by more than a threshold.

    Args:
        worlds: Number of worlds.
        candidates: The candidates, the blueprint's first.
        play: Maps a slice of the worlds and some candidates to scores, [rows, candidates].
        threshold: Difference of the means that the first candidate's replacement must exceed, in points.
        ucb: Whether to drop candidates whose upper confidence bound is too low.
        target: For a caller who only asks whether this candidate wins: the race ends once it is dropped, and the result
            is then any other candidate. None: the race finds the winner.
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
            racing = _drop_inferior(scores[: rows.stop, columns], racing, threshold)
        if len(racing) == 1 or (target is not None and target not in racing):
            break
    n = min(tried[candidate] for candidate in racing)
    means = scores[:n, [column[candidate] for candidate in racing]].mean(axis=0)
    best = int(means.argmax())
    if means[best] - means[0] <= threshold:
        best = 0
    all_means = {candidate: float(scores[: tried[candidate], i].mean()) for candidate, i in column.items()}
    return RaceResult(racing[best], float(means[best]), float(means[best] - means[0]), tried, all_means)


def _drop_inferior(scores: np.ndarray, candidates: list[int], threshold: float) -> list[int]:
    """Keep the first candidate, the blueprint's, and those that may still win.

    A candidate may win if its gain over the blueprint's can still be the largest and reach the threshold.
    1 / n is added to the upper bounds because the estimated error is too small, even 0, in few worlds.
    """
    n = len(scores)
    gain = scores - scores[:, :1]
    mean, error = gain.mean(axis=0), gain.std(axis=0) / np.sqrt(n)
    floor = max(threshold, float((mean - _ERRORS * error).max()))
    return [c for i, c in enumerate(candidates) if i == 0 or mean[i] + _ERRORS * error[i] + 1 / n >= floor]
