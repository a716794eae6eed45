"""What a solver finds in a hand whose cards lie open, and where the hand was decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from trickformer.base import Game
from trickformer.review.hand import Turn
from trickformer.review.result import Answer, Course, Step


@dataclass(frozen=True, slots=True)
class Opened:
    """A hand with open cards."""

    values: dict[int, dict[int, float]]  # by decision: what its actions bring the seat, in units of the game
    answer: Answer | None  # None where no card was played
    notes: tuple[str, ...] = ()


def step(game: Game, turn: Turn) -> Step:
    """A decision in words."""
    return Step(number=turn.number, trick=turn.trick, seat=turn.seat, words=game.words(turn.action))


def decided(game: Game, turns: Sequence[Turn], course: Sequence[Course]) -> tuple[Step, ...]:
    """The decisions that changed whether the hand could be won.

    course: before each of the decisions `turns`, and after the last one. Where it is not known in between, no decision
    is named."""
    changes = [
        turn
        for turn, (before, after) in zip(turns, pairwise(course))
        if None not in (before.winnable, after.winnable) and before.winnable != after.winnable
    ]
    return tuple(step(game, turn) for turn in changes)
