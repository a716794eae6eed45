"""Output for terminals. Untrusted text cannot control a terminal, and a closed output does not end the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_FILE_WIDTH = 200  # columns of a wide console if the output is no terminal


def printable(text: str) -> str:
    """Replace control characters, and characters that reorder a line, by question marks.

    Args:
        text: The text. Its line breaks stay.
    """
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def one_line(text: str) -> str:
    """Make a text printable, join its lines and escape `<`, which begins a tag in Markdown.

    Args:
        text: The text.
    """
    return printable(" ".join(text.split())).replace("<", "&lt;")


class SafeConsole(Console):
    """A console of rich that prints `printable` text only; its own styles are kept."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Let the program end as after any other closed pipe; rich would end it with code 1."""
        raise BrokenPipeError


class BestEffortStream:
    """A stream whose failed writes are ignored. Characters that it cannot encode become question marks.

    A failure redirects its descriptor to the null device. Output that is left in its buffer would otherwise fail again
    at every later flush and end the run. For example, `multiprocessing` flushes before it starts a worker.
    """

    def __init__(self, stream: TextIO):
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            try:
                self._stream.write(text)
            except UnicodeEncodeError:
                self._stream.write(text.encode("ascii", "replace").decode())
        except (OSError, ValueError):
            self._give_up()
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self._give_up()

    def _give_up(self) -> None:
        with suppress(OSError, ValueError, AttributeError):  # AttributeError: a stream of a notebook has no descriptor
            _discard(self._stream)
            self._stream.flush()


def console(stream: TextIO | None = None, wide: bool = False) -> SafeConsole:
    """Make a console.

    Args:
        stream: Stream to print to; None for standard output.
        wide: Whether lines may be long if the output is no terminal.
    """
    result = SafeConsole(file=stream, highlight=False)
    if wide and not result.is_terminal:
        result.width = _FILE_WIDTH
    return result


def out(text: str) -> None:
    """Print text on standard output.

    Args:
        text: The text.
    """
    print(printable(text))


def flush() -> None:
    """Flush standard output, which is None if the shell has closed it."""
    if sys.stdout is not None:
        sys.stdout.flush()


def say(text: str) -> None:
    """Print a line on standard error. A failure is ignored.

    Args:
        text: The line.
    """
    if sys.stderr is None:  # closed by the shell, as by `2>&-`
        return
    stream = BestEffortStream(sys.stderr)
    stream.write(printable(text) + "\n")
    stream.flush()


def warn(text: str) -> None:
    """Print a warning on standard error.

    Args:
        text: The warning, in one line.
    """
    say(f"warning: {text}")


def replace_unencodable() -> None:
    """Make standard output and error replace characters that they cannot encode by question marks."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # the stream was replaced by one without an encoding
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def abandon() -> None:
    """Discard further standard output after its reader has closed it, so that Python's flush at exit does not fail."""
    with suppress(OSError, ValueError):
        _discard(sys.stdout)


def _discard(stream: TextIO) -> None:
    """Redirect the descriptor of a stream to the null device. Raises OSError or ValueError if the stream has none."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, stream.fileno())
    finally:
        os.close(null)
