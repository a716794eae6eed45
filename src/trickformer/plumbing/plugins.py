"""Games and players of other packages, found by the entry points that the packages declare:

    [project.entry-points."trickformer.games"]
    oh_hell = "oh_hell.game"

The name is the one on the command line. The value is a module with the same functions as a built-in game or player.
"""

from __future__ import annotations

from importlib import metadata
from types import ModuleType

from trickformer.base import TrickformerError

GAMES, PLAYERS = "trickformer.games", "trickformer.players"  # groups of entry points
_EXPORTS = {GAMES: ("load",), PLAYERS: ("Options", "make")}  # names that a module of each group must define


def names(group: str) -> tuple[str, ...]:
    """List the names that installed packages declare, in ascending order.

    Args:
        group: GAMES or PLAYERS.
    """
    return tuple(sorted(metadata.entry_points(group=group).names))


def module(group: str, name: str) -> ModuleType | None:
    """Import the module that an installed package declares.

    Args:
        group: GAMES or PLAYERS.
        name: Name of the game or player.

    Returns:
        The module; None if no package declares the name.

    Raises:
        TrickformerError: Two packages declare the name, or the module cannot be imported or lacks an export.
    """
    points = list(metadata.entry_points(group=group, name=name))
    if not points:
        return None
    if len(points) > 1:
        packages = " and ".join(sorted(p.dist.name if p.dist else p.value for p in points))
        raise TrickformerError(f"{packages} both declare {name!r} in {group}; uninstall one")
    what = f"{name!r} of {group} ({points[0].value})"
    try:
        module = points[0].load()
    except (Exception, SystemExit) as e:  # a foreign module may raise anything
        reason = str(e).partition("\n")[0]
        raise TrickformerError(f"{what} cannot be imported: {type(e).__name__}: {reason}") from e
    if missing := [export for export in _EXPORTS[group] if not hasattr(module, export)]:
        raise TrickformerError(f"{what} does not export {' and '.join(missing)}")
    return module
