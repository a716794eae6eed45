"""Hanabi's scripted players as policies over views (cpp/hanabi/players.hpp)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer import _core
from trickformer.base import Policy, View
from trickformer.belief.samplers.hanabi import HanabiBelief, replay
from trickformer.games.hanabi import Hanabi


class ScriptedPolicy(Policy):
    """Policy of one scripted player, a name of `_core.hanabi.BOTS`.

    A scripted player never reads its own cards, so it is enough to evaluate the policy in one consistent world.
    """

    def __init__(self, game: Hanabi, name: str):
        self._game, self._belief = game, HanabiBelief(game)
        self._bot = np.full(1, _core.hanabi.BOTS.index(name), dtype=np.int8)

    def probs(self, views: Sequence[View]) -> np.ndarray:
        """Compute the policy.

        Args:
            views: n views.

        Returns:
            Probabilities, float32 [n, actions].

        Raises:
            ValueError: No deal explains a view.
        """
        return np.concatenate([self._table(view).policy(self._bot) for view in views])

    def _table(self, view: View) -> _core.hanabi.Tables:
        self._belief.reset(view)
        return replay(self._game, self._belief.sample(1, np.random.default_rng(0)).history(0))
