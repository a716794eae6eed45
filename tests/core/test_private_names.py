"""Tests use the package by its public names: what a test needs and cannot reach is given a public seam."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import trickformer

TESTS = Path(__file__).parents[1]
PUBLIC = {"_core"}  # the compiled module, which all rooms import
SETTERS = {"getattr", "setattr", "hasattr", "delattr"}  # of Python and of monkeypatch
MOST = 0  # reaches left; the number may only fall


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC


@cache
def defined() -> frozenset[str]:
    """Find the private names of the package: its modules, and what stands in them."""
    names = set()
    for path in Path(trickformer.__file__).parent.rglob("*.py"):
        names.add(path.stem)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.attr if isinstance(node, ast.Attribute) else node.id)
    return frozenset(name for name in names if is_private(name))


def reached(node: ast.AST) -> list[str]:
    """Find the names that a piece of code reaches for, own ones of a class left out."""
    if isinstance(node, ast.Attribute):
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        return [] if own else [node.attr]
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trickformer"):
        return [*str(node.module).split("."), *(alias.name for alias in node.names)]
    if isinstance(node, ast.Import):
        return [part for alias in node.names if alias.name.startswith("trickformer") for part in alias.name.split(".")]
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        return [part for text in texts for part in text.split(".")] if called in SETTERS else []
    return []


def reaches(source: str, names: frozenset[str]) -> list[str]:
    """Find the private names that a test's source reaches for, with their lines."""
    found = [(node, name) for node in ast.walk(ast.parse(source)) for name in reached(node)]
    return [f"{node.lineno}: {name}" for node, name in found if is_private(name) and name in names]


def test_tests_use_public_names():
    names, found = defined(), []
    for path in sorted(TESTS.rglob("*.py")):
        place = path.relative_to(TESTS)
        found += [f"tests/{place}:{reach}" for reach in reaches(path.read_text(encoding="utf-8"), names)]
    listed = "\n".join(found)
    assert len(found) <= MOST, f"reaches into private names; give each a public seam:\n{listed}"
    assert len(found) == MOST, f"lower MOST to {len(found)}"


@pytest.mark.parametrize(
    "line",
    [
        "player._belief",
        "writer._files['a'] = 1",
        "from trickformer.plumbing.progress import _bar",
        "from trickformer.belief.samplers._deals import Deals",
        "import trickformer.engines._supervise",
        "monkeypatch.setattr(room, '_panel_worker', 1)",
        "monkeypatch.setattr('trickformer.web.room.Room._panel_worker', 1)",
    ],
)
def test_a_reach_is_found(line):
    assert len(reaches(line, defined())) == 1


@pytest.mark.parametrize(
    "line", ["self._belief", "os._exit(0)", "from trickformer import _core", "tables.__getstate__()"]
)
def test_what_is_public_or_ones_own_is_none(line):
    assert not reaches(line, defined())
