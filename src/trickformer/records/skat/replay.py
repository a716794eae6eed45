"""Plays a record by the rules of the core, up to its end or the first move that they forbid."""

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
    POINTS,
)
from trickformer.records.skat.record import ACTION, LEAVES, RESIGNS, SHOWS, TIMES_OUT, UNKNOWN, SkatRecord, split_move

_PICK_UP, _DISCARD, _DECLARE = 1, 2, 3  # phases of the core
_NAMES = ("the auction", "the pick-up", "laying away", "the declaration", "the announcement", "the play", "the end")


@dataclass(frozen=True, slots=True)
class Trick:
    """Three cards in the order played, who led and who took them."""

    leader: int
    cards: tuple[int, ...]
    winner: int
    move: int  # number of the move that ended it

    @property
    def points(self) -> int:
        """Card points."""
        return sum(POINTS[CARDS[card][1]] for card in self.cards)


@dataclass(slots=True)
class SkatReplay:
    """What became of a record under the rules."""

    record: SkatRecord
    state: _core.skat.State
    actions: list[int] = field(default_factory=list)  # that led to the state from the deal
    stand_in: int = 0  # so many of them, the first, stand in for an auction that the record does not tell
    tricks: list[Trick] = field(default_factory=list)
    on_table: list[int] = field(default_factory=list)  # the cards of a trick that was not finished
    uncovered: int | None = None  # the bid that a null is worth less than; the game never offers one
    resigned: set[int] = field(default_factory=set)
    gone: tuple[int, str] | None = None  # who left or timed out, and which
    blind: bool = False  # a card was played that the record does not tell
    fault: tuple[int, str] | None = None  # number of the first move that the rules forbid, and why; 0: the deal

    @property
    def soloist(self) -> int:
        """The soloist's seat, or -1."""
        return self.state.soloist

    @property
    def bid(self) -> int:
        """The highest call."""
        told = self.record.bid if self.uncovered is None else self.uncovered
        return self.state.bid if told is None else told

    @property
    def is_declared(self) -> bool:
        """Whether a game has been declared, its levels included."""
        return self.state.phase >= PLAYING and self.soloist >= 0

    @property
    def points(self) -> int:
        """Card points of the soloist so far, skat included."""
        return self.state.soloists_points + sum(POINTS[CARDS[card][1]] for card in self.state.skat)

    @property
    def against(self) -> int:
        """Card points that the defenders have taken."""
        return sum(trick.points for trick in self.tricks if trick.winner != self.soloist)

    @property
    def gives_up(self) -> int | None:
        """1 where the soloist has given up the game, 2 where the defenders have; None where nobody has.

        One defender cannot resign for both, but whoever leaves or times out ends the game for his side."""
        if self.soloist < 0:
            return None
        defenders = set(range(PLAYERS)) - {self.soloist}
        if self.soloist in self.resigned or (self.gone and self.gone[0] == self.soloist):
            return 1
        return 2 if self.gone or defenders <= self.resigned else None


def replay(record: SkatRecord) -> SkatReplay:
    """Plays the moves of a record one by one; stops at the first that the rules forbid, and says so in `fault`.

    A null worth less than the bid is forbidden by the game and played nevertheless: people do declare it."""
    found = SkatReplay(record, _deal(record))
    if record.bid is not None:
        if not record.moves:
            found.fault = 0, "there is no auction and no move"
            return found
        _stand_in(found, split_move(record.moves[0])[0], record.bid)
    for number, move in enumerate(record.moves, 1):
        fault = _step(found, *split_move(move), number)
        if fault:
            found.fault = number, fault
            break
    return found


def _deal(record: SkatRecord) -> _core.skat.State:
    return _core.skat.State(np.array([ACTION[card] for card in record.deck], dtype=np.uint8))


def _stand_in(found: SkatReplay, soloist: int, bid: int) -> None:
    """An auction that ends with this soloist and this bid."""
    call = CALL + CALLS.index(bid)
    for action in ((call, HOLD, PASS, PASS), (call, PASS, PASS), (PASS, call, PASS))[soloist]:
        _apply(found, action)
    found.stand_in = len(found.actions)


def _apply(found: SkatReplay, action: int) -> None:
    found.state.apply_action(action)
    found.actions.append(action)


def _step(found: SkatReplay, seat: int, what: str, number: int) -> str | None:
    """Plays one move; returns what is wrong with it."""
    state = found.state
    if found.gone or found.gives_up:
        return "a move after the game was given up"
    if state.is_terminal():
        return "a move after the end of the game"
    if what in (LEAVES, TIMES_OUT):
        found.gone = seat, what
        return None
    if what == RESIGNS:
        if not found.is_declared:
            return "resigns before a game is declared"
        found.resigned.add(seat)
        return None
    if what == UNKNOWN:
        found.blind = True
        return None
    if what.startswith(SHOWS):
        return None
    if found.blind:
        return "follows a card that the record does not tell"
    if seat != state.current_player():
        return f"it is the turn of seat {state.current_player()}"
    action = ACTION[what]
    if action not in state.legal_actions():
        if state.phase == _DECLARE and what.startswith("null"):
            found.uncovered = found.bid
            _without_bid(found, number)
            state = found.state
        else:
            return _why(state, seat, action)
    leader = state.leader
    playing = state.phase == PLAYING
    _apply(found, action)
    if playing:
        found.on_table.append(action)
        if len(found.on_table) == PLAYERS:
            found.tricks.append(Trick(leader, tuple(found.on_table), state.leader, number))
            found.on_table.clear()
    return None


def _without_bid(found: SkatReplay, number: int) -> None:
    """Goes back to the deal and on to the declaration, as if the soloist had the game at the lowest bid: the card play
    is the same."""
    soloist = found.soloist
    found.state, found.actions = _deal(found.record), []
    _stand_in(found, soloist, CALLS[0])
    own = [split_move(move)[1] for move in found.record.moves[: number - 1]]
    start = own.index("pick-up" if "pick-up" in own else "hand")
    for what in own[start:]:
        if what in ACTION:
            _apply(found, ACTION[what])


def _why(state: _core.skat.State, seat: int, action: int) -> str:
    if action < NUM_CARDS and state.phase in (_DISCARD, PLAYING):
        held = action in state.hand(seat)
        return f"{CARDS[action]} does not follow suit" if held else f"{CARDS[action]} is not in hand"
    if action >= DECLARE and state.phase == _PICK_UP:
        return "declares before the skat is picked up or a hand game said"
    return f"{ACTIONS[action]} is not allowed in {_NAMES[state.phase]}"
