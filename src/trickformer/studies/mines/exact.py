"""Optimal play of Mines.

On a board: the values of the first moves, one for each class of cells that rotations and reflections exchange. In a
position: the values of all moves.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from trickformer import _core
from trickformer.base import Event, TrickformerError, View
from trickformer.players.optimal import action_value
from trickformer.plumbing.progress import progress
from trickformer.studies.mines.plan import OptimalPlay


def solve(config: OptimalPlay) -> dict[str, Any]:
    """Solve a board or a position.

    `value` and `first_move` belong to the best play. `moves` lists the moves, best first. Each has `value`, the score
    at the end, and `expected_moves`, the mean number of cells opened from here on.

    Args:
        config: Board, position and limits.

    Returns:
        Object that `--json` prints.

    Raises:
        TrickformerError: If the board cannot be played or is too large, or if the position cannot arise.
    """
    if config.position:
        return _position(config)
    game: Any = config.rules()
    solver = _core.mines.Solver(game.board, config.positions, config.layouts)
    start = View(0, (), tuple(range(game.cells)))
    classes = _classes(game.rows, game.cols)
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
        limit: Largest number of layouts and of positions.

    Returns:
        Share of the safe cells that are opened; None beyond the limit.
    """
    solver = _core.mines.Solver(game.board, limit, limit)
    start = View(0, (), tuple(range(game.cells)))
    try:
        return (
            max(action_value(game, solver, start, cells[0]) for _, cells in _classes(game.rows, game.cols)) / game.safe
        )
    except TrickformerError:
        return None


def _position(config: OptimalPlay) -> dict[str, Any]:
    rows, cols = config.size
    try:
        # The open cells are safe already, so the rule of the first move adds nothing.
        board = _core.mines.Board(rows, cols, config.mines, 0)
    except ValueError as e:
        raise TrickformerError(f"board {config.board}: {e}") from None
    marks = config.position.split("/")
    if [len(row) for row in marks] != [cols] * rows or set(config.position) - set("./012345678"):
        raise TrickformerError(
            f"position {config.position!r}: write {rows} rows of {cols} marks, . or 0 to 8, with / between them"
        )
    shown = [(cell, int(mark)) for cell, mark in enumerate("".join(marks)) if mark != "."]
    view = View(0, tuple(Event(0, cell, (number,)) for cell, number in shown), ())
    game = _Position(board, rows, cols, config.mines)
    if not shown:
        raise TrickformerError(f"position {config.position!r}: nothing is open; leave --position out")
    if not _core.mines.Counter(board, _core.mines.Observation(board, *map(list, zip(*shown)))).layouts:
        raise TrickformerError(f"position {config.position!r}: no layout of {config.mines} mines is consistent with it")
    if len(shown) == game.safe:
        raise TrickformerError(f"position {config.position!r}: no safe cell is left to open")
    solver = _core.mines.Solver(board, config.positions, config.layouts)
    closed = sorted(set(range(game.cells)) - {cell for cell, _ in shown})
    moves = [_move(f"({cell // cols},{cell % cols})", [cell], game, solver, view, len(shown)) for cell in closed]
    return _result(config, moves, solver)


class _Position:
    """Board of a position whose first move is unknown; it has the attributes of a game that this module reads."""

    def __init__(self, board: _core.mines.Board, rows: int, cols: int, mines: int):
        self.board = board
        self.rows = rows
        self.cols = cols
        self.mines = mines
        self.cells = rows * cols
        self.safe = self.cells - mines


def _move(name: str, cells: list[int], game: Any, solver: Any, view: View, opened: int) -> dict[str, Any]:
    more = action_value(game, solver, view, cells[0])
    return {
        "move": name,
        "cells": [[cell // game.cols, cell % game.cols] for cell in cells],
        "value": (opened + more) / game.safe,
        "expected_moves": more,
    }


def _result(config: OptimalPlay, moves: list[dict[str, Any]], solver: Any) -> dict[str, Any]:
    moves.sort(key=lambda move: -move["value"])
    return {
        "board": config.board,
        "mines": config.mines,
        "first_move_rule": None if config.position else config.first_move,
        "position": config.position or None,
        "value": moves[0]["value"],
        "first_move": moves[0]["move"],
        "moves": moves,
        "positions": solver.positions,
    }


def _classes(rows: int, cols: int) -> list[tuple[str, list[int]]]:
    """Return the classes of cells that rotations and reflections exchange, with names.

    If several classes are of one kind, such as edge, the name contains the first cell.
    """

    def first(cell: int) -> int:
        row, col = divmod(cell, cols)
        images = [(r, c) for r in (row, rows - 1 - row) for c in (col, cols - 1 - col)]
        if rows == cols:
            images += [(c, r) for r, c in images]
        return min(r * cols + c for r, c in images)

    classes = {first(cell): [] for cell in range(rows * cols)}
    for cell in range(rows * cols):
        classes[first(cell)].append(cell)
    kinds = {cell: _kind(*divmod(cell, cols), rows, cols) for cell in classes}
    counts = {kind: len(list(same)) for kind, same in groupby(sorted(kinds.values()))}
    return [
        (kinds[cell] if counts[kinds[cell]] == 1 else f"{kinds[cell]} ({cell // cols},{cell % cols})", cells)
        for cell, cells in classes.items()
    ]


def _kind(row: int, col: int, rows: int, cols: int) -> str:
    borders = (row in (0, rows - 1)) + (col in (0, cols - 1))
    return ("central", "edge", "corner")[borders]
