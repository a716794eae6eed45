"""Claims: proofs that a seat reaches a score whatever the others do, with open cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trickformer.base import Game
from trickformer.review import solver

if TYPE_CHECKING:
    from trickformer.base import State

MOST = 300_000  # largest number of positions that the search visits


def certain(game: Game, state: State, seat: int, score: int, most: int = MOST) -> tuple[bool | None, list[int]]:
    """Prove that a seat can reach a score or a better one whatever the others and chance do.

    A solver proves the card play of Skat's soloist. A zero-window minimax over every action proves everything else.

    Args:
        game: The game.
        state: State to start from.
        seat: Seat that claims the score.
        score: Score in the units of the game's tables.
        most: Largest number of positions that the minimax visits.

    Returns:
        Whether the seat can reach the score (None if `most` positions are too few), and if so actions to the end of
        the hand that reach it. The others take their first action on this line, so it may end better than `score`.
    """
    solved = solver.certain(game, state, seat, score)
    return solved if solved is not None else solve_by_minimax(game, state, seat, score, most)


def solve_by_minimax(
    game: Game, state: State, seat: int, score: int, most: int = MOST
) -> tuple[bool | None, list[int]]:
    """Prove a claim as `certain` does, without a solver.

    Args:
        game: The game.
        state: State to start from.
        seat: Seat that claims the score.
        score: Score in the units of the game's tables.
        most: Largest number of positions that the minimax visits.

    Returns:
        As `certain`.
    """
    left = [most]
    good = _can_reach(game, state, seat, score if game.higher_is_better else -score, left)
    if not good:
        return (None if left[0] < 0 else False), []
    line: list[int] = []
    while not state.is_terminal():
        mine = state.current_player() == seat
        for action in state.legal_actions():
            after = state.child(action)
            if not mine or _can_reach(game, after, seat, score if game.higher_is_better else -score, [most]):
                line.append(action)
                state = after
                break
    return True, line


def _can_reach(game: Game, state: State, seat: int, score: int, left: list[int]) -> bool:
    """Search for a forced score, signed so that more is better; the result is void if `left` falls below 0."""
    left[0] -= 1
    if left[0] < 0:
        return False
    if state.is_terminal():
        own = game.scores(state)[seat]
        return (own if game.higher_is_better else -own) >= score
    mine = state.current_player() == seat
    for action in state.legal_actions():
        if _can_reach(game, state.child(action), seat, score, left) == mine:
            return mine
        if left[0] < 0:
            return False
    return not mine
