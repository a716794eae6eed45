"""Index of the lines of a file, to read one line without the others."""

from __future__ import annotations

import codecs
import os
from array import array
from io import BufferedReader
from pathlib import Path

import numpy as np

from trickformer.base import TrickformerError

MAX_LINE = 1 << 20  # bytes; the longest record of our games has about 10 KB
READ_SIZE = 1 << 20  # bytes that are searched for ends of lines at a time
_LINE_FEED, _BRACE = ord("\n"), ord("{")


class LineIndex:
    """Index of the lines of a file that are not blank, numbered from 1.

    The index takes eight bytes a line. It searches the file only up to the line that is requested.
    """

    def __init__(self, path: Path) -> None:
        """Open a file. Raises TrickformerError if it cannot be read."""
        self._path = path
        try:
            self._file: BufferedReader = path.open("rb")
            self._size = path.stat().st_size
        except OSError as e:
            raise TrickformerError(f"cannot read {path}: {e.strerror}") from None
        self._starts = array("q")  # byte offset of each line
        self._searched = 0  # number of bytes that were searched so far
        self._at_line_start = True  # whether a line begins at the byte offset `_searched`

    def count(self) -> int:
        """Count the lines. Raises TrickformerError if the file cannot be read."""
        self._search(None)
        return len(self._starts)

    def read(self, number: int) -> bytes | None:
        """Read a line.

        Args:
            number: Number of the line.

        Returns:
            The line with its end if it has one, at most one byte more than MAX_LINE; None if there is no such line.

        Raises:
            TrickformerError: The file cannot be read.
        """
        self._search(number)
        if not 1 <= number <= len(self._starts):
            return None
        return self._read_at(self._starts[number - 1])

    def refresh(self) -> None:
        """Include lines that were appended since. Raises TrickformerError if the file cannot be read."""
        try:
            self._size = max(self._size, os.fstat(self._file.fileno()).st_size)
        except OSError as e:
            raise TrickformerError(f"cannot read {self._path}: {e.strerror}") from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _search(self, number: int | None) -> None:
        while self._searched < self._size and (number is None or len(self._starts) < number):
            try:
                self._file.seek(self._searched)
                data = self._file.read(min(READ_SIZE, self._size - self._searched))
            except OSError as e:
                raise TrickformerError(f"cannot read {self._path}: {e.strerror}") from None
            if not data:  # the file became shorter
                self._size = self._searched
                return
            self._add(np.frombuffer(data, dtype=np.uint8))

    def _add(self, data: np.ndarray) -> None:
        """Add the lines that begin in the next n bytes of the file, uint8 [n]."""
        starts = np.flatnonzero(data == _LINE_FEED) + 1
        if self._at_line_start:
            starts = np.concatenate([[0], starts])
        self._at_line_start = bool(len(starts)) and starts[-1] == len(data)
        if self._at_line_start:
            starts = starts[:-1]
        is_game = data[starts] == _BRACE
        if not is_game.all():  # the other lines are blank or damaged; damaged lines count
            is_game[~is_game] = [not self._is_blank(self._searched + int(start)) for start in starts[~is_game]]
        self._starts.frombytes((starts[is_game] + self._searched).astype(np.int64).tobytes())
        self._searched += len(data)

    def _is_blank(self, start: int) -> bool:
        line = self._read_at(start)
        return len(line) <= MAX_LINE and not line.decode(errors="replace").strip()

    def _read_at(self, start: int) -> bytes:
        try:
            self._file.seek(start)
            line = self._file.readline(MAX_LINE + 1)
        except OSError as e:
            raise TrickformerError(f"cannot read {self._path}: {e.strerror}") from None
        return line if start else line.removeprefix(codecs.BOM_UTF8)
