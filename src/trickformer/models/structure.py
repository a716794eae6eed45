"""A head start for small models and little data: things that are alike start alike.

The paper's model meets every token as a name without meaning. Twelve million hands teach it that two of them share a
suit; on a laptop's budget they do not. None of this changes the model: what is saved is a GPT2PolicyValueModel like any
other.
"""

from __future__ import annotations

import numpy as np
import torch

from trickformer.models.gpt2 import GPT2PolicyValueModel

_NOISE = 0.5  # of the configured initializer range: what tells apart tokens of equal features


def initialize(model: GPT2PolicyValueModel, token_features: np.ndarray, position_features: np.ndarray) -> None:
    """Draw the embeddings anew, as random linear images of features, and the policy head's rows likewise.

    token_features float32 [V, F], position_features float32 [n_positions, G], entries of the order of 1.
    Uses torch's generator."""
    scale = model.config.initializer_range
    for weight, features in (
        (model.transformer.wte.weight, token_features),
        (model.transformer.wpe.weight, position_features),
        (model.lm_head.weight, token_features),
    ):
        embed(weight, features, scale)


@torch.no_grad()
def embed(weight: torch.Tensor, features: np.ndarray, scale: float) -> None:
    """Draws weight [n, D] anew: a random linear image of features [n, F], and some noise; entries of the order of
    `scale`. Uses torch's generator."""
    table = torch.from_numpy(features.astype(np.float32))
    image = table @ torch.randn(table.shape[1], weight.shape[1])
    weight.copy_(scale * (image + _NOISE * torch.randn_like(weight)))
