"""Conversions of the C++ core's Hanabi objects for snapshots (plumbing/snapshot.py)."""

from __future__ import annotations

from typing import Any

from trickformer import _core
from trickformer.games.hanabi import core_options
from trickformer.plumbing.snapshot import Native


def _tables(state: Any) -> _core.hanabi.Tables:
    tables = _core.hanabi.Tables.__new__(_core.hanabi.Tables)
    tables.__setstate__(state)  # raises on a damaged state
    return tables


NATIVES = {
    _core.hanabi.Rules: Native(core_options, lambda parameters: _core.hanabi.Rules(**parameters)),
    _core.hanabi.Codec: Native(lambda codec: codec.rules, lambda rules: _core.hanabi.Codec(rules)),
    _core.hanabi.Tables: Native(lambda tables: tables.__getstate__(), _tables),
}
