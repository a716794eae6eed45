"""From values of actions to ratings of decisions, and to the course of a hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import TypeAlias

from trickformer.base import Game
from trickformer.review.hand import ReviewHand, ReviewTurn
from trickformer.review.result import Curve, DecisionRating, Point, ReviewedAction

# By the number of a decision: for each time that it was valued, what each action that was looked at brings its seat.
Values: TypeAlias = Mapping[int, Sequence[Mapping[int, float]]]


def rate_turns(hand: ReviewHand, turns: Sequence[ReviewTurn], values: Values) -> tuple[DecisionRating, ...]:
    """The ratings of decisions by what was said of their actions. Values that are the same each time are not sampled,
    and have no error."""
    sampled = any(each != times[0] for times in values.values() for each in times[1:])
    return tuple(_rating(hand.game, turn, values.get(turn.number, ()), sampled) for turn in turns)


def _rating(game: Game, turn: ReviewTurn, times: Sequence[Mapping[int, float]], sampled: bool) -> DecisionRating:
    forced = len(turn.legal) == 1
    told = DecisionRating(
        number=turn.number,
        at=turn.at,
        seat=turn.seat,
        trick=turn.trick,
        action=turn.action,
        words=game.words(turn.action),
        forced=forced,
    )
    if forced or not any(times):
        return told
    by_action = {action: [each[action] for each in times if action in each] for action in turn.legal}
    actions = [
        ReviewedAction(
            action=action,
            words=game.words(action),
            value=fmean(found) if found else None,
            error=standard_error(found) if sampled else None,
        )
        for action, found in by_action.items()
    ]
    # Of equally good actions that which was taken comes first.
    actions.sort(key=lambda a: (a.value is None, -(a.value or 0), a.action != turn.action, a.action))
    best, paired = actions[0].action, [each for each in times if turn.action in each]
    losses = [each[best] - each[turn.action] for each in paired if best in each]
    error = standard_error(losses) if sampled and best != turn.action else None
    return told.model_copy(
        update={"actions": tuple(actions), "loss": fmean(losses) if losses else None, "error": error}
    )


def standard_error(found: Sequence[float]) -> float | None:
    """Of the mean of independent values; None of fewer than two."""
    return stdev(found) / math.sqrt(len(found)) if len(found) > 1 else None


def curves(hand: ReviewHand, ratings: Sequence[DecisionRating], comparable: bool = True) -> tuple[Curve, ...]:
    """How the hand went for each seat, or for the team that shares its score; none for seats without a rated decision.

    comparable: whether values are in the units of results."""
    seats = range(hand.game.players)
    state = hand.end()
    scores = hand.game.scores(state) if comparable and state.is_terminal() else None
    found = []
    for group in [tuple(seats)] if shares(hand.game) else [(seat,) for seat in seats]:
        own = [rating for rating in ratings if rating.seat in group and rating.best]
        points = tuple(Point(number=r.number, trick=r.trick, value=r.best.value or 0) for r in own if r.best)
        if not points:
            continue
        lost, result, rest = sum(r.loss or 0.0 for r in own), None, None
        if scores is not None:
            result = in_units(hand.game, scores, group[0])
            rest = result - (points[0].value - lost)
        found.append(Curve(seats=group, points=points, result=result, lost=lost, rest=rest))
    return tuple(found)


def shares(game: Game) -> bool:
    """Whether all seats have one score, as a team or as a single seat has."""
    return all(len(set(label)) == 1 for label in game.outcomes.labels)


def in_units(game: Game, scores: Sequence[int], seat: int) -> float:
    """What scores by seat are worth to a seat: v(o), in the units of `Game.worth`."""
    value = float(game.outcomes.values[game.outcomes.of(scores, seat), 0]) * game.worth[0]
    return round(value, 4)  # v(o) has seven digits
