"""Records of Skat: the deal, the auction, the play, and the result according to the source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from trickformer.base import TrickformerError
from trickformer.games.skat import ACTIONS, CALLS, CARDS, DECLARATIONS, LEVELS, NUM_CARDS, PLAYERS

ACTION = {name: action for action, name in enumerate(ACTIONS)}
CARD = frozenset(CARDS)
SHOWS = "shows"
RESIGNS = "resigns"
LEAVES = "leaves"
TIMES_OUT = "times-out"
UNKNOWN = "unknown"
KONTRA, RE = "kontra", "re"  # tags with the seat that called it. Each doubles the value; the C++ core has neither
_REMARK = re.compile(rf"{RESIGNS}|{LEAVES}|{TIMES_OUT}|{UNKNOWN}|{SHOWS}(?: \S+)?")
_DECLARED = frozenset((*DECLARATIONS, *LEVELS, "hand"))  # moves that are part of a contract


class SkatRecord(BaseModel):
    """One game of Skat. Seats are 0 forehand, 1 middlehand, 2 rearhand.

    A move is a seat with either an action of the game by its name (trickformer.games.skat.ACTIONS) or a remark. The
    remarks are `shows` (its cards), `resigns`, `leaves`, `times-out` and `unknown` (a card that the source hides). A
    record may hold illegal moves; `replay` reports them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    source: Literal["iss", "xskat", "trickformer"]
    names: tuple[str, str, str]  # by seat
    deck: tuple[str, ...]  # 32 cards: ten for each seat, then the skat
    bid: int | None = None  # last call, if the source has no auction; the first to move is then the soloist
    moves: tuple[str, ...]
    declared: str | None = None  # declaration in an ISS record, if `iss.write` would word it otherwise
    contract: str | None = None  # declared contract, as `contract` derives it from the moves
    result: str | None = None  # in the words of the source
    winners: tuple[int, ...] | None = None  # winners of the tricks, if the source marks them
    tags: dict[str, str] = {}  # other properties of the source: game number, date, ratings

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
            seat = move.partition(" ")[0]
            what = move.partition(" ")[2]
            if seat not in ("0", "1", "2") or not (what in ACTION or _REMARK.fullmatch(what)):
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
            raise ValueError(f"the contract {self.contract!r} does not match the moves")
        return self


class TornGameError(TrickformerError):
    """The file ends in the middle of its last game."""


class HouseRuleError(TrickformerError):
    """A game follows rules that ISkO, the international rules of Skat, does not have.

    Attributes:
        rule: Name of the rule, such as Ramsch.
    """

    def __init__(self, message: str, rule: str):
        super().__init__(message)
        self.rule = rule


def describe_house_rule(rule: str) -> str:
    """Describe a game's rule that ISkO does not have.

    Args:
        rule: Name of the rule, such as Ramsch.
    """
    return f"{rule} is a house rule, not in the international rules (ISkO)"


@dataclass(frozen=True, slots=True)
class UnreadableGame:
    """Game of a file that cannot be read."""

    game: int  # counted from 1
    why: str  # one line, which names the game
    house_rule: str | None = None  # rule outside ISkO, such as Ramsch, if it is the only fault
    torn: bool = False  # the file ends within the game


def split_move(move: str) -> tuple[int, str]:
    """Split a move into its seat and its action or remark.

    Args:
        move: Move of a record, such as `1 grand`.
    """
    return int(move[0]), move[2:]


def contract(moves: tuple[str, ...] | list[str]) -> str | None:
    """Derive the declared contract from the moves.

    Args:
        moves: Moves of a record.

    Returns:
        The contract, such as `clubs hand schwarz` or `null-ouvert`; None if none was declared.
    """
    words = [move[2:] for move in moves if move[2:] in _DECLARED]
    if not any(word in DECLARATIONS for word in words):
        return None
    return " ".join(sorted((w for w in words if w != LEVELS[0]), key=lambda w: (w not in DECLARATIONS, w != "hand")))


def quote(text: str) -> str:
    """Quote foreign text for a message: on one line, shortened to 30 characters.

    Args:
        text: The text.
    """
    return repr(text if len(text) <= 30 else text[:27] + "...")
