"""Checks that a user relies on hold under `python -O`, which drops every `assert`."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import trickformer

ROOT = Path(trickformer.__file__).parent
PROGRAM = """
from trickformer import _core
from trickformer.audit import differential
_core.hearts.State.scores = lambda _: (0, 0, 0, 0)
differential.main()
"""


def narrows_a_type(test: ast.expr) -> bool:
    """Return whether a condition speaks of types alone: `isinstance(...)`, `... is None`, or several of them."""
    if isinstance(test, ast.BoolOp):
        return all(map(narrows_a_type, test.values))
    if isinstance(test, ast.Compare):
        return [type(op) for op in test.ops] in ([ast.Is], [ast.IsNot])
    return isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"


def test_assertions_speak_to_type_checkers_alone():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert) and not narrows_a_type(node.test)
    ]
    assert found == []


def test_a_difference_is_found_without_assertions():
    done = subprocess.run([sys.executable, "-O", "-c", PROGRAM, "--hands", "256"], capture_output=True, text=True)
    assert done.returncode == 1 and "seed 0, hand 0" in done.stderr and "no difference" not in done.stdout
