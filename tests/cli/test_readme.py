"""The README shows Python that runs."""

import json
import re

from support.pages import ROOT, python_blocks


def test_the_python_of_the_readme_runs():
    blocks = python_blocks(ROOT / "README.md")
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_the_bot_of_add_a_player_plays_skat(monkeypatch, command):
    """The page shows the module that stands in examples, and a command that plays it."""
    root = ROOT
    text, source = (root / "docs" / "add-a-player.md").read_text(), root / "examples" / "skat_bot" / "skat_bot.py"
    assert f"```python\n{source.read_text()}```" in text
    (typed,) = re.findall(r"^PYTHONPATH=examples/skat_bot trickformer (.*)$", text, re.MULTILINE)
    monkeypatch.syspath_prepend(source.parent)
    code, out, err = command(*typed.split(), "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["a"] == "spiel:bot=skat_bot:make" and result["deals"] == 20
    assert result["summary"][0]["soloist"] > 0
    assert result["rows"]["All"]["difference"] > 0, "it is better than chance"
