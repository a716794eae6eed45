"""Prioritized replay of whole games ("Prioritized Experience Replay", Schaul et al. 2016; of sequences: "Recurrent
Experience Replay in Distributed Reinforcement Learning", Kapturowski et al. 2019).

A game is its number in the series, its moves and its targets: what seats saw is computed anew where it is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trickformer.studies.obl.hanabi.actors import OVER, Trajectories

_MAX_SHARE = 0.9  # of a game's largest error in its priority; the rest is the mean


@dataclass(frozen=True, slots=True)
class ReplaySample:
    """Games to learn from, k of them."""

    rows: np.ndarray  # int64 [k], of the buffer
    games: Trajectories
    weights: np.ndarray  # float32 [k], the largest of them 1


class ReplayBuffer:
    """The last `size` games. A new one is as likely to be drawn as the likeliest before it."""

    def __init__(self, size: int, longest: int, players: int):
        self.total = 0  # games so far
        self.games = np.zeros(size, dtype=np.uint64)
        self.actions = np.full((size, longest), OVER, dtype=np.uint8)
        self.targets = np.zeros((size, longest, players), dtype=np.float32)
        self.tries = np.zeros((size, longest), dtype=np.uint8)
        self.tried = np.zeros((size, longest), dtype=np.float32)
        self.priorities = np.zeros(size)
        self.highest = 1.0

    def add(self, ended: Trajectories) -> None:
        """Takes games in, in the place of the oldest."""
        for i in range(len(ended.games)):
            row = self.total % len(self.games)
            self.games[row], self.actions[row] = ended.games[i], ended.actions[i]
            self.targets[row], self.priorities[row] = ended.targets[i], self.highest
            self.tries[row], self.tried[row] = ended.tries[i], ended.tried[i]
            self.total += 1

    def draw(self, k: int, exponent: float, weight: float, rng: np.random.Generator) -> ReplaySample:
        """k games, each as likely as its priority to the power of `exponent`; a game may come twice."""
        held = min(self.total, len(self.games))
        cumulative = np.cumsum(self.priorities[:held] ** exponent)
        at = (np.arange(k) + rng.random(k)) / k * cumulative[-1]
        rows = np.searchsorted(cumulative, at, side="right").clip(max=held - 1)
        chance = np.diff(cumulative, prepend=0.0)[rows] / cumulative[-1]
        weights = (held * chance) ** -weight
        return ReplaySample(rows, self.of(rows), (weights / weights.max()).astype(np.float32))

    def of(self, rows: np.ndarray) -> Trajectories:
        """The games of these rows, int64 [k]."""
        return Trajectories(
            self.games[rows], self.actions[rows], self.targets[rows], self.tries[rows], self.tried[rows]
        )

    def judge(self, rows: np.ndarray, errors: np.ndarray, lengths: np.ndarray) -> None:
        """Sets priorities by how far off the values of games were: |errors|, float [n], game after game, so many of
        each, int64 [k]."""
        starts = np.cumsum(lengths) - lengths
        largest, mean = np.maximum.reduceat(errors, starts), np.add.reduceat(errors, starts) / lengths
        self.priorities[rows] = _MAX_SHARE * largest + (1 - _MAX_SHARE) * mean + 1e-6
        self.highest = float(self.priorities[: min(self.total, len(self.games))].max())
