"""Progress of long work on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Protocol, TextIO, TypeAlias, cast

from trickformer.plumbing.terminal import BestEffortStream, console, say, warn


class Advance(Protocol):
    def __call__(self, n: int = 1, where: str = "", score: Callable[[], str] | None = None) -> None:
        """Show that `n` more units are finished.

        Args:
            n: Number of units.
            where: Progress within the current unit, if a unit takes long.
            score: Function that returns a line with the result so far. It is called every few seconds.
        """


# Progress display: `progress` below, or a function with the same arguments.
Show: TypeAlias = Callable[[str, str, int, int], AbstractContextManager[Advance]]

_SCORE_EVERY = 3.0  # seconds between two updates of the score on a terminal


@contextmanager
def progress(what: str, unit: str, done: int, total: int, line_every: float = 15.0) -> Generator[Advance]:
    """Show how many units are done and the time left. A fault of the display is only a warning.

    Args:
        what: Name of the work, such as a command.
        unit: Name of the units, in the plural.
        done: Number of units that were done before.
        total: Number of units in all.
        line_every: Seconds between two plain lines.

    Yields:
        A function to call for each unit that is finished.
    """
    display: AbstractContextManager[Advance] | None = None
    draw: Advance | None = None

    def stop(fault: Exception) -> None:
        nonlocal draw
        draw = None
        warn(f"progress is no longer shown: {str(fault) or type(fault).__name__}")

    def advance(n: int = 1, where: str = "", score: Callable[[], str] | None = None) -> None:
        if draw is not None:
            try:
                draw(n, where, score)
            except Exception as e:
                stop(e)

    try:
        on_terminal = sys.stderr is not None and sys.stderr.isatty()  # it is None if the shell has closed it
        display = _bar(what, unit, done, total) if on_terminal else _lines(what, unit, done, total, line_every)
        draw = display.__enter__()
    except Exception as e:
        display = None
        stop(e)
    try:
        yield advance
    finally:
        if display is not None:
            with suppress(Exception):
                display.__exit__(None, None, None)


@contextmanager
def _lines(what: str, unit: str, done: int, total: int, line_every: float) -> Generator[Advance]:
    """Show progress as plain lines."""
    start = last = time.monotonic()
    count = 0

    def advance(n: int = 1, where: str = "", score: Callable[[], str] | None = None) -> None:
        nonlocal count, last
        count += n
        now = time.monotonic()
        if done + count == total or now - last >= line_every:
            last = now
            left = f", {(now - start) / count * (total - done - count):.0f} s left" if count else ""
            say(f"{_join_where(what, where)}: {done + count} of {total} {unit}{left}")
            if score is not None and done + count < total and (line := score()):
                say(line)

    yield advance


@contextmanager
def _bar(what: str, unit: str, done: int, total: int) -> Generator[Advance]:
    """Show progress as a bar on a terminal, and a score below it."""
    from rich.console import Group, RenderableType
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.text import Text

    line, updated = "", -math.inf  # line with the score, and time of its last update

    class Bar(Progress):
        def get_renderable(self) -> RenderableType:
            return Group(super().get_renderable(), Text(line)) if line else super().get_renderable()

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Bar(*columns, console=console(cast("TextIO", BestEffortStream(sys.stderr)))) as bar:
        task = bar.add_task(what, total=total, completed=done)

        def draw(n: int = 1, where: str = "", score: Callable[[], str] | None = None) -> None:
            nonlocal line, updated
            if score is not None and time.monotonic() - updated >= _SCORE_EVERY:
                line, updated = score(), time.monotonic()
            bar.update(task, advance=n, description=_join_where(what, where))

        yield draw


@contextmanager
def silent_progress(what: str, unit: str, done: int, total: int) -> Generator[Advance]:
    """Show nothing, in place of `progress`.

    Args:
        what: Ignored, as all arguments are.
        unit: Ignored.
        done: Ignored.
        total: Ignored.
    """

    def advance(n: int = 1, where: str = "", score: Callable[[], str] | None = None) -> None:
        pass

    yield advance


def _join_where(what: str, where: str) -> str:
    return f"{what}, {where}" if where else what
