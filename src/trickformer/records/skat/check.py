"""Check of Skat records: recomputes the result and compares it with the recorded one.

Records come from the International Skat Server (ISS) and from XSkat. The rules are ISkO, the International Skat Order.
"""

from __future__ import annotations

from dataclasses import dataclass

from trickformer import _core
from trickformer.games.skat import ACTIONS, HAND, NULL, PLAYERS, POINTS
from trickformer.records.skat import iss
from trickformer.records.skat.record import KONTRA, RE, TIMES_OUT, SkatRecord, describe_house_rule
from trickformer.records.skat.replay import DEFENDERS, SOLOIST, SkatReplay, replay

AGREES = "agrees"
DIFFERS = "differs"
BROKEN_OFF = "broken off"
DAMAGED = "damaged"
NOT_ISKO = "not ISkO"  # played by house rules, such as Ramsch
_ALL_POINTS = 120  # card points of a deal
_WINNING_POINTS = 61  # card points with which the soloist wins
_SCHNEIDER_POINTS = 90  # card points with which a side makes the other side schneider
_SCHWARZ_LEVEL = 2  # core's number of the level schwarz announced; ouvert is higher


@dataclass(frozen=True, slots=True)
class Outcome:
    """End of a game, in the terms of an ISS record."""

    soloist: int  # -1: nobody
    won: bool = False
    value: int = 0  # minus twice the value for a lost game; Kontra and Re double it
    matadors: int = 0
    overbid: bool = False
    points: int = 0  # card points of the soloist, skat included
    tricks: int = 0
    schneider: bool = False  # either side has 90 points
    schwarz: bool = False  # either side has all tricks
    penalty: int = -1  # the seat that gets a penalty point, or -1
    left: int = -1  # the seat that left the game, or -1
    timed_out: int = -1  # the seat that ran out of time, or -1
    resigned: bool = False

    def text(self, resigned: bool = True) -> str:
        """Format the result as ISS writes it.

        Args:
            resigned: Whether to write the field `r:`, which the oldest records lack.
        """
        final = "penalty" if self.soloist < 0 else "win" if self.won else "loss"
        words = [
            f"d:{self.soloist} {final} v:{self.value} m:{self.matadors} {'overbid' if self.overbid else 'bidok'}",
            f"p:{self.points} t:{self.tricks} s:{self.schneider:d} z:{self.schwarz:d}",
            *(f"p{seat}:{seat == self.penalty:d}" for seat in range(PLAYERS)),
            f"l:{self.left} to:{self.timed_out}",
        ]
        return " ".join(words + [f"r:{self.resigned:d}"] * resigned)


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of the check of one game."""

    game: int  # counted from 1
    status: str  # agrees, differs, broken off, damaged, not ISkO
    move: int | None = None  # number of the first move that differs, if a move differs
    what: str = ""  # the difference, or how the game broke off
    notes: tuple[str, ...] = ()  # further remarks on the game

    def __str__(self) -> str:
        where = f"game {self.game}" + (f", move {self.move}" if self.move is not None else "")
        if self.status == NOT_ISKO:
            return f"{where}: {describe_house_rule(self.what)}"
        return f"{where}: {'; '.join(filter(None, (self.what, *self.notes))) or self.status}"


def outcome(replayed: SkatReplay) -> Outcome | None:
    """Settle a game that was played to its end or broken off.

    A game that was broken off is settled as ISS does. The rules below are derived from its records and its help
    page:

    - If the defenders give up (both resign, or one leaves or times out), the soloist gets all remaining cards and
      tricks, including the current trick. If a defender leaves before the first trick, the soloist gets 120 points and
      ten tricks, so schneider and schwarz. In a null game the soloist gets no trick, and the points are the points of
      the skat.
    - If the soloist resigns, the defenders get all remaining cards and tricks. The soloist wins with 61 points, is
      schneider with 30 and schwarz without a trick, but neither before the end of the first trick. A null game is
      lost. The source is the server's help ("Give Up", skatgame.net/iss/skatgui-help.html); no record shows it.
    - If the soloist leaves or times out, or loses a trick in a game announced schwarz or ouvert, the game ends there.
      Points and tricks stay as they are, and schneider counts only if a side already has its 90 points.
    - If the soloist resigns, leaves or times out before the discard, none of the soloist's cards counts as a matador.
      So a game with clubs as trumps is lost "without 11", for 288. The points are the points of the skat. One record
      shows it.
    - If there is no soloist yet, there is no game. The seat that left gets a penalty point.

    Args:
        replayed: Replay of the record.

    Returns:
        The outcome; None if all seats passed, the record just stops, or no game was declared yet.
    """
    state, left_early = replayed.state, replayed.left_early
    left = left_early[0] if left_early and left_early[1] != TIMES_OUT else -1
    timed_out = left_early[0] if left_early and left_early[1] == TIMES_OUT else -1
    if replayed.soloist < 0:
        return Outcome(-1, penalty=left_early[0], left=left, timed_out=timed_out) if left_early else None
    gives_up = replayed.gives_up
    if not replayed.is_declared:
        declared = iss.parse_declaration(replayed.record) if gives_up == SOLOIST else None
        if declared is None:
            return None
        # With 31 points and one trick, the soloist is neither schneider nor schwarz.
        settled = _settle(replayed, declared, [], _ALL_POINTS - _SCHNEIDER_POINTS + 1, 1)
        return Outcome(
            soloist=replayed.soloist,
            value=settled.value * _multiplier(replayed),
            matadors=settled.matadors,
            overbid=settled.overbid,
            points=sum(POINTS[card[1]] for card in replayed.record.deck[HAND * PLAYERS :]),
            left=left,
            timed_out=timed_out,
        )
    points, tricks = replayed.points, state.soloists_tricks
    defenders_points, lost_tricks = replayed.defenders_points, len(replayed.tricks) - state.soloists_tricks
    null = state.kind == NULL
    if gives_up == DEFENDERS and not null:
        points, tricks = _ALL_POINTS - defenders_points, HAND - lost_tricks
        defenders_points = _ALL_POINTS - points
    soloist_resigned = gives_up == SOLOIST and not left_early and not null and bool(replayed.tricks)
    if soloist_resigned:  # the defenders get the rest
        defenders_points, lost_tricks = _ALL_POINTS - points, HAND - tricks
    broken_off = (gives_up == SOLOIST and not soloist_resigned) or (gives_up is None and not state.is_terminal())
    if broken_off and gives_up is None and not (state.level >= _SCHWARZ_LEVEL and lost_tricks and not null):
        return None
    # The core settles complete games: too few points or tricks of the soloist would mean schneider or schwarz. Raise
    # them if the defenders had not reached these levels when the game broke off.
    if broken_off and defenders_points < _SCHNEIDER_POINTS and points < _WINNING_POINTS:
        settled = _settle_replay(replayed, max(points, _ALL_POINTS - _SCHNEIDER_POINTS + 1), max(tricks, 1))
    else:
        settled = _settle_replay(replayed, points, max(tricks, 1) if broken_off else tricks)
    return Outcome(
        soloist=replayed.soloist,
        won=settled.won,
        value=settled.value * _multiplier(replayed),
        matadors=settled.matadors,
        overbid=settled.overbid,
        points=points,
        tricks=tricks,
        schneider=not null and max(points, defenders_points) >= _SCHNEIDER_POINTS,
        schwarz=not null and HAND in (tricks, lost_tricks),
        left=left,
        timed_out=timed_out,
        resigned=bool(replayed.resigned) and gives_up is not None and not left_early,
    )


def _multiplier(replayed: SkatReplay) -> int:
    """Return the factor of the value by Kontra and Re."""
    return 2 ** sum(tag in replayed.record.tags for tag in (KONTRA, RE))


def _describe_kontra(replayed: SkatReplay) -> tuple[str, str]:
    """Return a note on Kontra and Re with the doubled value, and the fault if a wrong seat called; empty for none."""
    callers = {tag: replayed.record.tags[tag] for tag in (KONTRA, RE) if tag in replayed.record.tags}
    if not callers:
        return "", ""
    defenders = {str(seat) for seat in range(PLAYERS)} - {str(replayed.soloist)}
    if (
        replayed.soloist < 0
        or callers.get(KONTRA) not in defenders
        or callers.get(RE) not in (None, str(replayed.soloist))
    ):
        return "", "Kontra must come from a defender, and Re from the soloist after it"
    final = outcome(replayed)
    words = " and ".join(
        f"{word} of seat {callers[tag]}" for tag, word in ((KONTRA, "Kontra"), (RE, "Re")) if tag in callers
    )
    return f"{words}: the value is {final.value}" if final else words, ""


def _settle_replay(replayed: SkatReplay, points: int, tricks: int) -> _core.skat.Result:
    deck = [ACTIONS.index(card) for card in replayed.record.deck]
    own = deck[HAND * replayed.soloist : HAND * (replayed.soloist + 1)] + deck[HAND * PLAYERS :]
    return _settle(replayed, (replayed.state.kind, replayed.state.level), own, points, tricks)


def _settle(
    replayed: SkatReplay, declared: tuple[int, int], own: list[int], points: int, tricks: int
) -> _core.skat.Result:
    return _core.skat.settle(
        kind=declared[0],
        hand=replayed.state.is_hand,
        level=declared[1],
        bid=replayed.bid,
        soloist=replayed.soloist,
        soloists_cards=own,
        points=points,
        tricks=tricks,
    )


def result(replayed: SkatReplay) -> str | None:
    """Compute the result of a replayed record, in the words of its source.

    Args:
        replayed: Replay of the record.

    Returns:
        The result; None if the game has no end that can be settled.
    """
    if replayed.soloist < 0 and replayed.state.is_terminal():
        return "passed"
    final = outcome(replayed)
    if final is None:
        return None
    if replayed.record.source == "xskat":
        points = "" if replayed.state.kind == NULL else f" {final.points}"
        return ("won" if final.won else "lost") + points
    recorded = replayed.record.result
    return final.text(resigned=recorded is None or "r:" in recorded.split(" ")[-1])


def check(record: SkatRecord, game: int) -> Finding:
    """Replay a game, and compare its trick winners and its result with the record.

    A game that somebody left, timed out of or, as soloist, resigned is reported as broken off, whatever its recorded
    result: the server decides these games, and few records show its rules.

    Args:
        record: The game.
        game: Number of the game in its file, from 1.
    """
    replayed = replay(record)
    is_overbid_null = replayed.overbid_null is not None
    notes = ["the null is worth less than the bid: lost at twice its value"] if is_overbid_null else []
    recorded = record.result or ""
    notes += ["no result on record"] if record.result is None else []
    punished_seats = [seat for seat in range(PLAYERS) if f" p{seat}:" in recorded and f" p{seat}:0" not in recorded]
    notes += [f"penalty points for seat {seat}" for seat in punished_seats]
    kontra, kontra_fault = _describe_kontra(replayed)
    notes += [kontra] if kontra else []
    if kontra_fault:
        return Finding(game, DIFFERS, None, kontra_fault, tuple(notes))
    if replayed.fault:
        number, why = replayed.fault
        move = f" ({record.moves[number - 1]})" if number else ""
        return Finding(game, DIFFERS, number, why + move, tuple(notes))
    for number, (trick, winner) in enumerate(zip(replayed.tricks, record.winners or ()), 1):
        if trick.winner != winner:
            what = f"trick {number} goes to seat {trick.winner}, in the record to seat {winner}"
            return Finding(game, DIFFERS, trick.move, what, tuple(notes))
    expected = result(replayed)
    if record.winners is not None and len(record.winners) != len(replayed.tricks):
        what = f"{len(replayed.tricks)} tricks were played, and the record has winners of {len(record.winners)}"
        return Finding(game, DIFFERS, None, what, tuple(notes))
    agrees = record.result in (None, expected)
    compared = f"result {record.result!r} in the record, {expected!r} by the rules"
    reason = _broken_off(replayed)
    if reason:
        return Finding(game, BROKEN_OFF, None, reason, tuple(notes if agrees else [*notes, compared]))
    if expected is None:
        return Finding(game, DIFFERS, len(record.moves), "the moves stop before the end of the game", tuple(notes))
    if not agrees:
        return Finding(game, DIFFERS, None, compared, tuple(notes))
    return Finding(game, AGREES, notes=tuple(notes))


def _broken_off(replayed: SkatReplay) -> str | None:
    """Describe how the game broke off; None if it did not."""
    if replayed.left_early:
        seat, how = replayed.left_early
        return f"seat {seat} {'timed out' if how == TIMES_OUT else 'left'}"
    return "the soloist resigned" if replayed.gives_up == SOLOIST else None
