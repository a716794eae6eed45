"""Game trees as arrays, listed from OpenSpiel's states, with one node for each history.

Nodes are in order of depth, so that array operations handle all nodes of a depth at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trickformer.base import TrickformerError
from trickformer.plumbing.progress import progress

if TYPE_CHECKING:
    from trickformer.base import State

TERMINAL = -4  # pyspiel.PlayerId.TERMINAL
_REPORT = 5_000  # nodes between two updates of the progress bar


@dataclass(frozen=True, slots=True)
class Tree:
    """A game with n histories (the nodes), m information states, k slots (actions in information states) and p seats.

    Nodes are in order of depth, the root first. The children of a node are adjacent, and those of a seat's node are in
    the order of its slots. Information states are in order of depth, and slots in the order of the information states.
    """

    parent: np.ndarray  # int64 [n]: number of the parent node, -1 for the root
    player: np.ndarray  # int64 [n]: the seat on turn, -1 for chance (base.CHANCE), or TERMINAL
    state: np.ndarray  # int64 [n]: the information state of the seat on turn, -1 if no seat is on turn
    slot: np.ndarray  # int64 [n]: the slot of the action that led to a node, -1 after chance and at the root
    chance: np.ndarray  # float64 [n]: the probability of the chance event that led to a node, 1 after a seat's move
    reward: np.ndarray  # float64 [n, p]: reward of each seat on arrival
    depths: np.ndarray  # int64 [d + 1]: the nodes of depth i are depths[i] to depths[i + 1]
    first: np.ndarray  # int64 [m + 1]: the slots of information state i are first[i] to first[i + 1]
    owner: np.ndarray  # int64 [k]: the seat that a slot belongs to
    action: np.ndarray  # int64 [k]: OpenSpiel's number of the action
    before: np.ndarray  # int64 [m]: the seat's last slot before an information state, -1 if there is none
    spans: np.ndarray  # int64 [d + 1]: the information states of depth i are spans[i] to spans[i + 1]
    keys: tuple[tuple[int, Hashable], ...]  # [m]: the seat and the name of the information state

    @property
    def players(self) -> int:
        """Number of seats."""
        return self.reward.shape[1]

    @property
    def counts(self) -> np.ndarray:
        """Number of actions of each information state, int64 [m]."""
        return np.diff(self.first)

    def downwards(self) -> Iterator[tuple[slice, slice]]:
        """Yield for each depth but the last, the root's first: its slots, and all nodes one deeper."""
        for i in range(len(self.depths) - 2):
            slots = slice(int(self.first[self.spans[i]]), int(self.first[self.spans[i + 1]]))
            yield slots, slice(int(self.depths[i + 1]), int(self.depths[i + 2]))

    def upwards(self) -> Iterator[tuple[slice, slice]]:
        """Yield the pairs of `downwards` in reverse order."""
        yield from reversed(list(self.downwards()))


def grow(root: State, key: Callable[[Any, int], Hashable], limit: int) -> Tree:
    """List the tree below a state.

    Rewards are differences of OpenSpiel's `returns`, because its `rewards` of Hanabi count a move twice if a chance
    event follows it.

    Args:
        root: State to start from.
        key: Returns the name of the information state, from a state and the seat on turn.
        limit: Largest number of nodes.

    Raises:
        TrickformerError: If there are more nodes, if an information state holds histories of different lengths or with
            different actions, or if a seat has no perfect recall.
    """
    listing = _Listing()
    stack = [_Edge(root, -1, -1, 1.0, np.array(root.returns()))]
    with progress("list the game", "nodes at most", 0, limit) as advance:
        while stack:
            edge = stack.pop()
            state = edge.state
            if len(listing.parent) == limit:
                raise TrickformerError(
                    f"the game has more than {limit:,} nodes; choose a smaller one, or raise --limit"
                )
            node, slots = listing.add(edge, key)
            if len(listing.parent) % _REPORT == 0:
                advance(_REPORT)
            if state.is_terminal():
                continue
            if state.is_chance_node():
                edges = [(action, -1, p) for action, p in state.chance_outcomes() if p > 0]
            else:
                edges = [(action, slots + i, 1.0) for i, action in enumerate(state.legal_actions())]
            returns = np.array(state.returns())
            # Reversed, because the stack returns the last edge first.
            stack.extend(_Edge(state.child(action), node, slot, p, returns) for action, slot, p in reversed(edges))
    return listing.tree()


class _Edge(NamedTuple):
    """A history to list, and the step that led to it."""

    state: Any
    parent: int  # node before the step, -1 for the root
    slot: int  # slot of the action, -1 after chance
    chance: float  # probability of the chance event, 1 after a seat's move
    returns: np.ndarray  # float64 [p]: returns before the step


class _Listing:
    """Nodes and information states in the order of their discovery, depth first. Node fields are those of `Tree`."""

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.depth: list[int] = []
        self.player: list[int] = []
        self.state: list[int] = []
        self.slot: list[int] = []
        self.chance: list[float] = []
        self.reward: list[np.ndarray] = []
        self.numbers: dict[tuple[int, Hashable], int] = {}  # number of an information state, by seat and name
        self.length: list[int] = []  # depth of each information state
        self.legal: list[list[int]] = []  # actions of each information state
        self.first: list[int] = [0]  # first slot of each information state

    def add(self, edge: _Edge, key: Callable[[Any, int], Hashable]) -> tuple[int, int]:
        """Add a node; return its number and the first slot of its information state, -1 if it has none."""
        state = edge.state
        node, depth = len(self.parent), self.depth[edge.parent] + 1 if edge.parent >= 0 else 0
        player = TERMINAL if state.is_terminal() else int(state.current_player())
        info_state = -1
        if player >= 0:
            info_state = self._number_state(player, key(state, player), depth, state.legal_actions())
        self.parent.append(edge.parent)
        self.depth.append(depth)
        self.player.append(player)
        self.state.append(info_state)
        self.slot.append(edge.slot)
        self.chance.append(edge.chance)
        self.reward.append(np.array(state.returns()) - edge.returns)
        return node, self.first[info_state] if player >= 0 else -1

    def _number_state(self, player: int, name: Hashable, depth: int, legal: list[int]) -> int:
        """Return the number of an information state; add it if it is new, else check its depth and its actions."""
        number = self.numbers.setdefault((player, name), len(self.numbers))
        if number == len(self.legal):
            self.length.append(depth)
            self.legal.append(legal)
            self.first.append(self.first[-1] + len(legal))
        elif self.length[number] != depth:
            raise TrickformerError(
                f"an information state of seat {player} holds histories of {self.length[number]} and of {depth} moves "
                "and chance events; off-belief learning needs histories of equal length there"
            )
        elif self.legal[number] != legal:
            raise TrickformerError(
                f"an information state of seat {player} holds histories with different legal actions; off-belief "
                "learning needs equal ones"
            )
        return number

    def tree(self) -> Tree:
        """Return the tree, in order of depth. Raises TrickformerError if a seat has no perfect recall."""
        depth, length = np.array(self.depth), np.array(self.length, dtype=np.int64)
        order, state_order = np.argsort(depth, kind="stable"), np.argsort(length, kind="stable")
        # Numbers in the tree, by number in this listing.
        new_node, new_state = _inverse(order), _inverse(state_order)
        counts = np.array([len(self.legal[i]) for i in state_order], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(counts)])
        slot_state = np.repeat(np.arange(len(self.legal)), np.diff(self.first))
        index_in_state = np.arange(len(slot_state)) - np.array(self.first)[slot_state]
        new_slot = first[new_state[slot_state]] + index_in_state
        parent = np.array(self.parent)[order]
        slot, state = np.array(self.slot)[order], np.array(self.state)[order]
        parent[1:] = new_node[parent[1:]]
        slot[slot >= 0] = new_slot[slot[slot >= 0]]
        state[state >= 0] = new_state[state[state >= 0]]
        player, reward = np.array(self.player)[order], np.array(self.reward)[order]
        all_depths, names = np.arange(depth.max() + 2), list(self.numbers)
        depths, keys = np.searchsorted(depth[order], all_depths), tuple(names[i] for i in state_order)
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
            action=np.array([a for i in state_order for a in self.legal[i]], dtype=np.int64),
            before=_find_previous_slots(parent, player, state, slot, depths, reward.shape[1], len(keys)),
            spans=np.searchsorted(length[state_order], all_depths),
            keys=keys,
        )


def _inverse(order: np.ndarray) -> np.ndarray:
    """Return the inverse of a permutation."""
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def _find_previous_slots(
    parent: np.ndarray,
    player: np.ndarray,
    state: np.ndarray,
    slot: np.ndarray,
    depths: np.ndarray,
    players: int,
    states: int,
) -> np.ndarray:
    """Compute `before` of a tree.

    A seat has perfect recall if and only if its previous slot is the same in all histories of an information state; the
    earlier slots follow by induction. Raises TrickformerError if a seat has no perfect recall.
    """
    last_slots = np.full((len(parent), players), -1)  # each seat's last slot before a node
    for lo, hi in pairwise(depths[1:]):
        last_slots[lo:hi] = last_slots[parent[lo:hi]]
        after_action = np.arange(lo, hi)[slot[lo:hi] >= 0]
        last_slots[after_action, player[parent[after_action]]] = slot[after_action]
    nodes = np.flatnonzero(state >= 0)
    last = last_slots[nodes, player[nodes]]
    before = np.full(states, -1)
    before[state[nodes]] = last
    forgets = before[state[nodes]] != last
    if forgets.any():
        seat = player[nodes[forgets]][0]
        raise TrickformerError(
            f"seat {seat} forgets an observation or an action; off-belief learning needs perfect recall"
        )
    return before
