"""Parts of a scene: the data classes that the page and the terminal show."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

OPEN = -2  # the viewer that sees all cards

# Colour and sign of a card; `face.js` draws them.
Sign = Literal["clubs", "diamonds", "hearts", "spades", "rocket", "pink", "blue", "green", "yellow", "red", "white", ""]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Option(_Part):
    """One of several uses of a card; a click on the card offers all of them."""

    words: str
    actions: tuple[int, ...]  # actions that the seat takes one after the other; the first is legal now
    lights: tuple[int, ...] = ()  # places in the hand of the cards that a hint names


class Card(_Part):
    """A card; a card that lies face down has no name."""

    name: str = ""  # name in the game, such as QS
    words: str = "a hidden card"  # name in plain words
    rank: str = ""
    sign: Sign = ""
    action: int | None = None  # action of a click on the card, if it is legal
    options: tuple[Option, ...] = ()  # uses of the card if there are several
    notes: tuple[str, ...] = ()  # knowledge about the card, or tokens on it
    about: str = ""  # explanation of the notes, for a title and for screen readers
    done: bool = False  # whether the card has a tick: a fulfilled task
    order: int | None = None  # place in the order of drawing; a card keeps it while it moves in the hand
    annotation: str = ""  # the reader's own text on the card, which nobody else sees


class Seat(_Part):
    """A seat with its cards."""

    seat: int
    cards: tuple[Card, ...] = ()  # the hand; hidden cards lie face down
    features: tuple[str, ...] = ()  # "3 tricks", "commander"
    last_action: str = ""  # last action of the seat in words, such as a bid


class TrickCard(_Part):
    """A card of a trick with the seat that played it."""

    seat: int
    card: Card


class Pile(_Part):
    """Cards on the table under a title."""

    title: str
    cards: tuple[Card, ...]
    seat: int | None = None  # seat that the cards lie before; None for the middle of the table
    is_small: bool = False  # whether the cards are shown small
    use: str = ""  # words of the option that a card takes if it is dragged onto the pile


class Cell(_Part):
    """A cell of a board."""

    text: str
    words: str
    action: int | None = None
    kind: Literal["closed", "open", "mine", "hit"] = "closed"


class Choice(_Part):
    """An action other than a click on a card."""

    action: int
    words: str
    group: str = ""  # title of the group that shows the choice


class Rung(_Part):
    """A step of a ladder of bids."""

    words: str
    action: int | None = None  # action that bids it, if it is legal
    is_called: bool = False  # whether somebody has bid it or more


class FinalHand(_Part):
    """Cards of a seat at the end of a hand: the cards that it was dealt, passed, received or laid away."""

    seat: int
    piles: tuple[Pile, ...]


class LogEntry(_Part):
    """A line of the log: an action of a seat, the taker of a trick, or a heading such as "trick 3"."""

    seat: int | None = None  # seat that acted; None for a heading or a taker
    taker: int | None = None  # seat that takes the trick; the words then name the points in it
    words: str = ""
    cards: tuple[Card, ...] = ()  # cards that follow the words


class Effect(_Part):
    """Visible effect of the last action on a hand, which the page animates: a hint names cards, or a card leaves it."""

    seat: int  # seat that holds the hand
    places: tuple[int, ...]  # places of the named cards, or of the card in the hand before the action
    pile: int | None = None  # place in `piles` of the pile that the card has gone to; None for a hint
    at: int = 0  # place of the card in this pile
    source: int | None = None  # place in `piles` of the pile that the seat has drawn its new last card from


class Scene(_Part):
    """Visible parts of a state."""

    title: str = ""  # "mission 4", "pass left"
    ask: str = ""  # request to the seat on turn
    pick: int = 0  # number of cards of the hand that are chosen first and then played together
    confirm: str = ""  # words of the button that plays them
    seats: tuple[Seat, ...] = ()
    trick: tuple[TrickCard, ...] = ()
    last: tuple[TrickCard, ...] = ()  # the last complete trick
    taker: int | None = None  # seat that took it
    piles: tuple[Pile, ...] = ()
    effect: Effect | None = None
    board: tuple[tuple[Cell, ...], ...] = ()
    mines: int = 0  # number of mines on the board; the page counts the person's flags against it
    choices: tuple[Choice, ...] = ()
    ladder: tuple[Rung, ...] = ()  # bids in ascending order
    features: tuple[str, ...] = ()
    outcome: str = ""  # result of the hand in two words, if the game has a name for it: "Mission failed"
    result: tuple[str, ...] = ()  # sentences about the result, at the end of a hand
    hands: tuple[FinalHand, ...] = ()  # at the end of a hand
    text: str = ""  # description by the game, if the game has no scene
