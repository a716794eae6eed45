"""optimal play on small boards of Mines

Dynamic programming over all observations.

cpp/mines/solver.hpp says how; of equally good cells it opens the first. It draws no randomness.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from trickformer.base import Decision, Game, Memo, Player, TrickformerError, View

GAMES = ("mines",)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    positions: int = Field(default=2_000_000, ge=1, le=10**9, description="positions that it remembers, at most")
    layouts: int = Field(default=2_000_000, ge=1, le=10**9, description="layouts that it holds at a time, at most")


class Optimal(Player):
    """Opens the cell after which optimal play opens most cells on average."""

    batch = 1  # one view after the other

    def __init__(self, game: Any, options: Options):
        from trickformer import _core

        self._game = game
        self._new = lambda: _core.mines.Solver(game.board, options.positions, options.layouts)
        self._solver = self._new()

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view. Raises TrickformerError where the board is too large for this."""
        return [self._act(view) for view in views]

    def _act(self, view: View) -> Decision:
        known = self._solver.positions
        try:
            values = {cell: action_value(self._game, self._solver, view, cell) for cell in view.legal}
        except TrickformerError:
            if not known:
                raise
            self._solver = self._new()  # its memory may be full of other games
            values = {cell: action_value(self._game, self._solver, view, cell) for cell in view.legal}
        best = max(values, key=lambda cell: values[cell])
        values = {cell: (len(view.events) + more) / self._game.safe for cell, more in values.items()}
        return Decision(best, values[best], values=values)


def action_value(game: Any, solver: Any, view: View, cell: int) -> float:
    """How many cells are opened on average from `view` on, by opening `cell` and playing optimally after it.

    Raises TrickformerError where the position is too large, ValueError where no layout explains the view."""
    from trickformer.belief.samplers.mines import observe

    try:
        layouts, total = solver.open(observe(game, view), cell)
    except RuntimeError as e:
        raise TrickformerError(
            f"a board of {game.rows}x{game.cols} with {game.mines} mines is too large: {e}"
        ) from None
    if not layouts:
        raise ValueError("no layout of mines explains the view")
    return total / layouts


def make(options: Options, game: Game) -> Player:
    """Raises TrickformerError for a game other than Mines."""
    if game.name != "mines":
        raise TrickformerError(f"player 'optimal' plays mines only, not {game.name}")
    return Optimal(game, options)
