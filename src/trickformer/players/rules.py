"""a scripted player of Hearts: ducks, throws off danger, guards against the queen and the moon

Its choice is a function of the view alone (cpp/hearts_rules_player.cpp): it draws no randomness."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict

from trickformer.base import Decision, Game, Memo, TrickformerError, View


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rules:
    """The scripted player at any number of tables."""

    def __init__(self, game: Game):
        self._game = game

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view. Raises ValueError on a view that no deal explains."""
        from trickformer import _core
        from trickformer.belief.hearts import seat_view

        return [Decision(a) for a in _core.hearts.rules_player([seat_view(self._game, v) for v in views])]


def make(options: Options, game: Game) -> Rules:
    """Raises TrickformerError for a game other than Hearts."""
    if game.name != "hearts":
        raise TrickformerError(f"player 'rules' plays hearts only, not {game.name}")
    return Rules(game)
