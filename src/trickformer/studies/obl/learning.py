"""Tabular Q-learning of the same methods: self-play, off-belief learning with fictitious transitions, best responses.

A policy of the past decides which positions are learned from, and a policy of the future decides what follows an action
there. Off-belief learning keeps these two apart. Independent runs learn in parallel, one row each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from trickformer.base import CHANCE
from trickformer.studies.obl.tree import TERMINAL, Tree

_START = 1e-3  # standard deviation of the initial values, so that runs begin with different preferences
_TOGETHER = 64  # games of a run between two updates of its values

# Action values [runs, k], runs [b], information states [b] -> probabilities of the actions [b, most actions], 0 beyond
# the last action of an information state.
Play: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class QLearner:
    """Q-learning of independent runs on a listed game. `q`, float64 [runs, k], holds the action values.

    Args:
        tree: Game tree.
        runs: Number of runs.
        temperature: Temperature of the softmax over values, in points; 0 takes the first best action.
        least: Least weight of a new target. A value is the mean of its targets until their weight falls to this; then
            it is a moving average with this weight, and some noise remains.
        rng: Generator of all draws.
    """

    def __init__(self, tree: Tree, runs: int, temperature: float, least: float, rng: np.random.Generator):
        self.tree = tree
        self.runs = runs
        self.temperature = temperature
        self._least = least
        self._rng = rng
        self.q = rng.normal(0, _START, (runs, len(tree.owner)))
        self._visits = np.zeros(self.q.shape, dtype=np.int64)
        self._width = np.arange(int(tree.counts.max()))
        self._kids = np.searchsorted(tree.parent, np.arange(len(tree.parent)))  # the first child of a node
        drawn = (tree.slot < 0) & (tree.parent >= 0)
        self._drawn = np.cumsum(np.where(drawn, tree.chance, 0.0))

    def softmax(self, q: np.ndarray, runs: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Compute the learned policy.

        Args:
            q: float64 [runs, k], action values.
            runs: int64 [b].
            states: int64 [b], information states.

        Returns:
            float64 [b, most actions], probabilities.
        """
        slots, legal = self._slots(states)
        x = np.where(legal, q[runs[:, None], slots], -np.inf)
        if not self.temperature:
            return np.eye(len(self._width))[x.argmax(1)]
        odds = np.exp((x - x.max(1, keepdims=True)) / self.temperature)
        return odds / odds.sum(1, keepdims=True)

    def exploration_policy(self, epsilon: float) -> Play:
        """Return the learned policy with random actions mixed in.

        Args:
            epsilon: Probability of a uniformly random action.
        """

        def play(q: np.ndarray, runs: np.ndarray, states: np.ndarray) -> np.ndarray:
            legal = self._slots(states)[1]
            anything = legal / legal.sum(1, keepdims=True)
            return anything if epsilon == 1 else (1 - epsilon) * self.softmax(q, runs, states) + epsilon * anything

        return play

    def fixed_policy(self, policies: np.ndarray) -> Play:
        """Return policies that do not learn.

        Args:
            policies: Log-probabilities [runs, k], or [1, k] for all runs.
        """

        def play(_: np.ndarray, runs: np.ndarray, states: np.ndarray) -> np.ndarray:
            slots, legal = self._slots(states)
            return np.where(legal, np.exp(policies[runs[:, None] % len(policies), slots]), 0.0)

        return play

    def learn(self, games: int, past: Play, ahead: Play, seat: int | None = None) -> None:
        """Play games and learn from a random action at each turn in them.

        `ahead` continues after the action, apart from the game, until the seat is on turn again: a fictitious
        transition (Q-OBL, section 4.6 of the paper). The target is the reward on the way plus the learned policy's
        expected value there. With past pi0 and future `softmax` this is off-belief learning. With one policy for both
        it is self-play, or a best response to that policy.

        Args:
            games: Number of games of each run.
            past: Policy that plays the games.
            ahead: Policy that continues after the action.
            seat: Seat that learns; None for all.
        """
        for done in range(0, games, _TOGETHER):
            runs, nodes = self._turns(min(_TOGETHER, games - done), past, seat)
            below = self._step(nodes, runs, self.exploration_policy(1.0))
            seats, slots = self.tree.player[self.tree.parent[below]], self.tree.slot[below]
            target = self._follow(runs, below, seats, ahead)
            groups = np.unique(runs * self.q.shape[1] + slots, return_inverse=True, return_counts=True)
            places = groups[0]
            which, times = groups[1:]
            self._visits.flat[places] += times
            share = np.maximum(times / self._visits.flat[places], 1 - (1 - self._least) ** times)
            self.q.flat[places] += share * (np.bincount(which, target) / times - self.q.flat[places])

    def policies(self) -> np.ndarray:
        """Return the learned policies as log-probabilities, float64 [runs, k].

        At temperature 0 some probabilities are zero.
        """
        states = np.arange(len(self.tree.before))
        slots, legal = self._slots(states)
        logs = np.empty_like(self.q)
        with np.errstate(divide="ignore"):
            for run in range(self.runs):
                odds = self.softmax(self.q, np.full(len(states), run), states)
                logs[run, slots[legal]] = np.log(odds[legal])
        return logs

    def _slots(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the slots of information states, and which entries are slots: [b, most actions]."""
        legal = self._width < self.tree.counts[states][:, None]
        return self.tree.first[states][:, None] + np.where(legal, self._width, 0), legal

    def _step(self, nodes: np.ndarray, runs: np.ndarray, play: Play) -> np.ndarray:
        """Draw a child of each node, by chance or by `play`."""
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
        """Play games and return the runs and nodes at which a seat, or any seat, was on turn."""
        runs = np.arange(self.runs).repeat(games)
        nodes = np.zeros(len(runs), dtype=np.int64)
        turns: list[tuple[np.ndarray, np.ndarray]] = []
        while len(nodes):
            turn = self.tree.player[nodes]
            ours = (turn >= 0) if seat is None else (turn == seat)
            turns.append((runs[ours], nodes[ours]))
            nodes = self._step(nodes, runs, past)
            on = self.tree.player[nodes] != TERMINAL
            nodes, runs = nodes[on], runs[on]
        first, second = zip(*turns)
        return np.concatenate(first), np.concatenate(second)

    def _follow(self, runs: np.ndarray, nodes: np.ndarray, seats: np.ndarray, ahead: Play) -> np.ndarray:
        """Compute the targets of the actions that led to these nodes."""
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
