"""What a command does with files and terminals that refuse its output: the result is printed all the same."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys

import pytest
from pydantic import BaseModel

from trickformer.plumbing import config as configs
from trickformer.plumbing import figures, progress
from trickformer.plumbing.report import Report, draw_figure
from trickformer.tournaments import plot, run

MATCH = ["tournament", "hearts", "--a", "random", "--b", "rules", "--deals", "2", "--seed", "1"]


@pytest.fixture
def no_drawing(monkeypatch):
    """Let every figure fail, as a broken font or too little memory does."""

    def fail(*_, **__):
        raise MemoryError("no room for the figure\nsecond line")

    monkeypatch.setattr(figures, "Figure", fail)


def test_too_little_memory_is_one_line(monkeypatch, command):
    """The computer's, or a device's, whose error is torch's own."""
    import torch

    for error in (MemoryError("no room"), torch.OutOfMemoryError("CUDA out of memory\nsecond line")):

        def fail(*_, error=error, **__):
            raise error

        monkeypatch.setattr(run, "tournament", fail)
        code, _, err = command(*MATCH)
        assert code == 2 and err.splitlines()[-1] == f"error: there is not enough memory: {str(error).splitlines()[0]}"


def test_a_table_is_printed_before_a_figure_is_drawn(monkeypatch, command, tmp_path):
    events = []
    monkeypatch.setattr(Report, "print", lambda *_: events.append("table"))
    monkeypatch.setattr(plot, "plot", lambda *_: events.append("figure"))
    for words in ([*MATCH, "--out", tmp_path / "run"], ["report", tmp_path / "run"]):
        events.clear()
        assert command(*words)[0] == 0
        assert events == ["table", "figure"]


def test_a_figure_that_fails_costs_one_warning(no_drawing, command, tmp_path):
    out = tmp_path / "run"
    for words in ([*MATCH, "--out", out], ["report", out]):
        code, said, err = command(*words)
        warnings = [line for line in err.splitlines() if line.startswith("warning")]
        assert code == 0 and "A − B" in said
        assert warnings == [f"warning: {out / 'plot.png'} was not drawn: no room for the figure"]
    assert json.loads((out / "result.json").read_text())["deals"] == 2


def test_an_interrupt_within_a_figure_is_one(tmp_path):
    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        draw_figure(interrupted, tmp_path / "plot.png")


def test_a_training_outlives_its_curve(no_drawing, capfd, tmp_path):
    from trickformer import games
    from trickformer.belief import learner
    from trickformer.plumbing.lines import JsonLines
    from trickformer.selfplay import evaluate
    from trickformer.selfplay.config import SelfPlay

    entry = {"iteration": 0, "opponent": "baseline", "difference": 1.0, "low": None, "high": None, "deals": 1}
    evaluate.curve(games.load("hearts"), SelfPlay(game="hearts"), {"previous": [], "baseline": [entry]}, tmp_path)
    with JsonLines(tmp_path / learner.LOG) as lines:
        lines.append({"step": 1, "loss": float("nan")})
    learner.plot_loss(tmp_path)
    assert [line.partition(": ")[2] for line in capfd.readouterr().err.splitlines()] == [
        f"{tmp_path / name} was not drawn: no room for the figure" for name in ("curve.png", "loss.png")
    ]
    assert (tmp_path / "curve.csv").read_text().count("\n") == 2


def test_a_report_that_cannot_be_written_is_printed(monkeypatch, command, tmp_path):
    out = tmp_path / "run"
    assert command(*MATCH, "--out", out)[0] == 0
    files = {path.name: path.read_bytes() for path in out.iterdir()}
    opened = os.open

    def refuse(path, flags, *rest, **more):
        if flags & os.O_CREAT and out in getattr(path, "parents", ()):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    code, said, err = command("report", out)
    assert code == 0 and "A − B" in said
    assert err == (
        f"warning: report.md, result.json and the figures were not written: cannot write {out / 'result.json'}: "
        "Permission denied\n"
    )
    code, said, _ = command("report", out, "--json")
    assert code == 0 and json.loads(said)["deals"] == 2
    assert {path.name: path.read_bytes() for path in out.iterdir()} == files
    # A tournament that cannot keep its result fails, but prints it first.
    code, said, err = command(*MATCH, "--config", out / "config.toml", "--out", out, "--resume")
    assert code == 2 and "Permission denied" in err


@pytest.mark.parametrize("tty", [False, True])
def test_progress_that_fails_does_not_end_the_work(monkeypatch, capfd, tty):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: tty)
    monkeypatch.setattr(progress.time, "monotonic", iter(range(0, 10_000, 100)).__next__)
    done = 0

    def score():
        raise ZeroDivisionError("no score")

    with progress.progress("work", "games", 0, 3) as advance:
        for _ in range(3):
            advance(score=score)
            done += 1
    assert done == 3
    assert capfd.readouterr().err.count("warning: progress is no longer shown: no score") == 1


def test_a_terminal_that_cannot_be_asked_does_not_end_the_work(monkeypatch):
    warnings = []
    monkeypatch.setattr(progress, "warn", warnings.append)
    monkeypatch.setattr(sys, "stderr", None)
    with progress.progress("work", "games", 0, 1) as advance:
        advance()
    assert not warnings  # a stream that the shell has closed is no fault of the progress


def test_a_fault_of_the_work_is_not_hidden():
    with pytest.raises(ZeroDivisionError), progress.progress("work", "games", 0, 1):
        raise ZeroDivisionError


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-"])
def test_a_closed_stream_does_not_end_a_run(tmp_path, closed):
    program = f"{sys.executable} -c 'from trickformer.cli import main; main()'"
    words = " ".join(MATCH)
    done = subprocess.run(["bash", "-c", f"{program} {words} --out {tmp_path / 'run'} {closed}"], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "result.json").exists() and b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["report.md", "result.json", "plot.png", "summary.json", "tensorboard", "state"])
def test_a_file_that_we_did_not_write_is_not_replaced(command, tmp_path, name):
    out = tmp_path / "notes"
    out.mkdir()
    (out / name).write_text("mine\n")
    for words in (
        MATCH,
        ["crew", "evaluate", "--player", "random", "--games", "1"],
        ["obl", "toy", "--runs", "2", "--games", "1"],
    ):
        code, said, err = command(*words, "--out", out)
        assert (code, said) == (2, "")
        assert err == f"error: {out} holds {name}, but no run.json of a run that wrote it; choose another --out\n"
    assert [path.name for path in out.iterdir()] == [name] and (out / name).read_text() == "mine\n"


def test_a_report_of_ours_is_replaced(command, tmp_path):
    out = tmp_path / "run"
    assert command(*MATCH, "--out", out)[0] == 0
    (out / "report.md").write_text("old")
    assert command(*MATCH, "--out", out, "--resume")[0] == 0
    assert (out / "report.md").read_text() != "old"
    (out / "config.toml").unlink()  # a run that was killed as it began
    (out / "records.jsonl").unlink()
    assert command(*MATCH, "--out", out)[0] == 0


class _Texts(BaseModel):
    text: str
    texts: list[str]
    number: float = 0.5
    flag: bool = True


@pytest.mark.parametrize("number", [0.5, float("inf"), 1e22, -0.0])
def test_every_text_and_number_is_read_back(tmp_path, number):
    text = "".join(map(chr, [*range(1, 0xA1), 0x2028, 0x1F600])) + "\\\"'"
    config = _Texts(text=text, texts=[text, "plain"], number=number)
    file = tmp_path / "config.toml"
    file.write_bytes(configs.dump(config).encode())
    assert configs.load(_Texts, file, {}) == config


def test_a_folder_with_control_characters_is_resumed(command, tmp_path, monkeypatch):
    out = tmp_path / "a\x7fb\tc\x01d"
    out.mkdir()
    (out / "deals").write_text("5,0\n5,1\n")
    arguments = ["tournament", "hearts", "--a", "random", "--b", "rules", "--deals-from", out / "deals"]
    assert command(*arguments, "--out", out / "run")[0] == 0
    whole = [r.history for r in run.load(out / "run").records]
    lines = (out / "run" / "records.jsonl").read_bytes().splitlines(keepends=True)
    (out / "run" / "records.jsonl").write_bytes(b"".join(lines[:2]))
    code, _, err = command("tournament", "--config", out / "run" / "config.toml", "--out", out / "run", "--resume")
    assert code == 0, err
    assert [r.history for r in run.load(out / "run").records] == whole
