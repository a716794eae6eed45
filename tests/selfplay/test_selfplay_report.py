"""Reports of trainings that need no run: the choice of the best model, lines of matches, and runs of version 0.2."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from trickformer import checkpoints, games
from trickformer.selfplay.model_cards import snippet
from trickformer.selfplay.report import describe_unit
from trickformer.selfplay.results import describe_match, find_best

FIXTURES = Path(__file__).parents[1] / "fixtures" / "v0_2_0"


def met(iteration, difference, opponent="baseline", low=-1.0, high=1.0):
    return {"iteration": iteration, "opponent": opponent, "difference": difference, "low": low, "high": high}


def test_the_best_model_has_the_best_mean_against_the_baseline():
    matches = [met(0, 3.0), met(1, -1.0), met(1, -9.0, "previous"), met(2, 0.5), met(3, -1.0)]
    assert find_best(matches, range(4), higher_is_better=False) == 3, "the later one of two equals"
    assert find_best(matches, range(3), higher_is_better=False) == 1
    assert find_best(matches, range(4), higher_is_better=True) == 0
    assert find_best(matches, range(6), higher_is_better=True) == 0, "a model that has met nobody is not the best"
    assert find_best([met(1, -9.0, "previous")], range(3), higher_is_better=False) == 2
    assert find_best([], [], higher_is_better=True) is None


def test_a_match_is_one_line():
    entry = met(3, -2.1, low=-2.8, high=-1.4) | {"deals": 50}
    assert describe_match(entry, "rules", games.load("hearts")) == (
        "iteration 3: argmax - rules: -2.10 points a hand, 95% interval [-2.80, -1.40], over 50 deals, lower is better"
    )
    won = met(3, 0.17, low=None) | {"deals": 2}
    assert "+0.17 wins a game over" in describe_match(won, "rules", games.load("trickformer_crew(mission=3)"))
    entry = met(3, -0.001, "previous", None, None) | {"deals": 1}
    assert describe_match(entry, "rules", games.load("skat")) == (
        "iteration 3: argmax - argmax of iteration 2: +0.00 points a hand over 1 deal, higher is better"
    )


@pytest.mark.parametrize(
    ("game", "sentence"),
    [("skat", " One unit of v(o) is 100 points."), ("crew(mission=3)", " One unit of v(o) is 1 mission.")],
)
def test_the_unit_of_losses_is_the_games(game, sentence):
    assert describe_unit(games.load(game)) == sentence


@pytest.mark.parametrize("name", ["expert", "plain"])
def test_the_report_of_a_run_of_version_0_2(tmp_path, command, name):
    run = shutil.copytree(FIXTURES / "train" / name, tmp_path / name)
    code, text, err = command("report", run, "--json")
    assert (code, err) == (0, "")
    assert [m["iteration"] for m in json.loads(text)["models"]] == ([0, 1] if name == "expert" else [0])
    if name == "expert":
        assert checkpoints.find(str(run)) == run / "model-0"


def test_a_card_of_a_model_without_features_runs(tiny_checkpoint, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", snippet(".", "hearts", False, False), re.DOTALL)
    monkeypatch.chdir(tiny_checkpoint)
    exec(compile(code, "a snippet", "exec"), {})
    assert capsys.readouterr().out.strip()
