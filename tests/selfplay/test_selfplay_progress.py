"""Progress of a training: its lines, the time left, and output that fails."""

from __future__ import annotations

import io
import re
import sys

import pytest

from trickformer.selfplay import progress
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.progress import RemainingTime, RunProgress, format_duration

SMALL = {"game": "hearts", "preset": "tiny", "bootstrap_hands": 100, "sequences": 64, "held_out": 36, "seats_kept": 1}
SMALL |= {"iterations": 2, "roles": "all", "rollout_network": False, "window": 2}


@pytest.fixture
def clock(monkeypatch):
    """Seconds, as the progress reads them; set the first to move on."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_durations_are_short():
    times = {3: "3 s", 89: "89 s", 100: "2 min", 3_540: "59 min", 3_600: "1 h 0 min", 93_780: "26 h 3 min"}
    assert {seconds: format_duration(seconds) for seconds in times} == times


def test_the_time_left_is_the_work_left_by_the_speeds_measured():
    left = RemainingTime(SelfPlay(**SMALL), [])
    assert left.estimate() == (0.0, False)
    assert str(left) == ""
    left.advance(0, "play", 0.5, 17.0)  # 68 of 136 hands at 4 a second
    assert left.estimate() == (17.0, False)
    assert str(left) == "over 17 s left in the run"
    left.drop(0, "play")
    left.advance(0, "learn", 1.0, 50.0)  # 100 sequences at 2 a second; then windows of 164 and 128
    assert left.estimate()[0] == pytest.approx((164 + 128) / 2)
    left.advance(0, "measure", 1.0, 1.0)
    left.advance(0, "baseline", 1.0, 10.0)
    left.advance(1, "play", 1.0, 100.0)  # a model's hands have a speed of their own
    left.drop_training(1)
    left.advance(1, "previous", 0.25, 5.0)
    assert left.estimate() == (15 + 10 + 100 + 64 + 1 + 20 + 10, True)
    left.drop_matches(1)
    left.drop_training(2)
    assert left.estimate() == (30.0, True)
    assert str(left) == "30 s left in the run"


def test_a_resumed_run_knows_the_speeds_of_its_log():
    entries = [
        {"iteration": 0, "stage": "play", "at": 136, "speed": 2.0},
        {"iteration": 0, "stage": "learn", "at": 3, "speed": 4.0},
        {"iteration": 1, "stage": "play", "at": 20, "speed": 5.0},
        {"iteration": 0, "stage": "judge", "at": 0},
    ]
    left = RemainingTime(SelfPlay(**SMALL | {"match_deals": 0, "iterations": 1}), entries)
    left.drop_training(0)
    left.begin(1, "play", 0.5)
    assert left.estimate() == (50 / 5 + 164 / 4, False)
    left.drop(1, "measure")
    assert left.estimate() == (51.0, True)


def test_plain_lines_come_now_and_then_and_at_the_end_of_a_stage(clock, capsys):
    shown = RunProgress(SelfPlay(**SMALL | {"match_deals": 0, "iterations": 0}))
    with shown.stage(0, "play", 0, 136) as update:
        for hands in (40, 80, 120, 136):
            clock[0] += 10
            update(hands)
    with shown.stage(0, "learn", 0, 100) as update:
        for sequences in range(10, 110, 10):
            clock[0] += 4
            update(sequences, lambda: "loss 1.234, learning rate 0.001, 3 sequences/s")
    with shown.stage(0, "measure", 0, 1) as update:
        update(1)
    assert capsys.readouterr().err.splitlines() == [
        "iteration 0 of 0: playing: 80 of 136 hands, over 14 s left in the run",
        "iteration 0 of 0: playing: 136 of 136 hands",
        *(
            f"iteration 0 of 0: learning: {n} of 100 sequences, loss 1.234, learning rate 0.001, 3 sequences/s" + left
            for n, left in ((40, ", over 24 s left in the run"), (80, ", over 8 s left in the run"), (100, ""))
        ),
    ]


def test_details_are_made_if_they_are_shown(clock, capsys):
    def details():
        raise AssertionError("reads the loss from the device")

    shown = RunProgress(SelfPlay(**SMALL))
    with shown.stage(0, "learn", 0, 100) as update:
        update(50, details)
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    shown = RunProgress(SelfPlay(**SMALL))
    with shown.stage(1, "learn", 0, 64) as update:
        update(64, lambda: "loss 1.234")
    with shown.show(1, "baseline")("tournament", "tables", 4, 28) as advance:
        advance(24)
    shown.line("a result")
    text = re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", capsys.readouterr().err)
    assert "iteration 1 of 2: learning" in text and "64/64 sequences loss 1.234" in text
    assert "match against the baseline" in text and "28/28 tables" in text
    assert text.endswith("a result\n")


class _Broken(io.StringIO):
    """A stream whose reader has gone after a number of writes."""

    def __init__(self, writes: int, terminal: bool):
        super().__init__()
        self.left, self.terminal = writes, terminal

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        self.left -= 1
        if self.left < 0:
            raise BrokenPipeError(32, "Broken pipe")
        return super().write(text)


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("writes", range(5))
def test_output_that_fails_does_not_fail_the_run(monkeypatch, terminal, writes):
    stream = _Broken(writes, terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    shown, stages = RunProgress(SelfPlay(**SMALL)), []
    for stage in ("play", "learn", "measure"):
        with shown.stage(0, stage, 0, 10) as update:
            update(5)
            update(10)
        shown.line("done")
        stages.append(stage)
    assert stages == ["play", "learn", "measure"]
    assert stream.left < 0, "the stream must have failed"
    assert sys.stderr is stream, "a bar has given the stream back"


def test_a_process_without_standard_error_trains(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    shown = RunProgress(SelfPlay(**SMALL))
    with shown.stage(0, "play", 0, 10) as update:
        update(10)
    shown.line("done")
    assert sys.stderr is None, "a bar has put a stream in its place"
