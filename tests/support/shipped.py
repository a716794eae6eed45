"""Shipped checkpoints by kind."""

from __future__ import annotations

import json

from trickformer import checkpoints
from trickformer.models.kinds import HANABI_VALUES


def is_transformer(name):
    """Return whether a shipped checkpoint is a transformer, not a network of `trickformer obl train`."""
    return json.loads((checkpoints.find(name) / "config.json").read_text("utf-8")).get("kind") != HANABI_VALUES


TRANSFORMERS = [name for name in checkpoints.names() if is_transformer(name)]
