"""Files of games: which notation a file is in, and conversion between them."""

from __future__ import annotations

import bz2
import gzip
import os
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from io import BufferedReader
from itertools import chain
from pathlib import Path

from trickformer.base import TrickformerError
from trickformer.records import jsonl
from trickformer.records.played import AnyRecord, Unread
from trickformer.records.skat import iss, xskat
from trickformer.records.skat.record import SkatRecord, UnreadableGame
from trickformer.tournaments.run import RECORDS


def _write_iss(record: AnyRecord, number: int) -> str:
    if not isinstance(record, SkatRecord):
        raise TrickformerError(f"game {number}: an ISS record is of Skat, and this is a game of {record.rules}")
    return iss.write(record, number)


WRITERS: dict[str, Callable[[AnyRecord, int], str]] = {".sgf": _write_iss, ".jsonl": jsonl.write}


def place(path: Path) -> Path:
    """Where the games of a path are: of the folder of a run or a table its records, else the file itself."""
    return path / RECORDS if (path / RECORDS).exists() else path


def read(path: Path) -> Iterator[AnyRecord]:
    """The games of a file, one by one.

    Raises TrickformerError, naming file, game and, where there is one, move: on what `games` raises, and on a game that
    is damaged."""
    for found in games(path):
        if isinstance(found, UnreadableGame):
            raise TrickformerError(f"{path}, {found.why}")
        yield found


def games(path: Path) -> Iterator[AnyRecord | UnreadableGame]:
    """The games of a file or a pipe, one by one, `-` standard input; a damaged one does not end those behind it. What
    notation a file is in is seen by its beginning, not by its name; it may be compressed by gzip or bzip2.

    Raises TrickformerError, naming the file, where it cannot be read, is empty or holds no games."""
    try:
        with _open_decompressed(path) as file:
            lines = iter(file)
            begun = []  # blank lines and the first of the others: a pipe is read once
            while not begun or not begun[-1].strip():
                if not (line := next(lines, b"")):
                    raise TrickformerError(f"{path} is empty; it should hold games")
                begun.append(line)
            reader = _reader(path, begun[-1][: 1 << 16])
            told = _Text("latin-1" if reader is xskat.games else None)
            for number, game in enumerate(reader(map(told.line, chain(begun, lines))), 1):
                try:
                    told.must_be_whole(number)
                    yield game()
                except TrickformerError as e:
                    yield UnreadableGame(number, str(e))
    except OSError as e:
        raise TrickformerError(f"cannot read {path}: {e.strerror or e}") from None
    except (EOFError, zlib.error) as e:
        raise TrickformerError(f"cannot read {path}: {e}") from None


@contextmanager
def _open_decompressed(path: Path) -> Generator[Iterable[bytes]]:
    """The bytes of a file, as they were before they were compressed."""
    with nullcontext(sys.stdin.buffer) if str(path) == "-" else path.open("rb") as raw:
        assert isinstance(raw, BufferedReader)
        start = raw.peek(3)[:3]
        if start.startswith(b"\x1f\x8b"):
            with gzip.open(raw) as file:
                yield file
        elif start == b"BZh":
            with bz2.open(raw) as file:
                yield file
        else:
            yield raw


class _Text:
    """Lines as text, without their ends. One that is not in UTF-8 damages the game that it is in, and no other, unless
    there is an older encoding that it may be in."""

    def __init__(self, older: str | None) -> None:
        self._older, self._whole = older, True

    def line(self, line: bytes) -> str:
        try:
            return line.decode().rstrip("\n")
        except UnicodeDecodeError:
            self._whole = self._older is not None
            return line.decode(self._older or "utf-8", errors="replace").rstrip("\n")

    def must_be_whole(self, game: int) -> None:
        """Raises TrickformerError where a line was not that was read since the last time."""
        whole, self._whole = self._whole, True
        if not whole:
            raise TrickformerError(f"game {game}: not text in UTF-8")


def _reader(path: Path, first: bytes) -> Callable[[Iterator[str]], Iterator[Unread]]:
    start = first.lstrip()
    if start.startswith(b"(;"):
        return iss.games
    if start.startswith(b"{"):
        return partial(jsonl.games, folder=None if str(path) == "-" else path.parent)
    if len(first.split()) == 3 and first.startswith(b" ") and first.isascii() and b"\x00" not in first:
        return xskat.games
    raise TrickformerError(
        f"{path} holds no games of Skat that trickformer knows (ISS .sgf, XSkat's log, .jsonl), nor our records"
    )


def convert(source: Path, target: Path) -> int:
    """Writes the games of `source` to a new file, in the notation that its ending names: .sgf or .jsonl.

    Returns their number. Raises TrickformerError on what `read` raises, on a record that the notation cannot tell, and
    where the file is there already or cannot be written; there is then no new file."""
    write = WRITERS.get(target.suffix)
    if write is None:
        raise TrickformerError(f"{target}: name it .sgf for ISS records or .jsonl for our own")
    number = 0
    try:
        if target.exists():
            raise TrickformerError(f"{target} is already there; name a new file")
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            with part.open("x", encoding="utf-8", newline="\n") as file:
                for number, record in enumerate(read(source), 1):
                    try:
                        file.write(write(record, number) + "\n")
                    except TrickformerError as e:
                        raise TrickformerError(f"{source}, {e}") from None
                file.flush()
                os.fsync(file.fileno())
            part.rename(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as e:
        raise TrickformerError(f"cannot write {target}: {e.strerror}") from None
    return number
