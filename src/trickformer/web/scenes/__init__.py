"""What is seen of a state: seats with their cards, the trick, what lies on the table, what may be done. The page
draws a scene, the terminal prints it; neither knows a game.

One module a game, named like it; each exports `show(game, state, viewer) -> Scene`. A game without one is shown by its
own words (_words.py). A scene of a seat holds nothing that the seat does not know: it must not change when hidden cards
are exchanged. With viewer OPEN all cards are face up."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from trickformer.base import Game
from trickformer.web.scenes._scene import OPEN, Card, Cell, Choice, Pile, Scene, Seat, TrickCard
from trickformer.web.scenes._words import show as in_words

if TYPE_CHECKING:
    from trickformer.base import State

__all__ = ["NAMES", "OPEN", "Card", "Cell", "Choice", "Pile", "Scene", "Seat", "TrickCard", "show"]

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def card(game: Game, number: int) -> Card:
    """A card of a game whose module has `card`; of others one that bears its words."""
    module = importlib.import_module(f"{__name__}.{game.name}") if game.name in NAMES else None
    made = getattr(module, "card", None)
    return made(number) if made is not None else Card(name=game.words(number), words=game.words(number))


def show(game: Game, state: State, viewer: int) -> Scene:
    """What `viewer`, a seat or OPEN, sees of a state whose cards are dealt; all of it at the end."""
    seen_by = OPEN if state.is_terminal() else viewer
    if game.name not in NAMES:
        return in_words(game, state, seen_by, viewer)
    scene: Scene = importlib.import_module(f"{__name__}.{game.name}").show(game, state, seen_by)
    return scene
