"""Tabular Q-learning on a listed game: self-play, off-belief learning with fictitious transitions, best responses.

A policy of the past plays the games whose positions are learned from. A policy of the future plays on after an action
there. They differ in off-belief learning. Independent runs learn in parallel, a row of each array for each run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from trickformer.base import CHANCE
from trickformer.studies.obl.tree import TERMINAL, Tree

_START = 1e-3  # standard deviation of the initial values, so that runs begin with different preferences
_BATCH = 64  # games of a run between two updates of its values

# A policy: a function of action values [runs, k], runs [b] and information states [b]. It returns the probabilities of
# the actions [b, A], where A is the largest number of actions; 0 beyond the last action of an information state.
Play: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class QLearner:
    """Q-learning of independent runs on a listed game. `q`, float64 [runs, k], holds the action values (see `Tree`).

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
        self._columns = np.arange(int(tree.counts.max()))  # int64 [A]
        self._first_child = np.searchsorted(tree.parent, np.arange(len(tree.parent)))
        is_outcome = (tree.slot < 0) & (tree.parent >= 0)
        self._cumulative_chance = np.cumsum(np.where(is_outcome, tree.chance, 0.0))  # over all nodes after chance

    def softmax(self, q: np.ndarray, runs: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Compute the learned policy.

        Args:
            q: float64 [runs, k], action values.
            runs: int64 [b].
            states: int64 [b], information states.

        Returns:
            float64 [b, A], probabilities.
        """
        slots, legal = self._slots(states)
        x = np.where(legal, q[runs[:, None], slots], -np.inf)
        if not self.temperature:
            return np.eye(len(self._columns))[x.argmax(1)]
        odds = np.exp((x - x.max(1, keepdims=True)) / self.temperature)
        return odds / odds.sum(1, keepdims=True)

    def exploration_policy(self, epsilon: float) -> Play:
        """Return the learned policy with random actions mixed in.

        Args:
            epsilon: Probability of a uniformly random action.
        """

        def play(q: np.ndarray, runs: np.ndarray, states: np.ndarray) -> np.ndarray:
            legal = self._slots(states)[1]
            uniform = legal / legal.sum(1, keepdims=True)
            return uniform if epsilon == 1 else (1 - epsilon) * self.softmax(q, runs, states) + epsilon * uniform

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

    def learn(self, games: int, past: Play, future: Play, seat: int | None = None) -> None:
        """Play games and learn from a random action at each turn in them.

        After the action `future` plays until the seat is on turn again, without effect on the game. This is a
        fictitious transition (Q-OBL, section 4.6 of "Off-Belief Learning"). The target is the sum of the rewards until
        then and of the learned policy's expected value there. With `softmax` as the future this is off-belief learning
        from the past. With one policy for both it is self-play, or a best response to that policy.

        Args:
            games: Number of games of each run.
            past: Policy that plays the games.
            future: Policy that plays on after the action.
            seat: Seat that learns; None for all.
        """
        for done in range(0, games, _BATCH):
            runs, nodes = self._turns(min(_BATCH, games - done), past, seat)
            children = self._step(nodes, runs, self.exploration_policy(1.0))
            seats, slots = self.tree.player[self.tree.parent[children]], self.tree.slot[children]
            targets = self._targets(runs, children, seats, future)
            # Average the targets of the same action in the same run.
            groups = np.unique(runs * self.q.shape[1] + slots, return_inverse=True, return_counts=True)
            entries = groups[0]  # in q, flattened
            group, counts = groups[1:]
            self._visits.flat[entries] += counts
            # The lower bound is the total weight of `counts` targets that each have the weight `least` in turn.
            weight = np.maximum(counts / self._visits.flat[entries], 1 - (1 - self._least) ** counts)
            self.q.flat[entries] += weight * (np.bincount(group, targets) / counts - self.q.flat[entries])

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
        """Return the slots of information states, int64 [b, A], and which entries are slots, bool [b, A]."""
        legal = self._columns < self.tree.counts[states][:, None]
        return self.tree.first[states][:, None] + np.where(legal, self._columns, 0), legal

    def _step(self, nodes: np.ndarray, runs: np.ndarray, play: Play) -> np.ndarray:
        """Draw a child of each node, by chance or by `play`."""
        tree, children = self.tree, np.empty_like(nodes)
        draw = self._rng.random(len(nodes))
        is_chance = tree.player[nodes] == CHANCE
        first = self._first_child[nodes]
        if is_chance.any():
            # The children of a node are adjacent, so their probabilities are differences of the cumulative ones.
            lowest = first[is_chance]
            threshold = self._cumulative_chance[lowest - 1] + draw[is_chance]
            drawn = np.searchsorted(self._cumulative_chance, threshold, side="right")
            last = np.searchsorted(tree.parent, nodes[is_chance], side="right") - 1
            children[is_chance] = np.clip(drawn, lowest, last)  # rounding may lead beyond them
        is_turn = ~is_chance
        if is_turn.any():
            cumulative = play(self.q, runs[is_turn], tree.state[nodes[is_turn]]).cumsum(1)
            children[is_turn] = first[is_turn] + (cumulative <= draw[is_turn, None] * cumulative[:, -1:]).sum(1)
        return children

    def _turns(self, games: int, past: Play, seat: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Play games and return the runs and the nodes of all turns of a seat, or of all seats."""
        runs = np.arange(self.runs).repeat(games)
        nodes = np.zeros(len(runs), dtype=np.int64)
        turn_runs: list[np.ndarray] = []
        turn_nodes: list[np.ndarray] = []
        while len(nodes):
            player = self.tree.player[nodes]
            learns = (player >= 0) if seat is None else (player == seat)
            turn_runs.append(runs[learns])
            turn_nodes.append(nodes[learns])
            nodes = self._step(nodes, runs, past)
            continues = self.tree.player[nodes] != TERMINAL
            nodes, runs = nodes[continues], runs[continues]
        return np.concatenate(turn_runs), np.concatenate(turn_nodes)

    def _targets(self, runs: np.ndarray, nodes: np.ndarray, seats: np.ndarray, future: Play) -> np.ndarray:
        """Compute the targets of the actions by which these seats reached these nodes."""
        tree, nodes = self.tree, nodes.copy()
        targets = tree.reward[nodes, seats]
        while True:
            moving = np.flatnonzero((tree.player[nodes] != TERMINAL) & (tree.player[nodes] != seats))
            if not len(moving):
                break
            nodes[moving] = self._step(nodes[moving], runs[moving], future)
            targets[moving] += tree.reward[nodes[moving], seats[moving]]
        on_turn = np.flatnonzero(tree.player[nodes] != TERMINAL)
        if len(on_turn):
            states = tree.state[nodes[on_turn]]
            slots, legal = self._slots(states)
            q = np.where(legal, self.q[runs[on_turn][:, None], slots], 0.0)
            targets[on_turn] += (self.softmax(self.q, runs[on_turn], states) * q).sum(1)
        return targets
