"""The rooms of the package: no circle between them, and no laboratory below what plays."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import trickformer

ROOT = Path(trickformer.__file__).parent
STUDIES = {
    "obl",
    "obl.hanabi",
    "skat",
    "tournaments.crew",
    "tournaments.crossplay",
    "tournaments.mines",
    "selfplay",
}  # rooms
STUDIES |= {f"belief.hanabi.{name}" for name in ("commands", "evaluation", "report", "stack", "training")}
ABOVE = STUDIES | {"web", "web.scenes"}  # the table shows what plays, and what was studied


def modules() -> dict[str, Path]:
    """Every module of the package, by its name without the package's."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the package that a file imports, wherever in it; not those for the type checker alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in typing or not isinstance(node, ast.ImportFrom):
            continue
        assert not node.level, f"{path}: names of modules are given in full"
        head, _, rest = (node.module or "").partition(".")
        for name in (alias.name for alias in node.names) if head == "trickformer" else ():
            whole = f"{rest}.{name}".lstrip(".")
            found.add(whole if whole in known else rest)
    return found


def room(module: str, known: dict[str, Path]) -> str:
    """The folder that a module lies in, or the module where it lies in none."""
    return module if known[module].name == "__init__.py" else module.rpartition(".")[0] or module


def test_no_circle_between_rooms_or_modules():
    known = modules()
    by_module = {name: imported(path, known) - {name, "", "_core"} for name, path in known.items() if name}
    list(TopologicalSorter(by_module).static_order())  # raises CycleError, which names the circle
    by_room: dict[str, set[str]] = {}
    for name, others in by_module.items():
        here = room(name, known)
        by_room.setdefault(here, set()).update(room(other, known) for other in others)
    list(TopologicalSorter({here: others - {here} for here, others in by_room.items()}).static_order())


def test_what_plays_knows_no_laboratory():
    known = modules()
    assert all(name in known for name in STUDIES)
    for name, path in known.items():
        if not {name, room(name, known)} & ABOVE and name != "cli":
            others = imported(path, known) & known.keys()
            assert not (others | {room(other, known) for other in others}) & ABOVE, name


def test_searches_know_no_players():
    """Not even for the type checker."""
    for path in (*ROOT.glob("search/**/*.py"), *ROOT.glob("gomcts/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = {f"{node.module}.{alias.name}" for alias in node.names} | {node.module or ""}
                assert not any(name.startswith("trickformer.players") for name in names), path
