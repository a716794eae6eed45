"""SIGKILL to engines at any moment: no record is lost, and none is another than it would have been."""

from __future__ import annotations

import itertools
import os
import random
import shlex
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

from tests.faults.report import Part
from tests.support.engines import command, gone, running, spec
from trickformer.plumbing.lines import read_lines
from trickformer.plumbing.progress import progress
from trickformer.tournaments.plan import Tournament
from trickformer.tournaments.run import RECORDS, tournament

PROCESSES = 2


def kills(inputs: Path, number: int, seed: int, pause: float = 0.3) -> Part:
    """Kill the processes of an engine, over tournaments of Skat.

    Args:
        inputs: Folder for the tournaments.
        number: Number of kills.
        seed: Seed of the tournaments and of what is killed, and when.
        pause: Shortest pause between two kills in seconds; the longest is twice as long. If an engine takes longer than
            half of it to start, the pause is twice that time: three kills in a row of an engine that starts end a
            tournament, as they should.
    """
    pause = max(pause, 2 * _start_seconds())
    part, rng = Part("kill -9 of an engine", "tournaments of Skat"), random.Random(seed)
    whole = _played(inputs / "engine-whole", "good", "-", seed)
    with progress("engines", "kills", 0, number) as advance:
        for run in itertools.count():  # a tournament may end before a kill
            if part.cases >= number:
                break
            mark, over = f"mark-{os.getpid()}-{run}", threading.Event()

            def disturb(mark: str = mark, over: threading.Event = over) -> None:
                # Three kills at one decision end a tournament, as they should: an engine has the time to make one.
                while not over.wait(rng.uniform(pause, 2 * pause)) and part.cases < number:
                    if found := _engines(mark):
                        with suppress(ProcessLookupError):
                            os.kill(rng.choice(sorted(found)), signal.SIGKILL)
                            part.case()
                            advance(1)

            killer = threading.Thread(target=disturb)
            killer.start()
            out = inputs / mark
            try:
                part.check(_played(out, "slow", mark, seed) == whole, f"seed {seed}, {mark}: other hands")
            finally:
                over.set()
                killer.join()
            part.check(len(read_lines(out / RECORDS)[0]) == len(whole), f"seed {seed}, {mark}: records are lost")
            part.check(gone(mark), f"seed {seed}, {mark}: a process is left")
    return part


def _played(out: Path, kind: str, mark: str, seed: int) -> dict[object, object]:
    a = spec(kind, mark, processes=PROCESSES)
    run = tournament(Tournament(game="skat", a=a, b="random", deals=8, seed=seed, out=out))
    return {r.hand: r.history for r in run.records}


def _start_seconds() -> float:
    began = time.monotonic()
    subprocess.run(shlex.split(command("good")), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    return time.monotonic() - began


def _engines(mark: str) -> list[int]:
    """The processes of an engine, without those that watch over them."""
    return [pid for pid, watches in running(mark).items() if not watches]
