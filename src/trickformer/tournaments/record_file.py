"""The records of a run, which stay in its file and are read one at a time."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import eq
from pathlib import Path
from typing import TypeVar, overload
from weakref import finalize

import numpy as np
from pydantic import ValidationError

from trickformer.base import TrickformerError
from trickformer.tournaments.columns import RecordColumns, in_pieces
from trickformer.tournaments.schedule import Schedule
from trickformer.tournaments.store import HandRecord

T = TypeVar("T")


class RecordFile(Sequence[HandRecord]):
    """Sequence of a run's records, each of which is read from the file at each access.

    Memory holds only the positions of the lines and the numeric fields of the records (`columns`).

    Attributes:
        columns: Scores, times and counts of the records, in the order of the file.
    """

    def __init__(self, path: Path, schedule: Schedule, seats: int, clocked: bool = False) -> None:
        """Start without a record.

        Args:
            path: File of records.
            schedule: Hands that may be in it.
            seats: Number of seats.
            clocked: Whether the hands are played with a time limit (`--clock`).
        """
        self.columns = RecordColumns(schedule, seats)
        self._path = path
        self._seats, self._clocked = seats, clocked
        self._ends = array("q", [0])  # byte offset of each line's end, after the offset 0 of the first line's beginning
        self._file: int | None = None  # descriptor; it stays open, because the folder may be moved during the run

    def register_line(self, number: int, line: bytes) -> None:
        """Check the next line of the file, which `JsonLines` or `read_lines` has read, and register its record.

        Args:
            number: Number of the line, counted from 1.
            line: The line without its end.

        Raises:
            TrickformerError: The line is no record, its hand is not scheduled, or the hand already has a record.
        """
        try:
            record = HandRecord.model_validate_json(line, strict=True)
        except ValidationError:
            raise TrickformerError(
                f"{self._path}, line {number}: not a record of a hand; restore the file from a copy"
            ) from None
        if fault := self._why_rejected(record):
            raise TrickformerError(f"{self._path}, line {number}: {fault}")
        self.register(record, len(line) + 1)

    def register(self, record: HandRecord, size: int) -> None:
        """Register a record whose line `JsonLines` has written. Nothing is written here.

        Args:
            record: The record of the next line of the file.
            size: Length of the line in bytes, with its end.

        Raises:
            TrickformerError: The file cannot be read.
        """
        if self._file is None:
            self._file = self._open()
        self.columns.add(record)
        self._ends.append(self._ends[-1] + size)

    def _open(self) -> int:
        try:
            file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as e:
            raise TrickformerError(f"cannot read {self._path}: {e.strerror}") from None
        finalize(self, os.close, file)
        return file

    def _why_rejected(self, record: HandRecord) -> str | None:
        by_seat = (
            record.scores,
            record.decisions,
            record.illegal,
            record.searched,
            record.seconds,
            record.calls,
            *(field for field in (record.overran, record.gains, record.faults) if field is not None),
        )
        if self._clocked != (record.overran is not None):
            return f"this hand was played with{'out' if self._clocked else ''} --clock, unlike the run"
        hand = self.columns.schedule.find(record.deal, record.seating, record.seed)
        if hand < 0 or any(len(field) != self._seats for field in by_seat):
            return "this hand is not part of the tournament"
        return "this hand occurs twice" if self.columns.is_played(hand) else None

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> HandRecord: ...

    @overload
    def __getitem__(self, index: slice) -> list[HandRecord]: ...

    def __getitem__(self, index: int | slice) -> HandRecord | list[HandRecord]:
        rows = range(len(self))[index]
        return list(self.select(rows)) if isinstance(rows, range) else next(self.select([rows]))

    def __iter__(self) -> Iterator[HandRecord]:
        return self.select(range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    def select(self, rows: Iterable[int]) -> Iterator[HandRecord]:
        """Read records one by one.

        Args:
            rows: Numbers of the records, counted from 0.

        Raises:
            TrickformerError: The file cannot be read, or it was changed since its records were registered.
        """
        for row in rows:
            assert self._file is not None  # there is a record
            begin, end = self._ends[row], self._ends[row + 1]
            try:
                record = HandRecord.model_validate_json(os.pread(self._file, end - begin, begin), strict=True)
            except OSError as e:
                raise TrickformerError(f"cannot read {self._path}: {e.strerror}") from None
            except ValidationError:
                raise TrickformerError(f"{self._path} was changed while it was read") from None
            yield record


def select(records: Sequence[HandRecord], rows: Iterable[int]) -> Iterator[HandRecord]:
    """Yield records one by one.

    Args:
        records: Records of a run. Records in a file are read one at a time.
        rows: Numbers of the records, counted from 0.
    """
    return records.select(rows) if isinstance(records, RecordFile) else (records[row] for row in rows)


class Selection(Sequence[T]):
    """Sequence of one part of each selected record, such as its history. A file is read at each access."""

    def __init__(self, records: Sequence[HandRecord], rows: np.ndarray, part: Callable[[HandRecord], T]) -> None:
        """Select records.

        Args:
            records: Records of the run.
            rows: Numbers of the records, int [n], counted from 0.
            part: Function that returns the element for a record.
        """
        self._records, self._part = records, part
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Selection[T]: ...

    def __getitem__(self, index: int | slice) -> T | Selection[T]:
        if isinstance(index, slice):
            return Selection(self._records, self._rows[index], self._part)
        return self._part(next(select(self._records, [int(self._rows[index])])))

    def __iter__(self) -> Iterator[T]:
        for rows in in_pieces(self._rows):
            yield from map(self._part, select(self._records, rows.tolist()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))
