"""Exact counting: all deals that explain what was seen are as likely, and each card is told given those before it.

A deal fills each slot with a card that hints allow there; copies are told apart. Ways to fill a set of slots are
counted kind by kind: one with c cards left fills t slots in c (c - 1) ... (c - t + 1) ways. The ways in which a slot
holds kind k are then a sum over the sets of slots that k may fill: the ways of kinds before it to fill a part of the
others, times those of kinds after it to fill what is left."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def counting(counts: np.ndarray, possible: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """float64 [n, S, K]: the probability of each kind in each slot, given the cards in the slots before it.

    counts: float [n, K], the cards of each kind that may be in a slot. possible: bool [n, S, K], nothing where there is
    no card. hidden: int8 [n, S], the cards, -1 where there is none. Nothing follows where no deal has the cards before:
    zeros."""
    n, slots, kinds = possible.shape
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
    """float64 [n, K]: how many ways to fill all slots have kind k in the first of them."""
    n, slots, kinds = possible.shape
    most = int(left.max(initial=0))
    filled = [(sum(1 << s for s in t), t) for size in range(most + 1) for t in combinations(range(slots), size)]
    sets = np.arange(1 << slots)
    # By kind and set of slots: the ways to fill these with kinds before it, and with it and those after it.
    before, after = np.zeros((2, kinds + 1, n, 1 << slots))
    before[0, np.arange(n), (empty << np.arange(slots)).sum(axis=1)] = 1
    after[kinds, :, 0] = 1
    shares = [_shares(left[:, k], possible[:, :, k], filled) for k in range(kinds)]
    for k in range(kinds):
        _add(before[k + 1], before[k], shares[k], sets)
        _add(after[kinds - 1 - k], after[kinds - k], shares[kinds - 1 - k], sets)
    found = np.zeros((n, kinds))
    for k in range(kinds):
        for bits, share in shares[k]:
            if not bits & 1:
                continue
            rest = sets[(sets & bits) == 0]
            found[:, k] += share * (before[k][:, rest] * after[k + 1][:, (len(sets) - 1) ^ bits ^ rest]).sum(axis=1)
    return found


def _shares(
    left: np.ndarray, possible: np.ndarray, filled: list[tuple[int, tuple[int, ...]]]
) -> list[tuple[int, np.ndarray]]:
    """Of one kind: each set of slots that it may fill somewhere, and in how many ways, float64 [n]."""
    found = []
    for bits, slots in filled:
        share = np.prod([np.maximum(left - i, 0) for i in range(len(slots))], axis=0, initial=1.0)
        share = share * possible[:, list(slots)].all(axis=1)
        if share.any():
            found.append((bits, np.broadcast_to(share, left.shape)))
    return found


def _add(into: np.ndarray, ways: np.ndarray, shares: list[tuple[int, np.ndarray]], sets: np.ndarray) -> None:
    """Ways [n, sets], with one kind more."""
    for bits, share in shares:
        rest = sets[(sets & bits) == 0]
        into[:, rest | bits] += ways[:, rest] * share[:, None]
