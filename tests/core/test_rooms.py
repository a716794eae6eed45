"""The rooms of the package stand in one order, and no two modules import each other in a circle."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import trickformer

ROOT = Path(trickformer.__file__).parent

# A module imports from its own room and from rooms further up in this list. It belongs to the longest name that it
# starts with, so that a single module may stand elsewhere than the rest of its folder.
ORDER = (
    "engine",  # for authors of engines; the standard library alone
    "base",
    "plumbing",
    "openspiel",
    "games",
    "tokenizers",
    "checkpoints.folders",  # models are found by name
    "models",
    "checkpoints",
    "models.player",
    "models.argmax",
    "gomcts",
    "belief",
    "search",
    "engines",  # protocol, processes and entries: players/engine.py drives them
    "players",
    "engines.config",
    "engines.serve",
    "tournaments",
    "engines.conformance",  # plays hands of a tournament
    "selfplay",
    "records",
    "review",
    "audit",
    "studies",
    "web",
    "api",
    "cli",
    "__main__",
)

# Imports against the order, which are to go.
EXCEPTIONS: dict[tuple[str, str], str] = {}


def modules() -> dict[str, Path]:
    """Find every module of the package except the package itself, by its name below the package."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    del found[""]
    return found


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """Find the modules of the package that a file imports, inside functions and for the type checker too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: names of modules are given in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            room, _, below = name.partition(".")
            if room == "trickformer":
                found.add(below if below in known else below.rpartition(".")[0])
    return found & known.keys()


def place(module: str) -> int:
    """Return where the room of a module stands in the order."""
    rooms = [room for room in ORDER if f"{module}.".startswith(f"{room}.")]
    assert rooms, f"{module} belongs to no room of ORDER"
    return ORDER.index(max(rooms, key=len))


def test_modules_import_from_rooms_further_up_alone():
    known = modules()
    assert all(any(f"{module}.".startswith(f"{room}.") for module in known) for room in ORDER)
    against = {
        (module, other)
        for module, path in known.items()
        for other in imports(path, known)
        if place(other) > place(module)
    }
    assert against == EXCEPTIONS.keys()


def test_no_modules_import_each_other_in_a_circle():
    known = modules()
    graph = {
        module: {other for other in imports(path, known) - {module} if (module, other) not in EXCEPTIONS}
        for module, path in known.items()
    }
    list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle
