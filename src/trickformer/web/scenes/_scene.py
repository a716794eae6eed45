"""The parts of a scene."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

OPEN = -2  # the viewer that sees all cards

# How a card is coloured and which sign it bears: `face.js` draws them.
Sign = Literal["clubs", "diamonds", "hearts", "spades", "rocket", "pink", "blue", "green", "yellow", "red", "white", ""]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Card(_Part):
    """A card, face up; a back has no name."""

    name: str = ""  # as the game writes it, such as QS
    words: str = "a hidden card"  # as people say it
    rank: str = ""
    sign: Sign = ""
    action: int | None = None  # that a click on it takes, if it is legal
    notes: tuple[str, ...] = ()  # what is known of it, or lies on it
    done: bool = False  # crossed out


class Seat(_Part):
    seat: int
    cards: tuple[Card, ...] = ()  # in hand; backs where they are hidden
    features: tuple[str, ...] = ()  # "3 tricks", "commander"
    said: str = ""  # what it said last


class TrickCard(_Part):
    seat: int
    card: Card


class Pile(_Part):
    """Cards on the table under a title."""

    title: str
    cards: tuple[Card, ...]


class Cell(_Part):
    """A field of a board."""

    text: str
    words: str
    action: int | None = None
    kind: Literal["closed", "open", "mine"] = "closed"


class Choice(_Part):
    """Something that can be done and is no click on a card."""

    action: int
    words: str
    group: str = ""  # choices of a group stand together under this title


class Scene(_Part):
    title: str = ""  # "mission 4", "pass left"
    ask: str = ""  # what the seat on turn is to do
    seats: tuple[Seat, ...] = ()
    trick: tuple[TrickCard, ...] = ()
    last: tuple[TrickCard, ...] = ()  # the trick before
    piles: tuple[Pile, ...] = ()
    board: tuple[tuple[Cell, ...], ...] = ()
    choices: tuple[Choice, ...] = ()
    features: tuple[str, ...] = ()
    text: str = ""  # where there are no words but the game's own
