"""Files of JSON lines that stay readable if the writing process is killed."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO, FileIO
from pathlib import Path
from typing import IO, Any, NamedTuple, Self, TypeAlias

from pydantic import BaseModel

from trickformer.base import TrickformerError
from trickformer.plumbing import digests
from trickformer.plumbing.files import flush, open_data, whole
from trickformer.plumbing.terminal import warn
from trickformer.plumbing.text import count_noun, json_object, limited_lines, to_json

# Largest number of lines, and of seconds, between two fsyncs. A power cut may lose that many lines.
SYNC_EVERY = 256
SYNC_SECONDS = 5.0

MAX_LINE = 1 << 26  # bytes; the longest lines, with a batch of games each, come from the belief command

# Parser of a line, from its number, counted from 1, and its bytes. It raises ValueError on a bad line. If it returns
# None, the line is not kept.
Parse: TypeAlias = Callable[[int, bytes], Any]


def lock(file: int | FileIO, path: Path) -> None:
    """Lock an open file or folder for this process.

    Args:
        file: The open file, or a descriptor.
        path: Its path, for the message.

    Raises:
        TrickformerError: Another process holds the lock, or the file system has no locks.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise TrickformerError(f"another run is writing {path}") from None
    except OSError as e:
        raise TrickformerError(
            f"{path} cannot be locked ({e.strerror}); choose an --out on a file system with locks"
        ) from None


def read_lines(path: Path, parse: Parse = lambda _, line: json_object(line, finite=False)) -> tuple[list[Any], int]:
    """Parse the complete lines of a file.

    If the writer was killed, the last line may be torn or lack its checksum. A torn line is left out with a warning. A
    line without a checksum counts if it parses. A missing file has no lines.

    Args:
        path: File of lines.
        parse: Parser of a line, from its number, counted from 1, and its bytes. It raises ValueError on a bad line.

    Returns:
        The parsed lines, and their length in bytes.

    Raises:
        TrickformerError: The file cannot be read, a line is broken or too long, its checksum differs, or more lines are
            missing than a power cut explains.
    """
    lines = _read(path, parse)
    return lines.parsed, lines.length


class ChecksumFaults(NamedTuple):
    """Differences between the lines of a file and their checksums."""

    changed: frozenset[int]  # numbers, from 1, of lines that no checksum fits
    missing: int  # number of checksums whose lines are gone


def checksum_faults(path: Path) -> ChecksumFaults:
    """Compare the lines of a file with their checksums, whatever their order. Without checksums there are no faults.

    Args:
        path: File of lines.

    Raises:
        TrickformerError: The file or its checksums cannot be read.
    """
    try:
        has_sums = path.is_file() and digests.sums_file(path).is_file()  # a pipe is not opened: it is read only once
    except OSError:  # the name of the checksums' file is too long
        has_sums = False
    if not has_sums:
        return ChecksumFaults(frozenset(), 0)
    with _explaining_faults(path), path.open("rb") as file, digests.sums_file(path).open("rb") as sums:
        known = [checksum for checksum in sums if checksum.endswith(b"\n")]
        actual = [digests.line_digest(line.rstrip(b"\n") + b"\n") for line in limited_lines(file, MAX_LINE)]
    expected = set(known)
    # Lines after the last checksum have none after a power cut.
    changed = {number for number, digest in enumerate(actual[: len(known)], 1) if digest not in expected}
    return ChecksumFaults(frozenset(changed), max(0, len(expected.difference(actual)) - len(changed)))


@dataclass(frozen=True, slots=True)
class _LinesOfFile:
    """The complete lines of a file."""

    parsed: list[Any]
    count: int
    length: int  # bytes
    checked: int  # lines with a complete checksum


def _read(path: Path, parse: Parse) -> _LinesOfFile:
    """Parse as `read_lines` does, a line at a time."""
    parsed: list[Any] = []
    count = length = sums_found = 0
    with _explaining_faults(path), _open_if_there(path) as file, _open_if_there(digests.sums_file(path)) as sums:
        # Another process may be appending. It writes a line before its checksum, so these lines are in the file by now.
        known = sums.seek(0, os.SEEK_END) // digests.LINE_DIGEST_SIZE
        sums.seek(0)
        for line, has_sum in _complete_lines(path, file, sums, 0):
            count, length = count + 1, length + len(line)
            sums_found += has_sum
            if (value := parse(count, line[:-1])) is not None:
                parsed.append(value)
        torn = file.tell() > length
        missing = max(0, known - count)  # checksums whose lines are lost
    if missing > SYNC_EVERY:
        raise TrickformerError(
            f"{path} lacks {missing:,} lines that {digests.sums_file(path).name} counts; restore it from a copy"
        )
    if missing:
        warn(f"{path} has lost {count_noun(missing, 'line')} at its end; the rest is used")
    elif torn and sums_found:
        warn(f"{path}: the last line is cut off and not counted")
    return _LinesOfFile(parsed, count, length, sums_found)


def _complete_lines(path: Path, file: IO[bytes], sums: IO[bytes], count: int) -> Iterator[tuple[bytes, bool]]:
    """Yield each further complete line, and whether it has a checksum, which then agrees.

    Args:
        path: File of lines, for messages.
        file: The file, at the beginning of a line.
        sums: Its file of checksums, at the checksum of this line.
        count: Number of lines before this one.

    Raises:
        TrickformerError: A line is too long, or its checksum differs.
    """
    for number, line in enumerate(limited_lines(file, MAX_LINE), count + 1):
        if len(line) > MAX_LINE:
            raise TrickformerError(f"{path}, line {number}: longer than {MAX_LINE >> 20} MiB")
        if not line.endswith(b"\n"):
            return
        checksum = sums.readline()
        has_sum = checksum.endswith(b"\n")
        if has_sum and digests.line_digest(line) != checksum:
            raise TrickformerError(f"{path}, line {number}: its checksum differs; restore the file from a copy")
        yield line, has_sum


@contextmanager
def _explaining_faults(path: Path) -> Generator[None]:
    """Raise TrickformerError in place of an OSError, or of a ValueError, which says that a line is broken."""
    try:
        yield
    except OSError as e:
        raise TrickformerError(f"cannot read {path}: {e.strerror}") from None
    except ValueError:
        raise TrickformerError(f"{path} is broken; restore it from a copy, or choose another --out") from None


class LineFollower:
    """Reader of the lines of a file to which another process may be appending.

    Attributes:
        count: Number of lines that were read so far.
        length: Their length in bytes.
    """

    def __init__(self, path: Path, parse: Parse) -> None:
        """Start before the first line.

        Args:
            path: File of lines, which need not exist yet.
            parse: As in `read_lines`. Its results are discarded.
        """
        self._path, self._parse = path, parse
        self.count = self.length = 0
        self._file_id: tuple[int, int] | None = None  # device and inode of the file that was read

    @property
    def was_replaced(self) -> bool:
        """True if the file is another one than at the last call of `read`, or became shorter."""
        try:
            status = self._path.stat()
        except OSError:
            return self._file_id is not None
        known = self._file_id or (status.st_dev, status.st_ino)
        return known != (status.st_dev, status.st_ino) or status.st_size < self.length

    def read(self) -> int:
        """Parse the complete lines that were appended since the last call. A line without its end is read later.

        Returns:
            The number of new lines.

        Raises:
            TrickformerError: The file cannot be read, or a line is broken or too long, or its checksum differs.
        """
        path, before = self._path, self.count
        with _explaining_faults(path), _open_if_there(path) as file, _open_if_there(digests.sums_file(path)) as sums:
            if not isinstance(file, BytesIO):
                status = os.fstat(file.fileno())
                self._file_id = status.st_dev, status.st_ino
            file.seek(self.length)
            sums.seek(self.count * digests.LINE_DIGEST_SIZE)
            for line, _ in _complete_lines(path, file, sums, self.count):
                self.count, self.length = self.count + 1, self.length + len(line)
                self._parse(self.count, line[:-1])
        return self.count - before


def _open_if_there(path: Path) -> IO[bytes]:
    """Open a file to read; one that does not exist is empty. Raises OSError if the file exists and cannot be read."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        return BytesIO()


class JsonLines:
    """Append-only file of JSON lines with a checksum for each line.

    A line is written whole or not at all. The file is locked, because two runs must not share it.

    Attributes:
        stored: Parsed lines that the file held when it was opened, without a torn last line.

    Raises:
        TrickformerError: Another process is writing the file, it cannot be opened, or `read_lines` raises it. Then the
            file stays as it was.
    """

    def __init__(self, path: Path, parse: Parse = lambda _, line: json_object(line, finite=False)):
        self._path, self._unsynced = path, 0
        self._synced = time.monotonic()
        self._file = self._open_and_lock(path)
        try:
            lines = _read(path, parse)
            self.stored = lines.parsed
            self._count, self._length = lines.count, lines.length
            self._file.truncate(self._length)
            self._sums = self._open_checksums(lines.checked)
        except TrickformerError:
            self._file.close()  # with its lock
            raise

    def _open(self, path: Path) -> FileIO:
        return FileIO(open_data(path, os.O_RDWR | os.O_APPEND | os.O_CREAT), "a+")

    def _open_and_lock(self, path: Path) -> FileIO:
        file = self._open(path)
        try:
            lock(file, self._path)
        except TrickformerError:
            file.close()
            raise
        return file

    def _open_checksums(self, checked: int) -> FileIO:
        """Open the file of checksums; write it anew if it does not have one for each line.

        Its size does not prove that: a power cut may leave zeros in place of the last checksum.
        """
        sums = digests.sums_file(self._path)
        if checked < self._count or not sums.exists() or sums.stat().st_size != self._count * digests.LINE_DIGEST_SIZE:
            with whole(sums) as draft, draft.open("wb") as file, self._path.open("rb") as lines:
                file.writelines(map(digests.line_digest, lines))
        return self._open(sums)

    def append(self, record: Any) -> int:
        """Append a record in one write.

        Args:
            record: Object for `to_json`, or pydantic model.

        Returns:
            The length of its line in bytes.

        Raises:
            TrickformerError: The line cannot be written. Then the file ends with the previous line.
        """
        line = _line(record)
        try:
            written, reason = os.write(self._file.fileno(), line), "the disk is full"
            checksum = digests.line_digest(line)
            if written == len(line) and os.write(self._sums.fileno(), checksum) < len(checksum):
                written = 0
        except OSError as e:
            written, reason = 0, str(e.strerror)
        if written < len(line):
            self._file.truncate(self._length)
            self._sums.truncate(self._count * digests.LINE_DIGEST_SIZE)
            raise TrickformerError(f"cannot write {self._path}: {reason}")
        self._length += written
        self._count += 1
        self._unsynced += 1
        if self._unsynced >= SYNC_EVERY or time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()
        return written

    def replace_all(self, records: Sequence[Any]) -> None:
        """Replace all lines at once.

        Args:
            records: New records, as in `append`.

        Raises:
            TrickformerError: The file cannot be written.
        """
        with whole(self._path) as draft:
            file = self._open_and_lock(draft)
            try:
                lines = b"".join(map(_line, records))
                if file.write(lines) < len(lines):
                    raise TrickformerError(f"cannot write {self._path}: the disk is full")
                digests.sums_file(self._path).unlink()  # missing checksums are computed again, wrong ones are an error
                flush(self._path.parent.resolve())  # a power cut must not leave the new lines with the old checksums
            except BaseException:
                file.close()
                raise
        self._file.close()
        self._file, self._length = file, len(lines)
        self._count, self.stored = len(records), list(records)
        self._sums.close()
        self._sums = self._open_checksums(0)

    def sync(self) -> None:
        """Flush all lines to the disk."""
        os.fsync(self._file.fileno())
        os.fsync(self._sums.fileno())
        self._unsynced, self._synced = 0, time.monotonic()

    def close(self) -> None:
        """Flush to the disk and release the lock."""
        self.sync()
        self._sums.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _line(record: Any) -> bytes:
    # Models of records must have no Python serializers, because pydantic would turn a Ctrl-C inside one into another
    # exception.
    text = record.model_dump_json(exclude_none=True) if isinstance(record, BaseModel) else to_json(record)
    return text.encode() + b"\n"
