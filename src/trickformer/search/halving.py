"""Sequential halving over actions that are compared in the same worlds.

The algorithm is by Karnin, Koren & Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", 2013. Here one action
can be an anchor: it is never eliminated, and it is chosen unless another action is significantly better.
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
        guesses: Initial estimate of each action's value. If `runs` is too small to try all actions, those with the
            lowest estimates are left out.
        anchor: Index of the action that stays in every round; None: there is no anchor.
        runs: Total number of games.
        play: Maps indices of actions and a number of games to results, [actions, games]. The n-th game of every action
            is in the same world.
        margin: The anchor is chosen unless the best action's mean advantage over it, in the same worlds, is larger than
            this number of standard errors.

    Returns:
        Index of the chosen action.
    """
    order, runs_left = sorted(range(len(guesses)), key=lambda i: (i != anchor, -guesses[i])), runs
    results: list[list[float]] = [[] for _ in guesses]

    def rank(i: int) -> tuple[float, bool]:
        return -float(np.mean(results[i])), i != anchor

    while sum(_round_sizes(len(order))) > runs_left:  # each action needs one game in each of its rounds
        order.pop()
    sizes = list(_round_sizes(len(order)))
    for number, size in enumerate(sizes):
        actions = order[:size]
        if anchor is not None and anchor not in actions:
            actions[-1] = anchor
        games = max(1, runs_left // ((len(sizes) - number) * size))  # the remaining rounds share the remaining runs
        for action, new_results in zip(actions, play(actions, games), strict=True):
            results[action] += new_results
        runs_left -= games * size
        order = sorted(actions, key=rank)
    best = order[0]
    return best if anchor is None or _is_better(results[best], results[anchor], margin) else anchor


def _is_better(results: Sequence[float], reference: Sequence[float], margin: float) -> bool:
    """Return whether the mean paired difference is larger than `margin` standard errors."""
    differences = np.subtract(results, reference)
    if len(differences) < 2:
        return False
    return differences.mean() > margin * differences.std(ddof=1) / math.sqrt(len(differences))


def _round_sizes(actions: int) -> Iterator[int]:
    """Yield the number of actions in each round: `actions`, half of it, and so on down to 2."""
    while actions > 1:
        yield actions
        actions = (actions + 1) // 2
