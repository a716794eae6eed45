"""A hand of any game, from any record, at any of its decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trickformer import games
from trickformer.base import CHANCE, Game, TrickformerError
from trickformer.games.skat import CALLS
from trickformer.records import early_end
from trickformer.records.played import AnyRecord
from trickformer.records.skat.check import outcome
from trickformer.records.skat.record import ACTION, SkatRecord
from trickformer.records.skat.replay import replay

if TYPE_CHECKING:
    from trickformer.base import State


@dataclass(frozen=True, slots=True)
class ReviewTurn:
    """A decision of a hand."""

    number: int  # counted from 1, over all seats
    at: int  # actions before it, chance's included
    seat: int
    action: int  # what was done
    trick: int | None  # its number, from 1; None where no card is played to a trick
    legal: tuple[int, ...]


@dataclass(frozen=True)
class ReviewHand:
    """A hand, over or broken off."""

    game: Game
    names: tuple[str, ...]  # who sat where
    history: tuple[int, ...]  # every action, chance included
    stand_in: int = 0  # so many decisions, the first, were not made: they stand in for an auction that is not on record
    source: tuple[int, int] | None = None  # the series of deals that it is from, and its number there
    notes: tuple[str, ...] = ()  # what a reader of its review must know
    beyond_winning: bool = False  # whatever is played, it is lost
    won: bool | None = None  # Skat: whether the soloist won, as the rules settle it, also where it was broken off

    def states(self) -> Iterator[State]:
        """The state before each action, and that at the end; each its own object."""
        state = self.game.spiel.new_initial_state()
        for action in self.history:
            yield state.clone()
            state.apply_action(action)
        yield state

    def turns(self) -> Iterator[tuple[ReviewTurn, State]]:
        """Each decision that is on record, and the state before it."""
        number = 0
        for at, (state, action) in enumerate(zip(self.states(), self.history)):
            if state.current_player() < 0:
                continue
            number += 1
            if number > self.stand_in:
                seat, legal = state.current_player(), tuple(state.legal_actions())
                yield ReviewTurn(number - self.stand_in, at, seat, action, self.game.trick(state), legal), state

    def at(self, number: int) -> tuple[ReviewTurn, State]:
        """Decision `number`, counted from 1, and the state before it. Raises TrickformerError where there is none."""
        last = 0
        for turn, state in self.turns():
            if turn.number == number:
                return turn, state
            last = turn.number
        raise TrickformerError(f"the hand has decisions 1 to {last}, and no decision {number}")

    def end(self) -> State:
        """The last state."""
        state = self.game.spiel.new_initial_state()
        for action in self.history:
            state.apply_action(action)
        return state


def of_record(record: AnyRecord) -> ReviewHand:
    """The hand of a record. Raises TrickformerError where its moves are not legal."""
    if isinstance(record, SkatRecord):
        return _of_skat(record)
    game, _ = record.end()
    source = _source(game, record.history, record.tags)
    notes = () if record.early_end is None else (f"the game ended early: {early_end.describe(record.early_end)}",)
    return ReviewHand(game, record.names, record.history, source=source, notes=notes)


def of_state(game: Game, state: State, names: tuple[str, ...] = ()) -> ReviewHand:
    """The hand so far of a state."""
    return ReviewHand(game, names or tuple(f"seat {p}" for p in range(game.players)), tuple(state.history()))


def _of_skat(record: SkatRecord) -> ReviewHand:
    found = replay(record)
    if found.fault:
        number, why = found.fault
        raise TrickformerError(f"move {number} of the record is against the rules: {why}")
    game, ended = games.load("skat"), outcome(found)
    notes: list[str] = []
    if record.bid is not None:
        notes.append("the auction is not on record: one that ends with this bid stands in for it")
    if found.uncovered is not None:
        notes.append(
            f"the null is worth less than the {found.uncovered} that were bid, and lost whatever is played: "
            f"it is looked at as if {CALLS[0]} had been bid"
        )
    if not found.state.is_terminal():
        notes.append("the hand was broken off: it is looked at as far as it was played")
    history = (*(ACTION[card] for card in record.deck), *found.actions)
    return ReviewHand(
        game,
        record.names,
        history,
        stand_in=found.stand_in,
        source=_source(game, history, {"seed": record.tags.get("SE", ""), "deal": _deal(record)}),
        notes=tuple(notes),
        beyond_winning=found.uncovered is not None,
        won=ended.won if ended is not None and ended.soloist >= 0 else None,
    )


def _deal(record: SkatRecord) -> str:
    """The number of the deal in its series, as a tournament's record has it; a text that is no number elsewhere."""
    words = record.tags.get("CO", "").split(" ")
    return words[1] if record.source == "trickformer" and words[:1] == ["deal"] and len(words) > 1 else ""


def _source(game: Game, history: tuple[int, ...], tags: dict[str, str]) -> tuple[int, int] | None:
    """The series and the number of a deal, where the tags name them and all of chance's actions are those of it."""
    seed, deal = tags.get("seed", ""), tags.get("deal", "")
    if not (seed.isdecimal() and deal.isdecimal() and int(seed) < 2**63 and int(deal) < 2**63):
        return None
    state: Any = game.spiel.new_initial_state()
    for action in history:
        if state.current_player() == CHANCE and game.chance(state, int(seed), int(deal)) != action:
            return None
        state.apply_action(action)
    return int(seed), int(deal)
