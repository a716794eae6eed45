"""A reader of what a stranger may have written, and how one input is tried on it."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trickformer.base import TrickformerError

LIMIT = 5  # seconds for one input


@dataclass(frozen=True)
class Target:
    """A reader.

    Attributes:
        name: What it reads.
        good: Valid inputs.
        read: Reads one input.
        raises: Exceptions that callers expect beside TrickformerError.
    """

    name: str
    good: list[bytes]
    read: Callable[[bytes], object]
    raises: tuple[type[Exception], ...] = ()


class Scratch:
    """A folder in which targets write their inputs, because readers take paths."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def by_file(self, name: str, good: list[bytes], read: Callable[[Path], object], file: str) -> Target:
        """Make the target of a reader of one file.

        Args:
            name: Name of the target.
            good: Valid contents.
            read: Reads the file.
            file: Name of the file.
        """
        path = self._path / file

        def write(data: bytes) -> object:
            path.write_bytes(data)
            return read(path)

        return Target(name, good, write)

    def in_folder(
        self,
        name: str,
        source: Path,
        file: str,
        read: Callable[[Path], object],
        good: list[bytes] | None = None,
        pack: Callable[[bytes], bytes] = bytes,
    ) -> Target:
        """Make the target of a reader of a folder, in which one file is changed.

        Checksums are removed, because they would refuse every change first.

        Args:
            name: Name of the target.
            source: Valid folder.
            file: File that is changed.
            read: Reads the folder.
            good: Valid inputs; None for the contents of the file.
            pack: Makes the contents of the file from an input.
        """
        place = self._path / name.replace(" ", "-")
        place.mkdir()
        for path in source.iterdir():
            if path.is_file() and path.name not in ("B2SUMS", file + ".sums"):
                (place / path.name).write_bytes(path.read_bytes())

        def write(data: bytes) -> object:
            (place / file).write_bytes(pack(data))
            return read(place)

        return Target(name, good or [(source / file).read_bytes()], write)


class _TooLateError(BaseException):
    """An input takes too long."""


def _stop(*_: object) -> None:
    raise _TooLateError


def find_fault(target: Target, data: bytes) -> str | None:
    """Read an input, and describe in one line what is wrong with how that went.

    Args:
        target: The reader.
        data: The input.

    Returns:
        None if it was read, or refused in one line within LIMIT seconds.
    """
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        target.read(data)
    except TrickformerError as e:
        if "\n" in str(e):
            return f"a message of several lines: {str(e)!r}"
    except target.raises:
        pass
    except _TooLateError:
        return f"more than {LIMIT} s"
    except Exception as e:
        where = traceback.extract_tb(e.__traceback__)[-1]
        return f"{type(e).__name__}: {str(e)[:200]!r} ({Path(where.filename).name}:{where.lineno})"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return None
