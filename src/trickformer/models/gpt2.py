"""The policy-value transformer of the GO-MCTS paper (section 9.1), on Hugging Face's GPT-2.

This is the model that trains, saves and loads, and the oracle that the inference engines are held equal to.
Importing this module imports torch and transformers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from transformers import GPT2Config, GPT2Model, GPT2PreTrainedModel
from transformers.utils.generic import ModelOutput

IGNORE = -100  # a label that no loss counts: padding
POLICY_WEIGHT = 9.0  # loss = (value + 9 policy) / 10


@dataclass
class PolicyValueOutput(ModelOutput):
    """What GPT2PolicyValueModel.forward returns. Losses are means over the counted positions, in nats."""

    loss: torch.Tensor | None = None  # float [], (value_loss + 9 policy_loss) / 10
    policy_loss: torch.Tensor | None = None  # float []
    value_loss: torch.Tensor | None = None  # float []
    logits: torch.Tensor | None = None  # float [B, T, vocab_size]: position t speaks of token t+1
    value_logits: torch.Tensor | None = None  # float [B, T, num_labels]


class GPT2PolicyValueModel(GPT2PreTrainedModel):
    """GPT-2 with two heads, each a linear layer, GELU (the exact one) and a linear layer, without biases.

    The policy head predicts the next token, the value head the outcome of the game (config.num_labels of
    them). Source: GO-MCTS paper, section 9.1.
    """

    def __init__(self, config: GPT2Config):
        super().__init__(config)
        self.num_labels = outcomes = int(config.num_labels or 0)
        self.transformer = GPT2Model(config)
        self.lm_hidden = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.val_hidden = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.val_head = nn.Linear(config.n_embd, outcomes, bias=False)
        self.post_init()

    @classmethod
    def from_pretrained(cls, *args: Any, **kwargs: Any) -> Any:
        """As Hugging Face's, but float32 unless `dtype` says otherwise, whatever the file holds."""
        kwargs.setdefault("dtype", torch.float32)
        return super().from_pretrained(*args, **kwargs)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        value_labels: torch.Tensor | None = None,
    ) -> PolicyValueOutput:
        """Logits of both heads at every position, and the losses that the given labels allow.

        input_ids int64 [B, T]; attention_mask [B, T], 0 on padding (at the end); labels int64 [B, T], usually
        input_ids with -100 on padding; value_labels int64 [B], one outcome a sequence, or [B, T]. Both
        losses compare position t with the label at t+1 and leave out labels of -100 and masked positions;
        outcomes given as [B] leave out the padding of `labels` as well. Raises ValueError on value_labels
        of another shape.
        """
        hidden = self.transformer(input_ids, attention_mask=attention_mask).last_hidden_state
        logits = self.lm_head(F.gelu(self.lm_hidden(hidden)))
        value_logits = self.val_head(F.gelu(self.val_hidden(hidden)))

        policy_loss = value_loss = loss = None
        if labels is not None:
            policy_loss = _shifted_loss(logits, labels, attention_mask)
        if value_labels is not None:
            if value_labels.shape == input_ids.shape[:1]:
                value_labels = value_labels[:, None].expand_as(input_ids)
                if labels is not None:
                    value_labels = value_labels.masked_fill(labels == IGNORE, IGNORE)
            elif value_labels.shape != input_ids.shape:
                raise ValueError(
                    f"value_labels has shape {tuple(value_labels.shape)}; "
                    f"give [B] or [B, T] for input_ids of {tuple(input_ids.shape)}"
                )
            value_loss = _shifted_loss(value_logits, value_labels, attention_mask)
        if policy_loss is not None and value_loss is not None:
            loss = (value_loss + POLICY_WEIGHT * policy_loss) / (1 + POLICY_WEIGHT)
        return PolicyValueOutput(loss, policy_loss, value_loss, logits, value_logits)


def _shifted_loss(logits: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Mean cross entropy, nats, of logits[:, t] against labels[:, t+1]; logits [B, T, N], labels [B, T]."""
    targets = labels[..., 1:]
    if mask is not None:
        targets = targets.masked_fill(mask[..., 1:] == 0, IGNORE)
    flat = logits[..., :-1, :].reshape(-1, logits.size(-1))
    return F.cross_entropy(flat.float(), targets.reshape(-1), ignore_index=IGNORE)
