"""Files of games: which notation a file is in, and conversion between them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from trickformer.base import TrickformerError
from trickformer.records import iss, jsonl, xskat
from trickformer.records.record import Record

WRITERS: dict[str, Callable[[Record, int], str]] = {".sgf": iss.write, ".jsonl": jsonl.write}


def read(path: Path) -> Iterator[Record]:
    """The games of a file, one by one; what notation it is in is seen by its beginning, not by its name.

    Raises TrickformerError, naming file, game and, where there is one, move: on a file that cannot be read, is empty or
    holds no games, and on a game that is damaged."""
    try:
        with path.open("rb") as file:
            first = b"\n"
            while first and not first.strip():
                first = file.readline(1 << 16)
            reader = _reader(path, first)
            file.seek(0)
            try:
                yield from reader(_lines(file))
            except TrickformerError as e:
                raise TrickformerError(f"{path}, {e}") from None
    except OSError as e:
        raise TrickformerError(f"cannot read {path}: {e.strerror}") from None


def _reader(path: Path, first: bytes) -> Callable[[Iterator[str]], Iterator[Record]]:
    if not first:
        raise TrickformerError(f"{path} is empty; it should hold games of Skat")
    start = first.lstrip()
    if start.startswith(b"(;"):
        return iss.read
    if start.startswith(b"{"):
        return jsonl.read
    if len(first.split()) == 3 and first.startswith(b" ") and first.isascii() and b"\x00" not in first:
        return xskat.read
    raise TrickformerError(f"{path} holds no games of Skat that trickformer knows: ISS (.sgf), XSkat's log, .jsonl")


def _lines(file: IO[bytes]) -> Iterator[str]:
    for number, line in enumerate(file, 1):
        try:
            yield line.decode().rstrip("\n")
        except UnicodeDecodeError:
            raise TrickformerError(f"line {number}: not text in UTF-8") from None


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
