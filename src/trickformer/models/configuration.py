"""Configuration of GPT2PolicyValueModel for transformers, with the model type `trickformer`.

With the model type of GPT-2, `AutoModel` would load a checkpoint as a plain GPT2Model and silently drop the features
and the heads.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from transformers import GPT2Config

from trickformer.models.legacy import FORMER_MODEL_TYPE, MODEL_TYPE, rename_legacy_keys


class TrickformerConfig(GPT2Config):
    """Configuration of GPT-2, and the fields that GPT2PolicyValueModel adds.

    Attributes:
        n_features: Number of features that are an input with each token; 0 for none.
        unused_features: Indices of features that the model does not read.
        action_values: Whether the model has a head for the values of actions.
        masked: Whether the policy was trained on possible tokens only.
        trickformer: Game, vocabulary, number of outcomes and version of the features (`checkpoints.stamp`).
    """

    model_type = MODEL_TYPE

    n_features: int = 0
    unused_features: list[int] = field(default_factory=list)
    action_values: bool = False
    masked: bool = False
    trickformer: dict[str, Any] | None = None

    @classmethod
    def get_config_dict(cls, *args: Any, **kwargs: Any) -> Any:
        """Read a configuration as a dictionary. Names of version 0.2 are replaced by the current ones.

        Args:
            *args: As in transformers.
            **kwargs: As in transformers.
        """
        entries, rest = super().get_config_dict(*args, **kwargs)
        return _current_names(entries), rest

    @classmethod
    def from_dict(cls, config_dict: dict[str, Any], **kwargs: Any) -> Any:
        """Make a configuration from a dictionary, which may have names of version 0.2.

        Args:
            config_dict: The entries.
            **kwargs: As in transformers.
        """
        return super().from_dict(_current_names(config_dict), **kwargs)


def _current_names(config: dict[str, Any]) -> dict[str, Any]:
    """Rename the entries of a GPT2PolicyValueModel configuration to current names; return others unchanged."""
    is_policy_value_model = "trickformer" in config or config.get("architectures") == ["GPT2PolicyValueModel"]
    if not is_policy_value_model or config.get("model_type") not in (MODEL_TYPE, FORMER_MODEL_TYPE):
        return config
    return rename_legacy_keys(config) | {"model_type": MODEL_TYPE}
