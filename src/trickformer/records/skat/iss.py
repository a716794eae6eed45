"""Records of the International Skat Server: one game a line, in a format like SGF.

    (;GM[Skat]...P0[name]P1[name]P2[name]...MV[w DECK 1 18 0 p ... ]R[d:1 win v:24 ...] ;)

MV holds pairs of an actor (`w` for the server, or a seat) and a move. A declaration, with its discards and levels, is
one word but several of our moves. The same declaration can be written in several ways, so that `SkatRecord.declared`
keeps the words if `write` would choose others. In a value a backslash stands before each `]` and each backslash, as in
SGF.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from pydantic import ValidationError

from trickformer.base import TrickformerError
from trickformer.games.skat import CALLS, DECLARATIONS, LEVELS, NULL, NULL_OUVERT, OUVERT, PLAYERS, SUITS
from trickformer.records.skat.record import (
    CARD,
    LEAVES,
    RESIGNS,
    SHOWS,
    TIMES_OUT,
    UNKNOWN,
    SkatRecord,
    contract,
    quote,
    split_move,
)

_GAME = re.compile(r"\(;((?:[A-Z][A-Z0-9]*\[(?:[^\]\\]|\\.)*\])+) ?;\)")
_PROPERTY = re.compile(r"([A-Z][A-Z0-9]*)\[((?:[^\]\\]|\\.)*)\]")
_ESCAPED = re.compile(r"\\([\]\\])")  # before another character a backslash stands for itself
_TO_ESCAPE = re.compile(r"[\]\\]")
_DECLARATION = re.compile(r"([GCSHDN])([OHSZ]*)((?:\.[^.]+)*)")
_EVENTS = {"LE": LEAVES, "TI": TIMES_OUT}
_ACTIONS = {"y": "hold", "p": "pass", "s": "pick-up", "RE": RESIGNS, "SC": SHOWS, "??": UNKNOWN} | {
    name: name for name in (*map(str, CALLS), *CARD)
}
_ISS_WORDS = {action: word for word, action in _ACTIONS.items()}
_KINDS = (*SUITS, "G", "N", "NO")  # letters of the declarations, in their order
_SKAT = slice(30, 32)  # cards of the deck that are the skat


def parse(line: str, number: int) -> SkatRecord:
    """Read a game.

    Args:
        line: Line of the file.
        number: Number of the game in its file, for messages.

    Raises:
        TrickformerError: The line is no ISS record; the message names the game and the move, if there is one.
    """
    whole = _GAME.fullmatch(line.strip())
    if not whole:
        raise TrickformerError(f"game {number}: not a complete record (;...;) of properties KEY[value]")
    properties: dict[str, str] = {}
    for key, value in _PROPERTY.findall(whole[1]):
        if key in properties:
            raise TrickformerError(f"game {number}: property {key} occurs twice")
        properties[key] = _ESCAPED.sub(r"\1", value)
    if properties.get("GM") != "Skat":
        raise TrickformerError(f"game {number}: not a game of Skat (property GM)")
    missing = [key for key in ("P0", "P1", "P2", "MV", "R") if key not in properties]
    if missing:
        raise TrickformerError(f"game {number}: property {missing[0]} is missing")
    converter = _Moves(number)
    words = properties.pop("MV").split()
    result = properties.pop("R")
    deck = converter.deck(words[:2])
    for at, (actor, word) in enumerate(zip(words[2::2], words[3::2]), 1):
        converter.move(at, actor, word)
    if len(words) % 2:
        raise TrickformerError(f"game {number}, move {len(words) // 2}: {quote(words[-1])} has no move after it")
    try:
        return SkatRecord(
            source="trickformer" if properties.get("PC") == "trickformer" else "iss",
            names=(properties.pop("P0"), properties.pop("P1"), properties.pop("P2")),
            deck=deck,
            moves=tuple(converter.moves),
            declared=converter.unusual_words(),
            contract=contract(converter.moves),
            result=result or None,
            tags=properties,
        )
    except ValidationError as e:
        raise TrickformerError(f"game {number}: {e.errors()[0]['msg']}") from None


class _Moves:
    """Converter of the pairs of a record into our moves."""

    def __init__(self, game: int):
        self.game = game
        self.moves: list[str] = []
        self.skat: tuple[str, ...] = ()
        self.picked_up = False
        self.skat_due = False  # the next pair must show the skat
        self.declarer = ""
        self.words: list[str] = []  # words of the declaration
        self.declaration: list[str] = []  # kind and level that wait for the discards
        self.discards: list[str] = []  # discards that wait for the kind

    def fail(self, at: int, fault: str) -> TrickformerError:
        return TrickformerError(f"game {self.game}, move {at}: {fault}")

    def deck(self, words: list[str]) -> tuple[str, ...]:
        cards = tuple(words[1].split(".")) if len(words) == 2 and words[0] == "w" else ()
        if frozenset(cards) != CARD or len(cards) != len(CARD):
            raise self.fail(0, "the deal is not 32 different cards")
        self.skat = cards[_SKAT]
        return cards

    def move(self, at: int, actor: str, word: str) -> None:
        if actor == "w":
            return self.server_event(at, word)
        if actor not in ("0", "1", "2"):
            raise self.fail(at, f"{quote(actor)} is neither w nor a seat")
        if self.skat_due:
            raise self.fail(at, "the skat is not shown after it was picked up")
        showing = re.fullmatch(r"SC\.(\S+)", word)
        if word in _ACTIONS or showing:
            if word in CARD and (self.declaration or self.discards):
                raise self.fail(at, "a card is played before the skat has been laid away and a game declared")
            self.moves.append(f"{actor} {SHOWS + ' ' + showing[1] if showing else _ACTIONS[word]}")
            if word == "s":
                self.picked_up = self.skat_due = True
            return None
        cards = word.split(".")
        if len(cards) == 2 and set(cards) <= CARD:
            self.add_word(at, actor, word)
            self.lay_away(at, cards)
        elif declared := _DECLARATION.fullmatch(word):
            self.add_word(at, actor, word)
            self.declare(at, declared)
        else:
            raise self.fail(at, f"{quote(word)} is no move")
        return self.settle(actor)

    def server_event(self, at: int, word: str) -> None:
        event = word.partition(".")[0]
        seat = word.partition(".")[2]
        if event in _EVENTS and seat in ("0", "1", "2"):
            self.moves.append(f"{seat} {_EVENTS[event]}")
        elif not self.skat_due:
            raise self.fail(at, f"{quote(word)} is no event of the server")
        elif tuple(word.split(".")) != self.skat:
            raise self.fail(at, f"the skat shown is not {'.'.join(self.skat)}, as dealt")
        self.skat_due = False

    def add_word(self, at: int, actor: str, word: str) -> None:
        if self.words and (actor != self.declarer or any(move[2:] in DECLARATIONS for move in self.moves)):
            raise self.fail(at, "a game is declared twice")
        self.declarer = actor
        self.words.append(word)

    def lay_away(self, at: int, cards: list[str]) -> None:
        if self.discards or not self.picked_up:
            raise self.fail(at, "cards are laid away that were not picked up")
        self.discards = cards

    def declare(self, at: int, word: re.Match[str]) -> None:
        letters, cards = word[2], word[3].split(".")[1:]
        if self.declaration or len(set(letters)) < len(letters) or not set(cards) <= CARD:
            raise self.fail(at, f"{quote(word[0])} is no declaration")
        # In a hand game the cards after the letters are an open hand; otherwise the first two are discards.
        if cards and self.picked_up and not self.discards:
            self.lay_away(at, cards[:2])
        null = word[1] == "N"
        if null and set(letters) & set("SZ"):
            raise self.fail(at, "schneider or schwarz is announced in a null game")
        kind = NULL_OUVERT if null and "O" in letters else _KINDS.index(word[1])
        level = 0 if null else 3 if "O" in letters else 2 if "Z" in letters else 1 if "S" in letters else 0
        if self.picked_up and "H" in letters:
            raise self.fail(at, "a hand game is declared with the skat picked up")
        # An open or announced game implies hand, so some records omit the letter H.
        if not self.picked_up and not ("H" in letters or level):
            raise self.fail(at, "neither is the skat picked up nor a hand game declared")
        self.declaration = [DECLARATIONS[kind]]
        if level or not (self.picked_up or null):
            self.declaration.append(LEVELS[level])

    def settle(self, actor: str) -> None:
        """Add the moves of a declaration as soon as it is complete."""
        if not self.declaration or (self.picked_up and len(self.discards) < 2):
            return
        before = self.discards if self.picked_up else ["hand"]
        self.moves += [f"{actor} {word}" for word in (*before, *self.declaration)]
        self.declaration, self.discards = [], []

    def unusual_words(self) -> str | None:
        """Return the words of the declaration if `write` would choose other words; else None."""
        words = " ".join(self.words)
        return words if words and words != _declaration_word(self.moves) else None


def parse_declaration(record: SkatRecord) -> tuple[int, int] | None:
    """Parse a declaration that was not followed by a discard.

    Args:
        record: The game.

    Returns:
        Kind and level in the core's numbers; None if there is no declaration.
    """
    words = next(filter(None, map(_DECLARATION.fullmatch, (record.declared or "").split())), None)
    if words is None:
        return None
    if words[1] == "N":
        return NULL, OUVERT if "O" in words[2] else 0
    return _KINDS.index(words[1]), 0


def _declaration_word(moves: list[str] | tuple[str, ...]) -> str | None:
    """Write the declaration among the moves of a game as one word; None if there is none."""
    actions = [split_move(move)[1] for move in moves]
    at = next((i for i, action in enumerate(actions) if action in DECLARATIONS), None)
    if at is None:
        return None
    kind = DECLARATIONS.index(actions[at])
    hand = actions[at - 1] == "hand"
    level = actions[at + 1] if at + 1 < len(actions) and actions[at + 1] in LEVELS else LEVELS[0]
    announced = {LEVELS[0]: "", LEVELS[1]: "S", LEVELS[2]: "Z", LEVELS[3]: "O"}[level]
    letters = "H" * (hand and announced != "O") + announced
    return ".".join([_KINDS[kind] + letters, *([] if hand else actions[max(at - 2, 0) : at])])


def write(record: SkatRecord, number: int = 1) -> str:
    """Write a game as one line, without its end. `parse` turns the line into the same record.

    Args:
        record: The game.
        number: Number of the game in its file, for messages.

    Raises:
        TrickformerError: An ISS record cannot hold the game.
    """
    if record.bid is not None:
        raise TrickformerError(f"game {number}: its source has no auction, and an ISS record needs one")
    actions = [split_move(move)[1] for move in record.moves]
    words = (record.declared or _declaration_word(record.moves) or "").split()
    # The words replace several moves, up to the declaration and its level. An unfinished declaration replaces none.
    declaration = next((at for at, action in enumerate(actions) if action in DECLARATIONS), -1)
    replaced = set()
    if declaration >= 0:
        first = declaration - (1 if actions[declaration - 1] == "hand" else 2)  # "hand", or two discards
        last = declaration + any(action in LEVELS for action in actions[declaration + 1 : declaration + 2])
        replaced = set(range(first, last + 1))
    pairs = ["w " + ".".join(record.deck)]
    for at, (seat, action) in enumerate(map(split_move, record.moves)):
        if at == declaration:
            pairs += [f"{seat} {word}" for word in words]
        elif at in replaced:
            continue
        elif action in (LEAVES, TIMES_OUT):
            pairs.append(f"w {'LE' if action == LEAVES else 'TI'}.{seat}")
        elif action.startswith(SHOWS + " "):
            pairs.append(f"{seat} SC.{action.partition(' ')[2]}")
        elif action in _ISS_WORDS:
            pairs.append(f"{seat} {_ISS_WORDS[action]}")
            if action == "pick-up":
                pairs.append("w " + ".".join(record.deck[_SKAT]))
                if declaration < 0:
                    pairs += [f"{seat} {word}" for word in words]
    tags = dict(record.tags)
    ratings = [key for key in ("R0", "R1", "R2") if key in tags]
    properties = [(key, value) for key, value in tags.items() if key not in ratings]
    properties += [(f"P{seat}", record.names[seat]) for seat in range(PLAYERS)]
    properties += [(key, tags[key]) for key in ratings]
    properties += [("MV", " ".join(pairs) + " "), ("R", record.result or "")]
    line = "(;" + "".join(f"{key}[{_escape(value)}]" for key, value in properties) + " ;)"
    try:
        same = "\n" not in line and parse(line, number) == record
    except TrickformerError:
        same = False
    if not same:
        raise TrickformerError(f"game {number}: the ISS format cannot hold this game; convert to .jsonl instead")
    return line


def _escape(value: str) -> str:
    return _TO_ESCAPE.sub(r"\\\g<0>", value)


def games(lines: Iterator[str]) -> Iterator[Callable[[], SkatRecord]]:
    """Yield the games of a file, unread.

    Args:
        lines: Lines of the file.

    Yields:
        Functions that call `parse`.
    """
    for number, line in enumerate(filter(str.strip, lines), 1):
        yield partial(parse, line, number)
