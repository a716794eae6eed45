"""Games. Each has a module of its name that exports `load(spec) -> Game`.

Modules in HELPERS or with a leading underscore are parts of games. Another package adds a game by an entry point in the
group `trickformer.games` (docs/add-a-game.md). Importing this package registers its own games with OpenSpiel, so that
`pyspiel.load_game` finds them.
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

    Our own games are registered with OpenSpiel under longer names: `skat` as `trickformer_skat`. Both are accepted.

    Args:
        spec: Game string, such as `hearts` or `hearts(jd_bonus=True)`.

    Raises:
        TrickformerError: The string is no game string, the game or an option does not exist, or the game of another
            package cannot be imported, lacks a member, or its name differs from its entry point or OpenSpiel's name.
    """
    if not re.fullmatch(r"\w+(\(.*\))?", spec):
        raise TrickformerError(f"{spec!r} is no game string; write `hearts` or `hearts(jd_bonus=True)`")
    name = game_name(spec)
    if name in NAMES:
        return importlib.import_module(f"{__name__}.{name}").load(spec)
    module = plugins.module(plugins.GAMES, name)
    if module is None:
        import pyspiel

        in_openspiel = name in pyspiel.registered_names()
        hint = "docs/add-a-game.md shows how to add a game of OpenSpiel" if in_openspiel else ""
        raise UnknownNameError("game", name, (*NAMES, *plugins.names(plugins.GAMES)), hint)
    subject = f"the game of the entry point {name!r} in {plugins.GAMES}"
    try:
        game = module.load(spec)
    except TypeError as e:
        if "abstract" not in str(e):
            raise
        raise TrickformerError(f"{subject}: {e}") from e
    return _check_plugin(game, name, subject)


def _check_plugin(game: Game, name: str, subject: str) -> Game:
    """Check the game of another package and return it.

    It must be complete. OpenSpiel must have it under the same name, perhaps after the prefix `trickformer_`, because
    records hold OpenSpiel's name.
    """
    members = ("name", "players", "higher_is_better", "spiel", "outcomes", "view")
    if missing := [member for member in members if not hasattr(game, member)]:
        raise TrickformerError(f"{subject} has no {', '.join(missing)}; derive it from trickformer.base.Game")
    spiel_name = game_name(str(game.spiel))
    if spiel_name in NAMES:
        raise TrickformerError(
            f"{subject} is registered with OpenSpiel as {spiel_name!r}, a game of trickformer; register it under "
            "another name"
        )
    if not game.name == name == spiel_name:
        raise TrickformerError(
            f"{subject} has the name {game.name!r}, and OpenSpiel calls it {spiel_name!r}; name both the entry point "
            f"and the game {spiel_name!r}"
        )
    return game
