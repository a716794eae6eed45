"""Runs of self-play: their folder, their log, and going on after an interrupt of any kind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import safetensors.numpy
import torch
from support.learning import fresh_model

from trickformer import checkpoints, games, players, tokenizers
from trickformer.base import TrickformerError
from trickformer.models.backend import load_backend
from trickformer.models.gpt2 import GPT2PolicyValueModel, save
from trickformer.plumbing import config, digests, folder, report
from trickformer.plumbing.folder import TimeLimit
from trickformer.selfplay import data as stored
from trickformer.selfplay import evaluate, nfsp, rollout_network, schedule
from trickformer.selfplay.config import SelfPlay

pytestmark = pytest.mark.slow

TINY = {"game": "hearts", "preset": "tiny", "seed": 6, "bootstrap_hands": 256, "iterations": 2, "sequences": 64}
TINY |= {"tables": 16, "dropout": 0.1, "value_positions": 4, "held_out": 12, "match_deals": 1, "save_every": 2}
# The paper's way: none of what a small model needs.
TINY |= {"bootstrap": ["random"], "seats_kept": 1, "roles": "one", "noise": 0, "muon": 0}
TINY |= {"label_share": 0, "action_weight": 0, "rollout_network": False, "label_worlds": False}
TINY |= {"features": False, "masked": False, "value_classes": False}
# And all of it.
RICH = TINY | {"bootstrap": ["random", "rules"], "seats_kept": 2, "roles": "all", "noise": 0.05, "muon": 0.02}
RICH |= {
    "bootstrap_hands": 48,
    "batch_size": 16,
    "window": 2,
    "anchor": 0.25,
    "features": True,
    "masked": True,
    "value_classes": True,
}
RICH |= {"label_share": 0.4, "label_playouts": 2, "action_weight": 50, "rollout_network": True, "label_worlds": True}
# The same with GO-MCTS as the teacher of the last iteration.
SEARCHED = RICH | {"search_share": 0.2, "search_from": 2, "search_runs": 6}
# The same with labels of a player's own searches in the first hands, and in those that are played like them later.
EXPERT = RICH | {"bootstrap": ["pimc:eval=rollout,runs=12,worlds=3", "rules"], "bootstrap_epochs": 2}
EXPERT |= {"expert_iteration": True, "anchor": 0}
SETTINGS = {"unbroken": TINY, "rich": RICH, "searched": SEARCHED, "expert": EXPERT}


def finished(settings, folder):
    out = folder.mktemp("selfplay") / "run"
    assert nfsp.run(SelfPlay(**settings, out=out)) == out / "model-2"
    return out


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    return finished(TINY, tmp_path_factory)


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    return finished(RICH, tmp_path_factory)


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    return finished(SEARCHED, tmp_path_factory)


@pytest.fixture(scope="module")
def expert(tmp_path_factory):
    return finished(EXPERT, tmp_path_factory)


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    """Leaves the figures of a test's own runs out. Runs of module fixtures begin before and have theirs."""
    for owner in (evaluate, report):
        monkeypatch.setattr(owner, "draw_figure", lambda draw, file: None)


def result(out):
    """All that must not depend on how often a run was interrupted."""
    files = [*out.glob("model-?/model.safetensors"), *out.glob("quick/*"), *out.glob("data/*/*"), out / "curve.csv"]
    found = {str(p.relative_to(out)): p.read_bytes() for p in sorted(files)}
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    told = [{k: v for k, v in e.items() if k not in ("time", "speed", "tflops", "tokens_per_second")} for e in lines]
    records = {}
    for path in out.glob("matches/*/records.jsonl"):
        hands = [json.loads(line) for line in path.read_text().splitlines()]
        key = lambda r: (r["deal"], r["seating"])  # noqa: E731
        records[path.parent.name] = sorted([(key(r), r["history"]) for r in hands])
    return found, told, records


def same(out, unbroken):
    ours, theirs = result(out), result(unbroken)
    assert ours[0].keys() == theirs[0].keys()
    for name, content in theirs[0].items():
        assert ours[0][name] == content, name
    assert ours[1] == theirs[1]
    assert ours[2] == theirs[2]
    return True


def test_the_folder_of_a_run(hearts, unbroken):
    names = {p.name for p in unbroken.iterdir()}
    models = {f"model-{i}" for i in range(3)}
    assert names == {
        "config.toml",
        "run.json",
        "log.jsonl",
        "log.jsonl.sums",
        "tensorboard",
        "data",
        "matches",
        *models,
        "best",
        "latest",
        "curve.csv",
        "curve.png",
        "report.md",
        "result.json",
        "training.png",
    }
    assert config.load(SelfPlay, unbroken / "config.toml", {}) == SelfPlay(**TINY)
    assert "torch" in json.loads((unbroken / "run.json").read_text())["builds"][0]
    for i in range(3):
        checkpoints.check(unbroken / f"model-{i}", hearts, tokenizers.make(hearts))
        card = (unbroken / f"model-{i}" / "README.md").read_text()
        assert f"iteration {i}" in card and "legal share" in card
    weights = {(unbroken / f"model-{i}" / "model.safetensors").read_bytes() for i in range(3)}
    assert len(weights) == 3
    manifests = [json.loads((unbroken / "data" / str(i) / "manifest.json").read_text()) for i in range(3)]
    assert [m["sequences"] for m in manifests] == [268, 76, 76]
    assert manifests[2]["about"]["who"] == (
        "ArgmaxVal* of model 1 in one seat, imitations of models 0 to 1 in the others"
    )
    entries = [json.loads(line) for line in (unbroken / "log.jsonl").read_text().splitlines()]
    of = lambda stage: [e for e in entries if e.get("stage") == stage]  # noqa: E731
    assert {e["iteration"] for e in of("learn")} == {0, 1, 2}
    measured = {"policy_loss", "value_loss", "calibration_error", "legal_share", "entropy", "illegal_rate"}
    assert all(measured <= set(e) for e in of("measure")) and len(of("measure")) == 3
    assert [(e["iteration"], e["opponent"]) for e in of("match")] == [
        (0, "baseline"),
        (1, "previous"),
        (1, "baseline"),
        (2, "previous"),
        (2, "baseline"),
    ]
    assert len((unbroken / "curve.csv").read_text().splitlines()) == 6
    assert (unbroken / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((unbroken / "tensorboard").iterdir())) == 1
    assert players.make(f"argmax:checkpoint={unbroken / 'model-2'}", hearts)


def test_data_learned_from_are_those_of_the_roles(hearts, unbroken):
    """Iteration 2's data, played again from the models."""
    job = schedule.Job(SelfPlay(**TINY), 2, unbroken, "cpu", range(16, 48, 16), 76)
    rows = stored.load(unbroken / "data" / "2", hearts, tokenizers.make(hearts))
    for piece in schedule.play_pieces(job):
        assert np.array_equal(piece.data.tokens, rows.tokens[piece.first : piece.first + piece.hands])
        assert piece.points.keys() == {"greedy_points", "other_points"}


class _Kill(Exception):
    pass


POINTS = [  # where a run is cut off: (owner, attribute, after how many calls)
    (stored.DataWriter, "append", 3),
    (stored.DataWriter, "append", 21),
    (stored.DataWriter, "finish", 1),
    (nfsp, "fit", 1),
    (nfsp, "save", 1),
    (evaluate, "match", 2),
    (evaluate, "curve", 2),
]


@pytest.mark.parametrize(("owner", "name", "calls"), POINTS, ids=lambda v: getattr(v, "__name__", str(v)))
def test_a_run_cut_off_anywhere_goes_on_to_the_same(unbroken, tmp_path, monkeypatch, owner, name, calls):
    cut_off(TINY, tmp_path / "run", monkeypatch, owner, name, calls)
    assert nfsp.run(SelfPlay(**TINY, out=tmp_path / "run"), resume=True) == tmp_path / "run" / "model-2"
    assert same(tmp_path / "run", unbroken)


@pytest.mark.parametrize(("name", "calls"), [("fit", 1), ("save", 1)])
def test_a_run_cut_off_around_the_rollout_network_goes_on_to_the_same(rich, tmp_path, monkeypatch, name, calls):
    """Before its second weights, and when they are written and the model beside them is not."""
    owner = rollout_network if name == "fit" else nfsp
    cut_off(RICH, tmp_path / "run", monkeypatch, owner, name, calls)
    assert nfsp.run(SelfPlay(**RICH, out=tmp_path / "run"), resume=True) == tmp_path / "run" / "model-2"
    assert same(tmp_path / "run", rich)


def test_a_run_of_version_0_2_goes_on_to_the_same(rich, tmp_path, monkeypatch):
    """Under the names that its config and its log had then."""
    out = tmp_path / "run"
    cut_off(RICH, out, monkeypatch, nfsp, "save", 1)
    for name, renames in (
        ("config.toml", {"expert_iteration =": "told =", "rollout_network": "quick", "\nfeatures =": "\nfacts ="}),
        ("log.jsonl", {'"stage": "rollout_network"': '"stage": "quick"'}),
    ):
        text = (out / name).read_text()
        for today, former in renames.items():
            assert today in text
            text = text.replace(today, former)
        (out / name).write_text(text)
        (out / f"{name}.sums").unlink(missing_ok=True)
    assert nfsp.run(SelfPlay(**RICH, out=out), resume=True) == out / "model-2"
    assert "rollout_network = true" in (out / "config.toml").read_text()
    assert same(out, rich)


def cut_off(settings, out, monkeypatch, owner, name, calls):
    count, original = 0, getattr(owner, name)

    def cut(*args, **kwargs):
        nonlocal count
        count += 1
        if count > calls:
            raise _Kill
        return original(*args, **kwargs)

    with monkeypatch.context() as patched, pytest.raises(_Kill):
        patched.setattr(owner, name, cut)
        nfsp.run(SelfPlay(**settings, out=out))


def test_a_state_left_behind_is_not_taken_for_another_iterations(unbroken, tmp_path, monkeypatch):
    """Killed when model 0 was written and the states on its way were not yet removed."""
    original = nfsp.save

    def cut(*args, **kwargs):
        original(*args, **kwargs)
        raise _Kill

    with monkeypatch.context() as patched, pytest.raises(_Kill):
        patched.setattr(nfsp, "save", cut)
        nfsp.run(SelfPlay(**TINY, out=tmp_path / "run"))
    assert (tmp_path / "run" / "state" / "0" / "6").exists()
    nfsp.run(SelfPlay(**TINY, out=tmp_path / "run"), resume=True)
    assert same(tmp_path / "run", unbroken)


@pytest.mark.parametrize("which", ["unbroken", "searched", "expert"])
def test_runs_of_a_moment_add_up_to_one(request, tmp_path, which):
    """run(2N) equals run(N) + resume(N), at whatever step the time was up."""
    out, rounds, settings = tmp_path / "run", 0, SETTINGS[which]
    while True:
        try:
            # Longer each time, so that a busy machine comes to the end too, and after few starts.
            moment = 0.004 * 1.3**rounds
            nfsp.run(SelfPlay(**settings, out=out, stop_after=moment), resume=rounds > 0)
            break
        except TimeLimit as e:
            assert str(e).startswith("time is up; continue with: trickformer train --out ")
            rounds += 1
            assert rounds < 40  # a busy machine makes a step a run, an idle one several
    assert rounds >= 3
    assert same(out, request.getfixturevalue(which))


@pytest.mark.parametrize("who", ["bootstrap", "guests", "baseline"])
def test_a_run_goes_on_with_the_players_that_it_began_with(tmp_path, who):
    model = shutil.copytree(checkpoints.find("hearts-small"), tmp_path / "model")
    spec = f"argmax:checkpoint={model}"
    settings = TINY | {"roles": "all", "seats_kept": 2, who: spec if who == "baseline" else [spec]}
    config = SelfPlay(**settings, out=tmp_path / "run", stop_after=1e-4)
    for resume in (False, True):
        with pytest.raises(TimeLimit):
            nfsp.run(config, resume)
    (model / "config.json").write_text((model / "config.json").read_text() + "\n")
    with pytest.raises(TrickformerError, match=f"begun with another {model}/config.json;"):
        nfsp.run(config, resume=True)


# Kills its process at the first file operation after a file has content: a loaded machine does not move this moment.
KILLED = """
import os, signal, sys

path = sys.argv.pop(1)

def kill(event, arguments):
    if os.path.exists(path) and os.path.getsize(path):
        signal.raise_signal(signal.SIGKILL)

sys.addaudithook(kill)
from trickformer.cli import main
main()
"""
KILLS = [("unbroken", file) for file in ("data/1/manifest.json", "state/0/4", "matches/1-previous/records.jsonl")]
KILLS += [("rich", "state/1/2")]


@pytest.mark.parametrize(("which", "when"), KILLS)
def test_a_killed_run_goes_on(request, tmp_path, which, when):
    """SIGKILL while hands are played, while a model is trained, and while a match is played."""
    out, settings = tmp_path / "run", SETTINGS[which]
    file = tmp_path / "tiny.toml"
    file.write_text(config.dump(SelfPlay(**settings)))
    command = [sys.executable, "-c", KILLED, str(out / when), "train", "--config", str(file), "--out", str(out)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.run(command, capture_output=True, env=environment, text=True, timeout=300)
    assert process.returncode == -signal.SIGKILL, process.stderr
    assert (out / when).exists() and not (out / "model-2").exists()
    assert nfsp.run(SelfPlay(**settings, out=out), resume=True) == out / "model-2"
    assert same(out, request.getfixturevalue(which))


def test_what_a_run_with_everything_holds(hearts, rich):
    """Labels in each iteration's data, models that take features, and rollout networks."""
    tokenizer, labels = tokenizers.make(hearts), []
    for i in range(3):
        rows = stored.load(rich / "data" / str(i), hearts, tokenizer)
        assert (np.diff(rows.starts) > 0).mean() > 0.9
        backend = load_backend(rich / f"model-{i}", hearts.outcomes)
        assert backend.n_features == tokenizer.n_features and backend.has_action_values and backend.has_masked_policy
        assert backend.n_outcomes == len(hearts.outcomes.class_values)
        labels.append(schedule.labels_of(SelfPlay(**RICH), rich, i))
    assert [label.net is None for label in labels] == [True, False, False]
    features = tokenizers.follow(tokenizer, rows.tokens[:2])[0][0]
    networks = [rollout_network.load(rich / "quick" / f"{i}.safetensors").values(features) for i in range(3)]
    assert all(np.array_equal(labels[i + 1].net.values(features), networks[i]) for i in range(2))
    assert not any(np.array_equal(a, b) for a, b in pairwise(networks))
    entries = [json.loads(line) for line in (rich / "log.jsonl").read_text().splitlines()]
    assert [e["iteration"] for e in entries if e.get("stage") == "rollout_network"] == [0, 1, 2]
    for i, learned in enumerate((48 * 2, 48 * 2 + 64, 2 * 64)):  # of a window of two iterations
        assert f"on {learned} sequences in each epoch" in (rich / f"model-{i}/README.md").read_text()
    assert all(np.isfinite(e["regret"]) for e in entries if e.get("stage") == "measure")
    again = schedule.play_pieces(schedule.Job(SelfPlay(**RICH), 2, rich, "cpu", range(16, 32, 16), 38))
    piece, stored_part = next(again), rows[32:64]
    assert np.array_equal(piece.data.tokens, stored_part.tokens)
    assert np.array_equal(piece.data.labels, stored_part.labels) and len(piece.data.labels) > 50


def test_searches_take_the_place_of_playouts(hearts, rich, searched):
    """Until they begin the run is that without them; then all labels are theirs, and nobody plays but the model."""
    for i in range(2):
        assert (searched / f"model-{i}/model.safetensors").read_bytes() == (
            rich / f"model-{i}/model.safetensors"
        ).read_bytes()
    assert {p.name for p in (searched / "quick").iterdir()} == {"0.safetensors", "1.safetensors"}
    rows = stored.load(searched / "data" / "2", hearts, tokenizers.make(hearts))
    manifest = json.loads((searched / "data" / "2" / "manifest.json").read_text())
    assert manifest["about"]["who"] == "ArgmaxVal* of model 1 in all seats; GO-MCTS for 20% of its decisions"
    row = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
    places = set(zip(row.tolist(), rows.labels["position"].tolist()))
    assert 1 < len(places) / len(rows) < 4, "of some 12 decisions a seat"


def test_players_that_say_nothing_teach_nothing(tmp_path):
    with pytest.raises(TrickformerError, match=r"none of random, rules .*expert-iteration"):
        nfsp.run(SelfPlay(**EXPERT | {"bootstrap": ["random", "rules"], "out": tmp_path / "run"}))
    assert not (tmp_path / "run/state").exists(), "it has begun to learn"


def test_a_run_may_begin_with_a_checkpoint_as_it_is(hearts, rich, tmp_path):
    """Then the first labels, and the first rollout network, are those of iteration 1."""
    start = {"start": str(rich / "model-2"), "bootstrap_hands": 0, "iterations": 1, "match_deals": 0, "dropout": 0.2}
    out = tmp_path / "run"
    nfsp.run(SelfPlay(**RICH | start, out=out))
    weights = [safetensors.numpy.load_file(of / "model.safetensors") for of in (rich / "model-2", out / "model-0")]
    assert all(np.array_equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert f"Initial weights: {rich / 'model-2'}." in (out / "model-0/README.md").read_text()
    assert [p.name for p in (out / "quick").iterdir()] == ["1.safetensors"]
    sizes = json.loads((out / "model-1/config.json").read_text())
    assert sizes["embd_pdrop"] == sizes["resid_pdrop"] == 0.2
    assert schedule.labels_of(SelfPlay(**RICH | start), out, 1).net is None
    assert schedule.labels_of(SelfPlay(**RICH | start), out, 2).net is not None


def test_a_model_may_read_the_features_without_those_of_the_script(tmp_path):
    """Its weights are 0 there, and only a run with the same option starts from it."""
    settings = TINY | {"game": "crew", "features": True, "script_features": False, "iterations": 0, "match_deals": 0}
    nfsp.run(SelfPlay(**settings, out=tmp_path / "run"))
    tokenizer = tokenizers.make(games.load("crew"))
    weight = safetensors.numpy.load_file(tmp_path / "run/model-0/model.safetensors")["features.weight"]
    assert np.flatnonzero(~weight.any(axis=1)).tolist() == tokenizer.script_features
    start = settings | {"start": str(tmp_path / "run/model-0")}
    nfsp.run(SelfPlay(**start, out=tmp_path / "again"))
    with pytest.raises(TrickformerError, match=r"does not fit these options: --script-features; change them$"):
        nfsp.run(SelfPlay(**start | {"script_features": True}, out=tmp_path / "other"))


def test_a_run_that_was_moved_goes_on(unbroken, tmp_path):
    """Half a match, which names its models by where they were, is played anew."""
    moved = shutil.copytree(unbroken, tmp_path / "run")
    match, log = moved / "matches/2-previous", moved / "log.jsonl"
    lines = (match / "records.jsonl").read_text().splitlines(keepends=True)
    (match / "records.jsonl").write_text("".join(lines[:2]))
    digests.sums_file(match / "records.jsonl").unlink()
    entries = log.read_text().splitlines(keepends=True)
    cut = next(i for i, e in enumerate(map(json.loads, entries)) if e["stage"] == "match" and e["iteration"] == 2)
    log.write_text("".join(entries[:cut]))
    digests.sums_file(log).unlink()
    nfsp.run(SelfPlay(**TINY, out=moved), resume=True)
    assert same(moved, unbroken)


def test_a_match_goes_on_with_the_hands_that_it_has(unbroken, tmp_path):
    out = tmp_path / "run"
    shutil.copytree(unbroken, out)
    settings = config.load(SelfPlay, out / "config.toml", {"out": out})
    own = out / "matches" / "2-previous"
    shutil.rmtree(own)  # it names the models of the folder that was copied
    found = evaluate.match(settings, out, 2, "previous")
    file = own / "records.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:5]))
    digests.sums_file(file).unlink()
    kept = file.stat().st_ino
    assert evaluate.match(settings, out, 2, "previous") == found
    assert file.stat().st_ino == kept
    assert file.read_text().splitlines(keepends=True)[:5] == lines[:5]


def test_a_finished_run_is_left_alone(unbroken):
    files = [*unbroken.glob("model-*/*"), *unbroken.glob("data/*/*"), *unbroken.glob("matches/*/records.jsonl")]
    before = {p: p.stat().st_mtime_ns for p in files}
    told = (unbroken / "log.jsonl").read_bytes()
    assert nfsp.run(SelfPlay(**TINY, out=unbroken), resume=True) == unbroken / "model-2"
    assert {p: p.stat().st_mtime_ns for p in files} == before
    assert (unbroken / "log.jsonl").read_bytes() == told


def test_a_comma_in_the_current_folder_is_refused(tmp_path, monkeypatch):
    (tmp_path / "a,b").mkdir()
    monkeypatch.chdir(tmp_path / "a,b")
    with pytest.raises(TrickformerError, match="it has a comma"):
        nfsp.run(SelfPlay(**TINY, out="run"))
    assert not list((tmp_path / "a,b").iterdir())


def test_what_is_refused_before_anything_is_written(unbroken, tmp_path, command):
    before = result(unbroken)
    with pytest.raises(TrickformerError, match=r"already holds a run; .*--resume"):
        nfsp.run(SelfPlay(**TINY, out=unbroken))
    with pytest.raises(TrickformerError, match="holds a run with --seed 6, not --seed 7"):
        nfsp.run(SelfPlay(**TINY | {"seed": 7}, out=unbroken), resume=True)
    with pytest.raises(TrickformerError, match=r"^.* has reached iteration 2; give --iterations 2 or more$"):
        nfsp.run(SelfPlay(**TINY | {"iterations": 1}, out=unbroken), resume=True)
    with folder.RunFolder(unbroken).lock(), pytest.raises(TrickformerError, match="another run is writing"):
        nfsp.run(SelfPlay(**TINY, out=unbroken), resume=True)
    with pytest.raises(TrickformerError, match="it has a comma"):
        nfsp.run(SelfPlay(**TINY, out=tmp_path / "a,b"))
    code, _, error = command("train", "skat", "--out", unbroken, "--resume")
    assert code == 2 and "holds a run with --game hearts, not --game skat; choose another --out" in error
    assert result(unbroken) == before
    for wrong, message in (
        (["--preset", "huge"], "unknown preset 'huge'"),
        (["--baseline", "nobody"], "unknown player 'nobody'"),
        (["--bootstrap", "nobody"], "unknown player 'nobody'"),
        (["--batch-size", "999_999"], "--batch-size is larger than"),
        (["--roles", "some"], "roles"),
        (["--label-share", "0"], "must be both 0 or both above 0; give --action-weight 0 too"),
        (
            ["--expert-iteration", "--label-share", "0", "--action-weight", "0"],
            "--expert-iteration needs a model with action values",
        ),
        (["--bootstrap-hands", "0"], "--bootstrap-hands 0 needs --start CHECKPOINT"),
        (["--start", ""], "--start"),
        (["--action-weight", "0"], "must be both 0 or both above 0; give --label-share 0 too"),
        (["--label-share", "0", "--action-weight", "0"], "--rollout-network needs labels"),
        (["--no-script-features"], "in hearts no feature is a scripted player's; leave out --no-script-features"),
        (["--no-script-features", "--no-features"], "--no-script-features needs a model that reads features"),
        (["--pool", "3"], "--pool has no effect with --roles all; leave it out"),
        (["--no-pool-newest"], "--no-pool-newest has no effect with --roles all; leave it out"),
        (["--preset", "paper", "--guest-share", "0.3"], "--guest-share has no effect without --guests; leave it out"),
        (["--preset", "paper", "--label-playouts", "3"], "--label-playouts has no effect with --label-share 0"),
        (["--no-rollout-network", "--rollout-network-window", "2"], "no effect without --rollout-network"),
        (["--search-share", "0", "--search-runs", "9"], "--search-runs has no effect with --search-share 0"),
        (["--expert-iteration", "--anchor", "0.1"], "--anchor has no effect with --expert-iteration"),
        (
            ["--preset", "paper", "--start", "hearts-small", "--structured"],
            "--structured has no effect with --start, which has embeddings already",
        ),
    ):
        code, _, error = command("train", "hearts", "--out", tmp_path / "x", *wrong)
        assert code == 2 and message in error and error.count("\n") == 1
    for game, wrong in (("skat", "--rollout-network"), ("hanabi", "--label-worlds")):
        code, _, error = command("train", game, "--out", tmp_path / "x", wrong)
        assert code == 2 and f"leave out {wrong}" in error and error.count("\n") == 1
    assert command("train", "kuhn_poker", "--out", tmp_path / "x")[0] == 2
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(("models", "kinds"), [(0, {".bin", ".json", ".pkl"}), (2, {".bin", ".json", ".safetensors"})])
def test_a_bit_that_has_changed_is_found(unbroken, tmp_path, monkeypatch, models, kinds):
    """In every file that going on reads: nothing is believed that is not what was written."""
    out, rng = tmp_path / "run", np.random.default_rng(3)
    cut_off(TINY, out, monkeypatch, nfsp, "save", models)
    files = [path for name in ("data", "state", "model-0", "model-1") for path in (out / name).rglob("*")]
    files = [path for path in files if path.is_file() and path.stat().st_size]
    assert kinds <= {path.suffix for path in files}
    for path in files:
        whole = path.read_bytes()
        held = bytearray(whole)
        held[int(rng.integers(len(held)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(held)
        with pytest.raises(TrickformerError, match=r"damaged|holds data of another kind"):
            nfsp.run(SelfPlay(**TINY, out=out), resume=True)
        path.write_bytes(whole)
    nfsp.run(SelfPlay(**TINY, out=out), resume=True)
    assert same(out, unbroken)


def test_damaged_models_are_named(unbroken, tmp_path):
    out = shutil.copytree(unbroken, tmp_path / "run")
    weights = out / "model-1" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-9])
    with pytest.raises(TrickformerError, match=r"model-1"):
        nfsp.run(SelfPlay(**TINY, out=out), resume=True)


def test_a_bootstrap_of_named_players(hearts, tmp_path):
    settings = SelfPlay(**TINY | {"iterations": 0, "bootstrap": ["rules", "random"], "bootstrap_hands": 48})
    nfsp.run(settings.model_copy(update={"out": tmp_path / "run", "match_deals": 0}))
    manifest = json.loads((tmp_path / "run" / "data" / "0" / "manifest.json").read_text())
    assert manifest["about"]["who"] == "each seat one of: rules, random"
    assert not (tmp_path / "run" / "matches").exists()


def test_a_model_is_written_whole_or_not_at_all(hearts, tmp_path, monkeypatch):
    def stop(self, folder):
        folder.mkdir()
        (folder / "config.json").write_text("{")
        raise KeyboardInterrupt

    model = fresh_model(hearts)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(GPT2PolicyValueModel, "save_pretrained", stop)
        save(model, tmp_path / "model-0", torch.float32)
    assert not (tmp_path / "model-0").exists()
    save(model, tmp_path / "model-0", torch.bfloat16)
    assert GPT2PolicyValueModel.from_pretrained(tmp_path / "model-0").config.n_embd == 32


def test_two_devices_learn_what_one_learns(tmp_path):
    """Each has half of every batch. Hands of equal length, so that the mean of two means is the mean."""
    given = {"game": "hearts(pass_cards=False)", "iterations": 0, "match_deals": 0, "bf16": False}
    settings = SelfPlay(**TINY | given | {"dropout": 0.0, "value_positions": 0})
    file = tmp_path / "tiny.toml"
    file.write_text(config.dump(settings))
    launch = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone", "-m", "trickformer"]
    command = [sys.executable, *launch, "train", "--config", str(file), "--out", str(tmp_path / "two")]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    for more in (["--stop-after", "1e-4"], ["--resume"]):  # the time is up in the process that plays, which both notice
        done = subprocess.run([*command, *more], env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr[-2000:]
    assert done.stdout.count("model-0") == 1
    program = "from trickformer.cli import main; main()"  # in a process of its own: one without bfloat16
    command = [sys.executable, "-c", program, "train", "--config", str(file), "--out", str(tmp_path / "one")]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=300)
    one, two = (GPT2PolicyValueModel.from_pretrained(tmp_path / n / "model-0").state_dict() for n in ("one", "two"))
    for name, weight in one.items():
        torch.testing.assert_close(two[name], weight, rtol=1e-3, atol=1e-4, msg=name)


# ------------------------------------------------------------------------------------------- log and warnings


def test_a_training_goes_on_after_its_project_has_moved(tmp_path, monkeypatch, tiny_checkpoint):
    """Its guest is a checkpoint that was named by a relative path. Iteration 1 is partly played."""
    project, moved = tmp_path / "project", tmp_path / "elsewhere"
    shutil.copytree(tiny_checkpoint, project / "ck")
    monkeypatch.chdir(project)
    settings = TINY | {"iterations": 1, "guests": ["argmax:checkpoint=ck"]}
    cut_off(settings, project / "out", monkeypatch, stored.DataWriter, "append", 18)
    assert (project / "out" / "data" / "1" / "manifest.json").exists()
    assert f"checkpoint={project / 'ck'}" in (project / "out" / "config.toml").read_text()
    monkeypatch.chdir(tmp_path)
    project.rename(moved)
    again = config.load(SelfPlay, moved / "out" / "config.toml", {"out": moved / "out"})
    assert again.guests[0].startswith(f"argmax:checkpoint={moved / 'ck'}")
    assert nfsp.run(again, resume=True) == moved / "out" / f"model-{again.iterations}"
