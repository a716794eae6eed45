"""Kinds of checkpoints besides transformers, as the entry `kind` of config.json names them."""

from __future__ import annotations

HANABI_VALUES = "hanabi action values"  # a network of `trickformer obl train`
