"""Run folders, records, configs and checkpoints of version 0.2.0 stay readable. The fixtures' README lists them."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from support.forked import served
from support.shipped import is_transformer

from trickformer import checkpoints

FIXTURES = Path(__file__).parents[1] / "fixtures" / "v0_2_0"
TIMING = ("seconds", "calls")
TOURNAMENTS = sorted(path.parent.name for path in FIXTURES.glob("tournaments/*/result.json"))
RECORDS = sorted(path.relative_to(FIXTURES).as_posix() for path in FIXTURES.glob("tournaments/*/records.jsonl"))
CONVERTED = sorted(path.name for path in FIXTURES.glob("records/*.jsonl"))
KILLED = "hearts --a pimc:eval=rollout,worlds=2,runs=4,playout=light --b rules --deals 2 --seed 10"
TRAINING = ("plain", "expert")
GONE = ("hearts-model",)  # its players search trees over worlds, which is no longer possible
SMALL_HANABI = "hanabi(colors=2,ranks=2,hand_size=2)"
# Folders of other commands, and the file of each that a finished run leaves as it is.
OTHERS = {
    "crew evaluate": ("crew-evaluate", "records.jsonl"),
    "obl crossplay": ("crossplay", "records.jsonl"),
    "mines table": ("mines-table", "records.jsonl"),
    "mines agree": ("mines-agree", "records.jsonl"),
    "belief evaluate": ("belief-evaluate", "records.jsonl"),
    "belief head": ("belief-head", "belief.safetensors"),
}
# Configs that are played to their end, and those whose runs take too long: a folder that is taken stops them.
PLAYED = {
    "tournament": "tournament",
    "crew evaluate": "crew-evaluate",
    "obl crossplay": "crossplay",
    "mines table": "mines-table",
    "obl train": "obl-train",
}
REFUSED = {
    "train": ("train-expert", "train/expert"),
    "belief train": ("belief-train", "belief-train"),
    "belief evaluate": ("belief-evaluate", "belief-evaluate"),
    "belief head": ("belief-head", "belief-head"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the fixtures, as the current folder: runs name files of one another by relative paths."""
    copy = shutil.copytree(FIXTURES, tmp_path / "v0_2_0")
    monkeypatch.chdir(copy)
    return copy


def done(call, *words):
    """Standard output of a command that succeeds."""
    code, out, err = call(*words)
    assert code == 0, err
    return out


def resumed(call, name, out, *more):
    """Standard output of a command that continues the run in `out` by the run's own config."""
    return done(call, *name.split(), "--config", f"{out}/config.toml", "--out", out, "--resume", *more)


def comparable(path):
    """Records without their timing, by deal and seating."""
    lines = map(json.loads, path.read_text().splitlines())
    records = [{key: value for key, value in line.items() if key not in TIMING} for line in lines]
    return sorted(records, key=lambda record: (record["deal"], record["seating"]))


def without(row, key):
    """Copy an object without one of its keys."""
    return {name: value for name, value in row.items() if name != key}


def matches_of(result):
    """Return the pairs of a result: its matches, or itself if only two players have met."""
    return [result] if "rows" in result else result["matches"]


def refused(call, *words):
    """A tournament of a player with a setting that no longer exists ends in one line."""
    code, _, err = call("tournament", *words)
    assert code == 2
    assert "no longer exists" in err
    assert err.count("\n") == 1


def plays(call, game, spec):
    """Whether the player finishes a deal against a random one."""
    result = json.loads(done(call, "tournament", game, "--a", spec, "--b", "random", "--deals", 1, "--json"))
    return result["deals"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", TOURNAMENTS)
def test_finished_tournament_resumes_and_reports(folder, command, name):
    out = folder / "tournaments" / name
    records, result = (out / "records.jsonl").read_bytes(), json.loads((out / "result.json").read_text())
    if name in GONE:
        refused(command, "--config", out / "config.toml", "--out", out, "--resume")
    else:
        resumed(command, "tournament", out)
    assert (out / "records.jsonl").read_bytes() == records
    report = json.loads(done(command, "report", out, "--json"))
    assert report["deals"] == result["deals"]
    for new, old in zip(matches_of(report), matches_of(result), strict=True):
        assert list(new["rows"]) == list(old["rows"])
        for label, row in old["rows"].items():  # intervals are wider than those of 0.2.0
            assert {key: new["rows"][label][key] for key in row if key != "ci95"} == without(row, "ci95")


@pytest.mark.slow
@pytest.mark.parametrize("words", [KILLED, "--config tournaments/hearts-killed/config.toml"], ids=["typed", "config"])
def test_killed_tournament_finishes_as_if_unbroken(folder, command, words):
    out, whole = folder / "tournaments/hearts-killed", folder / "tournaments/hearts-whole"
    before = (out / "records.jsonl").read_bytes()
    done(command, "tournament", *words.split(), "--out", out, "--resume")
    assert (out / "records.jsonl").read_bytes().startswith(before)
    assert comparable(out / "records.jsonl") == comparable(whole / "records.jsonl")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*RECORDS, *(f"records/{name}" for name in CONVERTED)])
def test_records_replay_and_print(command, name):
    counts = json.loads(done(command, "records", "check", FIXTURES / name, "--json"))
    assert counts["games"] > 0
    assert counts["differs"] == counts["damaged"] == 0
    assert done(command, "records", "show", FIXTURES / name, "--game", 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONVERTED)
def test_converted_records_are_stable(command, tmp_path, name):
    done(command, "records", "convert", FIXTURES / "records" / name, tmp_path / name)
    shown, again = (done(command, "records", "show", at / name) for at in (FIXTURES / "records", tmp_path))
    assert shown == again
    own = FIXTURES / "tournaments" / Path(name).stem / "records.jsonl"
    if own.exists():
        done(command, "records", "convert", own, tmp_path / "own.jsonl")
        assert (tmp_path / "own.jsonl").read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINING)
def test_training_resumes_and_finishes(folder, command, name):
    out = folder / "train" / name
    assert not (out / "model-1").exists()
    assert resumed(command, "train", out).split() == [str(out / "model-1")]
    entries = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert entries[-1]["iteration"] == 1
    assert (out / "matches/1-previous/records.jsonl").exists()
    assert plays(command, "hearts", f"argmax:checkpoint={out / 'model-1'}")


def contents(path):
    """Bytes of a file; of safetensors those of the tensors, because the header names the build that wrote it."""
    data = path.read_bytes()
    return data[8 + int.from_bytes(data[:8], "little") :] if path.suffix == ".safetensors" else data


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_finished_run_of_another_command_resumes(folder, command, name):
    out, kept = OTHERS[name]
    before = contents(folder / out / kept)
    resumed(command, name, out)
    assert contents(folder / out / kept) == before


def test_match_at_the_table_resumes(folder, command, monkeypatch):
    moves = (folder / "play/moves.jsonl").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
    assert "scores of the match" in resumed(command, "play", "play")
    assert (folder / "play/moves.jsonl").read_bytes() == moves


@pytest.mark.slow
def test_browser_shows_the_hands():
    pytest.importorskip("uvicorn")
    analyst = "gomcts:checkpoint=skat-small,imagine=worlds,playing=script"
    with served(str(FIXTURES / "tournaments/skat"), "--analyse", analyst, command="view") as (address, _):
        assert urlopen(address).status == 200


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYED)
def test_config_runs(folder, command, name):
    file = folder / f"configs/{PLAYED[name]}.toml"
    if name == "tournament":  # one of its players searches a tree over worlds, which is no longer possible
        refused(command, "--config", file, "--out", "refused")
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(line for line in lines if "root=uct" not in line))
    done(command, *name.split(), "--config", file, "--out", "new")
    assert (folder / "new/config.toml").exists()


def test_config_of_a_table_is_played(folder, command, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\nquit\n"))
    assert "scores of the match" in done(command, "play", "--config", "configs/play.toml")


@pytest.mark.parametrize("name", REFUSED)
def test_config_loads(folder, command, name):
    file, taken = REFUSED[name]
    code, _, err = command(*name.split(), "--config", f"configs/{file}.toml", "--out", taken)
    assert code == 2
    assert "--resume" in err


@pytest.mark.parametrize("name", checkpoints.names())
def test_shipped_checkpoint_plays(command, name):
    game = name.partition("-")[0]
    player = "argmax" if is_transformer(name) else "obl"
    assert plays(command, "crew(mission=1)" if game == "crew" else game, f"{player}:checkpoint={name}")


@pytest.mark.parametrize(
    ("game", "spec"),
    [
        ("hearts", "argmax:checkpoint=train/expert/model-0"),
        ("hearts", "pimc:belief=belief-head,worlds=2,runs=4"),
        (SMALL_HANABI, "obl:checkpoint=obl-train"),
        ("hanabi", "rule_search:belief=seq2seq,checkpoint=belief-train,worlds=2"),
    ],
)
def test_checkpoint_of_a_run_plays(folder, command, game, spec):
    assert plays(command, game, spec)


def test_checkpoint_with_the_old_keys_is_the_fixture():
    config = json.loads((FIXTURES / "train/expert/model-0/config.json").read_text())
    assert config["n_facts"] > 0
    assert config["trickformer"]["facts"] == "hearts-1"


@pytest.mark.slow
def test_half_finished_off_belief_training_resumes(folder, command):
    """Its state names classes by their former names. Steps after the state are repeated; the last digits of their loss
    depend on the processor."""
    run = folder / "obl-train-half"

    def entries():
        return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]

    before = entries()
    done(command, "obl", "train", "--config", run / "config.toml", "--out", run, "--resume")
    after = entries()
    assert len(before) < 700 and [entry["step"] for entry in after] == list(range(1, 701))
    for old, new in zip(before, after):
        assert new == old | {"loss": pytest.approx(old["loss"], rel=1e-5)}
    assert (run / "model.safetensors").is_file()
