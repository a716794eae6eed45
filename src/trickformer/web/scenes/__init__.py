"""Scenes: the visible parts of a state (seats with cards, the trick, cards on the table, possible actions).

The page draws a scene and the terminal prints it; both are independent of the game. Each game has a module of its name
that exports `show(game, state, viewer, you) -> Scene` and may export `log(game, state, viewer, you)`. The module of a
game whose cards exist once each has the number of its cards, PACK_SIZE. A game without a module is shown in its own
words (_words.py). The scene of a seat depends only on the seat's knowledge: it does not change if cards that are hidden
from it are exchanged.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from trickformer.base import Game
from trickformer.web.scenes._scene import (
    OPEN,
    Card,
    Cell,
    Choice,
    Effect,
    FinalHand,
    LogEntry,
    Option,
    Pile,
    Rung,
    Scene,
    Seat,
    TrickCard,
)
from trickformer.web.scenes._words import log as log_in_words
from trickformer.web.scenes._words import show as in_words

if TYPE_CHECKING:
    from trickformer.base import State

__all__ = [
    "NAMES",
    "OPEN",
    "Card",
    "Cell",
    "Choice",
    "Effect",
    "FinalHand",
    "LogEntry",
    "Option",
    "Pile",
    "Rung",
    "Scene",
    "Seat",
    "TrickCard",
    "annotate",
    "log",
    "show",
    "to_json",
]

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def to_json(part: Scene | LogEntry | Card) -> dict[str, Any]:
    """Convert a scene, a log entry or a card to JSON, without the fields that have their default.

    Args:
        part: The scene, the entry or the card.
    """
    return part.model_dump(mode="json", exclude_defaults=True)


def _module(game: Game) -> ModuleType | None:
    return importlib.import_module(f"{__name__}.{game.name}") if game.name in NAMES else None


def annotate(scene: Scene, annotations: Mapping[int, str]) -> Scene:
    """Add texts to the cards in the hands of a scene.

    Args:
        scene: The scene.
        annotations: Texts by the cards' places in the order of drawing.
    """

    def add_text(card: Card) -> Card:
        text = annotations.get(card.order, "") if card.order is not None else ""
        return card.model_copy(update={"annotation": text}) if text else card

    seats = (seat.model_copy(update={"cards": tuple(map(add_text, seat.cards))}) for seat in scene.seats)
    return scene.model_copy(update={"seats": tuple(seats)})


def card(game: Game, number: int) -> Card:
    """Make a card for display.

    Args:
        game: The game; without a function `card` in its module the card shows the game's words.
        number: Action that plays the card, or kind of card in Hanabi.
    """
    module = _module(game)
    if module is not None and hasattr(module, "card_of"):  # the pack depends on the game's options
        shown: Card = module.card_of(game, number)
        return shown
    make_card = getattr(module, "card", None)
    return make_card(number) if make_card is not None else Card(name=game.words(number), words=game.words(number))


def pack(game: Game) -> tuple[Card, ...]:
    """Make all cards of a game's pack; none if a card has several copies or the game has no module here.

    Args:
        game: The game.
    """
    return tuple(card(game, number) for number in range(getattr(_module(game), "PACK_SIZE", 0)))


def show(game: Game, state: State, viewer: int, reader_plays: bool = True) -> Scene:
    """Make the scene of a state; at the end of a hand all cards are open.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN for all cards face up.
        reader_plays: Whether the reader plays the viewer's seat, which the words then call "you".
    """
    seen_by = OPEN if state.is_terminal() else viewer
    you = viewer if reader_plays and viewer != OPEN else None
    module = _module(game)
    if module is None:
        return in_words(game, state, seen_by, viewer, you)
    scene: Scene = module.show(game, state, seen_by, you)
    return scene


def log(game: Game, state: State, viewer: int, reader_plays: bool = True) -> tuple[LogEntry, ...]:
    """List the actions that a seat has seen, its own included, with headings between the tricks.

    Args:
        game: The game.
        state: State whose cards are dealt.
        viewer: Seat, or OPEN for all actions.
        reader_plays: Whether the reader plays the viewer's seat, which the words then call "you".
    """
    you = viewer if reader_plays and viewer != OPEN else None
    entries: tuple[LogEntry, ...] = getattr(_module(game), "log", log_in_words)(game, state, viewer, you)
    return entries
