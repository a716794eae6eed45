"""PIMC in The Crew: the core samples and solves the worlds of all views in one call (cpp/crew/pimc.hpp)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import Belief, Decision, Game, Memo, Player, Thought, View, World
from trickformer.belief.samplers.crew import CrewBelief
from trickformer.games.crew import NUM_CARDS, PLAY, PLAYERS

UNKNOWN = 0.5  # value of a world for which the solver reached its limit of nodes without a result


DEFAULTS = {"worlds": 20, "nodes": 2000}


class CrewSearch(Player):
    """PIMC player. If worlds were solved, a decision's value is the share of them in which the team can still succeed.

    Nothing is solved before the tricks.
    """

    batch = 1

    def __init__(self, belief: CrewBelief, *, worlds: int, nodes: int):
        """Set up a search.

        Args:
            belief: Samples the worlds.
            worlds: Number of worlds per decision.
            nodes: Largest number of cards that the solver tries for one action in one world.
        """
        self._belief = belief
        self._worlds, self._nodes = worlds, nodes

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        seeds = np.array([r.integers(2**63) for r in rng], dtype=np.uint64)
        seat_views = [self._belief.seat_view(v) for v in views]
        results = _core.crew.pimc(seat_views, seeds, self._worlds, self._nodes, self._belief.log_odds(views))
        thoughts = [
            self._explain(v, r) if m.get("explain") and solved else None
            for v, r, m, (*_, solved) in zip(views, rng, memo, results)
        ]
        return [
            Decision(action, value=value if solved else None, thought=thought)
            for (action, value, solved), thought in zip(results, thoughts)
        ]

    def _explain(self, view: View, rng: np.random.Generator) -> Thought | None:
        """Sample new worlds and solve them after each legal card; None before the tricks."""
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
                # `result` is 0 during the mission, then its sign tells success from failure.
                success = after.result > 0 if after.result else solver.can_succeed(after, self._nodes, draws)
                values[action] = UNKNOWN if success is None else float(success)
            worlds.append(World(tuple(tuple(state.core.hand(p)) for p in range(PLAYERS)), values))
        return Thought(worlds=tuple(worlds))


def make(game: Game, belief: Belief, settings: Mapping[str, Any]) -> CrewSearch:
    """Make the search of The Crew.

    Args:
        game: The game.
        belief: Samples the worlds.
        settings: A value for each name in `DEFAULTS`.
    """
    assert isinstance(belief, CrewBelief)
    return CrewSearch(belief, **settings)
