"""Games, one module each, found by its file name; each exports `load(spec) -> Game`.

Modules in HELPERS or with a leading underscore are parts of games. Another package adds a game by an entry point in the
group `trickformer.games` (docs/add-a-game.md). Importing this package registers every game of ours with OpenSpiel, so
that `pyspiel.load_game` finds it.
"""

from __future__ import annotations

import importlib
import pkgutil
import re

from trickformer.base import Game, TrickformerError, UnknownNameError, game_name
from trickformer.plumbing import plugins

HELPERS = ("crew_verdict", "missions")
NAMES = tuple(
    sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_") and m.name not in HELPERS)
)
for _name in NAMES:
    importlib.import_module(f"{__name__}.{_name}")


def load(spec: str) -> Game:
    """Load the game of an OpenSpiel game string.

    Our own games have a short name here, `skat`, and a longer one in OpenSpiel, `trickformer_skat`.

    Args:
        spec: Game string, such as `hearts` or `hearts(jd_bonus=True)`.

    Raises:
        TrickformerError: The string is no game string, the game or an option does not exist, or an installed game
            cannot be imported, lacks a member, or has another name than its entry point or OpenSpiel give it.
    """
    if not re.fullmatch(r"\w+(\(.*\))?", spec):
        raise TrickformerError(f"{spec!r} is no game string; write `hearts` or `hearts(jd_bonus=True)`")
    name = game_name(spec)
    if name in NAMES:
        return importlib.import_module(f"{__name__}.{name}").load(spec)
    module = plugins.module(plugins.GAMES, name)
    if module is None:
        raise UnknownNameError("game", name, (*NAMES, *plugins.names(plugins.GAMES)))
    where = f"the game of the entry point {name!r} in {plugins.GAMES}"
    try:
        game = module.load(spec)
    except TypeError as e:
        if "abstract" not in str(e):
            raise
        raise TrickformerError(f"{where}: {e}") from e
    return _check_plugin(game, name, where)


def _check_plugin(game: Game, name: str, where: str) -> Game:
    """Return an installed game if it is complete and loads again by OpenSpiel's name for it, which records hold."""
    members = ("name", "players", "higher_is_better", "spiel", "outcomes", "view")
    if missing := [member for member in members if not hasattr(game, member)]:
        raise TrickformerError(f"{where} has no {', '.join(missing)}; derive it from trickformer.base.Game")
    right = game_name(str(game.spiel))
    if right in NAMES:
        raise TrickformerError(
            f"{where} is registered with OpenSpiel as {right!r}, a game of trickformer; register it under another name"
        )
    if not game.name == name == right:
        raise TrickformerError(
            f"{where} has the name {game.name!r}, and OpenSpiel calls it {right!r}; name both the entry point and the "
            f"game {right!r}"
        )
    return game
