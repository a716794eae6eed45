"""uniform over the legal actions"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict

from trickformer.base import Decision, Game, Memo, Player, View


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Random(Player):
    """Player that chooses each legal action with the same probability, in any game."""

    batch = 1

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [Decision(v.legal[int(r.integers(len(v.legal)))]) for v, r in zip(views, rng)]


def make(options: Options, game: Game) -> Random:
    return Random()
