"""Output for terminals: text of strangers cannot steer them, and a reader that is gone does not end the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_WIDTH = 200  # columns where the terminal does not tell


def printable(text: str) -> str:
    """Replace what a terminal would obey, or what would reorder a line, by question marks; line breaks stay."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def one_line(text: str) -> str:
    """Make text printable and a single line, and for Markdown: without tags."""
    return printable(" ".join(text.split())).replace("<", "&lt;")


class SafeConsole(Console):
    """A console of rich that prints `printable` text only; its own styles are kept."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


class PatientStream:
    """A stream whose writes may fail: the reader is gone, or the text is not in its encoding."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            try:
                self._stream.write(text)
            except UnicodeEncodeError:
                self._stream.write(text.encode("ascii", "replace").decode())
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


def console(stream: TextIO | None = None, wide: bool = False) -> SafeConsole:
    """Make a console.

    Args:
        stream: Stream to print to; None for standard output.
        wide: Whether lines are long where the terminal does not tell its width.
    """
    made = SafeConsole(file=stream, highlight=False)
    if wide and not made.is_terminal:
        made.width = _WIDTH
    return made


def out(text: str) -> None:
    """Print text on standard output."""
    print(printable(text))


def flush() -> None:
    """Flush standard output, which is None if the shell has closed it."""
    if sys.stdout is not None:
        sys.stdout.flush()


def say(text: str) -> None:
    """Print a line on standard error; if nobody reads it, the work goes on."""
    if sys.stderr is None:  # closed by the shell, as by `2>&-`
        return
    stream = PatientStream(sys.stderr)
    stream.write(printable(text) + "\n")
    stream.flush()


def warn(text: str) -> None:
    """Print a warning on standard error."""
    say(f"warning: {text}")


def prepare() -> None:
    """Let standard output and error take any text: what their encoding lacks becomes a question mark."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # replaced by something that has no encoding
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def abandon() -> None:
    """Give up standard output, whose reader is gone, so that Python does not fail to flush it at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
