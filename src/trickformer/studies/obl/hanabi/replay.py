"""Prioritized replay of whole games.

The method is that of "Prioritized Experience Replay" (Schaul et al. 2016), for sequences as in "Recurrent Experience
Replay in Distributed Reinforcement Learning" (Kapturowski et al. 2019). The buffer keeps a game's number in the series,
its moves and its targets. Observations are computed when a game is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trickformer.studies.obl.hanabi.actors import OVER, Trajectories

_MAX_SHARE = 0.9  # weight of a game's largest error in its priority (Kapturowski's eta); the mean error has the rest


@dataclass(frozen=True, slots=True)
class ReplaySample:
    """k games to learn from."""

    rows: np.ndarray  # int64 [k]: their rows in the buffer
    games: Trajectories
    weights: np.ndarray  # float32 [k]: importance weights, of which the largest is 1


class ReplayBuffer:
    """Buffer of the last `size` games. A new game gets the highest priority in the buffer.

    Args:
        size: Number of games that the buffer holds.
        longest: Largest number of moves of a game.
        players: Number of seats.
    """

    def __init__(self, size: int, longest: int, players: int):
        # Saved states hold the names of these attributes. Arrays are by row, as in `Trajectories`.
        self.total = 0  # games added so far
        self.games = np.zeros(size, dtype=np.uint64)
        self.actions = np.full((size, longest), OVER, dtype=np.uint8)
        self.targets = np.zeros((size, longest, players), dtype=np.float32)
        self.tries = np.zeros((size, longest), dtype=np.uint8)
        self.tried = np.zeros((size, longest), dtype=np.float32)
        self.priorities = np.zeros(size)
        self.highest = 1.0  # priority of new games

    def add(self, ended: Trajectories) -> None:
        """Store games; they replace the oldest.

        Args:
            ended: New games.
        """
        for i in range(len(ended.games)):
            row = self.total % len(self.games)
            self.games[row], self.actions[row] = ended.games[i], ended.actions[i]
            self.targets[row], self.priorities[row] = ended.targets[i], self.highest
            self.tries[row], self.tried[row] = ended.tries[i], ended.tried[i]
            self.total += 1

    def draw(self, k: int, exponent: float, weight: float, rng: np.random.Generator) -> ReplaySample:
        """Draw k games by priority; a game may be drawn twice.

        Args:
            k: Number of games.
            exponent: A game's probability is proportional to this power of its priority.
            weight: Exponent of the importance weights: 1 corrects for the priorities in full, 0 not at all.
            rng: Generator of the draws.
        """
        size = min(self.total, len(self.games))
        cumulative = np.cumsum(self.priorities[:size] ** exponent)
        # Stratified: one draw in each k-th part of the total priority.
        at = (np.arange(k) + rng.random(k)) / k * cumulative[-1]
        rows = np.searchsorted(cumulative, at, side="right").clip(max=size - 1)
        probability = np.diff(cumulative, prepend=0.0)[rows] / cumulative[-1]
        weights = (size * probability) ** -weight
        return ReplaySample(rows, self.trajectories(rows), (weights / weights.max()).astype(np.float32))

    def trajectories(self, rows: np.ndarray) -> Trajectories:
        """Return the games in some rows.

        Args:
            rows: int64 [k], rows of the buffer.
        """
        return Trajectories(
            self.games[rows], self.actions[rows], self.targets[rows], self.tries[rows], self.tried[rows]
        )

    def update_priorities(self, rows: np.ndarray, errors: np.ndarray, lengths: np.ndarray) -> None:
        """Set the priorities of games by the errors of their values.

        Args:
            rows: int64 [k], rows of the buffer.
            errors: float [n], absolute error of each move, game after game.
            lengths: int64 [k], moves of each game; n is their sum.
        """
        starts = np.cumsum(lengths) - lengths
        largest, mean = np.maximum.reduceat(errors, starts), np.add.reduceat(errors, starts) / lengths
        # A small constant keeps the probability of a game without errors above 0.
        self.priorities[rows] = _MAX_SHARE * largest + (1 - _MAX_SHARE) * mean + 1e-6
        self.highest = float(self.priorities[: min(self.total, len(self.games))].max())
