"""Sequential halving with an anchor, over actions that are compared in the same worlds.

The anchor is played unless another action is better. The algorithm is by Karnin, Koren & Somekh, "Almost Optimal
Exploration in Multi-Armed Bandits", 2013.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np


def halving(
    guesses: Sequence[float],
    anchor: int | None,
    runs: int,
    play: Callable[[list[int], int], Sequence[Sequence[float]]],
    margin: float,
) -> int:
    """Choose an action by sequential halving.

    In each round all remaining actions play equally many games, and the better half remains.

    Args:
        guesses: Initial estimate of each action. If `runs` cannot try all of them, the lowest are left out.
        anchor: Index of an action that is in every round. It is played unless another is better by `margin` standard
            errors of the differences in the same worlds.
        runs: Number of games.
        play: Maps actions and a number of games to results, [actions, games]. The n-th game of every action is in the
            same world.
        margin: Number of standard errors.

    Returns:
        Index of the action.
    """
    order, left = sorted(range(len(guesses)), key=lambda i: (i != anchor, -guesses[i])), runs
    results: list[list[float]] = [[] for _ in guesses]

    def rank(i: int) -> tuple[float, bool]:
        return -float(np.mean(results[i])), i != anchor

    while sum(_rounds(len(order))) > left:
        order.pop()
    sizes = list(_rounds(len(order)))
    for number, size in enumerate(sizes):
        kept = order[:size]
        if anchor is not None and anchor not in kept:
            kept[-1] = anchor
        games = max(1, left // ((len(sizes) - number) * size))
        for action, brought in zip(kept, play(kept, games), strict=True):
            results[action] += brought
        left -= games * size
        order = sorted(kept, key=rank)
    best = order[0]
    return best if anchor is None or _is_better(results[best], results[anchor], margin) else anchor


def _is_better(one: Sequence[float], other: Sequence[float], margin: float) -> bool:
    """Return whether results are better than others in the same worlds by `margin` standard errors."""
    gained = np.subtract(one, other)
    if len(gained) < 2:
        return False
    return gained.mean() > margin * gained.std(ddof=1) / math.sqrt(len(gained))


def _rounds(actions: int) -> Iterator[int]:
    """Yield the number of actions in each round; the last one is 2."""
    while actions > 1:
        yield actions
        actions = (actions + 1) // 2
