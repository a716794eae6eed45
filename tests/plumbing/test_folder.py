"""Run folders: what starts, what continues, and what an interrupt tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.plumbing.folder import ABOUT, CONFIG, Interruption, RunFolder, TimeLimit, resumable


class Config(BaseModel):
    seed: int = 0
    workers: int = 1
    ray: str | None = None
    out: Path | None = None


def test_a_run_continues_with_the_same_config_and_the_same_files(tmp_path):
    folder, free = RunFolder(tmp_path / "run"), ("workers",)
    assert not folder.has_run and folder.about() == {}
    with folder.open(Config(), resume=False, free=free, files={"a": "1"}):
        assert folder.has_run and folder.about()["files"] == {"a": "1"}
        with pytest.raises(TrickformerError, match="another run is writing"), folder.lock():
            pass
    folder.check(Config(workers=2), resume=True, free=free, files={"a": "1"})
    for config, files, fault in (
        (Config(seed=1), {"a": "1"}, "--seed 0, not --seed 1"),
        (Config(), {"a": "2"}, "begun with another a"),
    ):
        with pytest.raises(TrickformerError, match=fault):
            folder.check(config, resume=True, free=free, files=files)
    with pytest.raises(TrickformerError, match="--resume"):
        folder.check(Config(), resume=False, free=free)
    (folder.path / ABOUT).write_text('{"files": null}')
    with pytest.raises(TrickformerError, match=f"{ABOUT} is broken"):
        folder.check(Config(), resume=True, free=free, files={"a": "1"})


def test_records_are_kept_and_every_build_is_named(tmp_path):
    folder = RunFolder(tmp_path)
    with folder.records("records.jsonl", Config(), resume=False, free=(), about={"game": "skat"}) as lines:
        lines.append({"n": 1})
    about = json.loads((tmp_path / ABOUT).read_text())
    (tmp_path / ABOUT).write_text(json.dumps(about | {"builds": [{"trickformer": "0"}]}))
    with folder.records("records.jsonl", Config(), resume=True, free=(), about={"game": "skat"}) as lines:
        assert lines.stored == [{"n": 1}]
    assert folder.about()["game"] == "skat" and len(folder.builds()) == 2
    (tmp_path / CONFIG).unlink()
    with (
        pytest.raises(TrickformerError, match="but no config"),
        folder.records("records.jsonl", Config(), resume=True, free=()),
    ):
        pass


def test_there_is_nothing_to_resume_without_a_folder(tmp_path):
    assert RunFolder.optional(None, resume=False) is None
    with pytest.raises(TrickformerError, match="--resume needs the --out"):
        RunFolder.optional(None, resume=True)


@pytest.mark.parametrize(
    ("stop", "end"), [(KeyboardInterrupt, "interrupted"), (lambda: TimeLimit("time is up"), "time is up")]
)
def test_an_interrupt_tells_how_to_continue(stop, end, tmp_path):
    config = Config(out=tmp_path / "a run", ray="auto")
    with pytest.raises(Interruption) as caught, resumable("play it", config, ["--a", "x"], progress=lambda: "after 1"):
        raise stop()
    out = str(config.out)
    assert str(caught.value) == (
        f"{end} after 1; continue with: trickformer play it --out '{out}' --resume --a x --ray auto"
    )
    with pytest.raises(Interruption, match=f"{end}; nothing is kept without"), resumable("play", Config()):
        raise stop()
    with pytest.raises(Interruption) as caught, resumable("train", config), resumable("play it", config):
        raise stop()  # in a match of a training
    assert isinstance(caught.value, TimeLimit) == (end == "time is up")
    assert str(caught.value) == f"{end}; continue with: trickformer train --out '{out}' --resume --ray auto"


def test_a_folder_of_runs_is_no_run_folder(tmp_path):
    """Files of a run would be mixed with folders of other runs. Checkpoints and plain folders do not matter."""
    runs, config = tmp_path / "runs", Config()
    for name in ("model", "notes"):
        (runs / name).mkdir(parents=True)
    (runs / "model" / "config.json").write_text("{}")
    with RunFolder(runs / "first").open(config, resume=False, free=()):
        pass
    with pytest.raises(TrickformerError, match=r"runs holds other runs, such as first; choose another --out"):
        RunFolder(runs).check(config, resume=True, free=())
    RunFolder(runs / "second").check(config, resume=False, free=())
    with RunFolder(runs / "first").open(config, resume=True, free=()):
        (runs / "first" / "matches").mkdir()
    with RunFolder(runs / "first" / "matches").open(config, resume=True, free=()):
        pass
    RunFolder(runs / "first").check(config, resume=True, free=())  # a run may have runs of its own


def test_run_json_names_the_instruction_set_and_the_cpu(tmp_path):
    folder = RunFolder(tmp_path / "run", {"self_play_isa": "amx"})
    with folder.open(Config(), resume=False, free=()):
        pass
    (build,) = folder.about()["builds"]
    assert build["isa"] == _core.isa() and build["self_play_isa"] == "amx"
    assert build["cpu"] is None or build["cpu"].strip()


@pytest.mark.parametrize(
    ("then", "now", "fits"),
    [
        ("avx512", "v3", True),  # both compute in float32
        ("avx512bf16", "avx512bf16", True),
        ("avx512bf16", "avx512", False),
        ("avx512", "avx512bf16", False),
        ("amx", "avx512bf16", False),
    ],
)
def test_a_run_goes_on_with_the_rounding_that_it_began_with(tmp_path, monkeypatch, then, now, fits):
    folder = RunFolder(tmp_path / "run")
    monkeypatch.setattr(_core, "isa", lambda: then)
    with folder.open(Config(), resume=False, free=()):
        pass
    monkeypatch.setattr(_core, "isa", lambda: now)
    if fits:
        with folder.open(Config(), resume=True, free=()):
            pass
        assert [build["isa"] for build in folder.about()["builds"]] == list(dict.fromkeys([then, now]))
        return
    with pytest.raises(TrickformerError) as caught, folder.open(Config(), resume=True, free=()):
        pass
    assert str(caught.value) == (
        f"{folder.path} was begun on the instruction set {then}, which rounds in another way than {now}; "
        f"set the environment variable TRICKFORMER_ISA={then}, or choose another --out"
    )
    assert [build["isa"] for build in folder.about()["builds"]] == [then]


def test_a_run_of_an_earlier_version_names_no_instruction_set_and_goes_on(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path)
    with folder.open(Config(), resume=False, free=()):
        pass
    about = json.loads((tmp_path / ABOUT).read_text())
    for build in about["builds"]:
        del build["isa"], build["cpu"]
    (tmp_path / ABOUT).write_text(json.dumps(about))
    monkeypatch.setattr(_core, "isa", lambda: "avx512bf16")
    with folder.open(Config(), resume=True, free=()):
        pass
    assert len(folder.about()["builds"]) == 2
