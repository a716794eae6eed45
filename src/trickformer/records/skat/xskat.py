"""Logs of XSkat, the X11 game whose computers also play among themselves (`xskat -auto`): many games in a file.

A game is a table of tricks with one column for each player, a table of the hands at the start of the play, and lines
on skat, last bid, game and result. A card in capitals took the trick; a card with `_` between suit and rank led it. If
no card has a `_`, the same player led and took the trick. The log has no auction. Hands are sorted, so the order of the
cards in the deal is lost. Words are English or German, and cards are named as in the French or the German pack.

The names stand above the tricks in two rows: `Player1 Computer Computer`, then `left right` below the computers. `_`
around both rows of a name marks Kontra, or Re for the soloist. `xskat -fmt` overstrikes instead: a letter twice for a
capital, `_` under a letter. Games by rules that ISkO does not have raise HouseRuleError.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from pydantic import ValidationError

from trickformer.base import TrickformerError
from trickformer.games.skat import DECLARATIONS, HAND, LEVELS, NULL_OUVERT, PLAYERS
from trickformer.records.skat.record import (
    CARD,
    KONTRA,
    RE,
    RESIGNS,
    HouseRuleError,
    SkatRecord,
    TornGameError,
    contract,
    describe_house_rule,
    quote,
)

_SUITS = {
    "D": ("Diamond", "Karo", "Bells", "Schellen"),
    "H": ("Heart", "Herz", "Hearts", "Rot"),
    "S": ("Spade", "Pik", "Leaves", "Grün"),
    "C": ("Club", "Kreuz", "Acorns", "Eicheln"),
}
_SUIT = {word: suit for suit, words in _SUITS.items() for word in words}
_RANK = {"10": "T", "D": "Q", "B": "J", "O": "Q", "U": "J"}  # the other ranks have our names
_KINDS = {word: "DHSC".index(suit) for word, suit in _SUIT.items()} | {"Grand": 4, "Null": 5}
_CELL = re.compile(rf"({'|'.join(_SUIT)})([ _])(10|[789JQKADBOU])(?= |$)", re.IGNORECASE)
_SEED_LINE = re.compile(r"-+ random_seed (\d{1,20}) (\d{1,20}) ([123])(?: [LR])? -+")
_PASSED = re.compile(r"( +_?Passe?_?){3}")
_BID = re.compile(r"(?:Last bid|Gereizt bis): (\d{1,3})")
_PLAYED = re.compile(rf"(.{{1,60}}) (?:played|spielte) ({'|'.join(_KINDS)})")
_OVERSTRUCK = re.compile(r"(.)\x08(.)")
# Name of a house rule -> lines that only its games have. Bock alone leaves no such line; see read_play for the round
# after it.
_HOUSE_RULES = {
    "Ramsch": re.compile(r".{1,60} (?:(?:lost|won) the|(?:verlor|gewann) den) Ramsch"),
    "Revolution": re.compile(r".{1,60} (?:played|spielte) Revolution"),
    "Spitze": re.compile(r"(?:.*\s)?Spitze[ _]!(?:\s.*)?", re.IGNORECASE),
    "Schenken": re.compile(r"(?:\s+_?(?:Schenken|Accept|Annehmen)_?){3}"),
}
_RESULT = re.compile(r"(Won|Lost|Gewonnen|Verloren)(?: (?:with|mit): (\d{1,3}) (?:points|Augen))?")
_WON = ("Won", "Gewonnen")
# Lines on a hand game and the announced level -> (hand, level).
_ANNOUNCEMENTS = {
    "Played Hand": (True, 0),
    "Hand gespielt": (True, 0),
    "Schneider announced": (True, 1),
    "Schneider angesagt": (True, 1),
    "Schwarz announced": (True, 2),
    "Schwarz angesagt": (True, 2),
    "Played ouvert Hand": (True, 3),
    "Ouvert Hand gespielt": (True, 3),
    "Played ouvert": (False, 3),
    "Ouvert gespielt": (False, 3),
}
# Beginnings of the lines with the skat after the discards and with the skat as dealt.
_SKAT_IS, _SKAT_WAS = ("Skat is: ", "Im Skat ist: "), ("Skat was: ", "Im Skat war: ")
_END, _RULE = "=" * 40, "-" * 40
_COLUMN = 12  # width of a column in characters
_MAX_LINES = 100  # largest number of lines of a game; XSkat writes about 35
_MAX_LINE_LENGTH = 1000  # characters; overstruck lines have about 100


def games(lines: Iterator[str]) -> Iterator[Callable[[], SkatRecord]]:
    """Split the lines of a log into games.

    Args:
        lines: Lines of the log, without their ends.

    Yields:
        The games, each to be read. If the log breaks off there is one more, which raises TornGameError.
    """
    number, block = 0, []
    for line in lines:
        if line.rstrip() == _END:
            number += 1
            yield _Game(number, block).record
            block = []
        elif len(block) <= _MAX_LINES:
            block.append(_undo_overstriking(line[:_MAX_LINE_LENGTH]).rstrip())
    rest_lines = [line for line in block if line]
    # After the last game, only a line with the three sums of the scores may follow.
    if any(not re.fullmatch(r"[-\d]+( [-\d]+){2}", line) for line in rest_lines) or len(rest_lines) > 1:
        yield partial(_raise_torn, number + 1)
    elif not number:
        yield partial(_raise_torn, 1)


def _undo_overstriking(line: str) -> str:
    """Undo the overstriking of `xskat -fmt`: a doubled letter becomes a capital, an underlined blank becomes `_`."""
    return _OVERSTRUCK.sub(_replace_overstruck, line)


def _replace_overstruck(pair: re.Match[str]) -> str:
    if pair[1] == pair[2]:
        return pair[2].upper()
    return "_" if pair[2] == " " else pair[2]


def _raise_torn(number: int) -> SkatRecord:
    raise TornGameError(f"game {number}: the log breaks off")


def _columns(line: str) -> list[str]:
    """Split a row of names into the texts of the three columns, in which they are centred."""
    cells = [""] * PLAYERS
    for word in re.finditer(r"\S+", line):
        column = min((word.start() + word.end()) // 2 // _COLUMN, PLAYERS - 1)
        cells[column] = f"{cells[column]} {word[0]}".strip()
    return cells


def _is_underlined(cell: str) -> bool:
    return len(cell) > 1 and cell[0] == cell[-1] == "_"


def _single_mark(marks: Iterable[bool]) -> int:
    """Return the only column that is marked; PLAYERS if no column is marked, -1 if several are."""
    columns = [column for column, marked in enumerate(marks) if marked]
    return columns[0] if len(columns) == 1 else -1 if columns else PLAYERS


def _card(cell: tuple[str, str, str]) -> str:
    return _SUIT[cell[0].capitalize()] + _RANK.get(cell[2], cell[2])


class _Game:
    """Reader of the lines of one game, from the first to the last."""

    def __init__(self, number: int, lines: list[str]):
        self.number = number
        self.lines = lines
        self.at = 0

    def fail(self, fault: str) -> TrickformerError:
        return TrickformerError(f"game {self.number}, line {self.at}: {fault}")

    def next(self) -> str:
        self.at += 1
        if self.at > len(self.lines):
            raise self.fail("the game breaks off")
        return self.lines[self.at - 1]

    def row(self, line: str) -> list[tuple[str, str, str]]:
        cells = _CELL.findall(line)
        if len(cells) != PLAYERS or _CELL.sub("", line).strip():
            raise self.fail(f"{quote(line)} is no row of three cards")
        return cells

    def skat(self, words: tuple[str, ...]) -> list[str]:
        line = self.next()
        cells = _CELL.findall(line.replace(",", " "))
        if not line.startswith(words) or len(cells) != 2:
            raise self.fail(f"{quote(line)} is not {words[0].strip()!r} followed by two cards")
        return [_card(cell) for cell in cells]

    def record(self) -> SkatRecord:
        """Read the game. Raises TrickformerError, HouseRuleError if its rules are not those of ISkO."""
        for rule, mark in _HOUSE_RULES.items():
            if any(map(mark.fullmatch, self.lines)):
                raise HouseRuleError(f"game {self.number}: {describe_house_rule(rule)}", rule)
        if len(self.lines) > _MAX_LINES:
            raise TrickformerError(f"game {self.number}: it has more than {_MAX_LINES} lines")
        names, doubled = self.read_names()
        rows: list[Any] = []
        all_passed_forehand: int | None = None  # forehand's column if all seats passed
        # The line with the seed ends the tricks. A game that was played by `xskat -game` has `_RULE` there.
        while not (seed := _SEED_LINE.fullmatch(line := self.next())) and line != _RULE:
            leads = [word.startswith("_") for word in line.split()]
            if _PASSED.fullmatch(line) and not rows and leads.count(True) == 1:
                all_passed_forehand = leads.index(True)
            elif all_passed_forehand is not None or len(rows) == HAND:
                raise self.fail(f"{quote(line)} where the hands should begin")
            else:
                rows.append(self.row(line))
        hands: list[list[str]] = [[], [], []]
        for _ in range(HAND):
            for hand, cell in zip(hands, self.row(self.next())):
                hand.append(_card(cell))
        if self.next() != _RULE:
            raise self.fail("the table of hands does not end")
        skat = self.skat(_SKAT_IS)
        tags = {"names": " ".join(names)} | (dict(zip(("seed", "game", "dealer"), seed.groups())) if seed else {})
        if all_passed_forehand is not None:
            hands = hands[all_passed_forehand:] + hands[:all_passed_forehand]
            moves = ["1 pass", "2 pass", "0 pass"]
            cards = [*chain(*hands), *skat]
            return self.make_record(names, all_passed_forehand, cards, moves, result="passed", tags=tags)
        return self.read_play(names, doubled, rows, hands, skat, tags)

    def read_names(self) -> tuple[list[str], list[int]]:
        """Read the names of the columns, and the columns that called Kontra or Re."""
        first = self.next()
        names, rest = _columns(first), [""] * PLAYERS
        if not all(names) and len(first.split()) == PLAYERS:
            names = first.split()  # the names do not stand in their columns, as if the log had been edited
        if not all(names):
            raise self.fail("not the names of three players")
        if not (line := self.next()).startswith(_RULE):
            rest = _columns(line)
            if not self.next().startswith(_RULE):
                raise self.fail("the names do not end")
        doubled = [
            column for column in range(PLAYERS) if _is_underlined(names[column]) and _is_underlined(rest[column])
        ]
        for column in doubled:
            names[column], rest[column] = names[column][1:-1], rest[column][1:-1]
        return [f"{name} {more}".strip() for name, more in zip(names, rest)], doubled

    def read_play(
        self,
        names: list[str],
        doubled: list[int],
        rows: list[Any],
        hands: list[list[str]],
        skat: list[str],
        tags: dict[str, str],
    ) -> SkatRecord:
        dealt_skat = self.skat(_SKAT_WAS)
        bid = _BID.fullmatch(line := self.next())
        if not bid and _PLAYED.fullmatch(line):
            # Only a Grand Hand in the round of Ramsch after a round of Bock has no auction.
            raise HouseRuleError(f"game {self.number}: {describe_house_rule('Bock')}", "Bock")
        played = _PLAYED.fullmatch(self.next()) if bid else None
        soloist_name = played[1].replace("_", " ") if played else None
        soloist_columns = [c for c, name in enumerate(names) if name.replace("_", " ") == soloist_name]
        if not bid or not played or not soloist_columns:
            raise self.fail("the lines of the last bid and the game are missing")
        if len(soloist_columns) > 1:
            raise self.fail(f"{quote(played[1])} is the name of {len(soloist_columns)} players")
        hand, level = False, 0
        while (line := self.next()) in _ANNOUNCEMENTS:
            hand, level = hand or _ANNOUNCEMENTS[line][0], max(level, _ANNOUNCEMENTS[line][1])
        result = _RESULT.fullmatch(line)
        if not result or self.at < len(self.lines):
            raise self.fail(f"{quote(line)} is no result")
        if not rows:
            raise self.fail("no trick was played")

        takers = [_single_mark(cell[0].isupper() for cell in row) for row in rows]
        leads = [_single_mark(cell[1] == "_" for cell in row) for row in rows]
        null = played[2] == "Null"
        is_won = result[1] in _WON
        if null and is_won and PLAYERS in takers:  # the soloist claimed the rest, so no winners are marked there
            del takers[takers.index(PLAYERS) :]
        leads = [taker if lead == PLAYERS else lead for lead, taker in zip(leads, takers)]
        if not takers or PLAYERS in takers or -1 in (*takers, *leads):
            raise self.fail("a trick has no single leader or no single winner")
        # The computers sit in fixed columns and the deal goes round: who led to the first trick is forehand.
        forehand = leads[0]
        (column,) = soloist_columns
        soloist = (column - forehand) % PLAYERS
        calls = {RE if c == column else KONTRA: str((c - forehand) % PLAYERS) for c in doubled}
        if len(calls) < len(doubled) or (RE in calls and KONTRA not in calls):
            raise self.fail("Kontra must come from one defender, and Re from the soloist after it")
        kind = NULL_OUVERT if null and level == 3 else _KINDS[played[2]]
        dealt_hands = [set(cards) for cards in hands]
        if hand:
            if set(skat) != set(dealt_skat):
                raise self.fail("a hand game, and the skat has changed")
            declared = ["hand", DECLARATIONS[kind], *([] if null else [LEVELS[level]])]
        else:
            # The skat holds the discards now. The hand held the dealt skat after the pick-up, the discards before it.
            dealt_hands[column] = (dealt_hands[column] | set(skat)) - set(dealt_skat)
            declared = ["pick-up", *skat, DECLARATIONS[kind], *([LEVELS[level]] if level and not null else [])]
        moves = [f"{soloist} {what}" for what in declared]
        dealt = [sorted(dealt_hands[(forehand + seat) % PLAYERS]) for seat in range(PLAYERS)]
        winners = []
        for row, lead, taker in zip(rows, leads, takers):
            for turn in range(PLAYERS):
                seat = (lead + turn) % PLAYERS
                moves.append(f"{(seat - forehand) % PLAYERS} {_card(row[seat])}")
            winners.append((taker - forehand) % PLAYERS)
            if null and winners[-1] == soloist:
                break  # the game is over; further rows only list the remaining cards
        if len(takers) < len(rows):
            moves += [f"{seat} {RESIGNS}" for seat in range(PLAYERS) if seat != soloist]
        text = ("won" if is_won else "lost") + (f" {result[2]}" if result[2] else "")
        rest = {"bid": int(bid[1]), "winners": tuple(winners), "result": text, "tags": tags | calls}
        return self.make_record(names, forehand, [*chain(*dealt), *dealt_skat], moves, **rest)

    def make_record(
        self, names: list[str], forehand: int, cards: list[str], moves: list[str], **rest: Any
    ) -> SkatRecord:
        if len(cards) != len(CARD) or frozenset(cards) != CARD:
            raise self.fail("hands and skat are not 32 different cards")
        first = names[forehand]
        second = names[(forehand + 1) % PLAYERS]
        third = names[(forehand + 2) % PLAYERS]
        try:
            return SkatRecord(
                source="xskat",
                names=(first, second, third),
                deck=tuple(cards),
                moves=tuple(moves),
                contract=contract(moves),
                **rest,
            )
        except ValidationError as e:
            raise self.fail(e.errors()[0]["msg"].removeprefix("Value error, ")) from None
