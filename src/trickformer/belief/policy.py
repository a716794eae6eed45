"""Belief that weights a game's worlds by the likelihood of the other seats' moves under a player's policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Belief, Game, Player, View, Worlds
from trickformer.belief.samplers._uniform import draw_one_of_each_row

if TYPE_CHECKING:
    from trickformer.base import State

POOL = 16  # number of worlds from which each weighted world is drawn


@dataclass(slots=True)
class ResampledWorlds(Worlds):
    """Worlds chosen from a larger sample."""

    hidden: np.ndarray
    log_weight: np.ndarray
    feasible: np.ndarray
    _sample: Worlds  # the larger sample
    _indices: np.ndarray  # int [n], index of each world in the larger sample

    def state(self, i: int) -> State:
        return self._sample.state(int(self._indices[i]))


class PolicyBelief(Belief):
    """The game's own belief times the likelihood of the other seats' moves.

    A move's likelihood in a world is the policy's probability of it, given what the mover sees in that world. `sample`
    draws each world from POOL worlds of the game's belief by weight (importance resampling). So samples follow the
    weights only approximately.
    """

    def __init__(self, game: Game, belief: Belief, player: Player, slip: float):
        """Combine a belief and a policy.

        Args:
            game: The game.
            belief: The game's own belief.
            player: Player whose policy the other seats are assumed to follow; its `has_likelihood` is true.
            slip: Share of the other seats' moves that are assumed to be random. It covers players that sometimes
                deviate from the policy. If it is too small, one unexpected move rules out the true world.
        """
        self._game = game
        self._belief = belief
        self._player = player
        self._slip = slip
        self.consistent = belief.consistent
        self._view: View | None = None

    def reset(self, view: View) -> None:
        self._belief.reset(view)
        self._view = view

    def sample(self, n: int, rng: np.random.Generator) -> ResampledWorlds:
        pool = self._belief.sample(n * POOL, rng)
        indices = np.arange(n) * POOL + draw_one_of_each_row(self._log_likelihood(pool).reshape(n, POOL), rng)
        return ResampledWorlds(pool.hidden[indices], np.zeros(n), pool.feasible[indices], pool, indices)

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        return self._belief.log_prob(worlds) + self._log_likelihood(worlds)

    def _log_likelihood(self, worlds: Worlds) -> np.ndarray:
        """Return the log-likelihood of the other seats' moves in each world, float64 [n]; -inf if it is infeasible."""
        if self._view is None:
            raise ValueError("a belief needs a view first; call reset")
        log_likelihood = np.where(worlds.feasible, 0.0, -np.inf)
        rows = np.flatnonzero(worlds.feasible)
        states = [worlds.state(int(i)) for i in rows]
        for seat in range(self._game.players):
            if seat != self._view.viewer and states:
                log_likelihood[rows] += self._player.log_likelihood(
                    [self._game.view(state, seat) for state in states], self._slip
                )
        return log_likelihood
