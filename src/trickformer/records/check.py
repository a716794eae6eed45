"""Compares games on record with a replay by the rules, Skat from elsewhere and our own games alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trickformer.records import early_end
from trickformer.records.played import AnyRecord
from trickformer.records.skat import check as skat
from trickformer.records.skat.check import AGREES, BROKEN_OFF, DAMAGED, DIFFERS, NOT_ISKO, Finding
from trickformer.records.skat.record import SkatRecord, UnreadableGame


def check(record: AnyRecord, game: int) -> Finding:
    """Check game number `game` of a file; of a game other than a SkatRecord, compare its moves and scores."""
    if isinstance(record, SkatRecord):
        return skat.check(record, game)
    fault = record.fault()
    if not fault and record.early_end not in (None, early_end.NOTHING_LEFT):
        return Finding(game, BROKEN_OFF, what=early_end.describe(record.early_end))
    return Finding(game, DIFFERS if fault else AGREES, what=fault or "")


def check_all(games: Iterable[AnyRecord | UnreadableGame]) -> Iterator[Finding]:
    """Yield the findings of a file's games, in order."""
    for number, game in enumerate(games, 1):
        if isinstance(game, UnreadableGame) and game.house_rule:
            yield Finding(number, NOT_ISKO, what=game.house_rule)
        elif isinstance(game, UnreadableGame):
            yield Finding(number, DAMAGED, what=re.sub(r"^game \d+[:,] ", "", game.why))
        else:
            yield check(game, number)
