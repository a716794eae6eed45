"""Our own notation: JSON lines, one game a line. Other games than Skat: see `played`.

    version   1
    source    where the game comes from: "iss", "xskat", "trickformer"
    names     [3] who sat forehand, middlehand, rearhand (seats 0, 1, 2)
    deck      [32] cards as dealt: ten to each seat in turn, then the skat; suit D H S C, then rank 7 8 9 Q K T A J
    bid       the last call, where the source tells no auction (the first to move is then the soloist); else null
    moves     ["1 18", "0 pass", "2 pass", "1 pick-up", "1 D7", "1 D8", "1 grand", "0 CA", ...]: a seat and an action by
              its name, in the order of the rules; or one of the remarks "1 shows", "0 resigns", "2 leaves",
              "2 times-out", "0 unknown" (a card that the source does not tell)
    declared  the declaration in the words of an ISS record, where they are not those that we would write; else null
    contract  what was declared: "clubs hand schwarz", "null-ouvert"; null where nothing was
    result    what the source says of the end; null where it says nothing
    winners   seats that took the tricks, where the source marks them; else null
    tags      {"ID": "17", ...}: whatever else the source says

An ISS record that is converted and converted back is the same record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from trickformer.base import TrickformerError
from trickformer.records import hanab_live
from trickformer.records.played import AnyRecord, GameRecord, RunHeader, Unread, validation_fault
from trickformer.records.skat.record import SkatRecord

M = TypeVar("M", bound=BaseModel)
_PLAYED, _OF_A_RUN = re.compile(r'"rules"\s*:'), re.compile(r'"deal"\s*:')


def parse(line: str, number: int) -> SkatRecord:
    """The game of Skat of a line, the `number`th of its file. Raises TrickformerError, naming the game, on anything
    else."""
    return _valid(SkatRecord, line, number)


class LineReader:
    """Reads any line of JSON: our records of Skat, of other games and of tournaments, and games of hanab.live."""

    def __init__(self, folder: Path | None = None):
        """folder: where the file lies; of a tournament's records the folder of its run."""
        self._folder = folder

    @cached_property
    def _run(self) -> RunHeader:
        return RunHeader(self._folder)

    def read(self, line: str, number: int) -> AnyRecord:
        """The game of a line, the `number`th of its file. Raises TrickformerError, naming the game, where there is
        none."""
        if _PLAYED.search(line):
            return _valid(GameRecord, line, number)
        if hanab_live.is_game(line):
            try:
                return hanab_live.parse(line)
            except TrickformerError as e:
                raise TrickformerError(f"game {number}: {e}") from None
        if not _OF_A_RUN.search(line):
            return parse(line, number)
        try:
            return self._run.read(line, number)
        except TrickformerError as e:
            raise TrickformerError(f"game {number}: {e}") from None


def _valid(kind: type[M], line: str, number: int) -> M:
    try:
        return kind.model_validate_json(line, strict=True)
    except ValidationError as e:
        raise TrickformerError(f"game {number}: {validation_fault(e)}") from None


def write(record: AnyRecord, number: int = 1) -> str:
    """The line of a game, without its end. `Reader.read` of it is the record again."""
    return record.model_dump_json()


def games(lines: Iterator[str], folder: Path | None = None) -> Iterator[Unread]:
    """The games of a file's lines, each to be read: what Reader.read gives, or raises. folder: of the file."""
    reader = LineReader(folder)
    for number, line in enumerate(filter(str.strip, lines), 1):
        yield partial(reader.read, line, number)
