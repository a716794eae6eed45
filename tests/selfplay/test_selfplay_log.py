"""The log of a run of self-play, and the signs of collapse that are read from it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from trickformer.base import TrickformerError
from trickformer.selfplay import evaluate
from trickformer.selfplay.data import Sequences
from trickformer.selfplay.log import Log, read_log


def test_the_log_goes_back_to_where_a_stage_stands(tmp_path):
    log = Log(tmp_path, [0, 10])
    log.note(build={"python": "3"})
    for iteration in (0, 1):
        log.note(iteration=iteration, stage="play", at=100)
        for step in (5, 10):
            log.note(iteration=iteration, stage="learn", at=step, loss=1.0 / step)
        log.note(iteration=iteration, stage="measure", at=3, entropy=0.5)
    log.close()
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"time": 1, "iter')  # cut off in the middle of a line
    again = Log(tmp_path, [0, 10])
    assert len(again.entries) == 9
    again.rewind(1, "learn", 5)
    again.close()
    assert [e["at"] for e in again.stage_entries("learn")] == [5, 10, 5]
    assert [e["iteration"] for e in again.stage_entries("measure")] == [0]
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 7
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    assert len(list((tmp_path / "tensorboard").iterdir())) == 1
    board = EventAccumulator(str(tmp_path / "tensorboard"))
    board.Reload()
    assert [(e.step, round(e.value, 3)) for e in board.Scalars("learn/loss")] == [
        (5, 0.2),
        (10, 0.1),
        (15, 0.2),
        (20, 0.1),
    ]
    (tmp_path / "log.jsonl").write_text("nonsense\n")
    (tmp_path / "log.jsonl.sums").unlink()
    with pytest.raises(TrickformerError, match=r"log\.jsonl is broken"):
        Log(tmp_path, [0])


def test_a_stage_that_is_no_text_is_broken(tmp_path):
    (tmp_path / "log.jsonl").write_text(json.dumps({"iteration": 0, "stage": [], "at": 1, "time": 1}) + "\n")
    with pytest.raises(TrickformerError, match=r"log\.jsonl is broken"):
        read_log(tmp_path, 1)


def test_a_match_without_its_interval_is_broken(tmp_path):
    """An interval may be null, after one deal, but not missing: the report has a column for it."""
    match = {"iteration": 0, "stage": "match", "at": 1, "time": 1, "opponent": "rules", "difference": 1, "deals": 1}
    (tmp_path / "log.jsonl").write_text(json.dumps(match | {"low": None, "high": None}) + "\n")
    assert read_log(tmp_path, 1)[0]["low"] is None
    (tmp_path / "log.jsonl").write_text(json.dumps(match) + "\n")
    with pytest.raises(TrickformerError, match=r"log\.jsonl is broken"):
        read_log(tmp_path, 1)


def row(low, high, difference=None):
    return {"difference": (low + high) / 2 if difference is None else difference, "low": low, "high": high}


def test_signs_of_collapse(hearts):
    rng = np.random.default_rng(0)
    varied = Sequences.without_labels(np.zeros((1000, 75)), rng.integers(0, 500, 1000))
    alike = Sequences.without_labels(np.zeros((1000, 75)), np.where(np.arange(1000) < 600, 7, varied.outcomes))
    good = {"entropy": 0.4}

    def warned(data=varied, learned=good, previous=(), baseline=()):
        return evaluate.warnings(hearts, data, learned, {"previous": list(previous), "baseline": list(baseline)})

    assert warned(previous=[row(-1, -0.2)], baseline=[row(3, 4), row(2, 3)]) == []
    assert warned(baseline=[row(3, 4), row(3.5, 4.5)]) == []
    assert warned(previous=[row(-0.5, 0.3)]) == []
    assert "60% of the hands end alike" in warned(alike)[0]
    assert "certain of every action" in warned(learned={"entropy": 0.001})[0]
    assert "like its predecessor" in warned(previous=[row(0, 0)])[0]
    alike = {"difference": 0.0, "low": None, "high": None}
    assert "like its predecessor" in warned(previous=[alike | {"deals": 9}])[0]
    assert warned(previous=[alike | {"deals": 1}]) == []
    assert "worse than its predecessor, by 0.40" in warned(previous=[row(0.4, 1.2)])[0]
    assert "worse against the baseline" in warned(baseline=[row(2, 3), row(3.5, 4.5)])[0]
    assert warned(baseline=[row(3.5, 4.5), row(2, 3)]) == []


def test_a_log_of_version_0_2_is_read(tmp_path):
    entry = {"time": 1, "iteration": 0, "stage": "quick", "at": 9, "loss": 0.5}
    (tmp_path / "log.jsonl").write_text(json.dumps(entry) + "\n")
    log = Log(tmp_path, [0, 10])
    assert log.stage_entries("rollout_network") == [entry | {"stage": "rollout_network"}]
    log.rewind(0, "learn", 9)
    assert log.entries == []
    log.close()


def test_former_names_of_losses_are_read(tmp_path):
    """Old logs have observation_loss and outcome_loss, which are policy_loss and value_loss now."""
    measured = {"time": 1, "iteration": 0, "stage": "measure", "at": 9, "observation_loss": 1.5, "outcome_loss": 2.5}
    (tmp_path / "log.jsonl").write_text(json.dumps(measured) + "\n")
    log = Log(tmp_path, [0, 10])
    (entry,) = log.stage_entries("measure")
    assert (entry["policy_loss"], entry["value_loss"]) == (1.5, 2.5)
    assert not entry.keys() & {"observation_loss", "outcome_loss"}
    log.close()
