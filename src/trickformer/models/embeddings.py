"""Initial embeddings for small models and little data: similar tokens start with similar embeddings.

The GO-MCTS paper's embeddings start at random. Millions of hands teach its model which tokens share a suit, but the
data of a small run do not. Only the initial weights differ; the model is a GPT2PolicyValueModel like any other.
"""

from __future__ import annotations

import numpy as np
import torch

from trickformer.models.gpt2 import GPT2PolicyValueModel

_NOISE = 0.5  # scale of noise that separates tokens with equal features, relative to the configured initializer range


def initialize(model: GPT2PolicyValueModel, token_features: np.ndarray, position_features: np.ndarray) -> None:
    """Replace the embeddings and the policy head's weights by random linear functions of features.

    Random numbers come from torch's global generator.

    Args:
        model: The model, which is changed in place.
        token_features: float32 [V, F], entries of the order of 1.
        position_features: float32 [n_positions, G], entries of the order of 1.
    """
    scale = model.config.initializer_range
    for weight, features in (
        (model.transformer.wte.weight, token_features),
        (model.transformer.wpe.weight, position_features),
        (model.lm_head.weight, token_features),
    ):
        embed(weight, features, scale)


@torch.no_grad()
def embed(weight: torch.Tensor, features: np.ndarray, scale: float) -> None:
    """Replace a weight by a random linear function of features plus noise, with torch's global generator.

    Args:
        weight: [n, D], which is changed in place.
        features: float [n, F].
        scale: Order of the weight's entries.
    """
    inputs = torch.from_numpy(features.astype(np.float32))
    projected = inputs @ torch.randn(inputs.shape[1], weight.shape[1])
    weight.copy_(scale * (projected + _NOISE * torch.randn_like(weight)))
