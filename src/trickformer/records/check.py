"""Check of games on record against a replay by the rules, for our games and Skat records of other programs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from trickformer.records import early_end
from trickformer.records.played import AnyRecord, MissingGameError
from trickformer.records.skat import check as skat
from trickformer.records.skat.check import AGREES, BROKEN_OFF, DAMAGED, DIFFERS, NOT_ISKO, Finding
from trickformer.records.skat.record import SkatRecord, UnreadableGame

NOT_INSTALLED = "not installed"  # the game of the record, so the record cannot be checked


def check(record: AnyRecord, number: int) -> Finding:
    """Check a game: a SkatRecord by its trick winners and result, any other record by its moves and scores.

    Args:
        record: The game.
        number: Number of the game in its file, counted from 1.
    """
    if isinstance(record, SkatRecord):
        return skat.check(record, number)
    try:
        fault = record.fault()
    except MissingGameError as e:
        return Finding(number, NOT_INSTALLED, what=str(e))
    if not fault and record.early_end not in (None, early_end.NOTHING_LEFT):
        return Finding(number, BROKEN_OFF, what=early_end.describe(record.early_end))
    return Finding(number, DIFFERS if fault else AGREES, what=fault or "")


def check_all(games: Iterable[AnyRecord | UnreadableGame], changed: Collection[int] = frozenset()) -> Iterator[Finding]:
    """Check the games of a file.

    Args:
        games: Games of the file, in order.
        changed: Numbers of games whose checksums differ, counted from 1.

    Yields:
        The finding of each game.
    """
    for number, game in enumerate(games, 1):
        if isinstance(game, UnreadableGame) and game.house_rule:
            yield Finding(number, NOT_ISKO, what=game.house_rule)
        elif isinstance(game, UnreadableGame):
            yield Finding(number, DAMAGED, what=re.sub(r"^game \d+[:,] ", "", game.why))
        else:
            finding = check(game, number)
            is_changed = number in changed and finding.status in (AGREES, BROKEN_OFF)
            yield Finding(number, DAMAGED, what="its checksum differs") if is_changed else finding
