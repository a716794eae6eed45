"""Players as analysts: they value every legal action, with the knowledge of the seat that decided.

The analyst values each decision several times, each time with other random numbers. The spread of the values gives
their standard error, which covers sampling only, not the quality of the analyst's judgement. The loss of a decision is
the value of its best action minus the value of the action taken. The largest of several noisy values is too high on
average, and so is a loss. A loss below two standard errors is therefore not called a mistake.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import Any

from trickformer import players
from trickformer.base import Decision, Game, Memo, Player, TrickformerError, UnknownNameError, decision_rng
from trickformer.plumbing.progress import Advance, Show, silent_progress
from trickformer.review import solver
from trickformer.review.hand import ReviewHand, ReviewTurn
from trickformer.review.rating import curves, rate_turns, seats_share_score
from trickformer.review.result import Curve, DecisionRating, Review, ReviewStep, Verdict

SOLVER = "solver"
VISITS = "share of visits"

# Players that report values of actions.
VALUING = ("pimc", "kermit", "argmax", "gomcts", "rollout", "sparta", "optimal", "bsr_uct")
_NO_VALUES = {("pimc", "crew")}  # (player, game): there the player values only its best action


def valuing(game: Game) -> list[str]:
    """List the players that report values of actions in a game.

    Args:
        game: The game.
    """
    fitting = [name for name in VALUING if game.name in (players.games_of(name) or (game.name,))]
    return [name for name in fitting if (name, game.name) not in _NO_VALUES]


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
    """Review a hand.

    Args:
        hand: Hand to review.
        spec: Spec of a player, or `solver`, which sees all cards and rates Skat and The Crew.
        player: Player of the spec, as `make` returns it; a new one if None.
        repeats: Number of times that a player values each decision.
        seed: Seed of the player's random numbers.
        seats: Seats whose decisions are rated; all if None.
        show: Shows the progress; silent by default.

    Returns:
        The ratings of the decisions, the course of the hand, and whether it could have been won.

    Raises:
        UnknownNameError: No player has the name in the spec.
        TrickformerError: A seat does not exist, the hand has no decision of these seats, or the player cannot play the
            game or reports nothing but its own action.
    """
    game = hand.game
    for seat in seats or ():
        game.check_seat(seat)
    turns = [turn for turn, _ in hand.turns() if seats is None or turn.seat in seats]
    if not turns:
        raise TrickformerError("the hand has no decision to rate")
    session = _AnalystSession(player or make(spec, game), hand, turns, repeats, seed)
    n_queries = session.n_queries + solver.count_decisions(hand)
    with show("review", "ratings", 0, n_queries) as advance:
        values = session.answers(advance)
        solved = solver.solve(hand, advance) if solver.has_solver(game) else None
    notes = list(hand.notes)
    if solved is not None and spec == SOLVER:
        values = {number: [by_action] for number, by_action in solved.values.items()}
        notes += solved.notes
    ratings = rate_turns(hand, turns, values)
    if unvalued := sum(bool(r.actions) and r.loss is None for r in ratings):
        notes.append(f"the analyst has not valued the action taken in {unvalued} decisions")
    if spec != SOLVER and repeats > 1 and not any(r.actions and r.actions[0].error is not None for r in ratings):
        notes.append("the analyst reports the same values each time, so losses have no standard error")
    by_seat = curves(hand, ratings, comparable=not session.by_visits)
    if solved is not None:
        answers = (solved.verdict,) if solved.verdict else ()
    else:
        answers = _expectations(spec, hand, ratings, by_seat) if not session.by_visits else ()
    return Review(
        rules=str(game.spiel),
        names=hand.names,
        analyst=spec if spec == SOLVER else players.resolve(spec, game),
        unit=VISITS if session.by_visits else game.worth[1],
        worth=1.0 if session.by_visits else game.worth[0],
        repeats=1 if spec == SOLVER else repeats,
        seed=seed,
        ratings=ratings,
        curves=by_seat,
        answers=answers,
        notes=tuple(notes),
    )


def _expectations(
    spec: str, hand: ReviewHand, ratings: Sequence[DecisionRating], by_seat: Sequence[Curve]
) -> tuple[Verdict, ...]:
    """Return for each seat what the player expected at the seat's first decision.

    A seat counts as winning if its value is positive: it then finishes ahead of the mean of the others. The result is
    empty if all seats share one score.
    """
    answers = []
    for curve in () if seats_share_score(hand.game) else by_seat:
        (seat,) = curve.seats
        own = [r for r in ratings if r.seat == seat and r.best]
        # Decisions with a winning action whose action is not winning.
        losing = [r for r in own if r.value is not None and (r.actions[0].value or 0) > 0 >= r.value]
        steps = tuple(ReviewStep(number=r.number, trick=r.trick, seat=r.seat, words=r.words) for r in losing)
        won = None if curve.result is None else curve.result > 0
        winnable = curve.points[0].value > 0
        answers.append(
            Verdict(
                by=spec,
                whose=f"seat {seat}",
                won=won,
                winnable=winnable,
                expected=curve.points[0].value,
                error=own[0].actions[0].error,
                losing_step=steps[-1] if steps and won is False else None,
                turning_points=steps,
            )
        )
    return tuple(answers)


def make(spec: str, game: Game) -> Player | None:
    """Make the player of an analyst's spec.

    Args:
        spec: Spec of a player, or `solver`.
        game: Game of the hand.

    Returns:
        The player; None for `solver`.

    Raises:
        UnknownNameError: No player has the name in the spec.
        TrickformerError: The player cannot play the game, or the solver cannot solve it.
    """
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
    """Repeated valuations of a hand's decisions by a player; without a player there are none."""

    def __init__(self, player: Player | None, hand: ReviewHand, turns: Sequence[ReviewTurn], repeats: int, seed: int):
        valued_numbers = {turn.number for turn in turns if len(turn.legal) > 1 and player is not None}
        self._player = player
        self._game = hand.game
        self._seed = seed
        self._repeats = repeats
        self._turns = [(turn, state) for turn, state in hand.turns() if turn.number in valued_numbers]
        self._memos: dict[tuple[int, int], Memo] = {}
        self.n_queries = repeats * len(self._turns)
        self.by_visits = False  # whether shares of visits replace values, because the player reports none

    def answers(self, advance: Advance) -> dict[int, list[dict[int, float]]]:
        """Return by decision its action values in each repeat, in units of the game or as shares of visits.

        Raises TrickformerError after the first repeat if the player has valued no action of the whole hand.
        """
        decisions: dict[int, list[Decision]] = {turn.number: [] for turn, _ in self._turns}
        for batch in (range(1), range(1, self._repeats)):  # the first repeat, and the others
            self._query(batch, decisions, advance)
            first = [repeated[0] for repeated in decisions.values()]
            if first and not any(decision.values or decision.visits for decision in first):
                raise TrickformerError(
                    "this analyst gives no values: it reports only the action that it takes; use another one, such as "
                    f"{valuing(self._game)[0]}"
                )
        self.by_visits = bool(decisions) and not any(
            decision.values for repeats in decisions.values() for decision in repeats
        )
        return {
            number: [self._action_values(decision) for decision in repeats] for number, repeats in decisions.items()
        }

    def _action_values(self, decision: Decision) -> dict[int, float]:
        visits = decision.visits or {}
        if self.by_visits:
            return {action: n / sum(visits.values()) for action, n in visits.items()}
        return {action: value * self._game.worth[0] for action, value in (decision.values or {}).items()}

    def _query(self, repeats: range, by_decision: dict[int, list[Decision]], advance: Advance) -> None:
        """Query the player about all decisions in some repeats, and append its answers to `by_decision`.

        The decisions of a seat keep their order, because players may use a memo. Seats and repeats share calls.
        """
        by_seat: dict[int, list[tuple[ReviewTurn, Any]]] = {}
        for turn, state in self._turns:
            by_seat.setdefault(turn.seat, []).append((turn, state))
        for step in zip_longest(*by_seat.values()):
            queries = [(turn, state, repeat) for turn, state in filter(None, step) for repeat in repeats]
            assert self._player is not None  # without a player there are no turns
            size = self._player.batch or max(1, len(queries))  # progress advances with every call
            for start in range(0, len(queries), size):
                part = queries[start : start + size]
                for (turn, _, _), decision in zip(part, self._act(part)):
                    by_decision[turn.number].append(decision)
                advance(len(part))

    def _act(self, queries: Sequence[tuple[ReviewTurn, Any, int]]) -> list[Decision]:
        assert self._player is not None
        views = [self._game.view(state, turn.seat) for turn, state, _ in queries]
        rngs = [decision_rng(self._seed, repeat, turn.seat, turn.number) for turn, _, repeat in queries]
        memos = [self._memos.setdefault((turn.seat, repeat), {}) for turn, _, repeat in queries]
        if self._player.needs_state:
            for memo, (_, state, _) in zip(memos, queries):
                memo["state"] = state.clone()
        return players.validate_decisions(self._player, views, self._player.act(views, rngs, memos))
