"""Model sizes by name. Importing this module imports neither torch nor transformers; `config` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trickformer.base import UnknownNameError

if TYPE_CHECKING:
    from transformers import GPT2Config

    from trickformer.models.configuration import TrickformerConfig


@dataclass(frozen=True, slots=True)
class Preset:
    """Size of a transformer."""

    layers: int
    embd: int  # width of the residual stream (n_embd of GPT-2)
    heads: int
    inner: int  # width of the feed-forward layer


PRESETS = {
    "paper": Preset(layers=8, embd=256, heads=8, inner=1024),  # GO-MCTS paper, Table 4
    "small": Preset(layers=2, embd=128, heads=4, inner=512),
    "paper-small": Preset(layers=4, embd=96, heads=3, inner=384),
    "tiny": Preset(layers=2, embd=32, heads=2, inner=128),  # for tests
}


def config(
    preset: str,
    vocab_size: int,
    n_positions: int,
    n_outcomes: int,
    eos: int,
    n_features: int = 0,
    action_values: bool = False,
    masked: bool = False,
    unused_features: Sequence[int] = (),
) -> TrickformerConfig:
    """Make the configuration of a preset for one game. Everything except the size follows Table 4 of the GO-MCTS paper.

    Args:
        preset: Name of the preset.
        vocab_size: Number of tokens.
        n_positions: Length of the longest sequence.
        n_outcomes: Number of outputs of the value head.
        eos: Token that ends a sequence.
        n_features: See GPT2PolicyValueModel.
        action_values: See GPT2PolicyValueModel.
        masked: See GPT2PolicyValueModel.
        unused_features: See GPT2PolicyValueModel.

    Raises:
        UnknownNameError: The preset is unknown.
    """
    if preset not in PRESETS:
        raise UnknownNameError("preset", preset, list(PRESETS))
    from trickformer.models.configuration import TrickformerConfig

    result = TrickformerConfig(**_settings(PRESETS[preset], vocab_size, n_positions, eos))
    result.n_features, result.action_values = n_features, action_values
    result.masked, result.num_labels = masked, n_outcomes
    result.unused_features = list(unused_features)
    return result


def of_size(size: Preset, vocab_size: int, n_positions: int, n_outcomes: int, eos: int) -> GPT2Config:
    """Make a configuration of plain GPT-2 of any size, otherwise as `config` does.

    Args:
        size: Size of the transformer.
        vocab_size: As in `config`.
        n_positions: As in `config`.
        n_outcomes: As in `config`.
        eos: As in `config`.
    """
    from transformers import GPT2Config

    result = GPT2Config(**_settings(size, vocab_size, n_positions, eos))
    result.num_labels = n_outcomes
    return result


def _settings(size: Preset, vocab_size: int, n_positions: int, eos: int) -> dict[str, Any]:
    return {
        "vocab_size": vocab_size,
        "n_positions": n_positions,
        "n_embd": size.embd,
        "n_layer": size.layers,
        "n_head": size.heads,
        "n_inner": size.inner,
        "activation_function": "gelu_new",
        "attn_pdrop": 0.0,
        "embd_pdrop": 0.05,
        "resid_pdrop": 0.05,
        "layer_norm_epsilon": 1e-5,
        "initializer_range": 0.02,
        "bos_token_id": None,
        "eos_token_id": eos,
        "tie_word_embeddings": False,
    }
