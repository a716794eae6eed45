"""The README shows Python that runs."""

import importlib
import json
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


def test_the_bot_of_add_a_player_plays_skat(tmp_path, monkeypatch, command):
    """The page's module as it stands there, at its command; it is soloist now and then."""
    text = (Path(__file__).parents[2] / "docs" / "add-a-player.md").read_text()
    (source,) = (b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "pyspiel.Bot" in b)
    (typed,) = re.findall(r"^PYTHONPATH=\. trickformer (.*)$", text, re.MULTILINE)
    (tmp_path / "skat_bot.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    code, out, err = command(*typed.split(), "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["a"] == "spiel:bot=skat_bot:make" and result["deals"] == 20
    assert result["summary"][0]["soloist"] > 0
    assert result["rows"]["All"]["difference"] > 0, "it is better than chance"
