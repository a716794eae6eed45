"""Optimal play of Mines.

For an empty board the module computes the values of first moves, one for each class of cells that rotations and
reflections map onto each other. For a position it computes the values of all moves.

With `--cascade` a cell that shows 0 also opens its neighbours. That changes no value, because these cells are safe in
all layouts, and optimal play opens them too.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from trickformer import _core
from trickformer.base import Event, TrickformerError, View
from trickformer.players.optimal import action_value
from trickformer.plumbing.progress import progress
from trickformer.studies.mines.plan import OptimalPlay


def solve(config: OptimalPlay) -> dict[str, Any]:
    """Solve a board or a position.

    In the result, `value` is the score of optimal play and `first_move` its move. `moves` lists the moves, best first.
    Each has `value`, the expected score at the end, and `expected_moves`, the mean number of cells opened from here on.
    `positions` is the number of positions that the solver holds.

    Args:
        config: Board, position and limits.

    Returns:
        Object that `--json` prints.

    Raises:
        TrickformerError: If the board cannot be played or is too large, or if the position cannot arise.
    """
    if config.position:
        return _solve_position(config)
    game: Any = config.rules()
    solver = _core.mines.Solver(game.board, config.positions, config.layouts)
    start = View(0, (), tuple(range(game.cells)))
    classes = _symmetry_classes(game.rows, game.cols)
    moves = []
    with progress("mines exact", "moves", 0, len(classes)) as advance:
        for name, cells in classes:
            moves.append(_move(name, cells, game, solver, start, 0))
            advance()
    return _result(config, moves, solver)


def best_value(game: Any, limit: int) -> float | None:
    """Compute the score of the best play on a board.

    Args:
        game: Game of Mines.
        limit: Largest number of layouts and of positions that the solver holds.

    Returns:
        Expected share of the safe cells that are opened; None beyond the limit.
    """
    solver = _core.mines.Solver(game.board, limit, limit)
    start = View(0, (), tuple(range(game.cells)))
    first_cells = [cells[0] for _, cells in _symmetry_classes(game.rows, game.cols)]
    try:
        return max(action_value(game, solver, start, cell) for cell in first_cells) / game.safe
    except TrickformerError:
        return None


def _solve_position(config: OptimalPlay) -> dict[str, Any]:
    rows, cols = config.size
    try:
        # First-move rule 0: any cell may be a mine. The rule has no effect on the moves after the first.
        board = _core.mines.Board(rows, cols, config.mines, 0)
    except ValueError as e:
        raise TrickformerError(f"--board {config.board}: {e}") from None
    marks = config.position.split("/")
    if [len(row) for row in marks] != [cols] * rows or set(config.position) - set("./012345678"):
        raise TrickformerError(
            f"position {config.position!r}: write {rows} rows of {cols} marks, . or 0 to 8, with / between them"
        )
    shown = [(cell, int(mark)) for cell, mark in enumerate("".join(marks)) if mark != "."]
    view = View(0, tuple(Event(0, cell, (number,)) for cell, number in shown), ())  # the solver needs no legal actions
    game = _Position(board, rows, cols, config.mines)
    if not shown:
        raise TrickformerError(f"position {config.position!r}: nothing is open; leave --position out")
    if not _core.mines.Counter(board, _core.mines.Observation(board, *map(list, zip(*shown)))).layouts:
        raise TrickformerError(f"position {config.position!r}: no layout of {config.mines} mines is consistent with it")
    if config.cascade:
        opened = {cell for cell, _ in shown}
        zeros = [cell for cell, number in shown if number == 0 and not opened.issuperset(board.around(cell))]
        if zeros:
            cell = zeros[0]
            raise TrickformerError(
                f"position {config.position!r}: with --cascade the 0 in row {cell // cols}, column {cell % cols} opens "
                "its neighbours; open them too"
            )
    if len(shown) == game.safe:
        raise TrickformerError(f"position {config.position!r}: no safe cell is left to open")
    solver = _core.mines.Solver(board, config.positions, config.layouts)
    closed = sorted(set(range(game.cells)) - {cell for cell, _ in shown})
    moves = [_move(f"({cell // cols},{cell % cols})", [cell], game, solver, view, len(shown)) for cell in closed]
    return _result(config, moves, solver)


class _Position:
    """Game of a given position, with the attributes of a `Game` that this module and `action_value` read."""

    def __init__(self, board: _core.mines.Board, rows: int, cols: int, mines: int):
        self.board = board
        self.rows = rows
        self.cols = cols
        self.mines = mines
        self.cells = rows * cols
        self.safe = self.cells - mines


def _move(name: str, cells: list[int], game: Any, solver: Any, view: View, opened: int) -> dict[str, Any]:
    """Evaluate moves that open one of several equivalent cells. Before the move `opened` cells are open."""
    expected = action_value(game, solver, view, cells[0])  # cells opened from here on
    return {
        "move": name,
        "cells": [[cell // game.cols, cell % game.cols] for cell in cells],
        "value": (opened + expected) / game.safe,
        "expected_moves": expected,
    }


def _result(config: OptimalPlay, moves: list[dict[str, Any]], solver: Any) -> dict[str, Any]:
    moves.sort(key=lambda move: -move["value"])
    return {
        "board": config.board,
        "mines": config.mines,
        "first_move_rule": None if config.position else config.first_move,
        "cascade": config.cascade,
        "position": config.position or None,
        "value": moves[0]["value"],
        "first_move": moves[0]["move"],
        "moves": moves,
        "positions": solver.positions,
    }


def _symmetry_classes(rows: int, cols: int) -> list[tuple[str, list[int]]]:
    """Return the classes of cells that rotations and reflections map onto each other, with names.

    A name is the kind: corner, edge or central. If several classes are of one kind, it contains the first cell too.
    """

    def representative(cell: int) -> int:
        row, col = divmod(cell, cols)
        images = [(r, c) for r in (row, rows - 1 - row) for c in (col, cols - 1 - col)]
        if rows == cols:
            images += [(c, r) for r, c in images]
        return min(r * cols + c for r, c in images)

    classes: dict[int, list[int]] = {}
    for cell in range(rows * cols):
        classes.setdefault(representative(cell), []).append(cell)
    kinds = {cell: _kind(*divmod(cell, cols), rows, cols) for cell in classes}
    counts = Counter(kinds.values())
    return [
        (kinds[cell] if counts[kinds[cell]] == 1 else f"{kinds[cell]} ({cell // cols},{cell % cols})", cells)
        for cell, cells in classes.items()
    ]


def _kind(row: int, col: int, rows: int, cols: int) -> str:
    borders = (row in (0, rows - 1)) + (col in (0, cols - 1))
    return ("central", "edge", "corner")[borders]
