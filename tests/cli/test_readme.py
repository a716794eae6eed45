"""The README shows Python that runs."""

import importlib
import re
from pathlib import Path


def test_the_python_of_the_readme_runs():
    text = (Path(__file__).parents[2] / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_every_benchmark_can_be_imported(monkeypatch):
    root = Path(__file__).parents[2]
    monkeypatch.syspath_prepend(root)
    names = sorted(path.stem for path in (root / "benchmarks").glob("[a-z]*.py"))
    assert {"hearts", "skat", "selfplay"} <= set(names)
    for name in names:
        importlib.import_module(f"benchmarks.{name}")
