"""A match at one table, deal after deal: seats, moves, undo and scores.

A journal stores each step, so `--resume` restores a table after a crash.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from trickformer import players
from trickformer.base import Decision, Game, TrickformerError, View
from trickformer.plumbing.files import replace
from trickformer.plumbing.folder import RunFolder
from trickformer.plumbing.lines import JsonLines, read_lines
from trickformer.plumbing.terminal import warn
from trickformer.tournaments.store import HandRecord
from trickformer.web import scenes
from trickformer.web.config import YOU, Play

if TYPE_CHECKING:
    from trickformer.base import State

T = TypeVar("T")
JOURNAL, RECORDS = "moves.jsonl", "records.jsonl"


class _Step(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MatchStep(_Step):
    """Start of a match."""

    do: Literal["match"] = "match"
    seats: tuple[str, ...]
    deal: int


class DealStep(_Step):
    """Start of a deal; an unfinished hand is broken off."""

    do: Literal["deal"] = "deal"
    deal: int
    rotates: bool = False  # whether each player takes the seat before its own, and seat 0's player the last


class ActionStep(_Step):
    """Decision of a seat, with measurements of the player as in a HandRecord.

    `searched`: histories or worlds that the search generated; `illegal`: those that contradict the view.
    """

    do: Literal["act"] = "act"
    seat: int
    action: int
    seconds: float | None = None  # None for a person
    illegal: int = 0
    searched: int = 0
    continues_claim: bool = False  # whether the action plays out a claim that an earlier action began


class UndoStep(_Step):
    """Undo of all decisions of the hand but the first `left`."""

    do: Literal["undo"] = "undo"
    left: int


class AnnotationStep(_Step):
    """Text of a person on a card, which stays until the next deal. An empty text removes the last one."""

    do: Literal["annotate"] = "annotate"
    seat: int  # seat of the person
    card: int  # place of the card in the order of drawing
    text: str


Step = Annotated[MatchStep | DealStep | ActionStep | UndoStep | AnnotationStep, Field(discriminator="do")]
_STEP: TypeAdapter[Step] = TypeAdapter(Step)


@dataclass(frozen=True, slots=True)
class HandResult:
    """Finished hand with its scores."""

    deal: int
    scores: tuple[int, ...]  # by the seat that each player has now


class Table:
    """A match. Its methods raise TrickformerError if the rules forbid a step, and change nothing then."""

    def __init__(self, game: Game, seats: Sequence[str], seed: int, deal: int, journal: _Journal | None = None):
        """Start or restore a match.

        Args:
            game: The game.
            seats: Spec of each seat; YOU stands for a person.
            seed: Seed of the deals.
            deal: Number of the first deal.
            journal: Journal for the steps; a journal with steps restores its match.
        """
        self.game = game
        self.seats = tuple(seats)
        self.seed = seed
        self.deal = deal
        self.rotations = 0  # deals after which all players changed seats
        self.hand_count = 0  # hands that have begun at this table, in all matches
        self.moves: list[ActionStep] = []
        self.annotations: dict[tuple[int, int], str] = {}  # by seat of the person and card; see AnnotationStep
        self.earlier_hands: list[HandResult] = []  # finished hands of this match before the current one
        self.specs: list[str] = []  # all players that have sat here, in order of appearance
        self._records: list[HandRecord] = []
        self._journal = None  # none yet: the steps of the journal must not be written again
        self.state = game.deal(seed, deal)
        for step in journal.stored if journal else ():
            self._apply_and_write(step)
        self._journal = journal
        if journal is None or not journal.stored:
            self.begin(seats, deal)
        elif self.records:  # the table may have crashed between a step and its records
            journal.describe(self)

    def begin(self, seats: Sequence[str], deal: int) -> None:
        """Start a new match.

        Args:
            seats: Spec of each seat; YOU stands for a person.
            deal: Number of the first deal in the table's series.
        """
        if len(seats) != self.game.players or YOU not in seats:
            raise TrickformerError(
                f"a match of {self.game.name} needs {self.game.players - 1} opponents and one seat for you"
            )
        self._apply_and_write(MatchStep(seats=tuple(seats), deal=deal))

    def next_deal(self) -> None:
        """Start the next deal of the match; an unfinished hand does not count. In some games players change seats."""
        self._apply_and_write(DealStep(deal=self.deal + 1, rotates=self.game.rotates))

    def again(self) -> None:
        """Restart the deal."""
        self._apply_and_write(UndoStep(left=0))

    def act(
        self,
        seat: int,
        action: int,
        decided: Decision | None = None,
        seconds: float = 0.0,
        continues_claim: bool = False,
    ) -> None:
        """Take a decision.

        Args:
            seat: Seat on turn.
            action: Legal action.
            decided: Decision of a player; None for a person.
            seconds: Time of the player's decision.
            continues_claim: Whether the action plays out a claim that an earlier action began.
        """
        if seat != self.turn:
            raise TrickformerError(f"seat {seat} is not on turn")
        if action not in self.state.legal_actions():
            raise TrickformerError(f"{action} is not legal now")
        step = ActionStep(seat=seat, action=action, continues_claim=continues_claim)
        if decided is not None:
            step = ActionStep(
                seat=seat, action=action, seconds=seconds, illegal=decided.illegal, searched=decided.searched
            )
        self._apply_and_write(step)

    def undo(self) -> None:
        """Undo the last decision of a person and all later decisions.

        Several actions are one decision if they play out a claim, or if the page takes them together.
        """
        own = [i for i, m in enumerate(self.moves) if self.seats[m.seat] == YOU and not m.continues_claim]
        if not own:
            raise TrickformerError("there is no decision of yours to take back")
        first = own[-1]
        while first > 0 and self._continues_decision(first):
            first -= 1
        self._apply_and_write(UndoStep(left=first))

    def annotate(self, seat: int, card: int, text: str) -> None:
        """Write a text on a card, for the person at a seat alone.

        Args:
            seat: Seat of the person.
            card: Place of the card in the order of drawing.
            text: The text; an empty one removes the last.
        """
        held = (card.order for part in scenes.show(self.game, self.state, seat).seats for card in part.cards)
        if card not in held:
            raise TrickformerError("that card lies in no hand")
        if text != self.annotations.get((seat, card), ""):
            self._apply_and_write(AnnotationStep(seat=seat, card=card, text=text))

    def _continues_decision(self, move: int) -> bool:
        """Return whether the page takes a move together with the move before it.

        Cards are chosen together, or a card has a use of several actions, such as a communication in The Crew.

        Args:
            move: Place in `moves`, from 1.
        """
        first, second = self.moves[move - 1 : move + 1]
        if first.seat != second.seat:
            return False
        before = scenes.show(self.game, self._state_after(move - 1), first.seat)
        if before.pick and scenes.show(self.game, self._state_after(move), first.seat).pick:
            return True
        cards = (card for part in (*before.seats, *before.piles) for card in part.cards)
        return any(option.actions == (first.action, second.action) for card in cards for option in card.options)

    @property
    def over(self) -> bool:
        return self.state.is_terminal()

    @property
    def turn(self) -> int | None:
        """Seat on turn; None at the end of the hand."""
        return None if self.over else self.state.current_player()

    @property
    def people(self) -> tuple[int, ...]:
        """Seats that people take."""
        return tuple(seat for seat, who in enumerate(self.seats) if who == YOU)

    @property
    def hands(self) -> list[HandResult]:
        """Finished hands of the match."""
        last = [HandResult(self.deal, self.game.scores(self.state))] if self.moves and self.over else []
        return [*self.earlier_hands, *last]

    @property
    def totals(self) -> tuple[int, ...]:
        """Sum of the scores of the match, by the seat that each player has now."""
        return tuple(sum(hand.scores[seat] for hand in self.hands) for seat in range(self.game.players))

    def seat_now(self, first: int) -> int:
        """Return the seat that a player has now.

        Args:
            first: Seat of the player when the table was opened.
        """
        return (first - self.rotations) % self.game.players

    def number(self, seat: int) -> int:
        """Count the decisions of a seat in this hand.

        Args:
            seat: The seat.
        """
        return sum(move.seat == seat for move in self.moves)

    def view(self, seat: int) -> View:
        """Return the view of a seat.

        Args:
            seat: The seat.
        """
        return self.game.view(self.state, seat)

    def _apply_and_write(self, step: Step) -> None:
        """Take a step and write it to the journal; nothing changes if that fails."""
        before = vars(self).copy()
        self.moves, self.earlier_hands = list(self.moves), list(self.earlier_hands)
        try:
            self._apply(step)
            if self._journal is not None:
                self._journal.write(step, self)
        except BaseException:
            vars(self).update(before)
            raise

    def _apply(self, step: Step) -> None:
        match step:
            case MatchStep():
                self._records, self.earlier_hands = self.records, []
                self.seats = step.seats
                self.deal, self.moves = step.deal, []
                self.annotations = {}
                self.hand_count += 1
                self.state = self._initial_state()
                self.specs = list(dict.fromkeys([*self.specs, *step.seats]))
            case DealStep():
                self._records, self.earlier_hands = self.records, self.hands
                if step.rotates:
                    self.rotations += 1
                    self.seats = _rotate(self.seats)
                    self.earlier_hands = [HandResult(hand.deal, _rotate(hand.scores)) for hand in self.earlier_hands]
                self.deal, self.moves = step.deal, []
                self.annotations = {}
                self.hand_count += 1
                self.state = self._initial_state()
            case ActionStep():
                if step.seat != self.turn or step.action not in self.state.legal_actions():
                    raise TrickformerError(f"seat {step.seat} cannot do {step.action} now")
                self.state = self.state.clone()
                self.moves.append(step)
                self._advance(self.state, step.action)
            case UndoStep():
                if not 0 <= step.left <= len(self.moves):
                    raise TrickformerError(
                        f"an undo cannot leave {step.left} decisions: the hand has {len(self.moves)}"
                    )
                del self.moves[step.left :]
                self.state = self._state_after(step.left)
            case AnnotationStep():
                self.annotations = {**self.annotations, (step.seat, step.card): step.text}

    def _initial_state(self) -> State:
        return self.game.deal(self.seed, self.deal)

    def _state_after(self, n: int) -> State:
        """Return the state after the first `n` moves."""
        state = self._initial_state()
        for move in self.moves[:n]:
            self._advance(state, move.action)
        return state

    def _advance(self, state: State, action: int) -> None:
        state.apply_action(action)
        while state.is_chance_node():
            state.apply_action(self.game.chance(state, self.seed, self.deal))

    def _make_record(self) -> HandRecord:
        def by_seat(measurement: str) -> tuple[int, ...]:
            return tuple(
                sum(getattr(m, measurement) for m in self.moves if m.seat == p) for p in range(self.game.players)
            )

        times = [
            [m.seconds for m in self.moves if m.seat == p and m.seconds is not None] for p in range(self.game.players)
        ]
        return HandRecord(
            deal=self.deal,
            seating=tuple(self.specs.index(who) for who in self.seats),
            scores=self.game.scores(self.state),
            decisions=tuple(self.number(p) for p in range(self.game.players)),
            illegal=by_seat("illegal"),
            searched=by_seat("searched"),
            seconds=tuple(round(sum(s), 7) for s in times),
            calls=tuple(float(len(s)) for s in times),
            history=tuple(self.state.history()),
            mission=self.game.mission(self.state),
        )

    @property
    def records(self) -> list[HandRecord]:
        """Records of all finished hands at this table, earlier matches included."""
        return [*self._records, *([self._make_record()] if self.moves and self.over else [])]


class _Journal:
    """Files of a table's folder: the journal of steps, and the finished hands in the format of a tournament."""

    def __init__(self, settings: Play, game: Game, lines: JsonLines):
        assert settings.out is not None
        self.stored = lines.stored
        self._lines, self._game = lines, game
        self._folder = RunFolder(settings.out)
        self._builds = self._folder.builds()
        self._written: tuple[list[str], int] = ([], 0)

    def write(self, step: _Step, table: Table) -> None:
        """Write a step.

        Args:
            step: Step that the table has taken.
            table: Table after the step.
        """
        self._lines.append(step)
        try:
            self.describe(table)
        except TrickformerError as e:  # the step is written, so it counts; the next one describes the table again
            warn(str(e))

    def describe(self, table: Table) -> None:
        """Write the players and the finished hands of a table, if they have changed.

        Args:
            table: The table.
        """
        records = table.records
        if table.specs != self._written[0]:
            self._folder.describe({"game": str(self._game.spiel), "players": table.specs}, self._builds)
        if len(records) != self._written[1]:
            lines = "".join(record.model_dump_json(exclude_none=True) + "\n" for record in records)
            replace(self._folder.path / RECORDS, lines)
        self._written = (table.specs, len(records))


def _rotate(by_seat: tuple[T, ...]) -> tuple[T, ...]:
    return by_seat[1:] + by_seat[:1]


def _parse(number: int, line: bytes) -> Step:
    try:
        return _STEP.validate_json(line)
    except ValidationError:
        raise TrickformerError(f"{JOURNAL}, line {number}: not a step of a table") from None


@contextmanager
def open_table(settings: Play, resume: bool) -> Generator[Table]:
    """Open the table of a config, or restore the table of its folder.

    Args:
        settings: Settings of the table.
        resume: Whether to continue the table of the folder.

    Yields:
        The table.

    Raises:
        TrickformerError: The input is bad, the folder holds another table, or it holds a table and `resume` is false.
            Nothing is written then.
    """
    game = settings.rules()
    seats = tuple(YOU if who == YOU else players.resolve(who, game) for who in settings.seats(game))
    folder = RunFolder.optional(settings.out, resume)
    if folder is None:
        yield Table(game, seats, settings.seed, settings.deal)
        return
    # Settings that a resumed table may change.
    free = type(settings).model_fields.keys() - set(settings.FIXED)
    matches = [step.seats for step in read_lines(folder.path / JOURNAL, _parse)[0] if isinstance(step, MatchStep)]
    all_specs = dict.fromkeys(who for seating in matches or [seats] for who in seating)
    for who in all_specs:  # the saved table may be another person's, so it must not start programs here
        if who not in seats and (problem := players.user_only(who)):
            raise TrickformerError(f"{who!r} of the saved table {problem}; only the command line may choose it")
    about = {"game": str(game.spiel), "players": list(all_specs)}
    with folder.records(JOURNAL, settings, resume=resume, free=free, parse=_parse, about=about) as lines:
        yield Table(game, seats, settings.seed, settings.deal, _Journal(settings, game, lines))
