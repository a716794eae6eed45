"""The games. One module a game, found by its file name; each exports `load(spec) -> Game`.

A package of its own adds a game by an entry point in the group `trickformer.games` (docs/add-a-game.md). Importing this
package registers every game of ours with OpenSpiel, so that `pyspiel.load_game` finds it.
"""

from __future__ import annotations

import importlib
import pkgutil
import re

from trickformer.base import Game, TrickformerError, UnknownNameError, game_name
from trickformer.plumbing import plugins

NAMES = tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))
for _name in NAMES:
    importlib.import_module(f"{__name__}.{_name}")


def load(spec: str) -> Game:
    """The game of an OpenSpiel game string: `hearts`, or `hearts(jd_bonus=True)`. Games of our own have a name of their
    own there, `trickformer_skat`, and a short one here.

    Raises TrickformerError for a string that is none, a game or a rule option that does not exist, and for an installed
    game that cannot be imported."""
    if not re.fullmatch(r"\w+(\(.*\))?", spec):
        raise TrickformerError(f"{spec!r} is no game string; write `hearts` or `hearts(jd_bonus=True)`")
    name = game_name(spec)
    if name in NAMES:
        return importlib.import_module(f"{__name__}.{name}").load(spec)
    module = plugins.module(plugins.GAMES, name)
    if module is None:
        raise UnknownNameError("game", name, (*NAMES, *plugins.names(plugins.GAMES)))
    return module.load(spec)
