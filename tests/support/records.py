"""Records of tournaments and tables: compared, and counted after a kill."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trickformer.plumbing import digests
from trickformer.tournaments.store import HandRecord

TIMING = ("seconds", "calls", "overran", "faults")  # fields that may differ between two runs of the same config


def comparable(records: Sequence[HandRecord]) -> list[dict]:
    """Sorted by deal and seating, timing fields left out: equal for equal configs."""
    return [r.model_dump(exclude=set(TIMING)) for r in sorted(records, key=lambda r: r.hand)]


def kept(path: Path) -> int:
    """Count the lines of a file that a kill has left; the last one may lack its checksum, and counts."""
    lines = path.read_bytes().count(b"\n")
    assert lines - digests.sums_file(path).stat().st_size // digests.LINE_DIGEST_SIZE in (0, 1)
    return lines
