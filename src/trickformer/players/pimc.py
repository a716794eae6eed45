"""perfect-information Monte Carlo (Algorithm 2 of the GO-MCTS paper) on uniformly sampled worlds

Hearts: the whole decision is one call of the core (cpp/hearts_pimc.inl). A world's actions are valued by
multi-player UCT (Sturtevant 2008) as the mean reward of the root's children, or by plain playouts; a card's
value is its mean over worlds. The cards to pass are chosen one after the other, each by a search of its own
over the own cards still to choose, while the other seats pass as the scripted player would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Decision, Game, Memo, TrickformerError, View


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    worlds: int = Field(default=50, ge=1, le=1_000_000, description="worlds sampled for a decision")
    runs: int = Field(default=2000, ge=1, le=1_000_000, description="simulations in each world")
    c: float = Field(
        default=0.4, ge=0, allow_inf_nan=False, description="exploration constant of UCT, in units of v(o)"
    )
    eval: Literal["uct", "rollout"] = Field(default="uct", description="how a world's actions are valued")
    playout: Literal["light", "random"] = Field(
        default="light",
        description="moves beyond the tree: a quick script with an eighth of chance, or uniform",
    )


class Pimc:
    """PIMC at any number of tables, one search after the other."""

    def __init__(self, options: Options, game: Game):
        self._options = options
        self._game = game

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view, ties to the lowest card; a forced card is not searched.

        Raises ValueError on a view that no deal explains."""
        return [self._decide(v, r) for v, r in zip(views, rng)]

    def _decide(self, view: View, rng: np.random.Generator) -> Decision:
        from trickformer import _core
        from trickformer.belief.hearts import seat_view

        if len(view.legal) == 1:
            return Decision(view.legal[0])
        o = self._options
        deals = _core.hearts.DealSampler(seat_view(self._game, view))
        seed = int(rng.integers(2**63))
        found = _core.hearts.pimc(deals, o.worlds, o.runs, o.c, o.eval == "uct", o.playout == "light", seed)
        best = max(found, key=lambda card: found[card][0])
        return Decision(best, value=found[best][0], visits={card: n for card, (_, n) in found.items()})


def make(options: Options, game: Game) -> Pimc:
    """Raises TrickformerError for a game without a core that searches it."""
    if game.name != "hearts":
        raise TrickformerError(f"player 'pimc' plays hearts only, not {game.name}")
    return Pimc(options, game)
