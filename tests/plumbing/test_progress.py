"""Long work says how far it is: plain lines where no terminal is, a bar on one."""

from __future__ import annotations

import os
import re
import sys

import pytest

from trickformer.plumbing import progress
from trickformer.plumbing.terminal import BestEffortStream


@pytest.fixture
def clock(monkeypatch):
    """Seconds, as the progress reads them; set the first to move on."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_plain_lines_come_at_intervals_and_at_the_end(clock, capsys):
    with progress.progress("work", "games", 10, 14) as advance:
        for _ in range(4):
            clock[0] += 10
            advance()
    assert capsys.readouterr().err.splitlines() == ["work: 12 of 14 games, 20 s left", "work: 14 of 14 games, 0 s left"]


def test_units_that_take_long_say_where_they_are(clock, capsys):
    with progress.progress("work", "games", 0, 2) as advance:
        for move in range(1, 5):
            clock[0] += 10
            advance(0, f"move {move}")
        advance(1)
    said = ["work, move 2: 0 of 2 games", "work, move 4: 0 of 2 games"]
    assert capsys.readouterr().err.splitlines() == said


def test_a_terminal_gets_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with progress.progress("work", "games", 1, 3) as advance:
        advance(0, "move 7")
        advance(2, "move 9")
    shown = re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", capsys.readouterr().err)
    assert "work, move 9" in shown and "3/3 games" in shown


def test_a_terminal_shows_the_score_every_few_seconds(clock, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    calls = []

    def score():
        calls.append(clock[0])
        return f"A leads after {len(calls)}"

    with progress.progress("work", "games", 0, 9) as advance:
        for _ in range(7):
            advance(score=score)
            clock[0] += 1
    assert calls == [100.0, 103.0, 106.0]
    assert "A leads after 3" in capsys.readouterr().err


def test_plain_lines_have_the_score_below_but_for_the_last(clock, capsys):
    with progress.progress("work", "games", 0, 2) as advance:
        for _ in range(2):
            clock[0] += 20
            advance(score=lambda: "A leads")
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["work: 1 of 2 games, 20 s left", "A leads", "work: 2 of 2 games, 0 s left"]


def test_output_that_nobody_reads_does_not_fail_at_later_flushes():
    """`multiprocessing` flushes standard error before it starts a worker."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as stream:
        best_effort = BestEffortStream(stream)
        best_effort.write("a line\n")
        best_effort.flush()
        stream.flush()
        stream.write("another line\n")
