"""Index of the lines of a file, to read one line without the others."""

from __future__ import annotations

import codecs
from array import array
from io import BufferedReader
from pathlib import Path

import numpy as np

from trickformer.base import TrickformerError

MAX_LINE = 1 << 20  # bytes; the longest record of our games has about 10 KB
PIECE = 1 << 20  # bytes that one step searches for ends of lines
_END, _BRACE = ord("\n"), ord("{")


class LineIndex:
    """Lines of a file that are not blank, by their numbers, counted from 1.

    It holds eight bytes a line, and searches the file only as far as the requested number.
    """

    def __init__(self, path: Path) -> None:
        """Open a file. Raises TrickformerError if it cannot be read."""
        self._path = path
        try:
            self._file: BufferedReader = path.open("rb")
            self._size = path.stat().st_size
        except OSError as e:
            raise TrickformerError(f"cannot read {path}: {e.strerror}") from None
        self._starts = array("q")  # offsets of the lines
        self._searched = 0  # bytes
        self._begins = True  # whether a line begins at `_searched`

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

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _search(self, number: int | None) -> None:
        while self._searched < self._size and (number is None or len(self._starts) < number):
            try:
                self._file.seek(self._searched)
                piece = self._file.read(min(PIECE, self._size - self._searched))
            except OSError as e:
                raise TrickformerError(f"cannot read {self._path}: {e.strerror}") from None
            if not piece:  # the file became shorter
                self._size = self._searched
                return
            self._add(np.frombuffer(piece, dtype=np.uint8))

    def _add(self, piece: np.ndarray) -> None:
        """Add the lines that begin in the next bytes, uint8 [n], of the file."""
        starts = np.flatnonzero(piece == _END) + 1
        if self._begins:
            starts = np.concatenate([[0], starts])
        self._begins = bool(len(starts)) and starts[-1] == len(piece)
        if self._begins:
            starts = starts[:-1]
        plain = piece[starts] == _BRACE
        if not plain.all():  # other lines are blank, or damaged
            plain[~plain] = [not self._is_blank(self._searched + int(start)) for start in starts[~plain]]
        self._starts.frombytes((starts[plain] + self._searched).astype(np.int64).tobytes())
        self._searched += len(piece)

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
