"""Replays of Skat records by the rules of the core, up to the end or the first illegal move."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from trickformer import _core
from trickformer.games.skat import (
    ACTIONS,
    CALL,
    CALLS,
    CARDS,
    DECLARE,
    HOLD,
    NUM_CARDS,
    PASS,
    PLAYERS,
    PLAYING,
    card_points,
)
from trickformer.records.skat.record import ACTION, LEAVES, RESIGNS, SHOWS, TIMES_OUT, UNKNOWN, SkatRecord, split_move

SOLOIST, DEFENDERS = 1, 2  # sides

# Phases of the core, and names of all phases.
_PICK_UP = 1
_DISCARD = 2
_DECLARE = 3
_PHASE_NAMES = (
    "the auction",
    "the pick-up",
    "laying away",
    "the declaration",
    "the announcement",
    "the play",
    "the end",
)


@dataclass(frozen=True, slots=True)
class Trick:
    """Three cards in the order played, with the seats that led and took the trick."""

    leader: int
    cards: tuple[int, ...]
    winner: int
    move: int  # number of the move that ended it

    @property
    def points(self) -> int:
        """Card points."""
        return card_points(self.cards)


@dataclass(slots=True)
class SkatReplay:
    """Replay of a record under the rules."""

    record: SkatRecord
    state: _core.skat.State
    actions: list[int] = field(default_factory=list)  # actions from the deal to the state
    n_substituted: int = 0  # number of first actions that stand for an auction which the record lacks
    tricks: list[Trick] = field(default_factory=list)
    on_table: list[int] = field(default_factory=list)  # cards of an unfinished trick
    overbid_null: int | None = None  # bid, if it exceeds the value of the declared null game, which the rules forbid
    resigned: set[int] = field(default_factory=set)  # seats that have resigned
    left_early: tuple[int, str] | None = None  # seat that left or timed out, with its remark (LEAVES or TIMES_OUT)
    has_hidden_card: bool = False  # whether the record hides a card that was played
    fault: tuple[int, str] | None = None  # number of the first illegal move, and the reason; 0 is the deal

    @property
    def soloist(self) -> int:
        """Seat of the soloist, or -1."""
        return self.state.soloist

    @property
    def bid(self) -> int:
        """Highest call."""
        recorded = self.record.bid if self.overbid_null is None else self.overbid_null
        return self.state.bid if recorded is None else recorded

    @property
    def is_declared(self) -> bool:
        """True once the game and its levels are declared."""
        return self.state.phase >= PLAYING and self.soloist >= 0

    @property
    def points(self) -> int:
        """Card points of the soloist so far, skat included."""
        return self.state.soloists_points + card_points(self.state.skat)

    @property
    def defenders_points(self) -> int:
        """Card points that the defenders have taken."""
        return sum(trick.points for trick in self.tricks if trick.winner != self.soloist)

    @property
    def gives_up(self) -> int | None:
        """Side that has given up the game: SOLOIST, DEFENDERS, or None for neither.

        The defenders resign only together, but a seat that leaves or times out ends the game for its side.
        """
        if self.soloist < 0:
            return None
        defenders = set(range(PLAYERS)) - {self.soloist}
        if self.soloist in self.resigned or (self.left_early and self.left_early[0] == self.soloist):
            return SOLOIST
        return DEFENDERS if self.left_early or defenders <= self.resigned else None


def replay(record: SkatRecord) -> SkatReplay:
    """Play the moves of a record one by one, up to the first illegal one.

    A null game that is worth less than the bid is illegal, but it is replayed nevertheless because people declare it.

    Args:
        record: The game.

    Returns:
        The replay; `fault` holds the first illegal move.
    """
    replayed = SkatReplay(record, _deal(record))
    if record.bid is not None:
        if not record.moves:
            replayed.fault = 0, "there is no auction and no move"
            return replayed
        _play_substitute_auction(replayed, split_move(record.moves[0])[0], record.bid)
    for number, move in enumerate(record.moves, 1):
        fault = _step(replayed, *split_move(move), number)
        if fault:
            replayed.fault = number, fault
            break
    return replayed


def _deal(record: SkatRecord) -> _core.skat.State:
    return _core.skat.State(np.array([ACTION[card] for card in record.deck], dtype=np.uint8))


def _play_substitute_auction(replayed: SkatReplay, soloist: int, bid: int) -> None:
    """Play an auction that ends with this soloist and this bid."""
    call = CALL + CALLS.index(bid)
    for action in ((call, HOLD, PASS, PASS), (call, PASS, PASS), (PASS, call, PASS))[soloist]:
        _apply(replayed, action)
    replayed.n_substituted = len(replayed.actions)


def _apply(replayed: SkatReplay, action: int) -> None:
    replayed.state.apply_action(action)
    replayed.actions.append(action)


def _step(replayed: SkatReplay, seat: int, what: str, number: int) -> str | None:
    """Play one move, and return its fault; None if it is legal."""
    state = replayed.state
    if replayed.left_early or replayed.gives_up:
        return "a move after the game was given up"
    if state.is_terminal():
        return "a move after the end of the game"
    if what in (LEAVES, TIMES_OUT):
        replayed.left_early = seat, what
        return None
    if what == RESIGNS:
        if not replayed.is_declared:
            return "resigns before a game is declared"
        replayed.resigned.add(seat)
        return None
    if what == UNKNOWN:
        replayed.has_hidden_card = True
        return None
    if what.startswith(SHOWS):
        return None
    if replayed.has_hidden_card:
        return "follows a card that is missing from the record"
    if seat != state.current_player():
        return f"it is the turn of seat {state.current_player()}"
    action = ACTION[what]
    if action not in state.legal_actions():
        if state.phase == _DECLARE and what.startswith("null"):
            replayed.overbid_null = replayed.bid
            _restart_with_lowest_bid(replayed, number)
            state = replayed.state
        else:
            return _explain_illegal(state, seat, action)
    leader = state.leader
    playing = state.phase == PLAYING
    _apply(replayed, action)
    if playing:
        replayed.on_table.append(action)
        if len(replayed.on_table) == PLAYERS:
            replayed.tricks.append(Trick(leader, tuple(replayed.on_table), state.leader, number))
            replayed.on_table.clear()
    return None


def _restart_with_lowest_bid(replayed: SkatReplay, number: int) -> None:
    """Replay up to the declaration with the lowest bid, so that the core accepts it. The card play is the same."""
    soloist = replayed.soloist
    replayed.state, replayed.actions = _deal(replayed.record), []
    _play_substitute_auction(replayed, soloist, CALLS[0])
    own = [split_move(move)[1] for move in replayed.record.moves[: number - 1]]
    start = own.index("pick-up" if "pick-up" in own else "hand")
    for what in own[start:]:
        if what in ACTION:
            _apply(replayed, ACTION[what])


def _explain_illegal(state: _core.skat.State, seat: int, action: int) -> str:
    if action < NUM_CARDS and state.phase in (_DISCARD, PLAYING):
        held = action in state.hand(seat)
        return f"{CARDS[action]} does not follow suit" if held else f"{CARDS[action]} is not in hand"
    if action >= DECLARE and state.phase == _PICK_UP:
        return "declares before the skat is picked up or a hand game announced"
    return f"{ACTIONS[action]} is not allowed in {_PHASE_NAMES[state.phase]}"
