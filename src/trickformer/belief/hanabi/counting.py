"""Exact counting: all deals that explain what was seen are equally likely.

A deal fills each slot with a card that hints allow there; copies are told apart. The ways to fill a set of slots are
counted kind by kind: a kind with c cards left fills t slots in c (c - 1) ... (c - t + 1) ways. The number of ways in
which a slot holds kind k is then a sum over the sets of slots that k may fill. Each term is the number of ways in which
the kinds before k fill a part of the other slots, times the number of ways in which the kinds after k fill the rest.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


def counting(counts: np.ndarray, possible: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Return the probability of each kind in each slot, given the cards in the slots before it.

    Args:
        counts: float [n, K], the cards of each kind that may be in a slot.
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
    """Count the ways to fill all slots with kind k in the first slot, float64 [n, K]."""
    n, slots = possible.shape[:2]
    kinds = possible.shape[2]
    most = int(left.max(initial=0))
    filled = [(sum(1 << s for s in t), t) for size in range(most + 1) for t in combinations(range(slots), size)]
    sets = np.arange(1 << slots)
    # By kind and set of slots: the ways to fill the set with kinds before this one, and with this one and those after.
    before, after = np.zeros((2, kinds + 1, n, 1 << slots))
    before[0, np.arange(n), (empty << np.arange(slots)).sum(axis=1)] = 1
    after[kinds, :, 0] = 1
    shares = [_shares(left[:, k], possible[:, :, k], filled) for k in range(kinds)]
    for k in range(kinds):
        _add(before[k + 1], before[k], shares[k], sets)
        _add(after[kinds - 1 - k], after[kinds - k], shares[kinds - 1 - k], sets)
    ways = np.zeros((n, kinds))
    for k in range(kinds):
        for bits, share in shares[k]:
            if not bits & 1:
                continue
            rest = sets[(sets & bits) == 0]
            ways[:, k] += share * (before[k][:, rest] * after[k + 1][:, (len(sets) - 1) ^ bits ^ rest]).sum(axis=1)
    return ways


def _shares(
    left: np.ndarray, possible: np.ndarray, filled: list[tuple[int, tuple[int, ...]]]
) -> list[tuple[int, np.ndarray]]:
    """Count, for one kind, the ways float64 [n] in which it fills each set of slots that it may fill."""
    ways = []
    for bits, slots in filled:
        share = np.prod([np.maximum(left - i, 0) for i in range(len(slots))], axis=0, initial=1.0)
        share = share * possible[:, list(slots)].all(axis=1)
        if share.any():
            ways.append((bits, np.broadcast_to(share, left.shape)))
    return ways


def _add(into: np.ndarray, ways: np.ndarray, shares: list[tuple[int, np.ndarray]], sets: np.ndarray) -> None:
    """Add one kind more to the ways of filling sets of slots, [n, sets]."""
    for bits, share in shares:
        rest = sets[(sets & bits) == 0]
        into[:, rest | bits] += ways[:, rest] * share[:, None]
