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
    action_values: torch.Tensor | None = None  # float [B, T, vocab_size]: Q(s, a) of the action taken next, if known


class GPT2PolicyValueModel(GPT2PreTrainedModel):
    """GPT-2 with two heads, each a linear layer, GELU (the exact one) and a linear layer, without biases.

    The policy head predicts the next token, the value head the outcome of the game (config.num_labels of
    them). Source: GO-MCTS paper, section 9.1.

    Beyond the paper, each 0 or False where the config is silent: `config.n_facts` numbers that a tracker knows after
    each token are an input, through a linear map that is added to token and position; `config.action_values` adds a
    third head, what each own action is worth; `config.masked` says that the policy was learned over the tokens that
    were possible, and is to be used so.
    """

    def __init__(self, config: GPT2Config):
        super().__init__(config)
        self.num_labels = outcomes = int(config.num_labels or 0)
        self.n_facts = int(getattr(config, "n_facts", 0))
        self.transformer = GPT2Model(config)
        if self.n_facts:
            self.facts = nn.Embedding(self.n_facts, config.n_embd)  # a row for each number, weighed by it
        self.lm_hidden = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.val_hidden = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.val_head = nn.Linear(config.n_embd, outcomes, bias=False)
        if getattr(config, "action_values", False):
            self.act_hidden = nn.Linear(config.n_embd, config.n_embd, bias=False)
            self.act_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.post_init()

    @classmethod
    def from_pretrained(cls, *args: Any, **kwargs: Any) -> Any:
        """As Hugging Face's, but float32 unless `dtype` says otherwise, whatever the file holds."""
        kwargs.setdefault("dtype", torch.float32)
        return super().from_pretrained(*args, **kwargs)

    def hidden_states(
        self, input_ids: torch.Tensor, facts: torch.Tensor | None = None, attention_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """What the heads read: float [B, T, n_embd]. facts: float [B, T, n_facts], what is known after each token.

        Raises ValueError where facts are given to a model without them, or missing."""
        if (facts is not None) != bool(self.n_facts):
            raise ValueError(f"the model takes {self.n_facts} facts a token; give them, and no others")
        if facts is None:
            return self.transformer(input_ids, attention_mask=attention_mask).last_hidden_state
        embeds = self.transformer.wte(input_ids) + facts @ self.facts.weight
        return self.transformer(inputs_embeds=embeds, attention_mask=attention_mask).last_hidden_state

    def policy_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """float [..., vocab_size], of hidden states [..., n_embd]."""
        return self.lm_head(F.gelu(self.lm_hidden(hidden)))

    def value_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """float [..., num_labels], of hidden states [..., n_embd]."""
        return self.val_head(F.gelu(self.val_hidden(hidden)))

    def action_values(self, hidden: torch.Tensor) -> torch.Tensor:
        """float [..., vocab_size], in units of v(o), of hidden states [..., n_embd]; for a model that has the head."""
        return self.act_head(F.gelu(self.act_hidden(hidden)))

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        value_labels: torch.Tensor | None = None,
        facts: torch.Tensor | None = None,
    ) -> PolicyValueOutput:
        """What the heads say at every position, and the losses that the given labels allow.

        input_ids int64 [B, T]; attention_mask [B, T], 0 on padding (at the end); labels int64 [B, T], usually
        input_ids with -100 on padding; value_labels int64 [B], one outcome a sequence, or [B, T]. Both
        losses compare position t with the label at t+1 and leave out labels of -100 and masked positions;
        outcomes given as [B] leave out the padding of `labels` as well. Raises ValueError on value_labels
        of another shape, and as hidden_states does.
        """
        hidden = self.hidden_states(input_ids, facts, attention_mask)
        logits, value_logits = self.policy_logits(hidden), self.value_logits(hidden)
        actions = self.action_values(hidden) if hasattr(self, "act_head") else None

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
        return PolicyValueOutput(loss, policy_loss, value_loss, logits, value_logits, actions)


def _shifted_loss(logits: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Mean cross entropy, nats, of logits[:, t] against labels[:, t+1]; logits [B, T, N], labels [B, T]."""
    targets = labels[..., 1:]
    if mask is not None:
        targets = targets.masked_fill(mask[..., 1:] == 0, IGNORE)
    flat = logits[..., :-1, :].reshape(-1, logits.size(-1))
    return F.cross_entropy(flat.float(), targets.reshape(-1), ignore_index=IGNORE)
