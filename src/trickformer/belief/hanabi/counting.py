"""Exact counting: all deals that are consistent with what was seen are equally likely.

A deal fills each slot with a card that hints allow there; copies of a card count as different. The ways to fill all
slots are counted kind by kind: if c cards of a kind are left, it fills t slots in c (c - 1) ... (c - t + 1) ways. The
number of ways in which a slot holds kind k is a sum over the sets of slots that kind k may fill. Each term is the
number of ways in which the kinds before k fill a part of the other slots, times the number of ways in which the kinds
after k fill the rest. Sets of slots are bit masks.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


def counting(counts: np.ndarray, possible: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Return the probability of each kind in each slot, given the cards in the slots before it.

    Args:
        counts: float [n, K], number of cards of each kind that may be in the slots.
        possible: bool [n, S, K], the kinds that hints allow; all False for a slot without a card.
        hidden: int8 [n, S], the cards; -1 for a slot without a card.

    Returns:
        float64 [n, S, K]; zeros if no deal has the cards before the slot.
    """
    n, slots = possible.shape[:2]
    kinds = possible.shape[2]
    left = counts.astype(np.float64)
    empty = np.all(~possible, axis=2)
    belief = np.zeros((n, slots, kinds))
    for slot in range(slots):
        ways = _ways(left, possible[:, slot:], empty[:, slot:])
        total = ways.sum(axis=1, keepdims=True)
        belief[:, slot] = np.divide(ways, total, out=np.zeros_like(ways), where=total > 0)
        rows = np.flatnonzero(hidden[:, slot] >= 0)
        left[rows, hidden[rows, slot]] -= 1
    return belief


def _ways(left: np.ndarray, possible: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """Count the ways to fill all slots with kind k in the first slot, float64 [n, K].

    `left` is the number of cards of each kind, [n, K]. `empty` marks the slots without a card, bool [n, S].
    """
    n, slots = possible.shape[:2]
    kinds = possible.shape[2]
    largest = int(left.max(initial=0))
    subsets = [(sum(1 << s for s in t), t) for size in range(largest + 1) for t in combinations(range(slots), size)]
    masks = np.arange(1 << slots)
    # before[k][:, m]: ways to fill the set m by kinds below k. after[k][:, m]: ways to fill it by kinds from k on.
    before, after = np.zeros((2, kinds + 1, n, 1 << slots))
    before[0, np.arange(n), (empty << np.arange(slots)).sum(axis=1)] = 1  # slots without a card count as filled
    after[kinds, :, 0] = 1
    kind_ways = [_ways_of_kind(left[:, k], possible[:, :, k], subsets) for k in range(kinds)]
    for k in range(kinds):
        _add_kind(before[k + 1], before[k], kind_ways[k], masks)
        _add_kind(after[kinds - 1 - k], after[kinds - k], kind_ways[kinds - 1 - k], masks)
    ways = np.zeros((n, kinds))
    for k in range(kinds):
        for mask, own_ways in kind_ways[k]:
            if not mask & 1:
                continue  # kind k does not fill the first slot
            earlier = masks[(masks & mask) == 0]  # sets that the kinds before k may fill
            later = (len(masks) - 1) ^ mask ^ earlier  # the rest, for the kinds after k
            ways[:, k] += own_ways * (before[k][:, earlier] * after[k + 1][:, later]).sum(axis=1)
    return ways


def _ways_of_kind(
    left: np.ndarray, possible: np.ndarray, subsets: list[tuple[int, tuple[int, ...]]]
) -> list[tuple[int, np.ndarray]]:
    """List the sets of slots that one kind may fill exactly, with the number of ways in each game, float64 [n]."""
    result = []
    for mask, slots in subsets:
        ways = np.prod([np.maximum(left - i, 0) for i in range(len(slots))], axis=0, initial=1.0)
        ways = ways * possible[:, list(slots)].all(axis=1)
        if ways.any():
            result.append((mask, np.broadcast_to(ways, left.shape)))
    return result


def _add_kind(total: np.ndarray, ways: np.ndarray, kind_ways: list[tuple[int, np.ndarray]], masks: np.ndarray) -> None:
    """Add to `total` the ways to fill sets of slots with one more kind than in `ways`, [n, sets] both."""
    for mask, own_ways in kind_ways:
        rest = masks[(masks & mask) == 0]
        total[:, rest | mask] += ways[:, rest] * own_ways[:, None]
