"""A head start for small models and little data: things that are alike start, or stay, alike.

The paper's model meets every token and each of 2234 outcomes as a name without meaning. Twelve million hands teach it
that two of them share a suit, or give the own seat the same points; on a laptop's budget they do not. None of this
changes the model: what is saved is a GPT2PolicyValueModel like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn
from torch.nn.utils import parametrize

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


class _Tied(nn.Module):
    """weight [n, D] plus the sum of what the outcome's traits contribute: `traits` [n, F] times [F, D]."""

    traits: torch.Tensor

    def __init__(self, traits: torch.Tensor, width: int):
        super().__init__()
        self.register_buffer("traits", traits)
        self.shared = nn.Parameter(torch.zeros(traits.shape[1], width))

    def forward(self, own: torch.Tensor) -> torch.Tensor:
        return own + self.traits @ self.shared


@contextmanager
def tied_outcomes(model: GPT2PolicyValueModel, labels: Sequence[Sequence[int]]) -> Iterator[None]:
    """While it lasts, outcomes that give the same player the same score share a part of their row in the value
    head, besides one of their own, so that every hand teaches all outcomes like its own. Afterwards the sum is the
    head's plain weight. labels: int [n, players]. Parameters change: make the optimizer inside."""
    scores = np.array(labels)
    columns = []
    for player in scores.T:
        columns += [player == score for score in np.unique(player)]
        columns.append(player / max(1, np.abs(scores).max()))
    traits = torch.from_numpy(np.stack(columns, axis=1).astype(np.float32))
    device = model.val_head.weight.device
    parametrize.register_parametrization(
        model.val_head, "weight", _Tied(traits, model.val_head.weight.shape[1]).to(device)
    )
    try:
        yield
    finally:
        parametrize.remove_parametrizations(model.val_head, "weight")
