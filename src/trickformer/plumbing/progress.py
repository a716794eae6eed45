"""Progress of long work on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TextIO, TypeAlias, cast

from trickformer.plumbing.terminal import PatientStream, console, say


class Advance(Protocol):
    def __call__(self, n: int = 1, where: str = "") -> None:
        """`n` units are finished; `where` says how far those under way are, where one takes long."""


# How progress is shown: `progress` below, or what takes the same arguments.
Show: TypeAlias = Callable[[str, str, int, int], AbstractContextManager[Advance]]


@contextmanager
def progress(what: str, unit: str, done: int, total: int, line_every: float = 15.0) -> Generator[Advance]:
    """Show how many units are done and the time left.

    Args:
        what: The work, such as a command.
        unit: What is counted, in the plural.
        done: Units that were done before.
        total: Units in all.
        line_every: Seconds between two plain lines.

    Yields:
        A function to call for each unit that is finished.
    """
    if sys.stderr.isatty():
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        with Progress(*columns, console=console(cast("TextIO", PatientStream(sys.stderr)))) as bar:
            task = bar.add_task(what, total=total, completed=done)

            def draw(n: int = 1, where: str = "") -> None:
                bar.update(task, advance=n, description=_at(what, where))

            yield draw
        return

    start = last = time.monotonic()
    count = 0

    def advance(n: int = 1, where: str = "") -> None:
        nonlocal count, last
        count += n
        now = time.monotonic()
        if done + count == total or now - last >= line_every:
            last = now
            left = f", {(now - start) / count * (total - done - count):.0f} s left" if count else ""
            say(f"{_at(what, where)}: {done + count} of {total} {unit}{left}")

    yield advance


@contextmanager
def silent_progress(what: str, unit: str, done: int, total: int) -> Generator[Advance]:
    """In place of `progress`: shows nothing."""

    def advance(n: int = 1, where: str = "") -> None:
        pass

    yield advance


def _at(what: str, where: str) -> str:
    return f"{what}, {where}" if where else what
