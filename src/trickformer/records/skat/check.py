"""Recomputes the result of a record and compares it with what its source says."""

from __future__ import annotations

from dataclasses import dataclass

from trickformer import _core
from trickformer.games.skat import ACTIONS, HAND, NULL, PLAYERS, POINTS
from trickformer.records.skat import iss
from trickformer.records.skat.record import KONTRA, RE, TIMES_OUT, SkatRecord
from trickformer.records.skat.replay import SkatReplay, replay

AGREES, DIFFERS, BROKEN_OFF, DAMAGED = "agrees", "differs", "broken off", "damaged"
NOT_ISKO = "not ISkO"
_ALL_POINTS, _WON, _SCHNEIDER = 120, 61, 90
_SCHWARZ_LEVEL = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended, in the terms of an ISS record."""

    soloist: int  # -1: nobody
    won: bool = False
    value: int = 0  # of a lost game minus twice the value; Kontra and Re double it
    matadors: int = 0
    overbid: bool = False
    points: int = 0  # card points of the soloist, skat included
    tricks: int = 0
    schneider: bool = False  # either side has 90 points
    schwarz: bool = False  # either side has all tricks
    penalty: int = -1  # the seat that gets a penalty point, or -1
    left: int = -1
    timed_out: int = -1
    resigned: bool = False

    def text(self, resigned: bool = True) -> str:
        """The result as ISS writes it; without `r:` as its oldest records have it."""
        ended = "penalty" if self.soloist < 0 else "win" if self.won else "loss"
        words = [
            f"d:{self.soloist} {ended} v:{self.value} m:{self.matadors} {'overbid' if self.overbid else 'bidok'}",
            f"p:{self.points} t:{self.tricks} s:{self.schneider:d} z:{self.schwarz:d}",
            *(f"p{seat}:{seat == self.penalty:d}" for seat in range(PLAYERS)),
            f"l:{self.left} to:{self.timed_out}",
        ]
        return " ".join(words + [f"r:{self.resigned:d}"] * resigned)


@dataclass(frozen=True, slots=True)
class Finding:
    """What the check of one game came to."""

    game: int  # counted from 1
    status: str  # agrees, differs, broken off, damaged, not ISkO
    move: int | None = None  # the first that differs, where it is a move
    what: str = ""  # what differs, or how it broke off
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f"game {self.game}" + (f", move {self.move}" if self.move is not None else "")
        if self.status == NOT_ISKO:
            return f"{where}: {NOT_ISKO}: {self.what}"
        return f"{where}: {'; '.join(filter(None, (self.what, *self.notes))) or self.status}"


def outcome(found: SkatReplay) -> Outcome | None:
    """How a game ended, played out or broken off; None where all passed, it just stops, or nothing was declared yet.

    A game that is broken off is settled as the skat server does, as far as its records at hand and its help tell:

    - Where the defenders give up (both resign, or one leaves or times out) all cards and tricks that are left, the one
      on the table included, go to the soloist: a defender gone before the first trick makes 120 points, ten tricks,
      schneider and schwarz. In a null no trick goes to him; his points are those of the skat.
    - Where the soloist resigns, all that is left goes to the defenders: he has won with 61 points, and is schneider
      with 30, schwarz without a trick; but neither where the first trick was not over. In a null he has lost. This
      is what the server's help says ("Give Up", skatgame.net/iss/skatgui-help.html); no record at hand shows it.
    - Where the soloist leaves or times out, or has lost a trick in a game announced schwarz or ouvert, the game ends
      there: points and tricks stay as they are, and schneider counts only where a side has its 90 points already.
    - Where that is before he has laid two cards away, no card of his is counted as a matador: clubs are lost without
      11, for 288. His points are those of the skat. There is one record of it.
    - Where nobody is soloist yet, there is no game: whoever went gets a penalty point."""
    state, gone = found.state, found.gone
    left = gone[0] if gone and gone[1] != TIMES_OUT else -1
    timed_out = gone[0] if gone and gone[1] == TIMES_OUT else -1
    if found.soloist < 0:
        return Outcome(-1, penalty=gone[0], left=left, timed_out=timed_out) if gone else None
    gives_up = found.gives_up
    if not found.is_declared:
        declared = iss.parse_declaration(found.record) if gives_up == 1 else None
        if declared is None:
            return None
        settled = _settle(found, declared, [], _ALL_POINTS - _SCHNEIDER + 1, 1)
        return Outcome(
            soloist=found.soloist,
            value=settled.value * _multiplier(found),
            matadors=settled.matadors,
            overbid=settled.overbid,
            points=sum(POINTS[card[1]] for card in found.record.deck[HAND * PLAYERS :]),
            left=left,
            timed_out=timed_out,
        )
    points, tricks = found.points, state.soloists_tricks
    against, lost_tricks = found.against, len(found.tricks) - state.soloists_tricks
    null = state.kind == NULL
    if gives_up == 2 and not null:
        points, tricks = _ALL_POINTS - against, HAND - lost_tricks
        against = _ALL_POINTS - points
    shortened = gives_up == 1 and not gone and not null and bool(found.tricks)  # the defenders have the rest
    if shortened:
        against, lost_tricks = _ALL_POINTS - points, HAND - tricks
    broken_off = (gives_up == 1 and not shortened) or (gives_up is None and not state.is_terminal())
    if broken_off and gives_up is None and not (state.level >= _SCHWARZ_LEVEL and lost_tricks and not null):
        return None
    # The core settles games that are over: what was not made of this one before it broke off must not count there.
    if broken_off and against < _SCHNEIDER and points < _WON:
        settled = _settle_replay(found, max(points, _ALL_POINTS - _SCHNEIDER + 1), max(tricks, 1))
    else:
        settled = _settle_replay(found, points, max(tricks, 1) if broken_off else tricks)
    return Outcome(
        soloist=found.soloist,
        won=settled.won,
        value=settled.value * _multiplier(found),
        matadors=settled.matadors,
        overbid=settled.overbid,
        points=points,
        tricks=tricks,
        schneider=not null and max(points, against) >= _SCHNEIDER,
        schwarz=not null and HAND in (tricks, lost_tricks),
        left=left,
        timed_out=timed_out,
        resigned=bool(found.resigned) and gives_up is not None and not gone,
    )


def _multiplier(found: SkatReplay) -> int:
    """By how much Kontra and Re multiply the value."""
    return 2 ** sum(tag in found.record.tags for tag in (KONTRA, RE))


def _kontra(found: SkatReplay) -> tuple[str, str]:
    """Return a note on Kontra and Re, with the value that they double, and what is wrong with them."""
    said = {tag: found.record.tags[tag] for tag in (KONTRA, RE) if tag in found.record.tags}
    if not said:
        return "", ""
    defenders = {str(seat) for seat in range(PLAYERS)} - {str(found.soloist)}
    if found.soloist < 0 or said.get(KONTRA) not in defenders or said.get(RE) not in (None, str(found.soloist)):
        return "", "Kontra is said by a defender, and Re by the soloist after it"
    ended = outcome(found)
    words = " and ".join(f"{word} of seat {said[tag]}" for tag, word in ((KONTRA, "Kontra"), (RE, "Re")) if tag in said)
    return f"{words}: the value is {ended.value}" if ended else words, ""


def _settle_replay(found: SkatReplay, points: int, tricks: int) -> _core.skat.Result:
    deck = [ACTIONS.index(card) for card in found.record.deck]
    own = deck[HAND * found.soloist : HAND * (found.soloist + 1)] + deck[HAND * PLAYERS :]
    return _settle(found, (found.state.kind, found.state.level), own, points, tricks)


def _settle(
    found: SkatReplay, declared: tuple[int, int], own: list[int], points: int, tricks: int
) -> _core.skat.Result:
    return _core.skat.settle(
        kind=declared[0],
        hand=found.state.is_hand,
        level=declared[1],
        bid=found.bid,
        soloist=found.soloist,
        soloists_cards=own,
        points=points,
        tricks=tricks,
    )


def result(found: SkatReplay) -> str | None:
    """The result of a replayed record, in the words of its source; None where there is none to compute."""
    if found.soloist < 0 and found.state.is_terminal():
        return "passed"
    ended = outcome(found)
    if ended is None:
        return None
    if found.record.source == "xskat":
        points = "" if found.state.kind == NULL else f" {ended.points}"
        return ("won" if ended.won else "lost") + points
    recorded = found.record.result
    return ended.text(resigned=recorded is None or "r:" in recorded.split(" ")[-1])


def check(record: SkatRecord, game: int) -> Finding:
    """Replay game number `game` of a file, and compare its trick winners and its result with the record.

    A game that somebody left, timed out of or, as soloist, resigned is reported as broken off, whatever its recorded
    result: there the server decides, and records of such games that would show its rule are few."""
    found = replay(record)
    notes = ["the null is worth less than the bid: lost at twice its value"] if found.uncovered is not None else []
    recorded = record.result or ""
    notes += ["no result on record"] if record.result is None else []
    fined = [seat for seat in range(PLAYERS) if f" p{seat}:" in recorded and f" p{seat}:0" not in recorded]
    notes += [f"penalty points for seat {seat}" for seat in fined]
    kontra, misplaced = _kontra(found)
    notes += [kontra] if kontra else []
    if misplaced:
        return Finding(game, DIFFERS, None, misplaced, tuple(notes))
    if found.fault:
        number, why = found.fault
        move = f" ({record.moves[number - 1]})" if number else ""
        return Finding(game, DIFFERS, number, why + move, tuple(notes))
    for number, (trick, winner) in enumerate(zip(found.tricks, record.winners or ()), 1):
        if trick.winner != winner:
            what = f"trick {number} goes to seat {trick.winner}, in the record to seat {winner}"
            return Finding(game, DIFFERS, trick.move, what, tuple(notes))
    expected = result(found)
    if record.winners is not None and len(record.winners) != len(found.tricks):
        what = f"{len(found.tricks)} tricks were played, and the record has winners of {len(record.winners)}"
        return Finding(game, DIFFERS, None, what, tuple(notes))
    same = record.result in (None, expected)
    compared = f"result {record.result!r} in the record, {expected!r} by the rules"
    how = _broken_off(found)
    if how:
        return Finding(game, BROKEN_OFF, None, how, tuple(notes if same else [*notes, compared]))
    if expected is None:
        return Finding(game, DIFFERS, len(record.moves), "the moves stop before the end of the game", tuple(notes))
    if not same:
        return Finding(game, DIFFERS, None, compared, tuple(notes))
    return Finding(game, AGREES, notes=tuple(notes))


def _broken_off(found: SkatReplay) -> str | None:
    if found.gone:
        seat, how = found.gone
        return f"seat {seat} {'timed out' if how == TIMES_OUT else 'left'}"
    return "the soloist resigned" if found.gives_up == 1 else None
