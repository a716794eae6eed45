"""scripted player of the game

In Hearts it ducks and guards against the moon, in Skat it bids, declares and plays, in The Crew it also communicates.

Its choices depend on the view only, without randomness (cpp/hearts/rules_player.cpp, cpp/skat/rules_player.cpp,
cpp/crew/rules_player.cpp).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from trickformer.base import Decision, Game, Memo, Player, View

GAMES = ("hearts", "skat", "crew")


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rules(Player):
    """Scripted player of the C++ core."""

    batch = 1

    def __init__(self, game: Game):
        from trickformer import _core
        from trickformer.belief.samplers import CardBelief, sampler

        belief = sampler(game)
        assert isinstance(belief, CardBelief)
        self._seat_view = belief.seat_view
        self._choose: Callable[[list[Any]], list[int]] = getattr(_core, game.name).rules_player

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [Decision(action) for action in self._choose([self._seat_view(v) for v in views])]


def make(options: Options, game: Game) -> Rules:
    """Make the scripted player.

    Args:
        options: Options of the player.
        game: The game.
    """
    return Rules(game)
