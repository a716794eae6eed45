"""Hands of any game, from any record, with the state before each decision."""

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
    at: int  # number of actions before it, chance included
    seat: int
    action: int  # action that was taken
    trick: int | None  # number of the trick, from 1; None if no card is played to a trick
    legal: tuple[int, ...]


@dataclass(frozen=True)
class ReviewHand:
    """A hand that was played to its end or broken off."""

    game: Game
    names: tuple[str, ...]  # name of the player in each seat
    history: tuple[int, ...]  # every action, chance included
    n_substituted: int = 0  # number of first decisions that replace an auction which is not on record
    source: tuple[int, int] | None = None  # seed of the series and number of the deal, if known
    notes: tuple[str, ...] = ()  # remarks for the reader of the review
    is_lost_anyway: bool = False  # Skat: an overbid null game, which is lost whatever is played
    won: bool | None = None  # Skat: whether the soloist won, which also some broken-off hands decide; None: not known

    def states(self) -> Iterator[State]:
        """Yield the state before each action and the last state, each as a new object."""
        state = self.game.spiel.new_initial_state()
        for action in self.history:
            yield state.clone()
            state.apply_action(action)
        yield state

    def turns(self) -> Iterator[tuple[ReviewTurn, State]]:
        """Yield each decision on record with the state before it."""
        number = 0
        for at, (state, action) in enumerate(zip(self.states(), self.history)):
            if state.current_player() < 0:
                continue
            number += 1
            if number > self.n_substituted:
                seat, legal = state.current_player(), tuple(state.legal_actions())
                yield ReviewTurn(number - self.n_substituted, at, seat, action, self.game.trick(state), legal), state

    def at(self, number: int) -> tuple[ReviewTurn, State]:
        """Return a decision and the state before it.

        Args:
            number: Number of the decision, from 1.

        Raises:
            TrickformerError: The hand has no such decision.
        """
        last = 0
        for turn, state in self.turns():
            if turn.number == number:
                return turn, state
            last = turn.number
        raise TrickformerError(f"the hand has decisions 1 to {last}, and no decision {number}")

    def end(self) -> State:
        """Return the last state."""
        state = self.game.spiel.new_initial_state()
        for action in self.history:
            state.apply_action(action)
        return state


def of_record(record: AnyRecord) -> ReviewHand:
    """Make the hand of a record.

    Args:
        record: Record of any game.

    Raises:
        TrickformerError: A move of the record is not legal.
    """
    if isinstance(record, SkatRecord):
        return _from_skat_record(record)
    game, _ = record.end()
    source = _source(game, record.history, record.tags)
    notes = () if record.early_end is None else (f"the game ended early: {early_end.describe(record.early_end)}",)
    return ReviewHand(game, record.names, record.history, source=source, notes=notes)


def of_state(game: Game, state: State, names: tuple[str, ...] = ()) -> ReviewHand:
    """Make the hand up to a state.

    Args:
        game: Game of the state.
        state: State at any point of the hand.
        names: Name of the player in each seat; "seat 0" and so on if empty.
    """
    return ReviewHand(game, names or tuple(f"seat {p}" for p in range(game.players)), tuple(state.history()))


def _from_skat_record(record: SkatRecord) -> ReviewHand:
    replayed = replay(record)
    if replayed.fault:
        number, why = replayed.fault
        raise TrickformerError(f"move {number} of the record is against the rules: {why}")
    game, final = games.load("skat"), outcome(replayed)
    notes: list[str] = []
    if record.bid is not None:
        notes.append("the auction is not on record; an auction that ends with the same bid replaces it")
    if replayed.overbid_null is not None:
        notes.append(
            f"the null game is worth less than the bid of {replayed.overbid_null}, so it is lost whatever is played; "
            f"the review rates it as if the bid were {CALLS[0]}"
        )
    if not replayed.state.is_terminal():
        notes.append("the hand was broken off; the review covers the moves on record")
    history = (*(ACTION[card] for card in record.deck), *replayed.actions)
    return ReviewHand(
        game,
        record.names,
        history,
        n_substituted=replayed.n_substituted,
        source=_source(game, history, {"seed": record.tags.get("SE", ""), "deal": _deal(record)}),
        notes=tuple(notes),
        is_lost_anyway=replayed.overbid_null is not None,
        won=final.won if final is not None and final.soloist >= 0 else None,
    )


def _deal(record: SkatRecord) -> str:
    """Return the deal number that a tournament wrote into the record; an empty text for other sources."""
    words = record.tags.get("CO", "").split(" ")
    return words[1] if record.source == "trickformer" and words[:1] == ["deal"] and len(words) > 1 else ""


def _source(game: Game, history: tuple[int, ...], tags: dict[str, str]) -> tuple[int, int] | None:
    """Return seed and number of the deal that the tags name; None if there are none or the chance actions differ."""
    seed, deal = tags.get("seed", ""), tags.get("deal", "")
    if not all(tag.isdecimal() and len(tag) < 20 and int(tag) < 2**63 for tag in (seed, deal)):
        return None
    state: Any = game.spiel.new_initial_state()
    for action in history:
        if state.current_player() == CHANCE and game.chance(state, int(seed), int(deal)) != action:
            return None
        state.apply_action(action)
    return int(seed), int(deal)
