"""JSON and TOML of anybody's making. Whatever is wrong with a text is a ValueError."""

from __future__ import annotations

import json
import tomllib
from typing import Any

_MARK = "\ufeff"  # json.loads skips it in bytes


def from_json(text: str | bytes) -> Any:
    """Parse a JSON text, after a byte order mark if there is one. Raises ValueError, also where brackets are nested
    too deeply."""
    try:
        return json.loads(text.removeprefix(_MARK) if isinstance(text, str) else text)
    except RecursionError:
        raise ValueError("brackets are nested too deeply") from None


def json_object(text: str | bytes) -> dict[str, Any]:
    """The same of a text that is one object."""
    found = from_json(text)
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    return found


def from_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text, after a byte order mark if there is one. Raises ValueError, also where brackets are nested
    too deeply."""
    try:
        return tomllib.loads(text.removeprefix(_MARK))
    except RecursionError:
        raise ValueError("brackets are nested too deeply") from None
