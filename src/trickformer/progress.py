"""Progress of long work on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Advance(Protocol):
    def __call__(self, n: int = 1) -> None: ...


_LINE_EVERY = 15.0  # seconds between two plain lines


@contextmanager
def progress(what: str, unit: str, done: int, total: int) -> Iterator[Advance]:
    """Shows how many of `total` units are done and the time left; call the value for each one finished."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(what, total=total, completed=done)
            yield lambda n=1: bar.advance(task, n)
        return

    start = last = time.monotonic()
    count = 0

    def advance(n: int = 1) -> None:
        nonlocal count, last
        count += n
        now = time.monotonic()
        if done + count == total or now - last >= _LINE_EVERY:
            last = now
            left = (now - start) / count * (total - done - count)
            print(f"{what}: {done + count} of {total} {unit}, {left:.0f} s left", file=sys.stderr, flush=True)

    yield advance
