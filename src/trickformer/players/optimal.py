"""optimal play on small boards of Mines

The player solves the game by dynamic programming over all observations (cpp/mines/solver.hpp). Among equally good cells
it opens the first. It draws no randomness.
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

    positions: int = Field(
        default=2_000_000, ge=1, le=10**9, description="Largest number of positions in memory (default: 2,000,000)."
    )
    layouts: int = Field(
        default=2_000_000, ge=1, le=10**9, description="Largest number of layouts in memory (default: 2,000,000)."
    )


class Optimal(Player):
    """Player that opens the cell after which optimal play opens most cells on average."""

    batch = 1

    def __init__(self, game: Any, options: Options):
        from trickformer import _core

        self._game = game
        self._make_solver = lambda: _core.mines.Solver(game.board, options.positions, options.layouts)
        self._solver = self._make_solver()

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._act(view) for view in views]

    def _act(self, view: View) -> Decision:
        from trickformer.games.mines import opened_cells

        had_positions = self._solver.positions
        try:
            cells_to_open = {cell: action_value(self._game, self._solver, view, cell) for cell in view.legal}
        except TrickformerError:
            if not had_positions:
                raise
            self._solver = self._make_solver()  # positions of earlier games may have filled its memory
            cells_to_open = {cell: action_value(self._game, self._solver, view, cell) for cell in view.legal}
        best = max(cells_to_open, key=lambda cell: cells_to_open[cell])
        opened = len(opened_cells(view))
        values = {cell: (opened + n) / self._game.safe for cell, n in cells_to_open.items()}
        return Decision(best, values[best], values=values)


def action_value(game: Any, solver: Any, view: View, cell: int) -> float:
    """Compute the mean number of cells that are still opened if a cell is opened next and play is optimal afterwards.

    Args:
        game: The game, Mines.
        solver: Solver of its board.
        view: The view.
        cell: The cell.

    Raises:
        TrickformerError: The position is too large.
        ValueError: No layout explains the view.
    """
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
    """Make the player.

    Args:
        options: Options of the player.
        game: The game.
    """
    return Optimal(game, options)
