"""Solvers of hands with open cards, in Skat and The Crew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from trickformer.base import Game, TrickformerError
from trickformer.plumbing.progress import Advance
from trickformer.review import crew, skat
from trickformer.review.hand import ReviewHand
from trickformer.review.open_cards import OpenHandAnalysis

if TYPE_CHECKING:
    from trickformer.base import State

_SOLVERS: Mapping[str, Callable[[ReviewHand, Advance], OpenHandAnalysis]] = {
    "skat": skat.solve_open_hand,
    "crew": crew.solve_open_hand,
}


def certain(game: Game, state: State, seat: int, score: int) -> tuple[bool, list[int]] | None:
    """Test whether a seat is certain to reach a score or a better one, whatever the others do.

    Args:
        game: The game.
        state: State with the seat on turn.
        seat: The seat.
        score: Score to reach, in the units of the game's tables.

    Returns:
        Whether the seat can reach the score, and if so actions to the end of the hand that reach it. None if the game
        has no solver, or the solver cannot decide.
    """
    return skat.certain(game, state, seat, score) if game.name == "skat" else None


def has_solver(game: Game) -> bool:
    """Test whether a game has a solver.

    Args:
        game: The game.
    """
    return game.name in _SOLVERS


def check(game: Game) -> None:
    """Check that a game has a solver.

    Args:
        game: The game.

    Raises:
        TrickformerError: The game has no solver.
    """
    if not has_solver(game):
        raise TrickformerError(f"the solver solves {' and '.join(_SOLVERS)}, not {game.name}")


def count_decisions(hand: ReviewHand) -> int:
    """Count the decisions that `solve` examines: those that play a card to a trick.

    Args:
        hand: The hand.
    """
    return sum(turn.trick is not None for turn, _ in hand.turns()) if has_solver(hand.game) else 0


def solve(hand: ReviewHand, advance: Advance) -> OpenHandAnalysis:
    """Solve a hand with open cards.

    Args:
        hand: The hand.
        advance: Called after each decision.

    Returns:
        The value of each card that could be played, and whether the hand could have been won.

    Raises:
        TrickformerError: The game has no solver.
    """
    check(hand.game)
    return _SOLVERS[hand.game.name](hand, advance)
