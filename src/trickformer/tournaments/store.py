"""Records of hands: append-only JSON lines, each written whole or not at all."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from trickformer.base import TrickformerError
from trickformer.tournaments.schedule import Hand

TIMING = ("seconds", "calls")  # the fields that differ between runs of the same config
_SYNC_EVERY = 256  # records between two fsyncs


class Record(BaseModel):
    """One finished hand. Lists by seat; `history` replays through OpenSpiel from the initial state."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    deal: int
    seating: tuple[int, ...]  # index of the player in each seat
    scores: tuple[int, ...]  # in the game's units
    decisions: tuple[int, ...]
    illegal: tuple[int, ...]  # illegal histories that searches generated
    searched: tuple[int, ...]  # histories that searches generated
    seconds: tuple[float, ...]  # wall seconds inside act, each call shared evenly by its views
    calls: tuple[float, ...]  # act calls, each shared evenly: decisions / calls is the mean batch
    history: tuple[int, ...]  # every action, chance included

    @property
    def hand(self) -> Hand:
        """Its place in the schedule."""
        return Hand(self.deal, self.seating)


def comparable(records: list[Record]) -> list[dict[str, Any]]:
    """Sorted by deal and seating, timing fields left out: equal for equal configs."""
    return [r.model_dump(exclude=set(TIMING)) for r in sorted(records, key=lambda r: r.hand)]


def read(path: Path, scheduled: set[Hand], seats: int) -> tuple[list[Record], int]:
    """The records of a file and the length in bytes of its whole lines; what a killed run left torn at the
    end is not counted. A missing file has no records.

    Raises TrickformerError on a line that is no record, or a record that is not scheduled or comes twice."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    except OSError as e:
        raise TrickformerError(f"cannot read {path}: {e.strerror}") from None
    whole = data.rfind(b"\n") + 1
    records: list[Record] = []
    seen: set[Hand] = set()
    for number, line in enumerate(data[:whole].splitlines(), 1):
        try:
            record = Record.model_validate_json(line, strict=True)
        except ValidationError:
            raise TrickformerError(f"{path}, line {number}: not a record of a hand") from None
        by_seat = (
            record.scores,
            record.decisions,
            record.illegal,
            record.searched,
            record.seconds,
            record.calls,
        )
        if record.hand not in scheduled or any(len(field) != seats for field in by_seat):
            raise TrickformerError(f"{path}, line {number}: this hand is not part of the tournament")
        if record.hand in seen:
            raise TrickformerError(f"{path}, line {number}: this hand is there twice")
        seen.add(record.hand)
        records.append(record)
    return records, whole


class Writer:
    """Appends records to a file; holds a lock on it, for two runs must not share one."""

    def __init__(self, path: Path):
        """Opens and locks `path`. Raises TrickformerError if another run has it, or it cannot be written."""
        self.path = path
        self.length = 0
        self.unsynced = 0
        try:
            self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as e:
            raise TrickformerError(f"cannot write {path}: {e.strerror}") from None
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self.file)
            raise TrickformerError(f"another run is writing {path}") from None

    def resume(self, scheduled: set[Hand], seats: int) -> list[Record]:
        """The records that the file holds; drops a torn last line. Raises what `read` raises, and has then
        changed nothing."""
        records, self.length = read(self.path, scheduled, seats)
        os.ftruncate(self.file, self.length)
        return records

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        os.fsync(self.file)
        os.close(self.file)

    def append(self, record: Record) -> None:
        """One line in one write. Raises TrickformerError where the disk does not take it; the file then
        ends with the record before."""
        line = record.model_dump_json().encode() + b"\n"
        try:
            written = os.write(self.file, line)
            reason = "the disk is full"
        except OSError as e:
            written, reason = 0, str(e.strerror)
        if written < len(line):
            os.ftruncate(self.file, self.length)
            raise TrickformerError(f"cannot write {self.path}: {reason}")
        self.length += len(line)
        self.unsynced += 1
        if self.unsynced >= _SYNC_EVERY:
            os.fsync(self.file)
            self.unsynced = 0
