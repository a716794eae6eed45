"""BSR-UCT at Mines: UCT over public observations

The search is algorithm 2 of "Consistent Belief State Estimation, with Application to Mines" (cpp/mines/search.hpp).
At every step of a simulation it samples a layout of the mines that is consistent with the node's observation, and the
layout determines what the action shows. Each simulation adds one node to the tree. The option `belief` is the sampler:

    rejection    draws random layouts until one is consistent
    metropolis   a random walk over layouts, which starts at a new random layout for each sample
    inherited    the same walk, which continues from the last sample
    exact        draws from all consistent layouts by counting them

A walk takes one step for each earlier simulation through the node. A walk that is too short may end in an inconsistent
layout. The exact sampler draws one layout for a whole simulation, which gives the same distribution as a new layout at
each step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import UNSEEDED, Decision, Game, Memo, Player, TrickformerError, View
from trickformer.plumbing.options import Applies, PerGame, refuse_unread, resolved_options

GAMES = ("mines",)


_Belief = Literal["rejection", "metropolis", "inherited", "exact"]
_SMALL = 64  # largest number of cells for which the default is rejection sampling, as in the paper


def _by_size(small: Any, large: Callable[[Any], Any]) -> PerGame:
    """Return an annotation with different defaults for boards of up to 64 cells and for larger boards.

    On larger boards rejection sampling rejects nearly all proposals, and the simulations are too few to try every cell
    many times. The defaults of c and widening for larger boards were chosen on 9x9, 16x16 and 16x30.
    """
    return PerGame(lambda _, game: small if _is_small(game) else large(game))


def _is_small(game: Game | None) -> bool:
    return getattr(game, "cells", 0) <= _SMALL


def _proposes_layouts(options: Any, game: Game | None) -> bool:
    return _is_small(game) if options.belief is None else options.belief != "exact"


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    belief: Annotated[_Belief | None, _by_size("rejection", lambda _: "exact")] = Field(
        None,
        description="Sampler: rejection, metropolis, inherited, exact (default: rejection, >64 cells exact).",
    )
    domain: Annotated[Literal["rule", "board"], Applies("a belief that proposes layouts", _proposes_layouts)] = Field(
        default="rule",
        description="Cells where a sampler may put mines: rule (as first_move allows), board (default: rule).",
    )
    simulations: int = Field(
        default=10_000, ge=1, le=20_000_000, description="Largest number of simulations a decision (default: 10,000)."
    )
    seconds: float = Field(
        default=0,
        ge=0,
        le=3600,
        allow_inf_nan=False,
        description="Largest CPU time a decision, in seconds. 0 has no limit and is reproducible (default: 0).",
    )
    c: Annotated[float | None, _by_size(0.5, lambda game: round(4 / game.safe, 4))] = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="UCT's constant, for scores of 0 to 1 (default: 0.5, above 64 cells 4 / safe cells).",
    )
    widening: Annotated[float | None, _by_size(0.0, lambda _: 0.5)] = Field(
        None,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="Exponent w: n visits try ceil(n^w) cells, w=0 all (default: 0, above 64 cells 0.5).",
    )


class BsrUct(Player):
    """Player whose search runs in the C++ core."""

    batch = 1

    def __init__(self, game: Any, options: Options):
        from trickformer import _core
        from trickformer.belief.samplers.mines import MinesBelief

        if options.seconds:
            self.caveats = (UNSEEDED,)
        self._game, self._search = game, _core.mines.search
        settings = resolved_options(options, game)
        self._belief = MinesBelief(game, settings.pop("belief"), domain=options.domain)
        self._settings = settings | {"method": self._belief.method, "domain": self._belief.domain}

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """Make one decision for each view. Inconsistent sampled layouts are counted in `Decision.illegal`.

        Args:
            views: n views.
            rng: Generator of each decision.
            memo: Not used.

        Raises:
            ValueError: No layout explains a view.
            TrickformerError: A view has too many layouts for the exact belief.
        """
        decisions = []
        for view, generator in zip(views, rng):
            observation, seed = self._belief.observe(view), int(generator.integers(2**63))
            try:
                result = self._search(self._game.board, observation, seed=seed, **self._settings)
            except RuntimeError as e:
                game = self._game
                raise TrickformerError(
                    f"player 'bsr_uct': a position of {game.rows}x{game.cols} with {game.mines} mines is too large for "
                    f"belief=exact ({e}); use belief=inherited"
                ) from None
            visits = {cell: result.visits[cell] for cell in view.legal if result.visits[cell]}
            values = {cell: result.values[cell] for cell in visits} or None
            value = result.value if visits else None
            decisions.append(Decision(result.cell, value, visits, result.inconsistent, result.n_layouts, values=values))
        return decisions


def make(options: Options, game: Game) -> Player:
    """Make the search.

    Args:
        options: Options of the player.
        game: The game.
    """
    refuse_unread("bsr_uct", options, game)
    return BsrUct(game, options)
