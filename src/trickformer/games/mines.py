"""Mines: one player opens the cells of a grid and must avoid the mines. The rules are in cpp/mines/rules.hpp.

The score is the number of opened cells without a mine. Returns and values are the share of these among all cells
without a mine ("Consistent Belief State Estimation, with Application to Mines", section I-A).

As in the paper, opening a cell without neighbouring mines does not open its neighbours. The option `cascade` adds this
rule of other programs: such a cell opens its neighbours, and they theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import pyspiel

from trickformer import _core, openspiel
from trickformer.base import Event, Game, Outcomes, TrickformerError, View, deal_seed

if TYPE_CHECKING:
    from trickformer.base import State

FIRST_MOVES: tuple[str, ...] = _core.mines.FIRST_MOVES
MINE: int = _core.mines.MINE  # number that a mine shows; other cells show 0 to 8

_DEFAULTS = {"rows": 4, "cols": 4, "mines": 6, "first_move": "no-neighbours", "cascade": False}
_TYPE = openspiel.game_type("trickformer_mines", "Mines", 1, _DEFAULTS)


class MinesGame(pyspiel.Game):
    """OpenSpiel's game `trickformer_mines`.

    Its parameters are `rows`, `cols`, `mines`, `first_move` and `cascade`. With `first_move=any` the mines lie
    anywhere, with `safe` not in the cell that is opened first, with `no-neighbours` neither there nor around it. With
    `cascade=True` a cell that shows 0 opens its neighbours.
    """

    def __init__(self, params: dict[str, Any] | None = None):
        parameters: dict[str, Any] = _DEFAULTS | (params or {})
        if parameters["first_move"] not in FIRST_MOVES:
            rules = ", ".join(FIRST_MOVES)
            raise ValueError(f"first_move of trickformer_mines is one of {rules}, not {parameters['first_move']!r}")
        self.rows = int(parameters["rows"])
        self.cols = int(parameters["cols"])
        self.mines = int(parameters["mines"])
        self.cascade = bool(parameters["cascade"])
        first_move = FIRST_MOVES.index(parameters["first_move"])
        self.board = _core.mines.Board(self.rows, self.cols, self.mines, first_move, cascade=self.cascade)
        if not self.cascade:  # the name of the game in records stays as it was before the option
            del parameters["cascade"]
        self.cells = self.rows * self.cols
        self.late = parameters["first_move"] != "any"  # whether the mines are laid after the first move
        info = pyspiel.GameInfo(
            num_distinct_actions=self.cells,
            max_chance_outcomes=self.cells,
            num_players=1,
            min_utility=0.0,
            max_utility=1.0,
            max_game_length=self.cells - self.mines,
        )
        super().__init__(_TYPE, info, parameters)

    def new_initial_state(self) -> MinesState:
        return MinesState(self)

    def max_chance_nodes_in_history(self) -> int:
        return self.mines

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> openspiel.Observer:
        return openspiel.Observer(_text, iig_obs_type, params)


class MinesState(pyspiel.State):
    """State of a game of Mines, with the core's rules. An action is a cell, numbered row by row.

    Chance lays the mines one by one in ascending order, so that a layout has a single history.
    """

    def __init__(self, game: MinesGame):
        super().__init__(game)
        self.rows = game.rows
        self.cols = game.cols
        self.mines = game.mines
        self.board = game.board
        self.core = _core.mines.State(game.board)
        # Cells where the next mine may lie, ascending; empty if no mine is to be laid now.
        self.room = list(range(game.cells)) if not game.late else []
        self.laying: list[int] = []  # mines that are laid so far, ascending

    def current_player(self) -> int:
        if self.core.over:
            return pyspiel.PlayerId.TERMINAL
        return pyspiel.PlayerId.CHANCE if self.room else 0

    def is_terminal(self) -> bool:
        return self.core.over

    def _legal_actions(self, player: int) -> list[int]:
        return self.core.unopened_cells

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the possible cells of the next mine, each with the share of layouts that have the next mine there."""
        mines_left = self.mines - len(self.laying)
        total = comb(len(self.room), mines_left)
        # For each possible cell, the number of cells above it, which must have room for the other mines.
        cells_above = range(len(self.room) - 1, mines_left - 2, -1)
        return [(cell, comb(above, mines_left - 1) / total) for cell, above in zip(self.room, cells_above)]

    def _apply_action(self, action: int) -> None:
        if not self.room:
            self.core.open(action)
            if not self.core.is_laid:
                self.room = self.board.allowed_cells(action)
            return
        self.laying.append(action)
        self.room = [cell for cell in self.room if cell > action]
        if len(self.laying) == self.mines:
            self.core.lay(self.laying)
            self.room = []

    def _action_to_string(self, player: int, action: int) -> str:
        cell = f"{action // self.cols},{action % self.cols}"
        return f"mine {cell}" if player == pyspiel.PlayerId.CHANCE else f"open {cell}"

    def returns(self) -> list[float]:
        """Return the share of the cells without a mine that were opened; zero before the end."""
        return [self.core.score / (self.rows * self.cols - self.mines) if self.core.over else 0.0]

    def __str__(self) -> str:
        hit = any(shown == MINE for _, shown in self.core.opened_cells)
        status = "a mine was met" if hit else "all is opened" if self.core.over else f"{self.mines} mines"
        score = f"{self.core.score} of {self.rows * self.cols - self.mines} opened"
        lines = [*_grid(self, self.laying), f"{score}, {status}"]
        return "\n".join(lines + [openspiel.score_line([self.core.score])] * self.core.over)


def _grid(state: Any, mines: list[int]) -> list[str]:
    """Draw the board by rows: `.` unopened, `*` one of `mines`, `X` the mine that was opened."""
    mark_of = dict.fromkeys(mines, "*") | {c: "X" if k == MINE else str(k) for c, k in state.core.opened_cells}
    marks = [mark_of.get(cell, ".") for cell in range(state.rows * state.cols)]
    return ["".join(marks[start : start + state.cols]) for start in range(0, len(marks), state.cols)]


def _text(state: Any, viewer: int) -> str:
    """Return the information state string: the board, and the opened cells in order."""
    if state.room:
        return "laying mines"
    moves = " ".join(f"{c}:{'X' if k == MINE else k}" for c, k in state.core.opened_cells)
    return "/".join(_grid(state, [])) + (f" {moves}" if moves else "")


pyspiel.register_game(_TYPE, MinesGame)


class Mines(Game):
    """The game `trickformer_mines`. Scores are cells opened without a mine; higher is better.

    A view has an event for each move: the opened cell, and its number, 9 for a mine. If a cascade follows, each of its
    cells and the number of that cell come after the number. All of it is public. There is no view while the mines are
    being laid.
    """

    name = "mines"
    players = 1
    higher_is_better = True
    score_unit = "cells a board"

    def __init__(self, spiel: Any):
        self.spiel = spiel
        self.board: _core.mines.Board = spiel.board
        self.rows = spiel.rows
        self.cols = spiel.cols
        self.mines = spiel.mines
        self.cells = spiel.cells
        self.safe = self.cells - self.mines
        self.worth = float(self.safe), "cells"
        labels = tuple((score,) for score in range(self.safe + 1))
        self.outcomes = Outcomes(labels, np.array(labels, dtype=np.float32) / self.safe)

    def view(self, state: State, viewer: int) -> View:
        self.check_viewer(viewer)
        game: Any = state
        if game.room:
            raise ValueError("a view begins when all mines are laid")
        events = tuple(_events(self, game.core.opened_cells))
        on_turn = viewer == 0 and not state.is_terminal()
        return View(viewer, events, tuple(state.legal_actions()) if on_turn else ())

    def chance(self, state: State, seed: int, index: int) -> int:
        # All cells are shuffled. The mines are the first cells in this order that the rule of the first move allows, so
        # the layouts of one deal are similar for different first moves.
        game: Any = state
        first = game.core.opened_cells[0][0] if game.core.opened_cells else None
        room = set(self.board.allowed_cells(first) if first is not None else range(self.cells))
        mines = [cell for cell in _shuffle(deal_seed(seed, index), self.cells) if cell in room][: self.mines]
        return sorted(mines)[len(game.laying)]

    def scores(self, state: State) -> tuple[int, ...]:
        game: Any = state
        if not state.is_terminal():
            raise ValueError("a game has scores only at its end")
        return (game.core.score,)

    def seatings(self, kinds: int) -> tuple[tuple[int, ...], ...]:
        return tuple((kind,) for kind in range(kinds))

    def exchange(self, state: State, view: View, rng: np.random.Generator) -> State | None:
        # One mine moves to a cell with the same opened neighbours, so that the view does not change.
        game: Any = state
        if not game.core.is_laid:
            return None
        opened = {cell for cell, _ in opened_cells(view)}
        first = view.events[0].action if view.events else None
        room = set(range(self.cells) if first is None else self.board.allowed_cells(first)) - opened
        near = {cell: opened & set(self.board.around(cell)) for cell in room}
        mines = set(game.laying)
        pairs = [(a, b) for a in mines & room for b in sorted(room - mines) if near[a] == near[b]]
        if not pairs:
            return None
        a, b = pairs[rng.integers(len(pairs))]
        moves = [e.action for e in view.events if e.action is not None]
        return replay_moves(self, moves, sorted(mines - {a} | {b}))


def opened_cells(view: View) -> list[tuple[int, int]]:
    """List the opened cells in order, each with the number that it shows; the inverse of a view's events.

    Args:
        view: View of the player.

    Raises:
        ValueError: An event is not a cell, its number, and the cells and numbers of its cascade.
    """
    cells: list[tuple[int, int]] = []
    for event in view.events:
        if event.action is None or len(event.seen) % 2 == 0:
            raise ValueError("an event of Mines is a cell and what it showed")
        cells.append((event.action, event.seen[0]))
        cells += zip(event.seen[1::2], event.seen[2::2])
    return cells


def _events(game: Mines, cells: list[tuple[int, int]]) -> Iterator[Event]:
    """Group the cells that the core lists as open by the move that opened them, and yield the event of each move."""
    if not game.spiel.cascade:
        yield from (Event(0, cell, (shown,)) for cell, shown in cells)
        return
    cascaded: set[int] = set()  # cells around those that show 0: a cascade has opened them
    start = 0
    for i, (cell, shown) in enumerate(cells):
        if cell not in cascaded and i:
            yield _event(cells[start:i])
            start = i
        if shown == 0:
            cascaded.update(game.board.around(cell))
    if cells:
        yield _event(cells[start:])


def _event(cells: list[tuple[int, int]]) -> Event:
    """Return the event of a move that opened these cells."""
    action, shown = cells[0]
    return Event(0, action, (shown, *(number for pair in cells[1:] for number in pair)))


def replay_moves(game: Mines, moves: list[int], mines: list[int]) -> State:
    """Return the state after some moves on a layout.

    Args:
        game: Mines.
        moves: Opened cells, in order.
        mines: The layout, ascending; unused before the first move if the mines are laid after it.

    Raises:
        ValueError: The moves or the layout are not possible.
        SpielError: The moves or the layout are not possible.
    """
    state = game.spiel.new_initial_state()
    before_mines = moves[: game.spiel.late]  # the first move, or nothing
    laid = mines if moves or not game.spiel.late else []
    for action in [*before_mines, *laid, *moves[len(before_mines) :]]:
        state.apply_action(action)
    return state


@lru_cache(maxsize=1024)
def _shuffle(seed: int, cells: int) -> tuple[int, ...]:
    return tuple(np.random.default_rng(seed).permutation(cells).tolist())


def load(spec: str) -> Mines:
    """Load the game.

    Args:
        spec: `mines`, or with options such as `mines(rows=9,cols=9,mines=10,cascade=True)`.

    Raises:
        TrickformerError: An option or its value does not exist.
    """
    parameters = openspiel.options(spec, "mines", tuple(_DEFAULTS))
    sizes = {key: parameters.get(key, _DEFAULTS[key]) for key in ("rows", "cols", "mines")}
    for key, value in sizes.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise TrickformerError(f"game {spec!r}: {key} is a whole number, not {value!r}")
    first_move = parameters.get("first_move", _DEFAULTS["first_move"])
    if first_move not in FIRST_MOVES:
        raise TrickformerError(f"game {spec!r}: first_move is one of {', '.join(FIRST_MOVES)}, not {first_move!r}")
    cascade = parameters.get("cascade", _DEFAULTS["cascade"])
    if not isinstance(cascade, bool):
        raise TrickformerError(f"game {spec!r}: cascade is True or False, not {cascade!r}")
    try:  # before OpenSpiel constructs the game, which would replace the message by its own
        _core.mines.Board(**sizes, first_move=FIRST_MOVES.index(first_move))
    except ValueError as e:
        raise TrickformerError(f"game {spec!r}: {e}") from None
    return Mines(pyspiel.load_game("trickformer_mines", dict(sizes, first_move=first_move, cascade=cascade)))
