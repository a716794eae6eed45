"""Initial embeddings for small models and little data: similar tokens start with similar embeddings.

The tokens of the paper's model have no initial structure. Twelve million hands teach it that two of them share a suit;
a laptop's budget does not. The architecture is unchanged, and a saved model is a GPT2PolicyValueModel like any other.
"""

from __future__ import annotations

import numpy as np
import torch

from trickformer.models.gpt2 import GPT2PolicyValueModel

_NOISE = 0.5  # share of the configured initializer range; the noise separates tokens of equal features


def initialize(model: GPT2PolicyValueModel, token_features: np.ndarray, position_features: np.ndarray) -> None:
    """Replace the embeddings and the policy head's rows by random linear images of features. Uses torch's generator.

    Args:
        model: The model, which is changed.
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
    """Replace a weight by a random linear image of features plus some noise. Uses torch's generator.

    Args:
        weight: [n, D], which is changed.
        features: float [n, F].
        scale: Order of the weight's entries.
    """
    table = torch.from_numpy(features.astype(np.float32))
    image = table @ torch.randn(table.shape[1], weight.shape[1])
    weight.copy_(scale * (image + _NOISE * torch.randn_like(weight)))
