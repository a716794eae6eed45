"""Configuration of GPT2PolicyValueModel for transformers, with a model type of its own.

The model type of GPT-2 would let `AutoModel` load a checkpoint as a plain GPT2Model, which drops the features and the
heads without a word.
"""

from __future__ import annotations

from typing import Any

from transformers import GPT2Config

from trickformer.models.legacy import FORMER_MODEL_TYPE, MODEL_TYPE, rename_legacy_keys


class TrickformerConfig(GPT2Config):
    """GPT-2's configuration, and what GPT2PolicyValueModel has beyond GPT-2.

    Attributes:
        n_features: Number of features that are an input beside each token; 0 for none.
        action_values: Whether the model has a head for the values of actions.
        masked: Whether the policy was learned over possible tokens alone.
        trickformer: Game, vocabulary, number of outcomes and version of the features (`checkpoints.stamp`).
    """

    model_type = MODEL_TYPE

    n_features: int = 0
    action_values: bool = False
    masked: bool = False
    trickformer: dict[str, Any] | None = None

    @classmethod
    def get_config_dict(cls, *args: Any, **kwargs: Any) -> Any:
        """Read a configuration as a dictionary; one of version 0.2 under the names of today."""
        found, rest = super().get_config_dict(*args, **kwargs)
        return current_names(found), rest

    @classmethod
    def from_dict(cls, config_dict: dict[str, Any], **kwargs: Any) -> Any:
        """Make a configuration of a dictionary; one of version 0.2 has other names."""
        return super().from_dict(current_names(config_dict), **kwargs)


def current_names(config: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration of GPT2PolicyValueModel under the names of today; any other one is returned unchanged."""
    ours = "trickformer" in config or config.get("architectures") == ["GPT2PolicyValueModel"]
    if not ours or config.get("model_type") not in (MODEL_TYPE, FORMER_MODEL_TYPE):
        return config
    return rename_legacy_keys(config) | {"model_type": MODEL_TYPE}
