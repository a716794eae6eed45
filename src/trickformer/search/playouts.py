"""PIMC in any game: random playouts of OpenSpiel states in sampled worlds."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trickformer.base import Belief, Decision, Game, Memo, Player, Thought, View, World
from trickformer.openspiel import playout

DEFAULTS = {"worlds": 20, "runs": 1}


class PlayoutSearch(Player):
    """PIMC player whose action values are means of the own v(o) over random playouts.

    Ties go to the lowest action. If only one action is legal, there is no search.
    """

    batch = 1

    def __init__(self, game: Game, belief: Belief, *, worlds: int, runs: int):
        """Set up a search.

        Args:
            game: The game.
            belief: Samples the worlds.
            worlds: Number of worlds per decision.
            runs: Number of playouts of each action in each world.
        """
        self._game, self._belief = game, belief
        self._worlds, self._runs = worlds, runs

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(v, r, bool(m.get("explain"))) for v, r, m in zip(views, rng, memo)]

    def _decide(self, view: View, rng: np.random.Generator, explain: bool) -> Decision:
        if len(view.legal) == 1:
            return Decision(view.legal[0])
        self._belief.reset(view)
        worlds = self._belief.sample(self._worlds, rng)
        playout_rng = random.Random(int(rng.integers(2**63)))
        totals, by_world = dict.fromkeys(view.legal, 0.0), list[World]()
        for i in range(self._worlds):
            world, before = worlds.state(i), dict(totals)
            for action in view.legal:
                for _ in range(self._runs):
                    totals[action] += playout(self._game, world.child(action), view.viewer, playout_rng)
            if explain:
                by_world.append(World((), {a: (totals[a] - before[a]) / self._runs for a in view.legal}))
        playouts = self._worlds * self._runs
        values = {action: total / playouts for action, total in totals.items()}
        best = max(view.legal, key=lambda action: totals[action])
        thought = Thought(worlds=tuple(by_world)) if explain else None
        return Decision(best, values[best], dict.fromkeys(view.legal, playouts), values=values, thought=thought)


def make(game: Game, belief: Belief, settings: Mapping[str, Any]) -> PlayoutSearch:
    """Make the PIMC player of a game without a faster one in the core.

    Args:
        game: The game.
        belief: Samples the worlds.
        settings: A value for each name in `DEFAULTS`.
    """
    return PlayoutSearch(game, belief, **settings)
