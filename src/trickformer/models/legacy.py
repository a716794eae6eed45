"""Names in checkpoints. Version 0.2 called the features facts and the model type gpt2; its checkpoints still load."""

from __future__ import annotations

from typing import Any, TypeVar

V = TypeVar("V")

MODEL_TYPE = "trickformer"  # `model_type` in config.json
FORMER_MODEL_TYPE = "gpt2"  # `model_type` in version 0.2

_NAMES = {"n_facts": "n_features", "facts": "features", "facts.weight": "features.weight"}
KEY_MAPPING = {r"^facts\.": "features."}  # regular expressions over tensor names, for transformers


def rename_legacy_keys(values: dict[str, V]) -> dict[str, V]:
    """Rename the entries of a configuration or a dictionary of tensors to current names.

    Args:
        values: Entries by name; a nested `trickformer` dictionary is renamed too.

    Returns:
        A new dictionary with the same values in the same order.
    """
    entries: dict[str, Any] = {_NAMES.get(name, name): value for name, value in values.items()}
    stamp = entries.get("trickformer")
    if isinstance(stamp, dict):
        entries["trickformer"] = {_NAMES.get(str(name), name): value for name, value in stamp.items()}
    return entries
