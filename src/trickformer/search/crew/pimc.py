"""PIMC at a table of The Crew: all tables in one call of the core (cpp/crew/pimc.hpp)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Decision, Game, Memo, Player, Thought, View, World
from trickformer.belief.samplers.crew import CrewBelief
from trickformer.games.crew import NUM_CARDS, PLAY, PLAYERS

UNKNOWN = 0.5  # what a world counts that was not decided


DEFAULTS = {"worlds": 20, "nodes": 2000}


class CrewSearch(Player):
    """PIMC at any number of tables.

    belief: by which worlds are drawn. worlds: sampled for a decision. nodes: cards tried for an action in one of
    them."""

    batch = 1  # one view after the other

    def __init__(self, belief: CrewBelief, *, worlds: int, nodes: int):
        self._belief = belief
        self._settings = worlds, nodes

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view; its value is the share of worlds that can still succeed, where worlds were solved.

        Raises ValueError on a view that no deal explains."""
        seeds = np.array([r.integers(2**63) for r in rng], dtype=np.uint64)
        seen = [self._belief.seat_view(v) for v in views]
        found = _core.crew.pimc(seen, seeds, *self._settings, self._belief.odds(views))
        thoughts = [
            self._thought(v, r) if m.get("explain") and worlds else None
            for v, r, m, (*_, worlds) in zip(views, rng, memo, found)
        ]
        return [
            Decision(action, value=value if worlds else None, thought=thought)
            for (action, value, worlds), thought in zip(found, thoughts)
        ]

    def _thought(self, view: View, rng: np.random.Generator) -> Thought | None:
        """Whether each of as many worlds, drawn anew, can still succeed after each card; None before the tricks."""
        if any(action >= NUM_CARDS for action in view.legal):
            return None
        n, nodes = self._settings
        self._belief.reset(view)
        drawn, solver, worlds = self._belief.sample(n, rng), _core.crew.Solver(), []
        for i in range(n):
            state: Any = drawn.state(i)
            if state.core.phase != PLAY:
                return None
            draws, values = rng.random(PLAYERS).tolist(), {}
            for action in view.legal:
                after = state.child(action).core
                known = after.result > 0 if after.result else solver.can_succeed(after, nodes, draws)
                values[action] = UNKNOWN if known is None else float(known)
            worlds.append(World(tuple(tuple(state.core.hand(p)) for p in range(PLAYERS)), values))
        return Thought(worlds=tuple(worlds))


def make(game: Game, belief: Belief, settings: Mapping[str, Any]) -> CrewSearch:
    """Make the search of The Crew."""
    assert isinstance(belief, CrewBelief)
    return CrewSearch(belief, **settings)
