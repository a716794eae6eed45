"""Puzzles: recorded decisions with a clearly best action, for a person who knows what the seat had seen.

Players judge from the view of the seat that decided. The solver sees all cards, so its best action could be a matter of
luck. A decision that it judges is a puzzle only if an action is best in the recorded deal and no worse than any other
in each world that PIMC samples from the seat's view.

A person who sees two seats of a deal sees hidden cards. Puzzles therefore show one seat of each deal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trickformer import players
from trickformer.base import CHANCE, Game, Player, TrickformerError, decision_rng
from trickformer.plumbing.progress import Show, silent_progress
from trickformer.plumbing.text import short_unit
from trickformer.records import files
from trickformer.records.skat.record import UnreadableGame
from trickformer.review import analyst, solver
from trickformer.review.hand import ReviewHand, ReviewTurn, of_record
from trickformer.review.result import MISTAKE, MISTAKE_ERRORS, DecisionRating, ReviewedAction
from trickformer.review.worst import worst as find_worst

if TYPE_CHECKING:
    from trickformer.base import State

_SOLVES_WORLDS = "pimc"  # the player that solves sampled worlds of a game that has a solver


@dataclass(frozen=True)
class Puzzle:
    """A decision with its rating, and the actions that solve it."""

    game_number: int  # number of the game in its file, from 1
    hand: ReviewHand
    turn: ReviewTurn
    state: State  # state before the decision
    rating: DecisionRating
    solutions: tuple[int, ...]  # the actions of the highest value, by number
    judge: str  # spec of the analyst, or `solver`
    unit: str  # unit of the values

    def rating_of(self, action: int) -> ReviewedAction:
        """Return the rating of a legal action.

        Args:
            action: The action.
        """
        return next(rated for rated in self.rating.actions if rated.action == action)


@dataclass
class PuzzleScore:
    """Result of a person over the puzzles that are answered."""

    answered: int = 0
    solved: int = 0  # puzzles whose answer was a solution
    loss: float = 0.0  # sum over the answers, in the unit of the puzzles

    def add(self, rated: ReviewedAction, solutions: Collection[int]) -> None:
        """Count an answer.

        Args:
            rated: Rating of the action that the person chose.
            solutions: Actions that solve the puzzle.
        """
        self.answered += 1
        self.solved += rated.action in solutions
        self.loss += rated.loss or 0.0

    @property
    def mean_loss(self) -> float | None:
        """Mean loss of an answer; None without answers."""
        return self.loss / self.answered if self.answered else None


def describe_answer(rated: ReviewedAction, puzzle: Puzzle) -> str:
    """Describe in words how good an answer is, and what was played.

    Args:
        rated: Rating of the action that the person chose.
        puzzle: The puzzle.
    """
    words = {action: puzzle.hand.game.words(action) for action in puzzle.solutions}
    if words.pop(rated.action, None) is not None:
        verdict = f"Right: {rated.words} is the best."
        if words:
            verdict = f"Right: {rated.words}. Equally good: {', '.join(words.values())}."
    else:
        error = "" if rated.loss_error is None else f" ± {rated.loss_error:.2f}"
        cost = f"{rated.loss:.2f}{error} {short_unit(puzzle.unit)}"
        verdict = f"{rated.words} costs {cost}. Best: {', '.join(words.values())}."
    return f"{verdict} Recorded action: {puzzle.rating.words}."


def describe_score(score: PuzzleScore, unit: str | None) -> str:
    """Describe a result in words.

    Args:
        score: The result.
        unit: Unit of the losses; None if the puzzles have different units.
    """
    line = f"{score.solved} of {score.answered} found"
    if unit is None or score.mean_loss is None:
        return f"{line}."
    return f"{line}, mean loss {score.mean_loss:.2f} {short_unit(unit)}."


def find_solutions(rating: DecisionRating, margin: float) -> tuple[int, ...]:
    """Find the best actions of a decision if they are few and all others are clearly worse.

    Args:
        rating: Rating of the decision.
        margin: Smallest loss of another action, in the unit of the rating. It must also exceed two standard errors.

    Returns:
        The actions whose value equals the highest, by number. Empty if more than half of the actions have it, if
        another action loses too little, or if the analyst has not valued an action.
    """
    is_sampled = any(rated.error is not None for rated in rating.actions)
    solutions = []
    for rated in rating.actions:
        is_best = rated is rating.actions[0]
        if rated.loss is None or (is_sampled and rated.loss_error is None and not is_best):
            return ()
        error = rated.loss_error or 0.0
        if is_best or rated.loss == error == 0:
            solutions.append(rated.action)
        elif rated.loss < margin or rated.loss <= MISTAKE_ERRORS * error:
            return ()
    return tuple(sorted(solutions)) if 2 * len(solutions) <= len(rating.actions) else ()


def choose_hands(
    path: Path, games: Sequence[int] | None = None, worst: int | None = None, seed: int = 0
) -> list[tuple[int, tuple[int, ...] | None]]:
    """Choose the hands to search for puzzles.

    Args:
        path: Run folder or file of games.
        games: Numbers of the games, from 1; all if None.
        worst: Number of deals of a tournament; then the hands are those that `records worst` lists.
        seed: Seed of the order.

    Returns:
        The number of each game, and the seats whose decisions count; None stands for all seats. The order is random, or
        the order of `records worst`.

    Raises:
        TrickformerError: The games cannot be read, one of them does not exist, `worst` is given for a file that is no
            tournament, or both `games` and `worst` are given.
    """
    if worst is not None:
        if games is not None:
            raise TrickformerError("--worst and --games exclude each other; give one of them")
        hands = [deal.games[0] for deal in find_worst(path, worst).deals]
        return [(hand.game, tuple(np.flatnonzero(np.array(hand.seating) == 0).tolist())) for hand in hands]
    with files.GameFile(files.place(path)) as every:
        count = len(every)
    numbers = list(dict.fromkeys(games)) if games is not None else range(1, count + 1)
    if missing := [number for number in numbers if not 1 <= number <= count]:
        raise TrickformerError(f"{path} holds games 1 to {count}, and no game {missing[0]}")
    return [(int(number), None) for number in np.random.default_rng(seed).permutation(numbers)]


def find(
    path: Path,
    judge: str | None = None,
    *,
    games: Sequence[int] | None = None,
    worst: int | None = None,
    seats: Collection[int] | None = None,
    margin: float | None = None,
    repeats: int = 4,
    seed: int = 0,
    show: Show = silent_progress,
) -> Iterator[Puzzle]:
    """Find puzzles in recorded games.

    In games with tricks, only cards that are played to a trick are puzzles. All puzzles of a deal are of one seat.

    Args:
        path: Run folder or file of games.
        judge: Spec of the analyst, or `solver`; by default the solver if the game has one, otherwise the first player
            that values actions.
        games: Numbers of the games to search, from 1; all if None.
        worst: Number of deals of a tournament; then the decisions are those of player A in the hands that
            `records worst` lists.
        seats: Seats whose decisions count; all if None.
        margin: Smallest lead of the best action in the unit of the game; by default the loss that makes a mistake.
        repeats: Number of times that an analyst with random samples rates a decision, at least 2.
        seed: Seed of the order and of the analyst's random numbers.
        show: Shows how many hands are searched; silent by default.

    Returns:
        The puzzles, in the order of `choose_hands`, and those of a hand in the order of play.

    Raises:
        TrickformerError: `choose_hands` or `analyst.make` raises it, a game cannot be read, or a seat does not exist.
            Faults of the first game show at the call, those of the others during the search.
    """
    hands = choose_hands(path, games, worst, seed)
    search = _PuzzleSearch(judge, margin, repeats, seed)
    with files.GameFile(files.place(path)) as every:
        if first := next(filter(None, (_read_hand(path, every, number) for number, _ in hands)), None):
            search.prepare(first.game, seats)
    return _find_in_order(path, hands, seats, search, show)


def _find_in_order(
    path: Path,
    hands: Sequence[tuple[int, tuple[int, ...] | None]],
    seats: Collection[int] | None,
    search: _PuzzleSearch,
    show: Show,
) -> Iterator[Puzzle]:
    with files.GameFile(files.place(path)) as every, show("puzzles", "hands", 0, len(hands)) as advance:
        for number, its_seats in hands:
            if hand := _read_hand(path, every, number):
                search.prepare(hand.game, seats)
                yield from search.find_in(hand, number, seats, its_seats)
            advance()


def _read_hand(path: Path, every: files.GameFile, number: int) -> ReviewHand | None:
    """Read a game; None if its record is torn or has rules that this project lacks."""
    record = every.get(number)
    if isinstance(record, UnreadableGame):
        if record.torn or record.house_rule:
            return None
        raise TrickformerError(f"{path}, {record.why}")
    try:
        return of_record(record)
    except TrickformerError as e:
        raise TrickformerError(f"game {number}: {e}") from None


class _PuzzleSearch:
    """Searches hands for puzzles. It keeps the judge of each game, and the deals of the puzzles so far."""

    def __init__(self, judge: str | None, margin: float | None, repeats: int, seed: int):
        self._judge, self._margin = judge, margin
        self._repeats, self._seed = repeats, seed
        self._judges: dict[str, tuple[str, Player | None]] = {}  # spec and player, by game string
        self._world_solvers: dict[str, Player] = {}
        self._deals: set[object] = set()

    def prepare(self, game: Game, seats: Collection[int] | None) -> None:
        """Refuse seats that a game does not have, and make its judge."""
        for seat in seats or ():
            game.check_seat(seat)
        self._get_judge(game)

    def find_in(self, hand: ReviewHand, number: int, *allowed: Collection[int] | None) -> Iterator[Puzzle]:
        """Yield the puzzles of one seat: the first, in a random order, that has any and is in each of `allowed`."""
        game = hand.game
        seats = [set(range(game.players)) if each is None else set(each) for each in allowed]
        deal = _identify_deal(hand)
        if deal in self._deals:
            return
        turns = {turn.number: (turn, state) for turn, state in hand.turns() if _can_be_puzzle(game, turn)}
        for seat in np.random.default_rng([self._seed, number]).permutation(game.players).tolist():
            if all(seat in each for each in seats) and any(turn.seat == seat for turn, _ in turns.values()):
                puzzles = self._find_of_seat(hand, number, seat, turns)
                if puzzles:
                    self._deals.add(deal)
                    yield from puzzles
                    return

    def _find_of_seat(
        self, hand: ReviewHand, number: int, seat: int, turns: dict[int, tuple[ReviewTurn, State]]
    ) -> list[Puzzle]:
        game = hand.game
        spec, player = self._get_judge(game)
        review = analyst.review(hand, spec, player=player, repeats=self._repeats, seed=self._seed, seats=[seat])
        if review.unit == analyst.VISITS:
            other = analyst.valuing(game)[0]
            raise TrickformerError(
                f"{spec} reports visits, and a puzzle needs values; use another player, such as {other}"
            )
        margin = self._margin if self._margin is not None else MISTAKE * game.worth[0]
        puzzles = []
        for rating in review.ratings:
            if rating.number not in turns:
                continue
            solutions = find_solutions(rating, margin)
            turn, state = turns[rating.number]
            if solutions and (spec != analyst.SOLVER or self._holds_in_worlds(game, turn, state, solutions)):
                puzzles.append(Puzzle(number, hand, turn, state, rating, solutions, review.analyst, review.unit))
        return puzzles

    def _get_judge(self, game: Game) -> tuple[str, Player | None]:
        rules = str(game.spiel)
        if rules not in self._judges:
            self._judges[rules] = _make_judge(game, self._judge)
        return self._judges[rules]

    def _holds_in_worlds(self, game: Game, turn: ReviewTurn, state: State, solutions: Sequence[int]) -> bool:
        """Test whether one of the solutions is the best action in every sampled world of the seat's view."""
        rules = str(game.spiel)
        if rules not in self._world_solvers:
            self._world_solvers[rules] = players.make(_SOLVES_WORLDS, game)
        rng = decision_rng(self._seed, 0, turn.seat, turn.number)
        view = game.view(state, turn.seat)
        (decision,) = self._world_solvers[rules].act([view], [rng], [{"explain": True}])
        worlds = [world.values for world in decision.thought.worlds] if decision.thought else []
        return bool(worlds) and any(all(each[a] >= max(each.values()) for each in worlds) for a in solutions)


def _make_judge(game: Game, spec: str | None) -> tuple[str, Player | None]:
    if spec is None and solver.has_solver(game):
        spec = analyst.SOLVER
    if spec is not None:
        return spec, analyst.make(spec, game)
    for name in analyst.valuing(game):
        with suppress(TrickformerError):  # for example a game without a model
            return name, analyst.make(name, game)
    raise TrickformerError(f"no analyst values the actions of {game.name} by default; name one")


def _can_be_puzzle(game: Game, turn: ReviewTurn) -> bool:
    """Test whether a decision is one action of several, and in a game with tricks the card that is played to a trick.

    Passes and discards are made together with others, and not all analysts value bids.
    """
    has_tricks = type(game).trick is not Game.trick
    return len(turn.legal) > 1 and (turn.trick is not None or not has_tricks)


def _identify_deal(hand: ReviewHand) -> object:
    """Return the rules and the deal of a hand: its place in a series, or the actions of chance."""
    if hand.source is not None:
        return str(hand.game.spiel), hand.source
    drawn = [action for state, action in zip(hand.states(), hand.history) if state.current_player() == CHANCE]
    return str(hand.game.spiel), tuple(drawn)
