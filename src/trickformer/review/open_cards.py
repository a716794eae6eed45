"""Analysis of a hand with open cards, that is, if all players could see all hands.

Turning points are the decisions that changed who would win.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from trickformer.base import Game
from trickformer.review.hand import ReviewTurn
from trickformer.review.result import CoursePoint, ReviewStep, Verdict


@dataclass(frozen=True, slots=True)
class OpenHandAnalysis:
    """Values and verdict of a solver for a hand with open cards."""

    # For each decision on a card, by `ReviewTurn.number`: value of each action to the seat, in units of the game.
    values: dict[int, dict[int, float]]
    verdict: Verdict | None  # None if the hand ended before a card was played
    notes: tuple[str, ...] = ()


def _step(game: Game, turn: ReviewTurn) -> ReviewStep:
    """Describe a decision in words."""
    return ReviewStep(number=turn.number, trick=turn.trick, seat=turn.seat, words=game.words(turn.action))


def find_turning_points(
    game: Game, turns: Sequence[ReviewTurn], course: Sequence[CoursePoint]
) -> tuple[ReviewStep, ...]:
    """Find the decisions that changed whether the hand could be won.

    Args:
        game: Game of the hand.
        turns: Decisions of the hand, in order.
        course: Whether the hand is winnable before each of `turns` and after the last one.

    Returns:
        The decisions that turn a winnable hand into a lost one, or the reverse. Unknown verdicts count as no change.
    """
    changes = [
        turn
        for turn, (before, after) in zip(turns, pairwise(course))
        if None not in (before.winnable, after.winnable) and before.winnable != after.winnable
    ]
    return tuple(_step(game, turn) for turn in changes)
