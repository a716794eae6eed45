"""Claims: whether a seat reaches a score whatever the others do, all cards open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trickformer.base import Game
from trickformer.review import solver

if TYPE_CHECKING:
    from trickformer.base import State

MOST = 300_000  # positions that are looked at


def certain(game: Game, state: State, seat: int, score: int, most: int = MOST) -> tuple[bool | None, list[int]]:
    """Whether `seat` can bring about that score, or a better one, against all that the others and chance may do; None
    where `most` positions are not enough to know. If so, also a line to the end of the hand on which it does: the
    first that was tried at each turn of the others, which may bring more than what is certain.

    The soloist's card play in Skat is solved; all else is a zero-window minimax that tries every action."""
    solved = solver.certain(game, state, seat, score)
    return solved if solved is not None else solve_by_minimax(game, state, seat, score, most)


def solve_by_minimax(
    game: Game, state: State, seat: int, score: int, most: int = MOST
) -> tuple[bool | None, list[int]]:
    """The same, without a solver."""
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
    """score: turned so that more is better. Where `left` falls below 0, the answer is not known."""
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
