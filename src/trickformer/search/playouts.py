"""PIMC in any game: random playouts in sampled worlds, as states of OpenSpiel."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trickformer.base import Belief, Decision, Game, Memo, Player, Thought, View, World
from trickformer.openspiel import playout

DEFAULTS = {"worlds": 20, "runs": 1}


class PlayoutSearch(Player):
    """PIMC at any number of tables, one decision after the other.

    An action's value is the mean of the own v(o) over its playouts. Ties go to the lowest action. A forced action is
    not searched.
    """

    batch = 1  # one view after the other

    def __init__(self, game: Game, belief: Belief, *, worlds: int, runs: int):
        """Set up a search.

        Args:
            game: The game.
            belief: Samples the worlds.
            worlds: Worlds of a decision.
            runs: Playouts of each action in each world.
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
        draw = random.Random(int(rng.integers(2**63)))
        totals, explained = dict.fromkeys(view.legal, 0.0), list[World]()
        for i in range(self._worlds):
            world, before = worlds.state(i), dict(totals)
            for action in view.legal:
                for _ in range(self._runs):
                    totals[action] += playout(self._game, world.child(action), view.viewer, draw)
            if explain:
                explained.append(World((), {a: (totals[a] - before[a]) / self._runs for a in view.legal}))
        playouts = self._worlds * self._runs
        values = {action: total / playouts for action, total in totals.items()}
        best = max(view.legal, key=lambda action: totals[action])
        thought = Thought(worlds=tuple(explained)) if explain else None
        return Decision(best, values[best], dict.fromkeys(view.legal, playouts), values=values, thought=thought)


def make(game: Game, belief: Belief, settings: Mapping[str, Any]) -> PlayoutSearch:
    """Make the search of any game.

    Args:
        game: The game.
        belief: Samples the worlds.
        settings: Values by name, see `DEFAULTS`.
    """
    return PlayoutSearch(game, belief, **settings)
