"""Games and players of other packages, found by the entry points that these declare:

    [project.entry-points."trickformer.games"]
    oh_hell = "oh_hell.game"

The name is what a command line says; the value is a module with the functions that one of ours has."""

from __future__ import annotations

from importlib import metadata
from types import ModuleType

from trickformer.base import TrickformerError

GAMES, PLAYERS = "trickformer.games", "trickformer.players"  # groups
_EXPORTS = {GAMES: ("load",), PLAYERS: ("Options", "make")}


def names(group: str) -> tuple[str, ...]:
    """The names that installed packages declare in a group, ascending."""
    return tuple(sorted(metadata.entry_points(group=group).names))


def module(group: str, name: str) -> ModuleType | None:
    """The module of that name, imported; None where no installed package declares it.

    Raises TrickformerError where two do, the module cannot be imported, or it lacks what it must export."""
    found = list(metadata.entry_points(group=group, name=name))
    if not found:
        return None
    if len(found) > 1:
        packages = " and ".join(sorted(p.dist.name if p.dist else p.value for p in found))
        raise TrickformerError(f"{packages} both declare {name!r} in {group}; uninstall one")
    what = f"{name!r} of {group} ({found[0].value})"
    try:
        module = found[0].load()
    except (Exception, SystemExit) as e:  # whatever a module of others does
        said = str(e).partition("\n")[0]
        raise TrickformerError(f"{what} cannot be imported: {type(e).__name__}: {said}") from e
    if missing := [export for export in _EXPORTS[group] if not hasattr(module, export)]:
        raise TrickformerError(f"{what} does not export {' and '.join(missing)}")
    return module
