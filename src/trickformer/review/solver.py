"""What open cards say of a hand: the solvers of Skat and of The Crew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from trickformer.base import Game, TrickformerError
from trickformer.plumbing.progress import Advance
from trickformer.review import crew, skat
from trickformer.review.hand import ReviewHand
from trickformer.review.opened import OpenHandAnalysis

if TYPE_CHECKING:
    from trickformer.base import State

_SOLVERS: Mapping[str, Callable[[ReviewHand, Advance], OpenHandAnalysis]] = {
    "skat": skat.solve_open_hand,
    "crew": crew.solve_open_hand,
}


_PROVERS: Mapping[str, Callable[[Game, State, int, int], tuple[bool, list[int]] | None]] = {"skat": skat.certain}


def certain(game: Game, state: State, seat: int, score: int) -> tuple[bool, list[int]] | None:
    """Whether a seat can bring about that score or a better one whatever the others do, and if so a line to the end of
    the hand; None where no solver can say."""
    return _PROVERS[game.name](game, state, seat, score) if game.name in _PROVERS else None


def has_solver(game: Game) -> bool:
    """Whether there is a solver of a game."""
    return game.name in _SOLVERS


def check(game: Game) -> None:
    """Raises TrickformerError where there is no solver of a game."""
    if not has_solver(game):
        raise TrickformerError(f"the solver knows {' and '.join(_SOLVERS)}, not {game.name}")


def questions(hand: ReviewHand) -> int:
    """How many decisions `solve` looks at."""
    return sum(turn.trick is not None for turn, _ in hand.turns()) if has_solver(hand.game) else 0


def solve(hand: ReviewHand, advance: Advance) -> OpenHandAnalysis:
    """What open cards say of a hand; `advance` is told of each decision. Raises TrickformerError where there is no
    solver of its game."""
    check(hand.game)
    return _SOLVERS[hand.game.name](hand, advance)
