"""Claims: proofs with open cards that a seat can reach a score whatever the others do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trickformer.base import Game
from trickformer.review import solver

if TYPE_CHECKING:
    from trickformer.base import State

MAX_POSITIONS = 300_000  # largest number of positions that a search visits


def certain(
    game: Game, state: State, seat: int, score: int, max_positions: int = MAX_POSITIONS
) -> tuple[bool | None, list[int]]:
    """Test whether a seat is certain to reach a score or a better one, whatever the others and chance do.

    A solver decides the card play of Skat's soloist. Otherwise a minimax search over all actions decides whether the
    score can be forced.

    Args:
        game: The game.
        state: State to start from.
        seat: Seat that claims the score.
        score: Score to reach, as in `Game.scores`.
        max_positions: Largest number of positions that the minimax visits.

    Returns:
        Whether the seat can reach the score (None if `max_positions` are too few), and if so actions to the end of the
        hand that reach it. The others take their first legal action in it, so it may end better than `score`.
    """
    solved = solver.certain(game, state, seat, score)
    return solved if solved is not None else solve_by_minimax(game, state, seat, score, max_positions)


def solve_by_minimax(
    game: Game, state: State, seat: int, score: int, max_positions: int = MAX_POSITIONS
) -> tuple[bool | None, list[int]]:
    """Test a claim as `certain` does, but never with a solver.

    Args:
        game: The game.
        state: State to start from.
        seat: Seat that claims the score.
        score: Score to reach, as in `Game.scores`.
        max_positions: Largest number of positions that the minimax visits.

    Returns:
        As `certain`.
    """
    budget = [max_positions]
    can_reach = _can_reach(game, state, seat, score if game.higher_is_better else -score, budget)
    if not can_reach:
        return (None if budget[0] < 0 else False), []
    line: list[int] = []
    while not state.is_terminal():
        is_own_turn = state.current_player() == seat
        for action in state.legal_actions():
            after = state.child(action)
            if not is_own_turn or _can_reach(
                game, after, seat, score if game.higher_is_better else -score, [max_positions]
            ):
                line.append(action)
                state = after
                break
    return True, line


def _can_reach(game: Game, state: State, seat: int, score: int, budget: list[int]) -> bool:
    """Return whether the seat can force a score, signed so that more is better.

    `budget` holds the number of positions that may still be visited. The result is void if it falls below 0.
    """
    budget[0] -= 1
    if budget[0] < 0:
        return False
    if state.is_terminal():
        own = game.scores(state)[seat]
        return (own if game.higher_is_better else -own) >= score
    is_own_turn = state.current_player() == seat
    for action in state.legal_actions():
        if _can_reach(game, state.child(action), seat, score, budget) == is_own_turn:
            return is_own_turn
        if budget[0] < 0:
            return False
    return not is_own_turn
