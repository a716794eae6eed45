"""Sequential halving (Karnin, Koren & Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", 2013) of actions
that are compared in the same worlds, against one that stays unless another is better."""

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
    """The action to be played. In each round all that are left have as many games; the better half goes on.

    guesses: what each action may be worth; where there are more than `runs` can try, the least are left out. anchor:
    one that is in every round, and is played unless another is better by `margin` standard errors of their differences
    in the same worlds. play(actions, games): what so many games of each bring, [actions, games]; the n-th game of every
    action is in the same world."""
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
    """Of results in the same worlds."""
    gained = np.subtract(one, other)
    if len(gained) < 2:
        return False
    return gained.mean() > margin * gained.std(ddof=1) / math.sqrt(len(gained))


def _rounds(actions: int) -> Iterator[int]:
    """How many actions each round tries; the last one two."""
    while actions > 1:
        yield actions
        actions = (actions + 1) // 2
