"""Records of tournaments and tables: compared, and counted after a kill."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trickformer.plumbing import digests
from trickformer.tournaments.store import TIMING, HandRecord


def comparable(records: Sequence[HandRecord]) -> list[dict]:
    """Sorted by deal and seating, timing fields left out: equal for equal configs."""
    return [r.model_dump(exclude=set(TIMING)) for r in sorted(records, key=lambda r: r.hand)]


def kept(path: Path) -> int:
    """How many lines of a file a kill has left: it may come between a line and its checksum."""
    whole = digests.sums_file(path).stat().st_size // digests.LINE_DIGEST_SIZE
    assert path.read_bytes().count(b"\n") - whole in (0, 1)
    return whole
