"""Losses of the GO-MCTS paper (section 9.1), against which tests compare the losses of training."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F

from trickformer.models.gpt2 import PolicyValueOutput
from trickformer.selfplay.train import IGNORE


class Losses(NamedTuple):
    """Means over the positions that count, nats."""

    loss: torch.Tensor  # float [], (value + 9 policy) / 10
    policy: torch.Tensor  # float []
    value: torch.Tensor  # float []


def losses(out: PolicyValueOutput, labels: torch.Tensor, outcomes: torch.Tensor) -> Losses:
    """Compute the losses of a model's output for tokens [B, T].

    `labels`, int64 [B, T], are the tokens with -100 on padding; `outcomes` is int64 [B]. Position t is compared with
    the label at t + 1. If this label is -100, neither loss counts the position.
    """
    assert out.logits is not None and out.value_logits is not None
    policy = _shifted(out.logits, labels)
    value = _shifted(out.value_logits, outcomes[:, None].expand_as(labels).masked_fill(labels == IGNORE, IGNORE))
    return Losses((value + 9 * policy) / 10, policy, value)


def _shifted(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten(), ignore_index=IGNORE)
