"""Records of tournaments, compared."""

from __future__ import annotations

from collections.abc import Sequence

from trickformer.tournaments.store import TIMING, HandRecord


def comparable(records: Sequence[HandRecord]) -> list[dict]:
    """Sorted by deal and seating, timing fields left out: equal for equal configs."""
    return [r.model_dump(exclude=set(TIMING)) for r in sorted(records, key=lambda r: r.hand)]
