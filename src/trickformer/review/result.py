"""What a review comes to: values that JSON holds, in the units of the game."""

from __future__ import annotations

from functools import cached_property

from pydantic import BaseModel, ConfigDict

SURE = 2.0  # standard errors that a loss must exceed to be called a mistake


class _ReviewModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReviewedAction(_ReviewModel):
    """A legal action of a decision, as the analyst sees it."""

    action: int
    words: str
    value: float | None = None  # what the hand then brings the seat; None where the analyst has not looked at it
    error: float | None = None  # standard error of the value; None where it is not sampled


class DecisionRating(_ReviewModel):
    """A decision, and what it cost."""

    number: int  # counted from 1, over all seats
    at: int  # actions before it, chance's included
    seat: int
    trick: int | None
    action: int
    words: str
    forced: bool = False  # nothing else was legal
    actions: tuple[ReviewedAction, ...] = ()  # the best first, then those not looked at; empty where it is not rated
    loss: float | None = None  # what the best action brings more; None where it is not rated
    error: float | None = None  # standard error of the loss; None where values are not sampled

    @property
    def best(self) -> ReviewedAction | None:
        """The best action; None where the decision is not rated."""
        return self.actions[0] if self.actions and self.actions[0].value is not None else None

    @property
    def value(self) -> float | None:
        """What the hand brings after what was done."""
        return next((a.value for a in self.actions if a.action == self.action), None)

    @property
    def mistake(self) -> bool:
        """Whether it cost something, and that is not chance."""
        return bool(self.loss) and (self.error is None or (self.loss or 0) > SURE * self.error)


class Point(_ReviewModel):
    """The hand's worth to a seat before one of its decisions, if the seat then does its best."""

    number: int  # of the decision; the last one's and 1 where the hand has ended
    trick: int | None
    value: float


class Curve(_ReviewModel):
    """How a hand went for a seat, or for a team that shares its score."""

    seats: tuple[int, ...]
    points: tuple[Point, ...]
    result: float | None = None  # what came of it; None where the hand was broken off
    lost: float = 0.0  # by decisions of these seats
    # What the first point promised, less `lost`, comes short of the result by this: the others' play and the cards.
    rest: float | None = None


class ReviewStep(_ReviewModel):
    """A decision, in words."""

    number: int
    trick: int | None
    seat: int
    words: str


class Course(_ReviewModel):
    """What open cards say before a decision."""

    number: int  # as of Point
    trick: int | None
    winnable: bool | None  # None: not known
    points: int | None = None  # Skat: card points that the soloist then ends with


class SolverVerdict(_ReviewModel):
    """Could the hand have been won?"""

    by: str  # who says so: the solver, or a player's spec
    whose: str  # who could have won it: "the soloist, seat 1", "the team", "seat 0"
    won: bool | None  # whether it was; None where it was broken off
    winnable: bool | None  # before the first decision that was asked about; None: not known
    expected: float | None = None  # by a player: what the hand promised then, in units of the review
    error: float | None = None  # standard error of it
    went: ReviewStep | None = None  # of a hand that was winnable and lost: the decision after which it was not any more
    turned: tuple[ReviewStep, ...] = ()  # every decision that changed it
    line: tuple[
        str, ...
    ] = ()  # tricks that win it, from the last position that was winnable: "trick 3: 0:C7 1:CA 2:CK"
    why: tuple[str, ...] = ()  # The Crew: the task, order or rule that failed
    failed_in: int | None = None  # The Crew: the trick in which it did
    course: tuple[Course, ...] = ()


class Review(_ReviewModel):
    """A hand under review."""

    rules: str  # the game, with its options
    names: tuple[str, ...]
    analyst: str
    unit: str  # what values and losses are counted in
    repeats: int  # how often a decision was valued; 1 where values are not sampled
    seed: int
    ratings: tuple[DecisionRating, ...]
    curves: tuple[Curve, ...]
    answers: tuple[SolverVerdict, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def mistakes(self) -> tuple[DecisionRating, ...]:
        """Decisions that cost something and were rated so for sure, the greatest loss first."""
        return tuple(sorted((r for r in self.ratings if r.mistake), key=lambda r: (-(r.loss or 0), r.number)))


class WhatIf(_ReviewModel):
    """The rest of a hand from one position, played anew."""

    rules: str
    number: int  # of the decision that it begins before
    action: str | None  # what was done there, where that was given
    players: tuple[str, ...]  # by seat
    games: int
    seed: int
    scores: tuple[tuple[int, ...], ...]  # of each game, by seat, in the units of the game's tables
    means: tuple[float, ...]  # by seat
    ci95: tuple[tuple[float, float] | None, ...]  # 95% interval of the mean; None if all games ended alike
    came: tuple[int, ...] | None  # the scores of the hand as it was played; None where it was broken off
