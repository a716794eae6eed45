"""What open cards say of a hand: the solvers of Skat and of The Crew."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trickformer.base import Game, TrickformerError
from trickformer.plumbing.progress import Advance
from trickformer.review import crew, skat
from trickformer.review.hand import Hand
from trickformer.review.opened import Opened

_SOLVERS: Mapping[str, Callable[[Hand, Advance], Opened]] = {"skat": skat.opened, "crew": crew.opened}


def solves(game: Game) -> bool:
    """Whether there is a solver of a game."""
    return game.name in _SOLVERS


def check(game: Game) -> None:
    """Raises TrickformerError where there is no solver of a game."""
    if not solves(game):
        raise TrickformerError(f"the solver knows {' and '.join(_SOLVERS)}, not {game.name}")


def questions(hand: Hand) -> int:
    """How many decisions `solve` looks at."""
    return sum(turn.trick is not None for turn, _ in hand.turns()) if solves(hand.game) else 0


def solve(hand: Hand, advance: Advance) -> Opened:
    """What open cards say of a hand; `advance` is told of each decision. Raises TrickformerError where there is no
    solver of its game."""
    check(hand.game)
    return _SOLVERS[hand.game.name](hand, advance)
