"""PIMC at a table of The Crew: all tables in one call of the core (cpp/crew/pimc.hpp)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer import _core
from trickformer.base import Decision, Game, LogOdds, Memo, View
from trickformer.belief.samplers.crew import seat_view


class CrewSearch:
    """PIMC at any number of tables.

    worlds: sampled for a decision. nodes: cards tried for an action in one of them. log_odds: by which worlds are
    drawn; None: uniformly."""

    def __init__(self, game: Game, *, worlds: int, nodes: int, log_odds: LogOdds | None = None):
        self._game = game
        self._log_odds = log_odds
        self._settings = worlds, nodes

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view; its value is the share of worlds that can still succeed, where worlds were solved.

        Raises ValueError on a view that no deal explains."""
        seeds = np.array([r.integers(2**63) for r in rng], dtype=np.uint64)
        log_odds = None if self._log_odds is None else self._log_odds(views)
        found = _core.crew.pimc([seat_view(self._game, v) for v in views], seeds, *self._settings, log_odds)
        return [Decision(action, value=value if worlds else None) for action, value, worlds in found]
