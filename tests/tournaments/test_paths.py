"""Runs whose specs and rules name files by relative paths."""

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from trickformer.base import with_path
from trickformer.plumbing import paths
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament


@pytest.fixture
def project(tmp_path, tiny_checkpoint, monkeypatch):
    """A folder with a checkpoint `ck` and a program `bot.py`, which is the current one."""
    folder = tmp_path / "project"
    shutil.copytree(tiny_checkpoint, folder / "ck")
    monkeypatch.chdir(folder)
    return folder


def test_a_run_goes_on_from_another_folder(project, monkeypatch, tmp_path):
    config = Tournament(game="hearts", a="argmax:checkpoint=ck", b="random", deals=1, seed=3, out=Path("out"))
    begun = run.tournament(config)
    assert f"checkpoint={project / 'ck'}," in begun.config.a
    monkeypatch.chdir(tmp_path)
    again = run.tournament(run.load(project / "out").config, resume=True)
    assert again.records == begun.records


@pytest.mark.slow
def test_a_run_goes_on_after_its_project_has_moved(project, monkeypatch, tmp_path):
    specs = {"a": "argmax:checkpoint=ck", "b": "rollout:policy=random,runs=4,prior=argmax:checkpoint=ck"}
    begun = run.tournament(Tournament(game="hearts", **specs, deals=1, seed=3, out=project / "out"))
    monkeypatch.chdir(tmp_path)
    moved = tmp_path / "elsewhere"
    project.rename(moved)
    again = run.load(moved / "out")
    assert f"checkpoint={moved / 'ck'}," in again.config.a and f"checkpoint={moved / 'ck'}," in again.config.b
    resumed = run.tournament(again.config, resume=True)
    assert resumed.records == begun.records
    assert json.loads((moved / "out" / "run.json").read_text())["folder"] == str(moved / "out")


def test_paths_in_specs_become_absolute(project):
    (project / "bot,1.py").touch()
    from trickformer import games, players

    game = games.load("hearts")
    command = shlex.join([sys.executable, "bot,1.py", "--level", "3"])
    resolved = players.resolve(f'engine:cmd="{command}"', game)
    assert str(project / "bot,1.py") in resolved and "--level 3" in resolved
    (project / "hearts").mkdir()
    long_word = "x" * 300
    command = shlex.join([sys.executable, "-c", long_word, "--game", "hearts", "./hearts"])
    resolved = players.resolve(f'engine:cmd="{command}"', game)
    assert f"{long_word} --game hearts {project / 'hearts'}" in resolved, "a game is no path, whatever folders exist"
    nested = players.resolve("rollout:prior=argmax:checkpoint=ck", game)
    assert f"checkpoint={project / 'ck'}" in nested
    assert players.resolve("pimc:belief=uniform", game).count("belief=uniform") == 1
    (project / "uniform").mkdir()
    (project / "hearts-small").mkdir()
    assert "checkpoint=hearts-small" in players.resolve("argmax", game), "a shipped checkpoint is no folder here"
    assert "belief=uniform" in players.resolve("pimc", game)


def test_a_file_of_missions_is_found_again(tmp_path):
    spec = "crew(mission=60,file=a,b.toml,distress=left)"
    seen = []
    assert with_path(spec, lambda path: seen.append(path) or "/x") == "crew(mission=60,file=/x,distress=left)"
    assert seen == ["a,b.toml"]
    assert with_path("crew(file=m.toml)", lambda path: f"/y/{path}") == "crew(file=/y/m.toml)"
    assert with_path("hearts", str.upper) == "hearts"


def test_relocation(tmp_path):
    (tmp_path / "new" / "run").mkdir(parents=True)
    (tmp_path / "new" / "file").touch()
    change = {"old_folder": Path("/old/run"), "new_folder": tmp_path / "new" / "run"}
    assert paths.relocate("/old/file", **change) == str(tmp_path / "new" / "file")
    assert paths.relocate("/old/missing", **change) == "/old/missing"
    assert paths.relocate("file", **change) == "file"
    assert paths.relocate(str(tmp_path), **change) == str(tmp_path)
