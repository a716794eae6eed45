"""How snapshots hold the core's objects of Hanabi."""

from __future__ import annotations

from typing import Any

from trickformer import _core
from trickformer.games.hanabi import numbers
from trickformer.plumbing.snapshot import Native


def _tables(held: Any) -> _core.hanabi.Tables:
    tables = _core.hanabi.Tables.__new__(_core.hanabi.Tables)
    tables.__setstate__(held)  # says what is wrong with it
    return tables


NATIVES = {
    _core.hanabi.Rules: Native(numbers, lambda held: _core.hanabi.Rules(**held)),
    _core.hanabi.Codec: Native(lambda codec: codec.rules, lambda rules: _core.hanabi.Codec(rules)),
    _core.hanabi.Tables: Native(lambda tables: tables.__getstate__(), _tables),
}
