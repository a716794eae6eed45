"""BSR-UCT at Mines: UCT over public observations

A belief for the positions of the mines is an option.

"Consistent Belief State Estimation, with Application to Mines", Algorithm 2: at every step of a
simulation a layout is drawn given what that node has seen, and answers the action; belief=exact draws one a simulation,
which has the same law. Metropolis' walks make as many steps
in a node as simulations have passed through it. One node a simulation enters the tree (cpp/mines/search.hpp).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Decision, Game, Memo, Player, TrickformerError, View

GAMES = ("mines",)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    belief: Literal["rejection", "metropolis", "inherited", "exact"] = Field(
        default="rejection", description="how layouts are drawn"
    )
    domain: Literal["rule", "board"] = Field(
        default="rule",
        description="where they are proposed: where the rule of the first move leaves them, or on the whole board",
    )
    simulations: int = Field(default=10_000, ge=1, le=20_000_000, description="simulations a decision, at most")
    seconds: float = Field(
        default=0,
        ge=0,
        le=3600,
        allow_inf_nan=False,
        description="seconds of CPU time a decision, at most; 0: no limit, and a decision follows from its seed",
    )
    c: float = Field(
        default=0.5, ge=0, allow_inf_nan=False, description="exploration constant of UCT, in units of the score"
    )
    widening: float = Field(
        default=0,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="progressive widening: after n visits, n to this power of the actions are considered; 0: all",
    )


class BsrUct(Player):
    """The search, at any number of tables, one decision after the other."""

    batch = 1  # one view after the other

    def __init__(self, game: Any, options: Options):
        from trickformer import _core
        from trickformer.belief.samplers.mines import MinesBelief

        self._game, self._search = game, _core.mines.search
        self._belief = MinesBelief(game, options.belief, domain=options.domain)
        self._how = options.model_dump(exclude={"belief", "domain"}) | {
            "method": self._belief.method,
            "domain": self._belief.domain,
        }

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view; of layouts drawn, those that do not explain what was seen count as illegal.

        Raises ValueError on a view that no layout explains."""
        found = []
        for view, generator in zip(views, rng):
            observation, seed = self._belief.observe(view), int(generator.integers(2**63))
            result = self._search(self._game.board, observation, seed=seed, **self._how)
            visits = {cell: result.visits[cell] for cell in view.legal if result.visits[cell]}
            values = {cell: result.values[cell] for cell in visits} or None
            value = result.value if visits else None
            found.append(Decision(result.cell, value, visits, result.inconsistent, result.n_layouts, values=values))
        return found


def make(options: Options, game: Game) -> Player:
    """Raises TrickformerError for a game other than Mines."""
    if game.name != "mines":
        raise TrickformerError(f"player 'bsr_uct' plays mines only, not {game.name}")
    return BsrUct(game, options)
