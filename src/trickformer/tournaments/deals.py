"""Files that name deals: records, or a list with SEED,INDEX or INDEX on each line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from trickformer.base import TrickformerError
from trickformer.plumbing.folder import CONFIG
from trickformer.plumbing.text import from_toml, json_object, limited_lines, read_text

RECORDS = "records.jsonl"
_DEAL_LINE = re.compile(r"(?:(\d{1,30})\s*,\s*)?(\d{1,30})")  # SEED,INDEX or INDEX
_LIMIT = 2**63  # seeds and indices are smaller
MAX_LINE = 1 << 20  # bytes; the longest record of our games has some 10 KB


class DealName(NamedTuple):
    """Name of a deal in a tournament: its series (all deals of a seed) and its index in the series."""

    number: int  # index in the series
    seed: int | None = None  # seed of the series; None for the tournament's seed


def read_deals(path: Path, seed: int) -> list[DealName]:
    """Read the deals that a file names, each once, in the order of the file.

    A line of a list is SEED,INDEX, or INDEX for a deal of the tournament's series; # begins a comment. A record of a
    run holds the index, and the config in its folder the seed. A converted record holds both.

    Args:
        path: File, or folder of a run.
        seed: Seed of the tournament.

    Raises:
        TrickformerError: The file cannot be read, names no deal, or a line is broken or lists a deal again.
    """
    file = path / RECORDS if path.is_dir() else path
    try:
        with file.open("rb") as opened:
            lines = _lines(opened)
            head = [next(lines, "")]  # the lines up to the first that is not blank
            while head[-1].isspace():
                head.append(next(lines, ""))
            is_json, all_lines = head[-1].lstrip().startswith("{"), chain(head, lines)
            names = _names_in_records(file, all_lines) if is_json else _names_in_list(file, all_lines, seed)
            deals = dict.fromkeys(DealName(index, None if series == seed else series) for series, index in names)
    except OSError as e:
        raise TrickformerError(f"cannot read the deals of {file}: {e.strerror}") from None
    except ValueError as e:  # a null character in the path
        raise TrickformerError(f"cannot read the deals of {str(file)!r}: {e}") from None
    except _UnreadableLineError as e:
        raise TrickformerError(f"cannot read the deals of {file}: {e}") from None
    if not deals:
        raise TrickformerError(f"{file} names no deals")
    return list(deals)


class _UnreadableLineError(Exception):
    """A line that is too long or not text."""


def _lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a file. Raises OSError, and _UnreadableLineError on a bad line."""
    for line in limited_lines(file, MAX_LINE):
        if len(line) > MAX_LINE:
            raise _UnreadableLineError(f"a line has more than {MAX_LINE >> 20} MiB")
        try:
            yield line.decode("utf-8-sig")  # the first one may begin with a byte order mark
        except UnicodeDecodeError:
            raise _UnreadableLineError("it is not text in UTF-8") from None


def _names_in_list(file: Path, lines: Iterable[str], seed: int) -> Iterator[tuple[int, int]]:
    """Yield (seed, index) of each deal of a list."""
    seen: set[tuple[int, int]] = set()
    for number, line in enumerate(lines, 1):
        if not (text := line.partition("#")[0].strip()):
            continue
        match = _DEAL_LINE.fullmatch(text)
        if not match:
            raise TrickformerError(f"{file}, line {number}: {text!r} is no deal; write SEED,INDEX or INDEX")
        name = (seed if match[1] is None else int(match[1]), int(match[2]))
        if max(name) >= _LIMIT:
            raise TrickformerError(f"{file}, line {number}: seeds and indices are below 2^63")
        if name in seen:
            raise TrickformerError(f"{file}, line {number}: the deal is listed twice")
        seen.add(name)
        yield name


def _names_in_records(file: Path, lines: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield (seed, index) of the deal of each record."""
    run_seed = _seed_of_run(file.parent)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json_object(line)
            tags: dict[str, Any] = record.get("tags", record)
            index, series = _integer(tags["deal"]), tags.get("seed", run_seed)
            if series is None:
                raise TrickformerError(f"{file}: no {CONFIG} beside it names the seed; list SEED,INDEX instead")
            name = (_integer(series), index)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise TrickformerError(
                f"{file}, line {number}: not a record that names its deal; list SEED,INDEX instead"
            ) from None
        if not 0 <= min(name) <= max(name) < _LIMIT:
            raise TrickformerError(f"{file}, line {number}: seeds and indices are from 0 to 2^63 - 1")
        yield name


def _integer(value: Any) -> int:
    """Return an integer that JSON holds as a number or, as a tag of a converted record, as text.

    Raises:
        ValueError: It is no integer.
    """
    if type(value) is not int and not isinstance(value, str):
        raise ValueError
    return int(value)


def _seed_of_run(folder: Path) -> int | None:
    """Return the seed of the run in a folder; None if the folder holds no run."""
    try:
        return int(from_toml(read_text(folder / CONFIG)).get("seed", 0))
    except (OSError, ValueError, TypeError):
        return None
