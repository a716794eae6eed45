"""PIMC at a table of The Crew: all tables in one call of the core (cpp/crew/pimc.hpp)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Decision, Game, Memo, Player, Thought, View, World
from trickformer.belief.samplers.crew import CrewBelief
from trickformer.games.crew import NUM_CARDS, PLAY, PLAYERS

UNKNOWN = 0.5  # value of a world that was not decided


DEFAULTS = {"worlds": 20, "nodes": 2000}


class CrewSearch(Player):
    """PIMC at any number of tables.

    The value of a decision is the share of worlds that can still succeed, if worlds were solved.
    """

    batch = 1  # one view after the other

    def __init__(self, belief: CrewBelief, *, worlds: int, nodes: int):
        """Set up a search.

        Args:
            belief: Samples the worlds.
            worlds: Worlds of a decision.
            nodes: Largest number of cards tried for an action in one world.
        """
        self._belief = belief
        self._worlds, self._nodes = worlds, nodes

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        seeds = np.array([r.integers(2**63) for r in rng], dtype=np.uint64)
        seen = [self._belief.seat_view(v) for v in views]
        results = _core.crew.pimc(seen, seeds, self._worlds, self._nodes, self._belief.odds(views))
        thoughts = [
            self._thought(v, r) if m.get("explain") and worlds else None
            for v, r, m, (*_, worlds) in zip(views, rng, memo, results)
        ]
        return [
            Decision(action, value=value if worlds else None, thought=thought)
            for (action, value, worlds), thought in zip(results, thoughts)
        ]

    def _thought(self, view: View, rng: np.random.Generator) -> Thought | None:
        """Solve as many fresh worlds after each card, for a thought; None before the tricks."""
        if any(action >= NUM_CARDS for action in view.legal):
            return None
        self._belief.reset(view)
        sample, solver = self._belief.sample(self._worlds, rng), _core.crew.Solver()
        worlds: list[World] = []
        for i in range(self._worlds):
            state: Any = sample.state(i)
            if state.core.phase != PLAY:
                return None
            draws, values = rng.random(PLAYERS).tolist(), {}
            for action in view.legal:
                after = state.child(action).core
                known = after.result > 0 if after.result else solver.can_succeed(after, self._nodes, draws)
                values[action] = UNKNOWN if known is None else float(known)
            worlds.append(World(tuple(tuple(state.core.hand(p)) for p in range(PLAYERS)), values))
        return Thought(worlds=tuple(worlds))


def make(game: Game, belief: Belief, settings: Mapping[str, Any]) -> CrewSearch:
    """Make the search of The Crew.

    Args:
        game: The game.
        belief: Samples the worlds.
        settings: Values by name, see `DEFAULTS`.
    """
    assert isinstance(belief, CrewBelief)
    return CrewSearch(belief, **settings)
