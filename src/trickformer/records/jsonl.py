"""Our own notation: JSON lines, one game for each line. `played` describes records of games other than Skat.

    version   1
    source    source of the game: "iss", "xskat", "trickformer"
    names     [3] names of forehand, middlehand, rearhand (seats 0, 1, 2)
    deck      [32] cards as dealt: ten to each seat in turn, then the skat; suit D H S C, then rank 7 8 9 Q K T A J
    bid       last call if the source has no auction (the first to move is then the soloist); otherwise null
    moves     ["1 18", "0 pass", "2 pass", "1 pick-up", "1 D7", "1 D8", "1 grand", "0 CA", ...]: a seat and an action by
              its name, in the order of the rules; or one of the remarks "1 shows", "0 resigns", "2 leaves",
              "2 times-out", "0 unknown" (a card that the source hides)
    declared  declaration in the words of an ISS record, if we would write it otherwise; null in other cases
    contract  declared contract: "clubs hand schwarz", "null-ouvert"; null if none was declared
    result    result in the words of the source; null if it has none
    winners   seats that took the tricks; null if the source does not mark them
    tags      {"ID": "17", ...}: other properties of the source

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
from trickformer.records.played import AnyRecord, GameParser, GameRecord, MissingGameError, RunHeader, validation_fault
from trickformer.records.skat.record import SkatRecord

M = TypeVar("M", bound=BaseModel)
_GAME_KEY = re.compile(r'"rules"\s*:')  # only a GameRecord has this key
_RUN_KEY = re.compile(r'"deal"\s*:')  # among the other records, only those of a tournament have this key


def parse(line: str, number: int) -> SkatRecord:
    """Read a game of Skat.

    Args:
        line: Line of the file.
        number: Number of the game in its file, for messages.

    Raises:
        TrickformerError: The line holds no game of Skat.
    """
    return _valid(SkatRecord, line, number)


class LineReader:
    """Reader of JSON lines: our records of Skat, of other games and of tournaments, and games of hanab.live."""

    def __init__(self, folder: Path | None = None):
        """Make a reader.

        Args:
            folder: Folder of the file; the run folder for a tournament's records.
        """
        self._folder = folder

    @cached_property
    def _run(self) -> RunHeader:
        return RunHeader(self._folder)

    def read(self, line: str, number: int) -> AnyRecord:
        """Read a game.

        Args:
            line: Line of the file.
            number: Number of the game in its file, for messages.

        Raises:
            TrickformerError: The line holds no game.
        """
        if _GAME_KEY.search(line):
            return _valid(GameRecord, line, number)
        if hanab_live.is_game(line):
            try:
                return hanab_live.parse(line)
            except TrickformerError as e:
                raise TrickformerError(f"game {number}: {e}") from None
        if not _RUN_KEY.search(line):
            return parse(line, number)
        try:
            return self._run.read(line, number)
        except MissingGameError:
            raise
        except TrickformerError as e:
            raise TrickformerError(f"game {number}: {e}") from None


def _valid(kind: type[M], line: str, number: int) -> M:
    try:
        return kind.model_validate_json(line, strict=True)
    except ValidationError as e:
        raise TrickformerError(f"game {number}: {validation_fault(e)}") from None


def write(record: AnyRecord, number: int = 1) -> str:
    """Write a game as one line, without its end. `LineReader.read` turns the line into the same record.

    Args:
        record: The game.
        number: Number of the game in its file; not used.
    """
    return record.model_dump_json()


def games(lines: Iterator[str], folder: Path | None = None) -> Iterator[GameParser]:
    """Yield a function for each game of a file, which parses the game when it is called.

    Args:
        lines: Lines of the file.
        folder: Folder of the file.

    Yields:
        Functions that call `LineReader.read`.
    """
    reader = LineReader(folder)
    for number, line in enumerate(filter(str.strip, lines), 1):
        yield partial(reader.read, line, number)
