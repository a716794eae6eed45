"""Result of a solver on a hand with open cards, and the turning points: decisions that changed who would win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from trickformer.base import Game
from trickformer.review.hand import ReviewTurn
from trickformer.review.result import Course, ReviewStep, SolverVerdict


@dataclass(frozen=True, slots=True)
class OpenHandAnalysis:
    """Values and verdict of a solver for a hand with open cards."""

    values: dict[int, dict[int, float]]  # value to the seat in units of the game, by decision and action
    answer: SolverVerdict | None  # None if no card was played
    notes: tuple[str, ...] = ()


def _step(game: Game, turn: ReviewTurn) -> ReviewStep:
    """Describe a decision in words."""
    return ReviewStep(number=turn.number, trick=turn.trick, seat=turn.seat, words=game.words(turn.action))


def find_turning_points(game: Game, turns: Sequence[ReviewTurn], course: Sequence[Course]) -> tuple[ReviewStep, ...]:
    """Find the decisions that changed whether the hand could be won.

    Args:
        game: Game of the hand.
        turns: Decisions of the hand, in order.
        course: Verdict before each of `turns`, and one after the last.

    Returns:
        The decisions with a known and different verdict before and after them.
    """
    changes = [
        turn
        for turn, (before, after) in zip(turns, pairwise(course))
        if None not in (before.winnable, after.winnable) and before.winnable != after.winnable
    ]
    return tuple(_step(game, turn) for turn in changes)
