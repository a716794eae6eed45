"""Standard output and error that nobody reads, or whose encoding lacks what is printed."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from tests.faults import runs
from tests.faults.report import Part
from trickformer.plumbing.progress import progress

ENCODINGS = ("ascii", "latin-1", "cp437", "utf-16")
ODD = "päth $x$ {0} \U0001f0a1 \u2028"  # name of a folder


def _gone(descriptor: int) -> Callable[[], None]:
    """Give the standard stream of that number to a reader that is gone."""

    def prepare() -> None:
        read, write = os.pipe()
        os.dup2(write, descriptor)
        os.close(read)
        os.close(write)
        setattr(sys, {1: "stdout", 2: "stderr"}[descriptor], os.fdopen(descriptor, "w", closefd=False))

    return prepare


def dead_readers(whole: runs.Whole, inputs: Path) -> Part:
    """Run every command with a standard error, and then a standard output, that nobody reads any more.

    Good: the run ends with its result. A report ends without a traceback."""
    part = Part("standard output or error that nobody reads", f"{len(whole)} commands, and six that print")
    match, out = whole["tournament"][0], inputs / "unread"
    printing = _printing(match)
    with progress("readers", "commands", 0, 2 * len(whole) + len(printing)) as advance:
        for name, (unbroken, _) in whole.items():
            for descriptor in (1, 2):
                ended = runs.Command(runs.words(name, out, inputs), prepare=_gone(descriptor)).wait()
                same = runs.result(out) == runs.result(unbroken)
                good = same and "Traceback" not in ended.said and (ended.code == 0 or descriptor == 1)
                part.check(good, f"{name}, descriptor {descriptor}: {ended.code}, {ended.last}")
                part.case()
                advance(1)
                shutil.rmtree(out, ignore_errors=True)
        for words in printing:
            ended = runs.Command(words, prepare=_gone(1)).wait()
            quiet = "Traceback" not in ended.said and "Exception" not in ended.said
            part.check(quiet, f"{words[0]}, descriptor 1: {ended.code}, {ended.last}")
            part.case()
            advance(1)
    return part


def encodings(whole: runs.Whole, inputs: Path) -> Part:
    """Print to streams of other encodings, from a folder whose name none of them has."""
    part = Part("an encoding that lacks what is printed", f"{len(ENCODINGS)} encodings, seven commands")
    out, match = inputs / ODD / "run", whole["tournament"][0]
    shutil.copytree(match, copy := inputs / ODD / "match")
    with progress("encodings", "commands", 0, 7 * len(ENCODINGS)) as advance:
        for encoding in ENCODINGS:
            for words in (runs.words("tournament", out, inputs), *_printing(copy)):
                ended = runs.Command(words, prepare=lambda encoding=encoding: _encode(encoding)).wait()
                said = ended.said.replace("\0", "")
                part.check(ended.code == 0 and "Traceback" not in said, f"{words[0]}, {encoding}: {ended.code}, {said}")
                part.case()
                advance(1)
            part.check(runs.result(out) == runs.result(match), f"tournament, {encoding}: another result")
            shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(inputs / ODD)
    return part


def _printing(folder: Path) -> list[list[str]]:
    """Commands that print much, on the folder of a tournament."""
    words = ["report {}", "records show {} --game 1", "records check {}", "players gomcts", "games", "crew missions"]
    return [[word.replace("{}", str(folder)) for word in line.split()] for line in words]


def _encode(encoding: str) -> None:
    """Give standard output and error an encoding, as PYTHONIOENCODING does."""
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding=encoding, write_through=True)
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding=encoding, write_through=True)
