"""Reader and writer of JSON and TOML, and the wording of counts and units.

Texts may come from strangers: every fault in a text raises ValueError.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeAlias

from pydantic import Field

_BYTE_ORDER_MARK = "\ufeff"  # json.loads skips it in bytes, but not in a str
_INTEGER_BITS = 64  # bits of the largest integer that is accepted by default; NumPy and the core hold no larger one
_MAX_DIGITS = len(str(1 << _INTEGER_BITS)) + 1  # characters of the longest such integer, with its sign
MAX_TEXT = 1 << 28  # bytes of a text that is read whole; a run.json with two million deals takes half of that

Int64: TypeAlias = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)]


class _Readable(Protocol):
    def readline(self, size: int, /) -> bytes: ...


def read_text(path: Path) -> str:
    """Read a text file that is not too large.

    Args:
        path: File in UTF-8.

    Returns:
        The text.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is larger, or not text in UTF-8.
    """
    with path.open("rb") as file:
        data = file.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        raise ValueError(f"it has more than {MAX_TEXT >> 20} MiB")
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")


def limited_lines(file: _Readable, most: int) -> Iterator[bytes]:
    """Yield the lines of a file. The rest of a line that is too long is skipped and never held in memory.

    Args:
        file: File of bytes, which may be compressed.
        most: Largest number of bytes of a line, its end included.

    Yields:
        Each line with its end. A longer line is cut to its first `most` + 1 bytes, by which a caller detects it.
    """
    while line := file.readline(most + 1):
        yield line
        while len(line) > most and not line.endswith(b"\n"):
            line = file.readline(most + 1)


def from_json(text: str | bytes, *, bits: int = _INTEGER_BITS, finite: bool = True) -> Any:
    """Parse a JSON text, after a byte order mark if there is one.

    Args:
        text: The text.
        bits: Bits of the largest integer.
        finite: Whether NaN and infinity, which JSON does not have, are refused.

    Returns:
        The value.

    Raises:
        ValueError: The text is no JSON, nests brackets too deeply, or holds a number that is too large or not finite.
    """
    digits = _MAX_DIGITS if bits == _INTEGER_BITS else len(str(1 << bits)) + 1

    def parse_int(word: str) -> int:
        if len(word) > digits or abs(number := int(word)) >= 1 << bits:
            raise ValueError(f"an integer has more than {bits} bits")
        return number

    def parse_float(word: str) -> float:
        if math.isfinite(number := float(word)):
            return number
        raise ValueError(f"the number {word[:20]} is too large")

    def parse_constant(word: str) -> float:
        raise ValueError(f"{word} is no number of JSON")

    limits: dict[str, Any] = {"parse_int": parse_int}
    if finite:
        limits |= {"parse_float": parse_float, "parse_constant": parse_constant}
    try:
        return json.loads(text.removeprefix(_BYTE_ORDER_MARK) if isinstance(text, str) else text, **limits)
    except RecursionError:
        raise ValueError("brackets are nested too deeply") from None


def json_object(text: str | bytes, *, finite: bool = True) -> dict[str, Any]:
    """Parse a JSON text that is one object.

    Args:
        text: The text.
        finite: Whether NaN and infinity are refused.

    Returns:
        The object.

    Raises:
        ValueError: It is no object, or `from_json` raises it.
    """
    value = from_json(text, finite=finite)
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    return value


def to_json(value: Any, indent: int | None = None) -> str:
    """Format a value as JSON. NaN and infinity, which JSON does not have, become null.

    Args:
        value: Value of the types that `json.dumps` takes.
        indent: Columns of a level; None for one line.
    """
    try:
        return json.dumps(value, indent=indent, allow_nan=False)
    except ValueError:
        return json.dumps(_without_nan(value), indent=indent, allow_nan=False)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_nan(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(entry) for entry in value]
    return value


def from_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text, after a byte order mark if there is one.

    Args:
        text: The text.

    Returns:
        The table.

    Raises:
        ValueError: The text is no TOML, nests brackets too deeply, or holds an integer that is too large.
    """
    try:
        table = tomllib.loads(text.removeprefix(_BYTE_ORDER_MARK))
        _check_integers(table)
    except RecursionError:
        raise ValueError("brackets are nested too deeply") from None
    return table


def _check_integers(value: Any) -> None:
    """Raise ValueError if a value of TOML holds an integer that is too large."""
    if isinstance(value, int) and abs(value) >= 1 << _INTEGER_BITS:
        raise ValueError(f"an integer has more than {_INTEGER_BITS} bits")
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_integers(entry)


def count_noun(n: int, noun: str) -> str:
    """Write a number with a noun: `1 trick`, `2 tricks`, `1,000 tricks`.

    Args:
        n: The number.
        noun: Noun in the singular, whose plural ends in s.
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def short_unit(unit: str) -> str:
    """Shorten a unit to the words before the explanation that follows a comma.

    Args:
        unit: A unit, such as "points, own score minus the others' mean".
    """
    return unit.partition(",")[0]
