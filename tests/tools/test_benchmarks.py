"""Every benchmark shows its options, and the names that benchmarks and runs take from the package exist.

They run too long for a test. A rename in the package would break them without notice, so their sources are read here.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from trickformer import games

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py"))
OWN = ("trickformer", "benchmarks", "tests", "support")  # packages whose names are checked


@pytest.fixture(autouse=True)
def _root_on_path(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


def _member(module, name):
    """Return an attribute or a submodule of a module. Raises LookupError if there is none."""
    if hasattr(module, name):
        return getattr(module, name)
    try:
        return importlib.import_module(f"{module.__name__}.{name}")
    except ModuleNotFoundError:
        raise LookupError(name) from None


def _chain(node):
    """Return the names of a dotted expression such as `_core.mines.Board`, or None for any other expression."""
    if isinstance(node, ast.Name):
        return [node.id]
    names = _chain(node.value) if isinstance(node, ast.Attribute) else None
    return names and [*names, node.attr]


def _resolve(names, bound):
    """Return what a dotted expression stands for, or None if only a run can tell. Raises LookupError."""
    found = bound.get(names[0])
    for name in names[1:]:
        if isinstance(found, ModuleType):
            found = _member(found, name)
        elif inspect.isclass(found) and hasattr(found, name):
            found = getattr(found, name)
        else:
            return None
    return found


def _call_fault(called, node):
    """Return why the arguments of a call do not fit a function or a class of Python, or None if they may."""
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return None
    given = {keyword.arg: None for keyword in node.keywords if keyword.arg}
    whole = len(given) == len(node.keywords) and not any(isinstance(a, ast.Starred) for a in node.args)
    try:
        if whole:
            signature.bind(*node.args, **given)
        else:
            signature.bind_partial(**given)
    except TypeError as error:
        return str(error)
    return None


def faults(source):
    """Return the names and calls of a source that do not fit the package."""
    nodes, bound, found = list(ast.walk(ast.parse(source))), {}, []
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in OWN:
            for alias in node.names:
                try:
                    bound[alias.asname or alias.name] = _member(importlib.import_module(node.module), alias.name)
                except (LookupError, ModuleNotFoundError):
                    found.append(f"{node.module}.{alias.name}")
    for node in nodes:  # a local variable may hide an imported name
        if isinstance(node, ast.arg):
            bound.pop(node.arg, None)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.pop(node.id, None)
    for node in nodes:
        names = _chain(node.func if isinstance(node, ast.Call) else node)
        if not names or names[0] not in bound:
            continue
        try:
            called = _resolve(names, bound)
        except LookupError:
            if isinstance(node, ast.Attribute):
                found.append(".".join(names))
            continue
        if isinstance(node, ast.Call) and called is not None and (fault := _call_fault(called, node)):
            found.append(f"{'.'.join(names)}: {fault}")
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from trickformer import _core\n_core.mines.Board(3, 3, 2, 0)", []),
        ("from trickformer import _core\n_core.mines.Sight", ["_core.mines.Sight"]),
        ("from trickformer.models import backend\nbackend.load_engine('x')", ["backend.load_engine"]),
        ("def f():\n    from trickformer.models import engine", ["trickformer.models.engine"]),
        ("from trickformer.models.engine import load_engine", ["trickformer.models.engine.load_engine"]),
        ("from trickformer import games\ngames.load('skat')", []),
        ("from trickformer import games\ndef f(games):\n    games.anything", []),
        ("from trickformer import games\ngames.load('skat', quick=1)", ["games.load: got an unexpected keyword"]),
        ("from trickformer import games\ngames.load(**{})", []),
        ("from trickformer.gomcts.options import SearchOptions\nSearchOptions(early=1)", ["SearchOptions: got an"]),
    ],
)
def test_faults_are_found(source, expected):
    found = faults(source)
    assert len(found) == len(expected)
    assert all(fault.startswith(text) for fault, text in zip(found, expected, strict=True))


def test_there_are_benchmarks():
    assert {"hearts", "skat", "gomcts", "selfplay"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_a_benchmark_exist(name):
    assert not faults((ROOT / "benchmarks" / f"{name}.py").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_shows_its_options(name, monkeypatch, capsys):
    module = importlib.import_module(f"benchmarks.{name}")
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as end:
        module.main()
    out = capsys.readouterr().out
    assert end.value.code == 0 and out.startswith("usage:")
    assert "--quick" in out and "--json" in out


@pytest.mark.parametrize("name", ["hearts", "crew"])
def test_settings_of_gomcts_are_those_of_the_game(name):
    gomcts = importlib.import_module("benchmarks.gomcts")
    assert name in gomcts.POSITIONS
    game = games.load(name)
    settings = gomcts.search_settings(game, quick=False)
    assert (settings.runs, settings.steps, settings.legal) == (game.search.runs, game.search.steps, True)
    assert gomcts.search_settings(game, quick=True).runs == settings.runs // 4


RUNS = ROOT / "runs"
_HEREDOC = re.compile(r"<<'PYTHON'\n(.*?)^PYTHON$", re.DOTALL | re.MULTILINE)


def _python_of_runs():
    """Yield the Python files of runs/ and the programs within its shell scripts."""
    for path in sorted(RUNS.glob("*.py")):
        yield pytest.param(path.read_text(), id=path.name)
    for path in sorted(RUNS.glob("*.sh")):
        for number, source in enumerate(_HEREDOC.findall(path.read_text())):
            yield pytest.param(source, id=f"{path.name}-{number}")


@pytest.mark.parametrize("source", [*_python_of_runs()])
def test_names_of_runs_exist(source):
    assert not faults(source)


def test_every_program_within_a_script_is_read():
    for path in [*RUNS.glob("*.sh"), *RUNS.glob("*.bash")]:
        source = path.read_text()
        assert len(_HEREDOC.findall(source)) == len(re.findall(r"(?<!<)<<(?!<)-?\s*['\"\\\w]", source)), path.name


@pytest.mark.parametrize("name", ["crew_random", "hanabi_players", "skat_contracts"])
@pytest.mark.parametrize("words", [["--games", "0"], ["--games", "-5"], ["--seed", "-1"]])
def test_a_run_refuses_bad_numbers_in_one_line(name, words, capsys, monkeypatch):
    spec = importlib.util.spec_from_file_location(name, RUNS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # `dataclass` looks the module up
    spec.loader.exec_module(module)
    with pytest.raises(SystemExit) as end:
        module.main(words)
    out, err = capsys.readouterr()
    assert end.value.code == 2 and not out
    assert err.startswith("error: --games or --seed is too small; use --games ") and err.count("\n") == 1
