"""Scenes of Mines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trickformer.games.mines import MINE, Mines
from trickformer.web.scenes._scene import OPEN, Cell, Scene, Seat

if TYPE_CHECKING:
    from trickformer.base import State


def show(game: Mines, state: State, viewer: int, you: int | None) -> Scene:
    """Make the scene of a board. The mines may not be laid yet.

    Args:
        game: The game.
        state: State of the game.
        viewer: Seat, or OPEN to show the mines.
        you: Seat that the reader plays and the words call "you", or None.
    """
    mines_state: Any = state
    opened = dict(mines_state.core.opened_cells)
    mines = set(mines_state.laying) if viewer == OPEN else set()
    actions = set(mines_state.legal_actions()) if not mines_state.is_terminal() else set()

    def cell(number: int) -> Cell:
        row, col = divmod(number, game.cols)
        where = f"row {row + 1}, column {col + 1}"
        if number in opened:
            if opened[number] == MINE:
                return Cell(text="✷", words=f"{where}: the mine that ended the game", kind="hit")
            text = str(opened[number])
            return Cell(text=text, words=f"{where}: {text}", kind="open")
        action = number if number in actions else None
        if number in mines:
            return Cell(text="✷", words=f"{where}: a mine", kind="mine", action=action)
        return Cell(text="", words=f"open {where}", action=action)

    hit_mine = any(shown == MINE for shown in opened.values())
    opened_words = f"{mines_state.core.score} of {game.safe} safe cells are open"
    result = f"A mine was met: {opened_words}." if hit_mine else "All safe cells are open."
    return Scene(
        title="Mines",
        ask="open a cell" if you is not None and not mines_state.is_terminal() else "",
        seats=(Seat(seat=0),),
        board=tuple(tuple(cell(r * game.cols + c) for c in range(game.cols)) for r in range(game.rows)),
        mines=game.mines,
        features=(
            f"{game.mines} mines",
            f"{mines_state.core.score} of {game.safe} opened",
        ),
        result=(result,) if mines_state.is_terminal() else (),
    )
