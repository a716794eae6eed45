"""The numeric fields of finished hands as columns, packed in the smallest types that hold them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping

import numpy as np

from trickformer.base import FaultKind
from trickformer.tournaments.deals import DealName
from trickformer.tournaments.schedule import Schedule
from trickformer.tournaments.store import HandRecord

_BLOCK_RECORDS = 1 << 10  # records that are packed together
_PIECE_RECORDS = 1 << 14  # records that a computation unpacks at a time
_TIME_SCALE = 10_000_000  # records round seconds and calls to seven decimals
_SCALES = {  # by field: its values times the scale are integers
    "scores": 1,
    "decisions": 1,
    "illegal": 1,
    "searched": 1,
    "overran": 1,
    "seconds": _TIME_SCALE,
    "calls": _TIME_SCALE,
}


class _Column:
    """One field of the records, a number for each seat. A block has the smallest type that holds it exactly."""

    def __init__(self, seats: int, scale: int) -> None:
        """Start without a record. A block is stored as integers if its values times `scale` are integers."""
        self._seats, self._scale = seats, scale
        self._blocks: list[np.ndarray] = []
        self._recent: list[float] = []  # values of the records after the last block

    def extend(self, values: tuple[float, ...]) -> None:
        self._recent.extend(values)
        if len(self._recent) >= _BLOCK_RECORDS * self._seats:
            self._blocks.append(self._pack())
            self._recent = []

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Return the values, float64 [n, seats], of records, int [n]."""
        result = np.empty((len(rows), self._seats))
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        for block in np.unique(ordered // _BLOCK_RECORDS).tolist():
            first, end = np.searchsorted(ordered, [block * _BLOCK_RECORDS, (block + 1) * _BLOCK_RECORDS])
            codes = self._blocks[block] if block < len(self._blocks) else self._pack()
            values = codes[ordered[first:end] - block * _BLOCK_RECORDS].astype(np.float64)
            result[order[first:end]] = values if codes.dtype == np.float64 else values / self._scale
        return result

    def _pack(self) -> np.ndarray:
        values = np.array(self._recent, dtype=np.float64)
        return _pack(values.reshape(-1, self._seats), self._scale)


def _pack(values: np.ndarray, scale: int = 1) -> np.ndarray:
    """Return values times `scale` in the smallest integer type that holds them exactly; the values if none does."""
    with np.errstate(over="ignore"):
        codes = np.round(values * scale)
    if not values.any():
        return np.broadcast_to(np.zeros((), dtype=np.int8), values.shape)  # a view of one zero takes no memory
    for kind in (np.int8, np.int16, np.int32):
        if np.all(np.abs(codes) <= np.iinfo(kind).max):
            return codes.astype(kind) if np.array_equal(codes / scale, values) else values
    return values


class RecordColumns:
    """The numeric fields of records. Records are numbered from 0 in the order in which they were added.

    Attributes:
        schedule: The hands that may be played.
        row_of: Index of each hand's record, int32 [hands]; -1 if the hand has not been played.
        has_gains: Whether any record has gains.
    """

    def __init__(self, schedule: Schedule, seats: int) -> None:
        """Start without a record."""
        self.schedule = schedule
        self._row_of = array("i", [-1]) * len(schedule)
        self.row_of = np.frombuffer(self._row_of, dtype=np.int32)
        self.has_gains = False
        self._hands = array("i")  # number in the schedule of each record's hand; -1 if it is not scheduled
        self._columns = {field: _Column(seats, scale) for field, scale in _SCALES.items()}
        self._faults: dict[int, tuple[Mapping[FaultKind, int], ...]] = {}
        self._nothing = (0,) * seats

    def __len__(self) -> int:
        return len(self._hands)

    def is_played(self, number: int) -> bool:
        """Return whether a hand has a record.

        Args:
            number: Number of the hand in the schedule.
        """
        return self._row_of[number] >= 0

    def add(self, record: HandRecord) -> None:
        """Add a record.

        Args:
            record: The record. Its hand may be missing from the schedule.
        """
        row = len(self._hands)
        number = self.schedule.find(record.deal, record.seating, record.seed)
        self._hands.append(number)
        if number >= 0:
            self._row_of[number] = row
        for field, column in self._columns.items():
            column.extend(getattr(record, field) or self._nothing)
        if record.faults is not None:
            self._faults[row] = record.faults
        self.has_gains = self.has_gains or record.gains is not None

    def take(self, field: str, rows: np.ndarray) -> np.ndarray:
        """Return a numeric field of some records.

        Args:
            field: Field of the records.
            rows: Numbers of the records, int [n].

        Returns:
            The values, float64 [n, seats].
        """
        return self._columns[field].take(rows)

    def take_packed(self, field: str, rows: np.ndarray) -> np.ndarray:
        """Return the values of `take` in the smallest type that holds them.

        Args:
            field: As in `take`.
            rows: As in `take`.
        """
        pieces = [_pack(self.take(field, piece)) for piece in in_pieces(rows)]
        return np.concatenate(pieces)

    def seatings(self, rows: np.ndarray) -> np.ndarray:
        """Return the seatings of records.

        Args:
            rows: Numbers of the records, int [n].

        Returns:
            Indices of the seatings in `schedule.seatings`, int [n].
        """
        return self.schedule.seating(np.frombuffer(self._hands, dtype=np.int32)[rows])

    def deal_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return the deals of records.

        Args:
            rows: Numbers of the records, int [n].

        Returns:
            Rows of the deals in `schedule.grid`, int [n].
        """
        return self.schedule.deal_rows(np.frombuffer(self._hands, dtype=np.int32)[rows])

    def faults(self, rows: np.ndarray) -> Iterator[tuple[int, tuple[Mapping[FaultKind, int], ...]]]:
        """Yield (position in `rows`, faults by seat) of each record that has faults.

        Args:
            rows: Numbers of the records, int [n].
        """
        for position in np.flatnonzero(np.isin(rows, list(self._faults))).tolist():
            yield position, self._faults[int(rows[position])]

    def hands(self) -> Iterator[tuple[DealName, tuple[int, ...], tuple[float, ...]]]:
        """Yield deal, seating and scores of each record whose hand is scheduled, in the order of the records."""
        for first in range(0, len(self), _BLOCK_RECORDS):
            rows = np.arange(first, min(first + _BLOCK_RECORDS, len(self)))
            scores = self.take("scores", rows).tolist()
            for row, row_scores in zip(rows.tolist(), scores):
                if (number := self._hands[row]) >= 0:
                    hand = self.schedule.hand(number)
                    yield DealName(hand.deal, hand.seed), hand.seating, tuple(row_scores)


def in_pieces(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Split indices of records into pieces, so that a computation unpacks few records at a time.

    Args:
        rows: Numbers of the records, int [n].
    """
    for first in range(0, len(rows), _PIECE_RECORDS):
        yield rows[first : first + _PIECE_RECORDS]
