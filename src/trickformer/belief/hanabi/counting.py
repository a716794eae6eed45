"""Exact counting: all deals that are consistent with what was seen are equally likely.

A deal fills each slot with a card that hints allow there; copies of a card count as different. The ways to fill all
slots are counted kind by kind: if c cards of a kind are left, it fills t slots in c (c - 1) ... (c - t + 1) ways. The
number of ways in which a slot holds kind k is a sum over the sets of slots that kind k may fill. Each term is the
number of ways in which the kinds before k fill a part of the other slots, times the number of ways in which the kinds
after k fill the rest. Sets of slots are bit masks.
"""

from __future__ import annotations

from functools import lru_cache

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
    members, sets = _sets(slots, int(left.max(initial=0)))
    # before[k][:, m]: ways to fill the set m by kinds below k. after[k][:, m]: ways to fill it by kinds from k on.
    before, after = np.zeros((2, kinds + 1, n, 1 << slots))
    before[0, np.arange(n), (empty << np.arange(slots)).sum(axis=1)] = 1  # slots without a card count as filled
    after[kinds, :, 0] = 1
    kind_ways = [_ways_of_kind(left[:, k], possible[:, :, k], members, sets) for k in range(kinds)]
    for k in range(kinds):
        _add_kind(before[k + 1], before[k], kind_ways[k])
        _add_kind(after[kinds - 1 - k], after[kinds - k], kind_ways[kinds - 1 - k])
    ways = np.zeros((n, kinds))
    for k in range(kinds):
        for mask, earlier, own_ways in kind_ways[k]:
            if not mask & 1:
                continue  # kind k does not fill the first slot
            # `earlier` are the sets that the kinds before k may fill; the kinds after k fill the rest.
            later = ((1 << slots) - 1) ^ mask ^ earlier
            ways[:, k] += own_ways * (before[k][:, earlier] * after[k + 1][:, later]).sum(axis=1)
    return ways


@lru_cache
def _sets(slots: int, largest: int) -> tuple[np.ndarray, list[tuple[int, np.ndarray]]]:
    """Return the sets of up to `largest` slots: their slots, bool [sets, S], and their masks with all disjoint ones."""
    masks = np.arange(1 << slots)
    members = (masks[:, None] >> np.arange(slots) & 1).astype(bool)
    small = np.flatnonzero(members.sum(axis=1) <= largest)
    return members[small], [(mask, masks[masks & mask == 0]) for mask in small.tolist()]


def _ways_of_kind(
    left: np.ndarray, possible: np.ndarray, members: np.ndarray, sets: list[tuple[int, np.ndarray]]
) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """List the sets of slots that one kind may fill exactly: the set, those disjoint from it, its ways, float64 [n]."""
    sizes = members.sum(axis=1)
    orders = np.cumprod([np.ones_like(left), *(np.maximum(left - i, 0) for i in range(sizes.max(initial=0)))], axis=0)
    ways = orders[sizes].T * ~(~possible @ members.T)  # [n, sets]; the product says whether a slot is impossible
    return [(*sets[i], ways[:, i]) for i in np.flatnonzero(ways.any(axis=0))]


def _add_kind(total: np.ndarray, ways: np.ndarray, kind_ways: list[tuple[int, np.ndarray, np.ndarray]]) -> None:
    """Add to `total` the ways to fill sets of slots with one more kind than in `ways`, [n, sets] both."""
    for mask, rest, own_ways in kind_ways:
        total[:, rest | mask] += ways[:, rest] * own_ways[:, None]
