"""A player as analyst: what it says of every legal action, at the seat and with the knowledge of who decided.

An analyst that samples is asked several times, each time by randomness of its own. The spread of what it says is then
the error of what is reported; how good its judgement is, it does not tell. The best of several sampled values is
rather too high, and so is a loss: one below two standard errors is not called a mistake."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import Any

from trickformer import players
from trickformer.base import Decision, Game, Memo, Player, TrickformerError, UnknownNameError, decision_rng
from trickformer.plumbing.progress import Advance, Show, silent_progress
from trickformer.review import solver
from trickformer.review.hand import ReviewHand, ReviewTurn
from trickformer.review.rating import curves, rate_turns, shares
from trickformer.review.result import Curve, DecisionRating, Review, ReviewStep, SolverVerdict

SOLVER = "solver"
VISITS = "share of visits"

# Players that say what actions are worth.
VALUING = ("pimc", "kermit", "argmax", "gomcts", "rollout", "sparta", "optimal", "bsr_uct")
_SILENT = {("pimc", "crew")}  # it says whether a mission can still succeed, of the best action alone


def valuing(game: Game) -> list[str]:
    """The players that say what actions of a game are worth."""
    fitting = [name for name in VALUING if game.name in (players.games_of(name) or (game.name,))]
    return [name for name in fitting if (name, game.name) not in _SILENT]


def review(
    hand: ReviewHand,
    spec: str,
    *,
    player: Player | None = None,
    repeats: int = 4,
    seed: int = 0,
    seats: Collection[int] | None = None,
    show: Show = silent_progress,
) -> Review:
    """What an analyst makes of a hand.

    spec: of a player, or `solver`: open cards, in Skat and The Crew. player: what `make` has made of it; a new one if
    not given. repeats: how often a player that samples is asked about a decision. seats: whose decisions are rated; all
    if not given. show: plumbing.progress.progress, or another that shows how far it is; nothing is shown if not given.

    Raises UnknownNameError for a player that there is none of, and TrickformerError for a seat that there is none of, a
    player that cannot play the game, and one that says nothing of actions but which it takes."""
    game = hand.game
    if seats is not None and (wrong := sorted(set(seats) - set(range(game.players)))):
        raise TrickformerError(f"seats of {game.name} are 0 to {game.players - 1}, not {wrong[0]}")
    turns = [turn for turn, _ in hand.turns() if seats is None or turn.seat in seats]
    if not turns:
        raise TrickformerError("the hand has no decision to rate")
    asked = _AnalystSession(player or make(spec, game), hand, turns, repeats, seed)
    questions = asked.questions + solver.questions(hand)
    with show("review", "decisions", 0, questions) as advance:
        values = asked.answers(advance)
        opened = solver.solve(hand, advance) if solver.has_solver(game) else None
    notes = list(hand.notes)
    if opened is not None and spec == SOLVER:
        values = {number: [by_action] for number, by_action in opened.values.items()}
        notes += opened.notes
    ratings = rate_turns(hand, turns, values)
    if unlooked := sum(bool(r.actions) and r.loss is None for r in ratings):
        notes.append(f"what was done in {unlooked} decisions the analyst has not valued")
    if spec != SOLVER and repeats > 1 and not any(r.actions and r.actions[0].error is not None for r in ratings):
        notes.append("the analyst says the same each time: nothing is known of its error")
    found = curves(hand, ratings, comparable=not asked.by_visits)
    if opened is not None:
        answers = (opened.answer,) if opened.answer else ()
    else:
        answers = expectations(spec, hand, ratings, found) if not asked.by_visits else ()
    return Review(
        rules=str(game.spiel),
        names=hand.names,
        analyst=spec if spec == SOLVER else players.resolve(spec, game),
        unit=VISITS if asked.by_visits else game.worth[1],
        repeats=1 if spec == SOLVER else repeats,
        seed=seed,
        ratings=ratings,
        curves=found,
        answers=answers,
        notes=tuple(notes),
    )


def expectations(
    spec: str, hand: ReviewHand, ratings: Sequence[DecisionRating], found: Sequence[Curve]
) -> tuple[SolverVerdict, ...]:
    """Could a seat have won? Asked of a player that does not see the cards: what it expected at the seat's first
    decision. Won is what is worth more than the mean of the others; where seats share their score, or there is one,
    there is nothing to ask."""
    answers = []
    for curve in () if shares(hand.game) else found:
        (seat,) = curve.seats
        own = [r for r in ratings if r.seat == seat and r.best]
        turned = [r for r in own if r.value is not None and (r.actions[0].value or 0) > 0 >= r.value]
        steps = tuple(ReviewStep(number=r.number, trick=r.trick, seat=r.seat, words=r.words) for r in turned)
        won = None if curve.result is None else curve.result > 0
        winnable = curve.points[0].value > 0
        answers.append(
            SolverVerdict(
                by=spec,
                whose=f"seat {seat}",
                won=won,
                winnable=winnable,
                expected=curve.points[0].value,
                error=own[0].actions[0].error,
                went=steps[-1] if steps and won is False else None,
                turned=steps,
            )
        )
    return tuple(answers)


def make(spec: str, game: Game) -> Player | None:
    """The player of an analyst's spec; None of `solver`. Raises as `review`."""
    if spec == SOLVER:
        solver.check(game)
        return None
    try:
        return players.make(spec, game)
    except UnknownNameError as e:
        name = spec.strip().partition(":")[0]
        if name in players.names():
            raise
        raise UnknownNameError("analyst", name, (*players.names(), SOLVER)) from e


class _AnalystSession:
    """An analyst that is asked about decisions of a hand, several times about each; None is asked nothing."""

    def __init__(self, player: Player | None, hand: ReviewHand, turns: Sequence[ReviewTurn], repeats: int, seed: int):
        wanted = {turn.number for turn in turns if len(turn.legal) > 1 and player is not None}
        self._player, self._game, self._seed, self._repeats = player, hand.game, seed, repeats
        self._turns = [(turn, state) for turn, state in hand.turns() if turn.number in wanted]
        self._memos: dict[tuple[int, int], Memo] = {}
        self.questions = repeats * len(self._turns)
        self.by_visits = False  # it gives no values, and what is told instead are shares of its visits

    def answers(self, advance: Advance) -> dict[int, list[dict[int, float]]]:
        """What it says each time, by the number of the decision: values in units of the game, or shares of visits.

        Raises TrickformerError where it says nothing of any action in the whole hand; this is known after the first
        time."""
        said: dict[int, list[Decision]] = {turn.number: [] for turn, _ in self._turns}
        for times in (range(1), range(1, self._repeats)):
            self._ask(times, said, advance)
            first = [decisions[0] for decisions in said.values()]
            if first and not any(decision.values or decision.visits for decision in first):
                raise TrickformerError(
                    "this analyst gives no values: it says which action it takes, and of none what it is worth; pimc, "
                    "argmax and gomcts say it of each"
                )
        self.by_visits = bool(said) and not any(each.values for times in said.values() for each in times)
        return {number: [self._action_values(each) for each in times] for number, times in said.items()}

    def _action_values(self, decision: Decision) -> dict[int, float]:
        visits = decision.visits or {}
        if self.by_visits:
            return {action: n / sum(visits.values()) for action, n in visits.items()}
        return {action: value * self._game.worth[0] for action, value in (decision.values or {}).items()}

    def _ask(self, times: range, said: dict[int, list[Decision]], advance: Advance) -> None:
        """A seat's decisions are asked about in their order, as they come in a hand; seats and times share calls."""
        by_seat: dict[int, list[tuple[ReviewTurn, Any]]] = {}
        for turn, state in self._turns:
            by_seat.setdefault(turn.seat, []).append((turn, state))
        for step in zip_longest(*by_seat.values()):
            asked = [(turn, state, time) for turn, state in filter(None, step) for time in times]
            assert self._player is not None  # without a player there are no turns
            size = self._player.batch or max(1, len(asked))
            for start in range(0, len(asked), size):
                part = asked[start : start + size]
                for (turn, _, _), decision in zip(part, self._act(part)):
                    said[turn.number].append(decision)
                advance(len(part))

    def _act(self, asked: Sequence[tuple[ReviewTurn, Any, int]]) -> list[Decision]:
        assert self._player is not None
        views = [self._game.view(state, turn.seat) for turn, state, _ in asked]
        rngs = [decision_rng(self._seed, time, turn.seat, turn.number) for turn, _, time in asked]
        memos = [self._memos.setdefault((turn.seat, time), {}) for turn, _, time in asked]
        if self._player.needs_state:
            for memo, (_, state, _) in zip(memos, asked):
                memo["state"] = state.clone()
        return players.validate_decisions(self._player, views, self._player.act(views, rngs, memos))
