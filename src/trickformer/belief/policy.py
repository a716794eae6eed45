"""Worlds weighted by the probability that a player's policy gives to the other seats' moves.

It serves any game that has a belief.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Belief, Game, Player, View, Worlds
from trickformer.belief.samplers._uniform import draw_one_of_each_row

if TYPE_CHECKING:
    from trickformer.base import State

POOL = 16  # worlds of the game's own belief for each weighted world


@dataclass(slots=True)
class ResampledWorlds(Worlds):
    """Worlds chosen from a larger sample."""

    hidden: np.ndarray
    log_weight: np.ndarray
    feasible: np.ndarray
    _drawn: Worlds
    _at: np.ndarray  # int [n], indices into the larger sample

    def state(self, i: int) -> State:
        return self._drawn.state(int(self._at[i]))


class PolicyBelief(Belief):
    """The game's own belief times the likelihood of the other seats' moves.

    Each move's likelihood is the policy's probability, given what that seat sees in the world. The weights are as good
    as the policy's prediction of those moves. `sample` draws each world from POOL worlds of the game's belief
    (importance resampling), so the weights are only as accurate as a pool of this size allows.
    """

    def __init__(self, game: Game, belief: Belief, player: Player, slip: float):
        """Combine a belief and a policy.

        Args:
            game: The game.
            belief: The game's own belief.
            player: Player whose policy the other seats are assumed to follow; its `has_likelihood` is true.
            slip: Share of their moves that is taken to be random, such as those of a search that improves on the
                policy. If it is too small, a single unexpected move rules the truth out.
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
        drawn = self._belief.sample(n * POOL, rng)
        at = np.arange(n) * POOL + draw_one_of_each_row(self._likelihood(drawn).reshape(n, POOL), rng)
        return ResampledWorlds(drawn.hidden[at], np.zeros(n), drawn.feasible[at], drawn, at)

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        return self._belief.log_prob(worlds) + self._likelihood(worlds)

    def _likelihood(self, worlds: Worlds) -> np.ndarray:
        """Return the log likelihood of the others' moves, float64 [n]; -inf in an infeasible world."""
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
