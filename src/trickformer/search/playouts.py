"""PIMC at a table of any game: random playouts in sampled worlds, as states of OpenSpiel."""

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

    belief: by which worlds are drawn. worlds: sampled for a decision. runs: playouts of each action in each world. An
    action's value is the mean of v(o), the own part, of what its playouts end in."""

    batch = 1  # one view after the other

    def __init__(self, game: Game, belief: Belief, *, worlds: int, runs: int):
        self._game, self._belief = game, belief
        self._worlds, self._runs = worlds, runs

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view, ties to the lowest action; a forced action is not searched. Raises ValueError or
        TrickformerError where the sampler finds no world."""
        return [self._decide(v, r, bool(m.get("explain"))) for v, r, m in zip(views, rng, memo)]

    def _decide(self, view: View, rng: np.random.Generator, explain: bool) -> Decision:
        if len(view.legal) == 1:
            return Decision(view.legal[0])
        self._belief.reset(view)
        worlds = self._belief.sample(self._worlds, rng)
        draw = random.Random(int(rng.integers(2**63)))
        totals, found = dict.fromkeys(view.legal, 0.0), list[World]()
        for i in range(self._worlds):
            world, before = worlds.state(i), dict(totals)
            for action in view.legal:
                for _ in range(self._runs):
                    totals[action] += playout(self._game, world.child(action), view.viewer, draw)
            if explain:
                found.append(World((), {a: (totals[a] - before[a]) / self._runs for a in view.legal}))
        playouts = self._worlds * self._runs
        values = {action: total / playouts for action, total in totals.items()}
        best = max(view.legal, key=lambda action: totals[action])
        thought = Thought(worlds=tuple(found)) if explain else None
        return Decision(best, values[best], dict.fromkeys(view.legal, playouts), values=values, thought=thought)


def make(game: Game, belief: Belief, settings: Mapping[str, Any]) -> PlayoutSearch:
    """Make the search of any game."""
    return PlayoutSearch(game, belief, **settings)
