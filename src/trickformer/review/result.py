"""Results of a review: pydantic models that JSON can hold, with values in the units of the game."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict

MISTAKE_ERRORS = 2.0  # standard errors that a loss must exceed to be called a mistake
# Grades of a mistake by its loss, in units of v(o). A smaller loss than MISTAKE is an inaccuracy.
MISTAKE = 0.04  # also the default for puzzles
BLUNDER = 0.1
Grade = Literal["inaccuracy", "mistake", "blunder"]


class _ReviewModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReviewedAction(_ReviewModel):
    """A legal action of a decision, with its value to the analyst."""

    action: int
    words: str
    value: float | None = None  # expected result of the seat; None if the analyst has not valued the action
    error: float | None = None  # standard error of the value; None if it is not sampled
    loss: float | None = None  # value of the best action minus this value; None if the action is not valued
    loss_error: float | None = None  # standard error of the loss; None for the best action and if it is not sampled


class DecisionRating(_ReviewModel):
    """A decision and its loss."""

    number: int  # counted from 1, over all seats
    at: int  # number of actions before it, chance included
    seat: int
    trick: int | None
    action: int
    words: str
    forced: bool = False  # only one action was legal
    actions: tuple[ReviewedAction, ...] = ()  # the best first, those without a value last; empty if not rated
    loss: float | None = None  # value of the best action minus the value of `action`; None if not rated
    error: float | None = None  # standard error of the loss; None if values are not sampled

    @property
    def best(self) -> ReviewedAction | None:
        """Best action; None if the decision is not rated."""
        return self.actions[0] if self.actions and self.actions[0].value is not None else None

    @property
    def value(self) -> float | None:
        """Value of the action that was taken; None if the analyst has not valued it."""
        return next((a.value for a in self.actions if a.action == self.action), None)

    @property
    def mistake(self) -> bool:
        """True if the loss exceeds MISTAKE_ERRORS standard errors, or has no error and is not 0."""
        return bool(self.loss) and (self.error is None or (self.loss or 0) > MISTAKE_ERRORS * self.error)

    def grade(self, worth: float) -> Grade | None:
        """Grade a mistake by its loss.

        Args:
            worth: Size of one unit of v(o) in the unit of the rating, see `Review.worth`.

        Returns:
            The grade; None if the decision is no mistake.
        """
        if not self.mistake:
            return None
        share = (self.loss or 0.0) / worth
        return "blunder" if share >= BLUNDER else "mistake" if share >= MISTAKE else "inaccuracy"


class Point(_ReviewModel):
    """Value of the hand to a seat before one of its decisions: the value of the best action."""

    number: int  # number of the decision
    trick: int | None
    value: float


class Curve(_ReviewModel):
    """Course of a hand for a seat, or for a team that shares its score."""

    seats: tuple[int, ...]
    points: tuple[Point, ...]
    result: float | None = None  # final value of the hand; None if it was broken off
    lost: float = 0.0  # sum of the losses of these seats' decisions
    # result - (value of the first point - lost): what the others' play and luck have changed.
    rest: float | None = None


class ReviewStep(_ReviewModel):
    """A decision, in words."""

    number: int
    trick: int | None
    seat: int
    words: str


class CoursePoint(_ReviewModel):
    """Verdict of the solver with open cards before a decision."""

    number: int  # number of the decision; after the end of the hand, the last decision's number plus 1
    trick: int | None
    winnable: bool | None  # None: not known
    points: int | None = None  # Skat: the soloist's card points at the end


class Verdict(_ReviewModel):
    """Answer to the question whether the hand could have been won, by the solver or by a player."""

    by: str  # "solver", or the spec of a player
    whose: str  # who could have won: "the soloist (seat 1)", "the team", "seat 0"
    won: bool | None  # whether the hand was won; None if it was broken off
    winnable: bool | None  # before the first decision that was examined; None: not known
    expected: float | None = None  # by a player: value of the hand at that decision, in units of the review
    error: float | None = None  # standard error of `expected`
    losing_step: ReviewStep | None = None  # decision that lost the hand for good, if it was winnable before
    turning_points: tuple[ReviewStep, ...] = ()  # every decision that changed whether the hand was winnable
    # Tricks that win, from the last position that was winnable: "trick 3: 0:C7 1:CA 2:CK".
    line: tuple[str, ...] = ()
    why: tuple[str, ...] = ()  # The Crew: the task, order or rule that failed
    failed_in: int | None = None  # The Crew: the trick in which it failed
    course: tuple[CoursePoint, ...] = ()


class Review(_ReviewModel):
    """Review of a hand."""

    rules: str  # the game, with its options
    names: tuple[str, ...]
    analyst: str
    unit: str  # unit of values and losses
    worth: float  # size of one unit of v(o) in `unit`; 1 for shares of visits
    repeats: int  # number of times that a decision was valued; 1 for the solver
    seed: int
    ratings: tuple[DecisionRating, ...]
    curves: tuple[Curve, ...]
    answers: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def mistakes(self) -> tuple[DecisionRating, ...]:
        """Decisions that are mistakes, the greatest loss first."""
        return tuple(sorted((r for r in self.ratings if r.mistake), key=lambda r: (-(r.loss or 0), r.number)))


class WhatIf(_ReviewModel):
    """Games that replay the rest of a hand from one position."""

    rules: str
    number: int  # number of the decision before which the games begin
    action: str | None  # first action, if it was fixed
    players: tuple[str, ...]  # spec of each seat
    games: int
    seed: int
    scores: tuple[tuple[int, ...], ...]  # of each game, by seat, in the units of the game's tables
    means: tuple[float, ...]  # by seat
    ci95: tuple[tuple[float, float] | None, ...]  # 95% interval of the mean; None if all games ended alike
    came: tuple[int, ...] | None  # scores of the hand as it was really played; None if it was broken off
