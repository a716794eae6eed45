"""A game of Skat on record: the deal, what was said and played, and what the source says came of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from trickformer.base import TrickformerError
from trickformer.games.skat import ACTIONS, CALLS, CARDS, DECLARATIONS, LEVELS, NUM_CARDS, PLAYERS

ACTION = {name: action for action, name in enumerate(ACTIONS)}
CARD = frozenset(CARDS)
SHOWS, RESIGNS, LEAVES, TIMES_OUT, UNKNOWN = "shows", "resigns", "leaves", "times-out", "unknown"
KONTRA, RE = "kontra", "re"  # tags: the seat that said it. Each doubles the value; the rules of the core have neither
_REMARK = re.compile(rf"{RESIGNS}|{LEAVES}|{TIMES_OUT}|{UNKNOWN}|{SHOWS}(?: \S+)?")
_DECLARED = frozenset((*DECLARATIONS, *LEVELS, "hand"))


class SkatRecord(BaseModel):
    """One game of Skat. Seats are 0 forehand, 1 middlehand, 2 rearhand.

    A move is a seat and what it did there: an action of the game by its name (trickformer.games.skat.ACTIONS), in the
    order of the rules, or a remark, which is no action: `shows` its cards, `resigns`, `leaves`, `times-out`, plays a
    card that is `unknown`. A record may hold moves that the rules forbid; `replay` tells."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    source: Literal["iss", "xskat", "trickformer"]
    names: tuple[str, str, str]  # by seat
    deck: tuple[str, ...]  # 32 cards: ten for each seat, then the skat
    bid: int | None = None  # the last call, where the source tells no auction: the first to move is then the soloist
    moves: tuple[str, ...]
    declared: str | None = None  # the declaration's words in an ISS record, where they are not our own choice of words
    contract: str | None = None  # as declared, read off the moves
    result: str | None = None  # as the source has it
    winners: tuple[int, ...] | None = None  # of the tricks, where the source marks them
    tags: dict[str, str] = {}  # whatever else the source says: its numbers of the game, date, ratings

    @field_validator("deck")
    @classmethod
    def _whole_deck(cls, deck: tuple[str, ...]) -> tuple[str, ...]:
        if len(deck) != NUM_CARDS or frozenset(deck) != CARD:
            raise ValueError("a deck holds each of the 32 cards once")
        return deck

    @field_validator("bid")
    @classmethod
    def _is_call(cls, bid: int | None) -> int | None:
        if bid is not None and bid not in CALLS:
            raise ValueError(f"{bid} is no call")
        return bid

    @field_validator("moves")
    @classmethod
    def _known_moves(cls, moves: tuple[str, ...]) -> tuple[str, ...]:
        for number, move in enumerate(moves, 1):
            seat, space, what = move.partition(" ")
            if seat not in ("0", "1", "2") or not space or not (what in ACTION or _REMARK.fullmatch(what)):
                raise ValueError(f"move {number}: {quote(move)} is no move")
        return moves

    @field_validator("winners")
    @classmethod
    def _are_seats(cls, winners: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if winners is not None and not all(0 <= seat < PLAYERS for seat in winners):
            raise ValueError("winners are seats 0 to 2")
        return winners

    @model_validator(mode="after")
    def _one_contract(self) -> Self:
        if self.contract != contract(self.moves):
            raise ValueError(f"the contract {self.contract!r} is not that of the moves")
        return self


class TornGameError(TrickformerError):
    """The last game of a file, which breaks off."""


class HouseRuleError(TrickformerError):
    """A game by rules that ISkO does not have.

    Attributes:
        rule: Name of the rule, such as Ramsch.
    """

    def __init__(self, message: str, rule: str):
        super().__init__(message)
        self.rule = rule


# A game of a file before it is parsed. Calling it raises TrickformerError, which names the game, if it is damaged.
Unread: TypeAlias = Callable[[], SkatRecord]


@dataclass(frozen=True, slots=True)
class UnreadableGame:
    """A game of a file that cannot be read."""

    game: int  # counted from 1
    why: str  # one line, which names the game
    house_rule: str | None = None  # why it is not by ISkO, if that is all: Ramsch
    torn: bool = False  # the file ends within the game


def split_move(move: str) -> tuple[int, str]:
    """The seat of a move and what it did."""
    return int(move[0]), move[2:]


def contract(moves: tuple[str, ...] | list[str]) -> str | None:
    """What was declared, in words: `clubs hand schwarz`, `null-ouvert`; None where nothing was."""
    words = [move[2:] for move in moves if move[2:] in _DECLARED]
    if not any(word in DECLARATIONS for word in words):
        return None
    return " ".join(sorted((w for w in words if w != LEVELS[0]), key=lambda w: (w not in DECLARATIONS, w != "hand")))


def quote(text: str) -> str:
    """Foreign text for a message: on one line, and short."""
    return repr(text if len(text) <= 30 else text[:27] + "...")
