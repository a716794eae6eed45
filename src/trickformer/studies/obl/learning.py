"""The same by Q-learning in tables, from games played: self-play, off-belief learning with fictitious transitions, and
best responses to fixed policies.

Which situations are learned from is a matter of a policy of the past, what an action leads to there one of a policy of
the future; off-belief learning is to hold the two apart. Independent runs are learned side by side, a row each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from trickformer.base import CHANCE
from trickformer.studies.obl.tree import TERMINAL, Tree

_START = 1e-3  # standard deviation of values that nothing is known of: no two runs begin with the same preferences
_TOGETHER = 64  # games of a run between two changes of its values

# Action values [runs, k], runs [b], information states [b] -> probabilities of their actions [b, most actions], 0 where
# there are fewer.
Play: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class QLearner:
    """Q-learning of some runs on a listed game. `q`, float64 [runs, k], is what they hold their actions to be worth.

    temperature: of the policy of what was learned, in points; 0 takes the best action, the first of equal ones.
    least: a value is the mean of its targets, as long as each has at least this share in it; then it follows new ones
    by this share, and noise stays."""

    def __init__(self, tree: Tree, runs: int, temperature: float, least: float, rng: np.random.Generator):
        self.tree, self.runs, self.temperature, self._least, self._rng = tree, runs, temperature, least, rng
        self.q = rng.normal(0, _START, (runs, len(tree.owner)))
        self._visits = np.zeros(self.q.shape, dtype=np.int64)
        self._width = np.arange(int(tree.counts.max()))
        self._kids = np.searchsorted(tree.parent, np.arange(len(tree.parent)))  # the first child of a node
        drawn = (tree.slot < 0) & (tree.parent >= 0)
        self._drawn = np.cumsum(np.where(drawn, tree.chance, 0.0))

    def softmax(self, q: np.ndarray, runs: np.ndarray, states: np.ndarray) -> np.ndarray:
        """The policy of what was learned."""
        slots, legal = self._slots(states)
        x = np.where(legal, q[runs[:, None], slots], -np.inf)
        if not self.temperature:
            return np.eye(len(self._width))[x.argmax(1)]
        odds = np.exp((x - x.max(1, keepdims=True)) / self.temperature)
        return odds / odds.sum(1, keepdims=True)

    def exploration_policy(self, epsilon: float) -> Play:
        """The same, but any legal action in a share `epsilon` of the cases."""

        def play(q: np.ndarray, runs: np.ndarray, states: np.ndarray) -> np.ndarray:
            legal = self._slots(states)[1]
            anything = legal / legal.sum(1, keepdims=True)
            return anything if epsilon == 1 else (1 - epsilon) * self.softmax(q, runs, states) + epsilon * anything

        return play

    def fixed_policy(self, policies: np.ndarray) -> Play:
        """Policies that learn nothing, in logarithms: [runs, k], or [1, k] where all runs meet the same."""

        def play(_: np.ndarray, runs: np.ndarray, states: np.ndarray) -> np.ndarray:
            slots, legal = self._slots(states)
            return np.where(legal, np.exp(policies[runs[:, None] % len(policies), slots]), 0.0)

        return play

    def learn(self, games: int, past: Play, ahead: Play, seat: int | None = None) -> None:
        """Plays `games` of each run by `past`, and learns what a random action would have led to at each turn in them,
        of one seat or of all.

        The action is followed by `ahead`, apart from the game, until its seat is on turn again: a fictitious transition
        (Q-OBL, section 4.6 of the paper). Its target is what was paid on the way and what the policy of what was
        learned expects from there. By the past pi0 and the future `softmax` that is off-belief learning; by one policy
        for both it is self-play, or a best response to it."""
        for done in range(0, games, _TOGETHER):
            runs, nodes = self._turns(min(_TOGETHER, games - done), past, seat)
            below = self._step(nodes, runs, self.exploration_policy(1.0))
            seats, slots = self.tree.player[self.tree.parent[below]], self.tree.slot[below]
            target = self._follow(runs, below, seats, ahead)
            places, which, times = np.unique(runs * self.q.shape[1] + slots, return_inverse=True, return_counts=True)
            self._visits.flat[places] += times
            share = np.maximum(times / self._visits.flat[places], 1 - (1 - self._least) ** times)
            self.q.flat[places] += share * (np.bincount(which, target) / times - self.q.flat[places])

    def policies(self) -> np.ndarray:
        """What was learned, in logarithms, float64 [runs, k]; at temperature 0 there are zeros among the
        probabilities."""
        states = np.arange(len(self.tree.before))
        slots, legal = self._slots(states)
        found = np.empty_like(self.q)
        with np.errstate(divide="ignore"):
            for run in range(self.runs):
                odds = self.softmax(self.q, np.full(len(states), run), states)
                found[run, slots[legal]] = np.log(odds[legal])
        return found

    def _slots(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The slots of information states, and which of them are some: [b, most actions]."""
        legal = self._width < self.tree.counts[states][:, None]
        return self.tree.first[states][:, None] + np.where(legal, self._width, 0), legal

    def _step(self, nodes: np.ndarray, runs: np.ndarray, play: Play) -> np.ndarray:
        """A child of each node, by chance or by `play`."""
        tree, below = self.tree, np.empty_like(nodes)
        draw = self._rng.random(len(nodes))
        chance = tree.player[nodes] == CHANCE
        at = self._kids[nodes]
        if chance.any():
            lo = at[chance]
            most = np.searchsorted(self._drawn, self._drawn[lo - 1] + draw[chance], side="right")
            last = np.searchsorted(tree.parent, nodes[chance], side="right") - 1
            below[chance] = np.clip(most, lo, last)
        acts = ~chance
        if acts.any():
            odds = play(self.q, runs[acts], tree.state[nodes[acts]]).cumsum(1)
            below[acts] = at[acts] + (odds <= draw[acts, None] * odds[:, -1:]).sum(1)
        return below

    def _turns(self, games: int, past: Play, seat: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Where a seat, or any, was on turn in games of each run: runs and nodes."""
        runs = np.arange(self.runs).repeat(games)
        nodes = np.zeros(len(runs), dtype=np.int64)
        found: list[tuple[np.ndarray, np.ndarray]] = []
        while len(nodes):
            turn = self.tree.player[nodes]
            ours = (turn >= 0) if seat is None else (turn == seat)
            found.append((runs[ours], nodes[ours]))
            nodes = self._step(nodes, runs, past)
            on = self.tree.player[nodes] != TERMINAL
            nodes, runs = nodes[on], runs[on]
        first, second = zip(*found)
        return np.concatenate(first), np.concatenate(second)

    def _follow(self, runs: np.ndarray, nodes: np.ndarray, seats: np.ndarray, ahead: Play) -> np.ndarray:
        """The targets of actions that led to these nodes."""
        tree, nodes = self.tree, nodes.copy()
        target = tree.reward[nodes, seats]
        while True:
            moving = np.flatnonzero((tree.player[nodes] != TERMINAL) & (tree.player[nodes] != seats))
            if not len(moving):
                break
            nodes[moving] = self._step(nodes[moving], runs[moving], ahead)
            target[moving] += tree.reward[nodes[moving], seats[moving]]
        again = np.flatnonzero(tree.player[nodes] != TERMINAL)
        if len(again):
            states = tree.state[nodes[again]]
            slots, legal = self._slots(states)
            expected = np.where(legal, self.q[runs[again][:, None], slots], 0.0)
            target[again] += (self.softmax(self.q, runs[again], states) * expected).sum(1)
        return target
