"""The folder of a finished training: its report, its best model, and checkpoints that are named by it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from trickformer import checkpoints, games, players
from trickformer.base import TrickformerError, UnknownNameError
from trickformer.checkpoints.folders import write_pointer
from trickformer.plumbing.folder import RunFolder
from trickformer.selfplay import evaluate
from trickformer.selfplay.results import TrainingResults, describe_match, holds_training

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).parents[1] / "fixtures" / "v0_2_0"
TINY = "--preset tiny --bootstrap-hands 64 --bootstrap random --no-rollout-network --sequences 64 --held-out 12"
TINY += " --tables 32 --iterations 1 --match-deals 2"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A finished run of two models, and what its command printed."""
    out = tmp_path_factory.mktemp("trained") / "run"
    program = "from trickformer.cli import main; main()"
    words = ["train", "hearts", *TINY.split(), "--out", str(out)]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return out, done


@pytest.fixture
def run(trained, tmp_path):
    return shutil.copytree(trained[0], tmp_path / "run")


def test_the_report_of_a_training_with_a_link_is_refused(run, command, tmp_path):
    (tmp_path / "mine").write_text("mine")
    for name in ("report.md", "model-0/config.json"):
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(tmp_path / "mine")
        code, _, err = command("report", run)
        assert (
            code == 2 and err == f"error: {run / name} is a symbolic link inside a run folder; replace it by a copy\n"
        )
        (run / name).unlink()
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_training_says_how_far_it_is_and_what_it_has_found(trained):
    out, done = trained
    assert done.stdout.split() == [str(out / "model-1")]
    lines = done.stderr.splitlines()
    begin = "iteration 1 of 1: learning: 64 of 64 sequences, weighted loss "
    learned = [line for line in lines if line.startswith(begin)]
    assert len(learned) == 1 and ", learning rate " in learned[0] and " sequences/s" in learned[0]
    results = TrainingResults.load(out)
    for entry in results.matches:
        assert describe_match(entry, "rules", games.load("hearts")) in lines
    assert len(results.matches) == 3
    best = out / f"model-{results.best}"
    assert [line for line in lines if line.startswith(f"best model: {best} (iteration {results.best}: argmax - rules")]
    assert lines[-1] == f"checkpoint={out} plays it; trickformer report {out} shows the run"


def test_the_report_of_a_training(run, command):
    for name in ("report.md", "result.json", "training.png"):
        (run / name).unlink()
    code, text, err = command("report", run)
    assert (code, err) == (0, "")
    assert text.startswith("hearts, preset tiny, seed 0: 2 of 2 models\n")
    code, printed, _ = command("report", run, "--json")
    result = json.loads(printed)
    assert result == json.loads((run / "result.json").read_text())
    assert result["finished"] and result["under_way"] is None
    assert [m["iteration"] for m in result["models"]] == [0, 1]
    assert all(m["policy_loss"] > 0 and m["held_out"]["policy_loss"] > 0 for m in result["models"])
    assert set(result["models"][1]["matches"]) == {"previous", "baseline"}
    assert result["best"]["model"] == str(run / (run / "best").read_text().strip())
    page = (run / "report.md").read_text()
    assert "| iteration | against the previous model, 95% interval | against rules, 95% interval |" in page
    assert "| iteration | hands | steps |" in page and "(training.png)" in page and "best model:" in page
    assert (run / "training.png").read_bytes().startswith(b"\x89PNG")


def test_the_report_of_a_running_folder(run, command):
    """Another process writes the folder: the log is torn, and there is one model."""
    for name in ("model-1", "matches", "tensorboard"):
        shutil.rmtree(run / name)
    lines = (run / "log.jsonl").read_text().splitlines(keepends=True)
    kept = next(i for i, line in enumerate(lines) if '"iteration": 1, "stage": "learn"' in line)
    (run / "log.jsonl").write_text("".join(lines[: kept + 1]) + '{"time": 3, "it')
    (run / "log.jsonl.sums").unlink()
    (run / "best").unlink()
    with RunFolder(run).lock():
        code, text, err = command("report", run, "--json")
    result = json.loads(text)
    assert (code, err, result["finished"]) == (0, "", False)
    assert (result["under_way"]["iteration"], result["under_way"]["stage"]) == (1, "learn")
    assert result["best"]["iteration"] == 0
    assert not (run / "best").exists(), "the run writes it"
    assert "INCOMPLETE: the last entry of the log is of iteration 1, stage learn, " in (run / "report.md").read_text()
    command("report", run)
    assert (run / "best").read_text() == (run / "latest").read_text().replace("1", "0") == "model-0\n"


def test_a_run_that_has_only_begun_has_a_report(run, command):
    for path in run.iterdir():
        if path.name not in ("config.toml", "run.json"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    code, text, _ = command("report", run)
    assert code == 0
    assert "0 of 2 models" in text and "INCOMPLETE: nothing is finished yet" in text
    assert (run / "training.png").exists() and not (run / "best").exists()


def test_broken_folders_are_one_line(run, command, tmp_path):
    assert holds_training(run) and not holds_training(tmp_path) and not holds_training(FIXTURES / "belief-train")
    (run / "run.json").write_text('{"builds": 3}')
    code, _, err = command("report", run)
    assert (code, err) == (2, f"error: {run}/run.json is broken; restore it from a copy\n")
    (run / "log.jsonl").write_text('{"time": 1, "iteration": 0, "stage": "match", "at": 2, "opponent": "baseline"}\n')
    (run / "log.jsonl.sums").unlink()
    (run / "run.json").unlink()
    code, _, err = command("report", run)
    assert code == 2 and "log.jsonl is broken" in err and err.count("\n") == 1


def test_a_log_that_lost_entries_is_refused(run, command):
    """A model implies that its measurements are in the log, so a log without them was cut."""
    lines = (run / "log.jsonl").read_text().splitlines(keepends=True)
    lost = next(i for i, line in enumerate(lines) if '"iteration": 1, "stage": "measure"' in line)
    sums = (run / "log.jsonl.sums").read_text().splitlines(keepends=True)
    (run / "log.jsonl").write_text("".join(lines[:lost]))
    (run / "log.jsonl.sums").write_text("".join(sums[:lost]))
    code, _, err = command("train", "--out", run, "--resume")
    assert code == 2 and err.count("\n") == 1
    assert "lacks the measurements of model 1; restore the file, or train anew with another --out" in err


def test_curves_have_one_line_for_each_opponent(run):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = EventAccumulator(str(run / "tensorboard"))
    board.Reload()
    tags = board.Tags()["scalars"]
    assert {tag for tag in tags if tag.startswith("match")} == {
        f"{group}/{opponent}" for group in ("match", "match_low", "match_high") for opponent in evaluate.OPPONENTS
    }
    played = [e["difference"] for e in TrainingResults.load(run).matches if e["opponent"] == "baseline"]
    assert [e.value for e in board.Scalars("match/baseline")] == pytest.approx(played)


# ----------------------------------------------------------------------------- checkpoints named by a run folder


def test_a_run_folder_is_its_best_model(run, hearts):
    write_pointer(run / "best", 0)
    assert checkpoints.find(str(run)) == run / "model-0"
    assert checkpoints.find(f"{run}/best") == run / "model-0"
    assert checkpoints.find(f"{run}/latest") == run / "model-1"
    assert checkpoints.find(f"{run}/model-1") == run / "model-1"
    assert checkpoints.abilities(str(run)) == (True, True)
    files = players.files(f"argmax:checkpoint={run}")
    assert files == {f"{run}/model-0/{name}": run / "model-0" / name for name in ("config.json", "model.safetensors")}
    assert players.make(f"argmax:checkpoint={run}/latest", hearts)


def test_a_match_goes_on_with_the_model_that_was_the_best(run, tmp_path, command):
    match = ["tournament", "hearts", "--a", f"argmax:checkpoint={run}", "--b", "random", "--deals", 1]
    match += ["--out", tmp_path / "match"]
    write_pointer(run / "best", 0)
    assert command(*match)[0] == 0
    assert command(*match, "--resume")[0] == 0
    write_pointer(run / "best", 1)
    code, _, err = command(*match, "--resume")
    assert code == 2 and f"was begun with another {run}/model-0/config.json" in err


@pytest.mark.parametrize(
    "line", ["../model-0", "/etc", "", "model-", "model-7\n", "model-0\nmodel-1\n", "model-٣", "x" * 99]
)
def test_a_strangers_folder_names_no_other_model(run, line):
    (run / "best").write_text(line)
    with pytest.raises(TrickformerError, match="names no model of"):
        checkpoints.find(str(run))


def test_folders_that_name_no_model(run, tmp_path):
    (run / "best").unlink()
    with pytest.raises(TrickformerError, match="has no file `best`; `trickformer report "):
        checkpoints.find(str(run))
    (tmp_path / "best").write_text("model-0\n")  # some file of this name
    for name in (tmp_path, tmp_path / "best"):
        with pytest.raises(UnknownNameError, match="unknown checkpoint"):
            checkpoints.find(str(name))


def test_a_run_names_its_models_again_when_it_goes_on(run, command):
    for name in ("best", "latest"):
        (run / name).unlink()
    code, _, err = command("train", "--config", run / "config.toml", "--out", run, "--resume")
    assert code == 0, err
    assert (run / "latest").read_text() == "model-1\n"
    assert checkpoints.find(str(run)) == run / f"model-{TrainingResults.load(run).best}"


def test_the_card_of_a_model_has_a_header_and_code_that_runs(run, monkeypatch, capsys):
    folder = run / "model-1"
    text = (folder / "README.md").read_text()
    head = yaml.safe_load(text.split("---\n")[1])
    assert text.startswith("---\n") and head["license"] == "apache-2.0" and "hearts" in head["tags"]
    monkeypatch.chdir(folder)
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "the card of a model", "exec"), {})
    token, outcome = capsys.readouterr().out.split(maxsplit=1)
    assert token and outcome.strip().endswith(" points")
    config = json.loads((folder / "config.json").read_text())
    assert config["model_type"] == "trickformer" and config["id2label"]["0"] == "-24.67 points"
