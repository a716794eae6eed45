"""A game as arrays: every history once, listed from OpenSpiel's states.

Nodes are in order of depth, so that a pass
over a game is one step for each depth."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from trickformer.base import TrickformerError
from trickformer.plumbing.progress import progress

if TYPE_CHECKING:
    from trickformer.base import State

TERMINAL = -4  # pyspiel.PlayerId.TERMINAL
_REPORT = 5_000  # nodes between two signs of progress


@dataclass(frozen=True, slots=True)
class Tree:
    """A game with n histories, the nodes; m information states; k slots, the actions of each of these; p seats.

    Nodes are in order of depth, the root first, and the children of a node stand together, those of a seat's node in
    the order of its slots. So are information states in order of depth, and slots in the order of these."""

    parent: np.ndarray  # int64 [n], -1 of the root
    player: np.ndarray  # int64 [n]: the seat on turn, CHANCE or TERMINAL
    state: np.ndarray  # int64 [n]: the information state of the seat on turn, -1 where there is none
    slot: np.ndarray  # int64 [n]: the slot of the action that led to a node, -1 of chance's and of the root
    chance: np.ndarray  # float64 [n]: the probability of what chance did to lead to a node, 1 where it was a seat
    reward: np.ndarray  # float64 [n, p]: what each seat is paid on arriving
    depths: np.ndarray  # int64 [d + 1]: the nodes of depth i are depths[i] to depths[i + 1]
    first: np.ndarray  # int64 [m + 1]: the slots of information state i are first[i] to first[i + 1]
    owner: np.ndarray  # int64 [k]: the seat that has a slot
    action: np.ndarray  # int64 [k]: OpenSpiel's number of the action
    before: np.ndarray  # int64 [m]: the slot that the seat chose last before an information state, -1 where none
    spans: np.ndarray  # int64 [d + 1]: the information states of depth i are spans[i] to spans[i + 1]
    keys: tuple[tuple[int, Hashable], ...]  # [m]: the seat, and what names the information state

    @property
    def players(self) -> int:
        """How many seats there are."""
        return self.reward.shape[1]

    @property
    def counts(self) -> np.ndarray:
        """How many actions an information state has, int64 [m]."""
        return np.diff(self.first)

    def downwards(self) -> Iterator[tuple[slice, slice]]:
        """The slots that are chosen at a depth and the nodes that they and chance lead to, the root's first."""
        for i in range(len(self.depths) - 2):
            slots = slice(int(self.first[self.spans[i]]), int(self.first[self.spans[i + 1]]))
            yield slots, slice(int(self.depths[i + 1]), int(self.depths[i + 2]))

    def upwards(self) -> Iterator[tuple[slice, slice]]:
        """The same, the deepest first."""
        yield from reversed(list(self.downwards()))


def grow(root: State, key: Callable[[Any, int], Hashable], limit: int) -> Tree:
    """The tree below `root`. key(state, seat): names the information state of the seat on turn.

    What is paid on the way is the change of `returns`: `rewards` says it twice in Hanabi, where chance draws a card
    after it. Raises TrickformerError where there are more than `limit` nodes, an information state holds histories of
    different lengths or with different actions, or a seat forgets what it knew."""
    listing = _Listing()
    stack: list[tuple[Any, int, int, float, np.ndarray]] = [(root, -1, -1, 1.0, np.array(root.returns()))]
    with progress("list the game", "nodes at most", 0, limit) as advance:
        while stack:
            state, parent, slot, chance, paid = stack.pop()
            if len(listing.parent) == limit:
                raise TrickformerError(
                    f"the game has more than {limit:,} nodes; choose a smaller one, or raise --limit"
                )
            node, slots = listing.add(state, key, parent, slot, chance, paid)
            if len(listing.parent) % _REPORT == 0:
                advance(_REPORT)
            if state.is_terminal():
                continue
            if state.is_chance_node():
                edges = [(action, -1, p) for action, p in state.chance_outcomes() if p > 0]
            else:
                edges = [(action, slots + i, 1.0) for i, action in enumerate(state.legal_actions())]
            now = np.array(state.returns())
            # The last is taken first.
            stack.extend((state.child(action), node, slot, p, now) for action, slot, p in reversed(edges))
    return listing.tree()


class _Listing:
    """What was found, in the order of finding it: depth first."""

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.depth: list[int] = []
        self.player: list[int] = []
        self.state: list[int] = []
        self.slot: list[int] = []
        self.chance: list[float] = []
        self.reward: list[np.ndarray] = []
        self.known: dict[tuple[int, Hashable], int] = {}  # information states
        self.length: list[int] = []  # of each: the depth,
        self.legal: list[list[int]] = []  # the actions,
        self.first: list[int] = [0]  # and the first slot

    def add(
        self, state: Any, key: Callable[[Any, int], Hashable], parent: int, slot: int, chance: float, paid: np.ndarray
    ) -> tuple[int, int]:
        """The number of a new node, and the first slot of its information state, -1 where it has none."""
        node, depth = len(self.parent), self.depth[parent] + 1 if parent >= 0 else 0
        player = TERMINAL if state.is_terminal() else int(state.current_player())
        found = -1
        if player >= 0:
            found = self._state(player, key(state, player), depth, state.legal_actions())
        self.parent.append(parent)
        self.depth.append(depth)
        self.player.append(player)
        self.state.append(found)
        self.slot.append(slot)
        self.chance.append(chance)
        self.reward.append(np.array(state.returns()) - paid)
        return node, self.first[found] if player >= 0 else -1

    def _state(self, player: int, name: Hashable, depth: int, legal: list[int]) -> int:
        found = self.known.setdefault((player, name), len(self.known))
        if found == len(self.legal):
            self.length.append(depth)
            self.legal.append(legal)
            self.first.append(self.first[-1] + len(legal))
        elif self.length[found] != depth:
            raise TrickformerError(
                f"an information state of seat {player} holds histories of {self.length[found]} and of {depth} moves; "
                "off-belief learning goes depth by depth and needs them equally long"
            )
        elif self.legal[found] != legal:
            raise TrickformerError(f"an information state of seat {player} holds histories with other legal actions")
        return found

    def tree(self) -> Tree:
        """All of it in order of depth. Raises TrickformerError where a seat forgets."""
        depth, length = np.array(self.depth), np.array(self.length, dtype=np.int64)
        order, states = np.argsort(depth, kind="stable"), np.argsort(length, kind="stable")
        place, rank = _inverse(order), _inverse(states)
        counts = np.array([len(self.legal[i]) for i in states], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(counts)])
        # A slot keeps its place within its information state.
        of = np.repeat(np.arange(len(self.legal)), np.diff(self.first))
        moved = first[rank[of]] + np.arange(len(of)) - np.array(self.first)[of]
        parent, slot, state = np.array(self.parent)[order], np.array(self.slot)[order], np.array(self.state)[order]
        parent[1:] = place[parent[1:]]
        slot[slot >= 0] = moved[slot[slot >= 0]]
        state[state >= 0] = rank[state[state >= 0]]
        player, reward = np.array(self.player)[order], np.array(self.reward)[order]
        steps, known = np.arange(depth.max() + 2), list(self.known)
        depths, keys = np.searchsorted(depth[order], steps), tuple(known[i] for i in states)
        return Tree(
            parent=parent,
            player=player,
            state=state,
            slot=slot,
            chance=np.array(self.chance)[order],
            reward=reward,
            depths=depths,
            first=first,
            owner=np.repeat(np.array([seat for seat, _ in keys], dtype=np.int64), counts),
            action=np.array([a for i in states for a in self.legal[i]], dtype=np.int64),
            before=_find_previous_slots(parent, player, state, slot, depths, reward.shape[1], len(keys)),
            spans=np.searchsorted(length[states], steps),
            keys=keys,
        )


def _inverse(order: np.ndarray) -> np.ndarray:
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place


def _find_previous_slots(
    parent: np.ndarray,
    player: np.ndarray,
    state: np.ndarray,
    slot: np.ndarray,
    depths: np.ndarray,
    players: int,
    states: int,
) -> np.ndarray:
    """`before` of a tree. With perfect recall it is the same in all histories of an information state, which is all
    that perfect recall asks for, for that slot has one of its own in turn. Raises TrickformerError elsewhere."""
    own = np.full((len(parent), players), -1)  # the slot that each seat chose last
    for lo, hi in pairwise(depths[1:]):
        own[lo:hi] = own[parent[lo:hi]]
        chosen = np.arange(lo, hi)[slot[lo:hi] >= 0]
        own[chosen, player[parent[chosen]]] = slot[chosen]
    nodes = np.flatnonzero(state >= 0)
    last = own[nodes, player[nodes]]
    before = np.full(states, -1)
    before[state[nodes]] = last
    forgets = before[state[nodes]] != last
    if forgets.any():
        seat = player[nodes[forgets]][0]
        raise TrickformerError(f"seat {seat} forgets what it knew or did; off-belief learning needs perfect recall")
    return before
