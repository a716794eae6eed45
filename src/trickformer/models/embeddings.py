"""Initial embeddings for small models and little data: similar tokens start with similar embeddings.

The GO-MCTS paper's embeddings start at random. Millions of hands teach its model which tokens share a suit, but the
data of a small run do not. Only the initial weights differ; the model is a GPT2PolicyValueModel like any other.
"""

from __future__ import annotations

import numpy as np
import torch

from trickformer.models.gpt2 import GPT2PolicyValueModel

_NOISE = 0.5  # scale of noise that separates tokens with equal vectors, relative to the configured initializer range


def initialize(model: GPT2PolicyValueModel, token_vectors: np.ndarray, position_vectors: np.ndarray) -> None:
    """Replace the embeddings and the policy head's weights by random linear functions of vectors.

    Random numbers come from torch's global generator.

    Args:
        model: The model, which is changed in place.
        token_vectors: float32 [V, F], entries of the order of 1 (`Tokenizer.initial_embeddings`).
        position_vectors: float32 [n_positions, G], entries of the order of 1.
    """
    scale = model.config.initializer_range
    for weight, vectors in (
        (model.transformer.wte.weight, token_vectors),
        (model.transformer.wpe.weight, position_vectors),
        (model.lm_head.weight, token_vectors),
    ):
        embed(weight, vectors, scale)


@torch.no_grad()
def embed(weight: torch.Tensor, vectors: np.ndarray, scale: float) -> None:
    """Replace a weight by a random linear function of vectors plus noise, with torch's global generator.

    Args:
        weight: [n, D], which is changed in place.
        vectors: float [n, F].
        scale: Order of magnitude of the weight's entries.
    """
    inputs = torch.from_numpy(vectors.astype(np.float32))
    projected = inputs @ torch.randn(inputs.shape[1], weight.shape[1])
    weight.copy_(scale * (projected + _NOISE * torch.randn_like(weight)))
