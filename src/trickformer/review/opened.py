"""What a solver finds in a hand whose cards lie open, and where the hand was decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from trickformer.base import Game
from trickformer.review.hand import ReviewTurn
from trickformer.review.result import Course, ReviewStep, SolverVerdict


@dataclass(frozen=True, slots=True)
class OpenHandAnalysis:
    """A hand with open cards."""

    values: dict[int, dict[int, float]]  # by decision: what its actions bring the seat, in units of the game
    answer: SolverVerdict | None  # None where no card was played
    notes: tuple[str, ...] = ()


def step(game: Game, turn: ReviewTurn) -> ReviewStep:
    """A decision in words."""
    return ReviewStep(number=turn.number, trick=turn.trick, seat=turn.seat, words=game.words(turn.action))


def find_turning_points(game: Game, turns: Sequence[ReviewTurn], course: Sequence[Course]) -> tuple[ReviewStep, ...]:
    """The decisions that changed whether the hand could be won.

    course: before each of the decisions `turns`, and after the last one. Where it is not known in between, no decision
    is named."""
    changes = [
        turn
        for turn, (before, after) in zip(turns, pairwise(course))
        if None not in (before.winnable, after.winnable) and before.winnable != after.winnable
    ]
    return tuple(step(game, turn) for turn in changes)
