"""Worlds weighted by how likely a player's policy makes what the others did, in any game whose worlds can be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Belief, Game, Player, View, Worlds
from trickformer.belief.samplers._uniform import one_of_each

if TYPE_CHECKING:
    from trickformer.base import State

POOL = 16  # worlds of the game's own belief that a weighted one is drawn from


@dataclass(slots=True)
class ResampledWorlds(Worlds):
    """Some of the worlds that were drawn."""

    hidden: np.ndarray
    log_weight: np.ndarray
    feasible: np.ndarray
    _drawn: Worlds
    _at: np.ndarray  # int [n]: which

    def state(self, i: int) -> State:
        """World i as a state whose view equals the one sampled from; ValueError if it is infeasible."""
        return self._drawn.state(int(self._at[i]))


class PolicyBelief(Belief):
    """The game's own belief times the likelihood of what the others did, each by what it sees in that world.

    As good as the policy tells what the others do. slip: the share of their moves that it is not held to tell, such as
    those of a search that improves on it; where it is too small, a single one of these rules the truth out."""

    def __init__(self, game: Game, belief: Belief, player: Player, slip: float):
        self._game, self._belief, self._player, self._slip = game, belief, player, slip
        self.consistent = belief.consistent
        self._view: View | None = None

    def reset(self, view: View) -> None:
        """Condition on a view. Raises ValueError where nothing explains it."""
        self._belief.reset(view)
        self._view = view

    def sample(self, n: int, rng: np.random.Generator) -> ResampledWorlds:
        """n independent worlds, each drawn by its weight from POOL of the game's belief (importance resampling):
        weights hold as far as so few worlds allow. Raises ValueError before any view."""
        drawn = self._belief.sample(n * POOL, rng)
        at = np.arange(n) * POOL + one_of_each(self._likelihood(drawn).reshape(n, POOL), rng)
        return ResampledWorlds(drawn.hidden[at], np.zeros(n), drawn.feasible[at], drawn, at)

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        """float64 [n], the logarithm of the probability of a world up to a constant of the view; -inf for what does not
        explain it."""
        return self._belief.log_prob(worlds) + self._likelihood(worlds)

    def _likelihood(self, worlds: Worlds) -> np.ndarray:
        """float64 [n]; -inf of a world that does not explain the view."""
        if self._view is None:
            raise ValueError("a belief needs a view first; call reset")
        found = np.where(worlds.feasible, 0.0, -np.inf)
        rows = np.flatnonzero(worlds.feasible)
        states = [worlds.state(int(i)) for i in rows]
        for seat in range(self._game.players):
            if seat != self._view.viewer and states:
                found[rows] += self._player.log_likelihood(
                    [self._game.view(state, seat) for state in states], self._slip
                )
        return found
