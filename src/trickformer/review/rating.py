"""Ratings of decisions from the values of actions, and the course of a hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import TypeAlias

from trickformer.base import Game
from trickformer.review.hand import ReviewHand, ReviewTurn
from trickformer.review.result import Curve, DecisionRating, Point, ReviewedAction

# By number of the decision: a mapping from action to value for each repeat in which the decision was valued.
Values: TypeAlias = Mapping[int, Sequence[Mapping[int, float]]]


def rate_turns(hand: ReviewHand, turns: Sequence[ReviewTurn], values: Values) -> tuple[DecisionRating, ...]:
    """Rate decisions by the values of their actions.

    Args:
        hand: Hand of the decisions.
        turns: Decisions to rate.
        values: Values of the actions. If all repeats are equal, they are not sampled and have no error.

    Returns:
        One rating for each of `turns`.
    """
    sampled = any(repeat != repeats[0] for repeats in values.values() for repeat in repeats[1:])
    return tuple(_rating(hand.game, turn, values.get(turn.number, ()), sampled) for turn in turns)


def _rating(game: Game, turn: ReviewTurn, repeats: Sequence[Mapping[int, float]], sampled: bool) -> DecisionRating:
    forced = len(turn.legal) == 1
    rating = DecisionRating(
        number=turn.number,
        at=turn.at,
        seat=turn.seat,
        trick=turn.trick,
        action=turn.action,
        words=game.words(turn.action),
        forced=forced,
    )
    if forced or not any(repeats):
        return rating
    by_action = {action: [repeat[action] for repeat in repeats if action in repeat] for action in turn.legal}
    values = {action: fmean(samples) if samples else None for action, samples in by_action.items()}

    def rank(action: int) -> tuple[bool, float, bool, int]:
        """The best first; the action that was taken precedes equally good ones; actions without a value come last."""
        value = values[action]
        return value is None, -(value or 0), action != turn.action, action

    ranked = sorted(turn.legal, key=rank)
    actions = []
    for action in ranked:
        # Losses within a repeat: both values share its random numbers, which lowers the error of the difference.
        losses = [repeat[ranked[0]] - repeat[action] for repeat in repeats if {ranked[0], action} <= repeat.keys()]
        rated = ReviewedAction(
            action=action,
            words=game.words(action),
            value=values[action],
            error=_standard_error(by_action[action]) if sampled else None,
            loss=fmean(losses) if losses else None,
            loss_error=_standard_error(losses) if sampled and action != ranked[0] else None,
        )
        actions.append(rated)
    taken = next(rated for rated in actions if rated.action == turn.action)
    return rating.model_copy(update={"actions": tuple(actions), "loss": taken.loss, "error": taken.loss_error})


def _standard_error(samples: Sequence[float]) -> float | None:
    """Compute the standard error of the mean of independent samples; None for fewer than two."""
    return stdev(samples) / math.sqrt(len(samples)) if len(samples) > 1 else None


def curves(hand: ReviewHand, ratings: Sequence[DecisionRating], comparable: bool = True) -> tuple[Curve, ...]:
    """Compute the course of a hand for each seat, or for the team if all seats share one score.

    Args:
        hand: Hand that was rated.
        ratings: Its ratings.
        comparable: Whether the values are in the units of results; shares of visits are not.

    Returns:
        One curve for each seat or team with a rated decision.
    """
    seats = range(hand.game.players)
    state = hand.end()
    scores = hand.game.scores(state) if comparable and state.is_terminal() else None
    by_group = []
    for group in [tuple(seats)] if seats_share_score(hand.game) else [(seat,) for seat in seats]:
        rated = [rating for rating in ratings if rating.seat in group and rating.best]
        points = tuple(Point(number=r.number, trick=r.trick, value=r.best.value or 0) for r in rated if r.best)
        if not points:
            continue
        lost = sum(r.loss or 0.0 for r in rated)
        result = rest = None
        if scores is not None:
            result = _in_units(hand.game, scores, group[0])
            rest = result - (points[0].value - lost)
        by_group.append(Curve(seats=group, points=points, result=result, lost=lost, rest=rest))
    return tuple(by_group)


def seats_share_score(game: Game) -> bool:
    """Test whether all seats share one score, as a team does.

    Args:
        game: The game.
    """
    return all(len(set(label)) == 1 for label in game.outcomes.labels)


def _in_units(game: Game, scores: Sequence[int], seat: int) -> float:
    """Compute a seat's value v(o) of the outcome from the scores of all seats, in the units of `Game.worth`."""
    value = float(game.outcomes.values[game.outcomes.of(scores, seat), 0]) * game.worth[0]
    return round(value, 4)  # v(o) is a float32 with seven digits
