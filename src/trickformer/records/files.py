"""Files of games: detection of the notation, reading, and conversion."""

from __future__ import annotations

import bz2
import codecs
import gzip
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import Self, TypeAlias

from trickformer.base import TrickformerError
from trickformer.plumbing.files import whole
from trickformer.plumbing.text import json_object, limited_lines
from trickformer.records import hanab_live, jsonl
from trickformer.records.line_index import MAX_LINE, LineIndex
from trickformer.records.played import AnyRecord, GameParser, MissingGameError
from trickformer.records.skat import iss, xskat
from trickformer.records.skat.record import HouseRuleError, SkatRecord, TornGameError, UnreadableGame
from trickformer.tournaments.deals import RECORDS

MAX_DOCUMENT = 1 << 22  # bytes of a file that is one JSON object, as hanab.live exports it
BinaryFile: TypeAlias = BufferedReader | gzip.GzipFile | bz2.BZ2File
_XSKAT_RULE = b"-" * 40  # line below the players' names in an XSkat log


def _write_iss(record: AnyRecord, number: int) -> str:
    if not isinstance(record, SkatRecord):
        raise TrickformerError(f"game {number}: an ISS record is of Skat, and this is a game of {record.rules}")
    return iss.write(record, number)


def _write_hanab_live(record: AnyRecord, number: int) -> str:
    if isinstance(record, SkatRecord):
        raise TrickformerError(f"game {number}: hanab.live has only Hanabi, and this is a game of Skat")
    return hanab_live.write(record, number)


WRITERS: dict[str, Callable[[AnyRecord, int], str]] = {
    ".sgf": _write_iss,
    ".jsonl": jsonl.write,
    ".json": _write_hanab_live,
}


def place(path: Path) -> Path:
    """Return the file that holds the games of a path.

    Args:
        path: Folder of a run or a table, or a file.

    Returns:
        The file of records in the folder, or the path itself.
    """
    return path / RECORDS if (path / RECORDS).exists() else path


def read(path: Path) -> Iterator[AnyRecord]:
    """Read the games of a file one by one, and stop at a damaged one.

    Args:
        path: File of games, or `-` for standard input.

    Yields:
        The games in order.

    Raises:
        TrickformerError: `games` raises it, or a game is damaged; the message names the file, the game and the move.
    """
    for game in games(path):
        if isinstance(game, UnreadableGame):
            raise TrickformerError(f"{path}, {game.why}")
        yield game


def games(path: Path) -> Iterator[AnyRecord | UnreadableGame]:
    """Read the games of a file one by one, damaged ones included.

    The beginning of the file decides the notation, not its name. The file may be compressed by gzip or bzip2.

    Args:
        path: File or pipe of games, or `-` for standard input.

    Yields:
        Each game, or why it cannot be read.

    Raises:
        TrickformerError: The file cannot be read, is empty or holds no games, or its run is of a game that is not
            installed.
    """
    try:
        with _open_decompressed(path) as file:
            lines = limited_lines(file, MAX_LINE)
            head = [_first_line(lines, path)]
            if not head[0].lstrip().startswith((b"(;", b"{")):
                head += islice(lines, 2)  # a log of XSkat is recognised by its first three lines
            if (document := _document(head, lines, path)) is not None:
                yield _read_document(document, path)
                return
            reader = _reader(path, head)
            decoder = _LineDecoder("latin-1" if reader is xskat.games else None)
            for number, game in enumerate(reader(map(decoder.line, chain(head, lines))), 1):
                try:
                    decoder.raise_fault(number)
                    yield game()
                except HouseRuleError as e:
                    yield UnreadableGame(number, str(e), house_rule=e.rule)
                except MissingGameError as e:  # of a run, so no other game can be read either
                    raise TrickformerError(f"{path}: {e}") from None
                except TrickformerError as e:
                    # A log of XSkat is torn if its last game is not over; any other file, if its last line has no end.
                    torn = isinstance(e, TornGameError) if reader is xskat.games else decoder.is_torn
                    yield UnreadableGame(number, str(e), torn=torn)
    except IsADirectoryError:
        raise TrickformerError(
            f"{path} holds no records.jsonl; give a run folder with finished hands, or a file of games"
        ) from None
    except OSError as e:
        raise TrickformerError(f"cannot read {path}: {e.strerror or e}") from None
    except (EOFError, zlib.error) as e:
        raise TrickformerError(f"cannot read {path}: {e}") from None


class GameFile:
    """Games of a file by their numbers, counted from 1 as in `trickformer records`.

    A file of JSON lines, such as the records of a run, is indexed, and each game is read on request. Games of other
    notations and of compressed files are read in order and kept in memory.

    `len(file)` is the number of games, damaged ones included, when the file was opened. Lines that a running
    tournament adds later count after `refresh`.
    """

    def __init__(self, path: Path) -> None:
        """Open a file.

        Args:
            path: File of games, or `-` for standard input; for a run folder, the file that `place` returns.

        Raises:
            TrickformerError: The file cannot be read, is empty or holds no games.
        """
        self._path = path
        self._lines: LineIndex | None = None
        self._games_read: list[AnyRecord | UnreadableGame] = []  # without an index: the games that were read so far
        self._rest: Iterator[AnyRecord | UnreadableGame] = iter(())
        if _is_line_file(path):
            self._reader = jsonl.LineReader(path.parent)
            self._lines = LineIndex(path)
        else:
            self._rest = games(path)
            self._read_up_to(1)

    def __len__(self) -> int:
        if self._lines is not None:
            return self._lines.count()
        self._read_up_to(None)
        return len(self._games_read)

    def get(self, number: int) -> AnyRecord | UnreadableGame:
        """Read a game.

        Args:
            number: Number of the game, from 1.

        Returns:
            The game, or why it cannot be read.

        Raises:
            TrickformerError: There is no such game, or the file cannot be read.
        """
        if self._lines is not None:
            line = self._lines.read(number)
            if line is None:
                raise _no_game_error(self._path, number, self._lines.count())
            return self._parse(line, number)
        self._read_up_to(number)
        if not 1 <= number <= len(self._games_read):
            raise _no_game_error(self._path, number, len(self._games_read))
        return self._games_read[number - 1]

    def refresh(self) -> None:
        """Include games that were appended to an indexed file since. Raises TrickformerError if it cannot be read."""
        if self._lines is not None:
            self._lines.refresh()

    def close(self) -> None:
        """Close the file."""
        if self._lines is not None:
            self._lines.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _parse(self, line: bytes, number: int) -> AnyRecord | UnreadableGame:
        decoder = _LineDecoder(None)
        text = decoder.line(line)
        try:
            decoder.raise_fault(number)
            return self._reader.read(text, number)
        except TrickformerError as e:
            return UnreadableGame(number, str(e), torn=decoder.is_torn)

    def _read_up_to(self, count: int | None) -> None:
        """Read until `count` games are in memory; all games if None."""
        while (count is None or len(self._games_read) < count) and (game := next(self._rest, None)) is not None:
            self._games_read.append(game)


def _is_line_file(path: Path) -> bool:
    """Return whether a file holds a game in JSON on each line, so that single lines can be read.

    Raises TrickformerError if the file cannot be read or is empty."""
    if not path.is_file():
        return False
    try:
        with _open_decompressed(path) as file:
            if not isinstance(file, BufferedReader):
                return False
            lines = limited_lines(file, MAX_LINE)
            head = [_first_line(lines, path)]
            return head[0].lstrip().startswith(b"{") and _document(head, lines, path) is None
    except OSError as e:
        raise TrickformerError(f"cannot read {path}: {e.strerror or e}") from None
    except (EOFError, zlib.error):
        return False  # `games` reports the fault


@contextmanager
def _open_decompressed(path: Path) -> Generator[BinaryFile]:
    """Open a file, and decompress it if it is compressed."""
    if str(path) == "-" and sys.stdin is None:
        raise TrickformerError("the standard input is closed; name a file")
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


def _no_game_error(path: Path, number: int, count: int) -> TrickformerError:
    numbers = f"games 1 to {count}" if count > 1 else "only game 1"
    return TrickformerError(f"{path} holds no game {number}; it holds {numbers}")


def _first_line(lines: Iterator[bytes], path: Path) -> bytes:
    """Return the first line that is not blank, without a byte order mark.

    Raises TrickformerError if there is none."""
    mark = codecs.BOM_UTF8
    for line in lines:
        line, mark = line.removeprefix(mark), b""
        if line.strip():
            return line
    raise TrickformerError(f"{path} holds no game; if its run has just begun, wait for the end of a hand")


class _LineDecoder:
    """Decoder of lines, which drops their ends.

    A line that is too long, or in neither UTF-8 nor the fallback encoding of old files, damages only its own game.
    """

    def __init__(self, fallback: str | None) -> None:
        self._fallback = fallback
        self._fault: str | None = None
        self.is_torn = False  # whether the last line lacks its end

    def line(self, line: bytes) -> str:
        self.is_torn = not line.endswith(b"\n") and len(line) <= MAX_LINE
        if len(line) > MAX_LINE:
            self._fault = f"a line has more than {MAX_LINE >> 20} MiB"
            return "too long"
        try:
            return line.decode().rstrip("\n")
        except UnicodeDecodeError:
            if self._fallback is None:
                self._fault = "not text in UTF-8"
            return line.decode(self._fallback or "utf-8", errors="replace").rstrip("\n")

    def raise_fault(self, game: int) -> None:
        """Raise TrickformerError if a line that was read since the last call has a fault."""
        fault, self._fault = self._fault, None
        if fault:
            raise TrickformerError(f"game {game}: {fault}")


def _document(head: list[bytes], lines: Iterator[bytes], path: Path) -> str | None:
    """Read the whole file if it holds one JSON object that is not one of our records.

    Args:
        head: First line. The function appends the lines that it reads.
        lines: Lines after it.
        path: The file, for messages.

    Returns:
        The text, or None.

    Raises:
        TrickformerError: The first line opens an object, which is too large or incomplete.
    """
    first = head[0].strip()
    is_certain = first == b"{"  # an object over several lines
    is_likely = first.startswith(b"{") and (
        not first.endswith(b"}") or hanab_live.is_game(first.decode(errors="replace"))
    )
    if not is_certain and not is_likely:
        return None
    size = len(head[0])
    while size <= MAX_DOCUMENT and len(head[-1]) <= MAX_LINE and (line := next(lines, b"")):
        head.append(line)
        size += len(line)
    try:
        if len(head[-1]) > MAX_LINE:
            raise ValueError(f"a line has more than {MAX_LINE >> 20} MiB")
        if size > MAX_DOCUMENT:
            raise ValueError(f"it has more than {MAX_DOCUMENT >> 20} MiB")
        text = b"".join(head).decode()
        json_object(text)
    except ValueError as e:
        if not is_certain:
            return None
        fault = "not text in UTF-8" if isinstance(e, UnicodeDecodeError) else f"not a JSON object: {e}"
        raise TrickformerError(f"{path}: {fault}") from None
    return text if is_certain or hanab_live.is_game(text) else None


def _read_document(text: str, path: Path) -> AnyRecord:
    """Return the game of a file that holds one JSON object. Raises TrickformerError for an unknown object."""
    if not hanab_live.is_game(text):
        raise TrickformerError(f"{path} holds no game of hanab.live, which has `players`, `deck` and `actions`")
    try:
        return hanab_live.parse(text)
    except TrickformerError as e:
        raise TrickformerError(f"{path}: {e}") from None


def _reader(path: Path, head: list[bytes]) -> Callable[[Iterator[str]], Iterator[GameParser]]:
    """Return the reader for the notation of a file's first lines.

    Raises TrickformerError if the notation is unknown."""
    first = head[0]
    if first.lstrip().startswith(b"(;"):
        return iss.games
    if first.lstrip().startswith(b"{"):
        return partial(jsonl.games, folder=None if str(path) == "-" else path.parent)
    three_names = len(first.split()) == 3 and first.startswith(b" ") and first.isascii() and b"\x00" not in first
    if three_names or any(line.rstrip() == _XSKAT_RULE for line in head[1:]):
        return xskat.games
    raise TrickformerError(
        f"{path} holds no games; give a run folder, our .jsonl, hanab.live's .json, ISS records (.sgf) or XSkat's log"
    )


def convert(source: Path, target: Path, game: int | None = None) -> int:
    """Write the games of a file to a new file, in the notation that its ending names.

    Args:
        source: File of games.
        target: New file: .sgf for ISS records, .json for one game of hanab.live, .jsonl for our own.
        game: Number of the only game to write, counted from 1.

    Returns:
        The number of games that were written.

    Raises:
        TrickformerError: `read` raises it, the notation cannot hold a game, there is no such game, or the new file
            exists or cannot be written. No new file is left behind.
    """
    write = WRITERS.get(target.suffix)
    if write is None:
        raise TrickformerError(f"{target}: name it .sgf for ISS records, .json for hanab.live or .jsonl for our own")
    count = 0
    try:
        if target.exists():
            raise TrickformerError(f"{target} already exists; name a new file")
        with whole(target) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
            for number, record in _select(source, game):
                count += 1
                if target.suffix == ".json" and count > 1:
                    raise TrickformerError(f"{source} holds several games, but .json holds one; choose it with --game")
                try:
                    file.write(write(record, number) + "\n")
                except TrickformerError as e:
                    raise TrickformerError(f"{source}, {e}") from None
    except OSError as e:
        raise TrickformerError(f"cannot write {target}: {e.strerror}") from None
    return count


def _select(path: Path, game: int | None) -> Iterator[tuple[int, AnyRecord]]:
    """Yield (number, game) of each game of a file, or only of game number `game`."""
    if game is None:
        yield from enumerate(read(path), 1)
        return
    with GameFile(path) as game_file:
        record = game_file.get(game)
    if isinstance(record, UnreadableGame):
        raise TrickformerError(f"{path}, {record.why}")
    yield game, record
