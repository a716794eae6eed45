"""A training on a disk that keeps only what was flushed."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from tests.faults.powercut import Cut, Recorder
from trickformer import games, tokenizers
from trickformer.selfplay import data, nfsp
from trickformer.selfplay.config import SelfPlay


@pytest.mark.slow
def test_a_model_is_not_on_the_disk_before_its_data_and_its_log(tmp_path, monkeypatch):
    """`--resume` takes a model as a sign that its iteration was logged, and a manifest that its data are whole."""
    now, log = tmp_path / "now", tmp_path / "log"
    now.mkdir()
    log.mkdir()
    monkeypatch.setattr(os, "fsync", Recorder(log).fsync)
    save, stages = nfsp.save, []

    def checked_save(*arguments):
        disk = tmp_path / "disk"
        Cut(log, None).rebuild(now, disk)
        lines = (disk / "run/log.jsonl").read_text().splitlines()
        stages.append([json.loads(line)["stage"] for line in lines if "stage" in json.loads(line)])
        game = games.load("hearts")
        sequences = data.load(disk / "run/data/0", game, tokenizers.make(game))
        assert len(sequences) == json.loads((disk / "run/data/0/manifest.json").read_text())["sequences"] > 0
        shutil.rmtree(disk)
        save(*arguments)

    monkeypatch.setattr(nfsp, "save", checked_save)
    small = {"preset": "tiny", "bootstrap": ["random"], "bootstrap_hands": 40, "sequences": 40, "iterations": 0}
    nfsp.run(SelfPlay(game="hearts", held_out=8, match_deals=2, rollout_network=False, out=now / "run", **small), False)
    assert len(stages) == 1 and "measure" in stages[0]
    Cut(log, None).rebuild(now, tmp_path / "disk")
    for name in ("config.json", "model.safetensors", "B2SUMS"):
        assert (tmp_path / "disk/run/model-0" / name).read_bytes() == (now / "run/model-0" / name).read_bytes()
