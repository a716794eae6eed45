"""The policy-value transformer of the GO-MCTS paper (section 9.1), on Hugging Face's GPT-2.

This model trains, saves and loads. Tests compare the inference backends with it. Importing this module imports torch
and transformers.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from transformers import AutoConfig, AutoModel, GPT2Config, GPT2Model, GPT2PreTrainedModel
from transformers.utils.generic import ModelOutput

from trickformer.models.configuration import TrickformerConfig
from trickformer.models.legacy import KEY_MAPPING, MODEL_TYPE, rename_legacy_keys
from trickformer.plumbing import digests
from trickformer.plumbing.files import replace_folder, writing


@dataclass
class PolicyValueOutput(ModelOutput):
    """Output of GPT2PolicyValueModel.forward."""

    logits: torch.Tensor | None = None  # float [B, T, vocab_size]: position t predicts token t+1
    value_logits: torch.Tensor | None = None  # float [B, T, num_labels]
    action_values: torch.Tensor | None = None  # float [B, T, vocab_size]: Q(s, a) of the next action; None: no head


class GPT2PolicyValueModel(GPT2PreTrainedModel):
    """GPT-2 with two heads, each a linear layer, GELU (the exact one) and a linear layer, without biases.

    The policy head predicts the next token, the value head the outcome of the game (`config.num_labels` outcomes).
    Source: GO-MCTS paper, section 9.1.

    Three additions to the paper default to 0 or False:

    - `config.n_features`: number of the tracker's features that are an input with each token. A linear map of them is
      added to the embeddings of token and position. The weights of `config.unused_features` are 0 and stay 0.
    - `config.action_values`: a third head predicts the value of each own action.
    - `config.masked`: the policy was trained on possible tokens only, so its users must mask the others too.
    """

    config_class = TrickformerConfig

    def __init__(self, config: GPT2Config):
        super().__init__(config)
        self.num_labels = outcomes = int(config.num_labels or 0)
        if hasattr(config, "n_facts"):  # a configuration of version 0.2
            for name, value in rename_legacy_keys(config.to_dict()).items():
                setattr(config, name, value)
            delattr(config, "n_facts")
        self.n_features = int(getattr(config, "n_features", 0))
        self.transformer = GPT2Model(config)
        if self.n_features:
            self.features = nn.Embedding(self.n_features, config.n_embd)  # row i is multiplied by feature i
        self.lm_hidden = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.val_hidden = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.val_head = nn.Linear(config.n_embd, outcomes, bias=False)
        if getattr(config, "action_values", False):
            self.act_hidden = nn.Linear(config.n_embd, config.n_embd, bias=False)
            self.act_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.post_init()
        self._unused = list(getattr(config, "unused_features", []))
        if self._unused:
            with torch.no_grad():
                self.features.weight[self._unused] = 0

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path: Any, *args: Any, **kwargs: Any) -> Any:
        """Load a checkpoint as float32, unless `dtype` is given.

        Args:
            pretrained_model_name_or_path: Shipped checkpoint such as `hearts-small`; run folder of a training, for its
                best model; or a folder or a name on the Hub, as in transformers.
            *args: As in transformers.
            **kwargs: As in transformers.
        """
        kwargs.setdefault("dtype", torch.float32)
        kwargs.setdefault("key_mapping", KEY_MAPPING)
        return super().from_pretrained(_resolve(pretrained_model_name_or_path), *args, **kwargs)

    def load_state_dict(self, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        """Load parameters by name, also by the names of version 0.2.

        Args:
            state_dict: Tensors by name.
            *args: As in torch.
            **kwargs: As in torch.
        """
        return super().load_state_dict(rename_legacy_keys(dict(state_dict)), *args, **kwargs)

    def hidden_states(
        self, input_ids: torch.Tensor, features: torch.Tensor | None = None, attention_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Compute the final hidden states, which are the input of the heads.

        Args:
            input_ids: Tokens, int64 [B, T].
            features: Features after each token, float [B, T, n_features].
            attention_mask: [B, T], 0 on padding, which may be on either side. Position embeddings do not count padding.

        Returns:
            float [B, T, n_embd], meaningless on padding.

        Raises:
            ValueError: The model has no features and some were passed, or it has features and none were passed.
        """
        if (features is not None) != bool(self.n_features):
            remedy = "pass features=, float [B, T, n_features]" if self.n_features else "leave out features"
            raise ValueError(f"the model takes {self.n_features} features a token; {remedy}")
        padding: dict[str, torch.Tensor] = {}
        if attention_mask is not None:
            positions = (attention_mask.long().cumsum(dim=-1) - 1).clamp(min=0)
            padding = {"attention_mask": attention_mask, "position_ids": positions}
        if features is None:
            return self.transformer(input_ids, **padding).last_hidden_state
        weight = self.features.weight
        if self._unused:  # so that their gradient is 0
            weight = weight.index_fill(0, torch.tensor(self._unused, device=weight.device), 0)
        embeds = self.transformer.wte(input_ids) + features @ weight
        return self.transformer(inputs_embeds=embeds, **padding).last_hidden_state

    def policy_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Compute the policy.

        Args:
            hidden: Hidden states, float [..., n_embd].

        Returns:
            float [..., vocab_size].
        """
        return self.lm_head(F.gelu(self.lm_hidden(hidden)))

    def value_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Compute the logits of the outcomes.

        Args:
            hidden: Hidden states, float [..., n_embd].

        Returns:
            float [..., num_labels].
        """
        return self.val_head(F.gelu(self.val_hidden(hidden)))

    def action_values(self, hidden: torch.Tensor) -> torch.Tensor:
        """Compute the action values, for a model with this head.

        Args:
            hidden: Hidden states, float [..., n_embd].

        Returns:
            float [..., vocab_size], in units of v(o).
        """
        return self.act_head(F.gelu(self.act_hidden(hidden)))

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        features: torch.Tensor | None = None,
    ) -> PolicyValueOutput:
        """Compute the outputs of the heads at every position. The losses are in selfplay.train.

        Args:
            input_ids: As in `hidden_states`.
            attention_mask: As in `hidden_states`.
            features: As in `hidden_states`.

        Raises:
            ValueError: As in `hidden_states`.
        """
        hidden = self.hidden_states(input_ids, features, attention_mask)
        logits, value_logits = self.policy_logits(hidden), self.value_logits(hidden)
        actions = self.action_values(hidden) if hasattr(self, "act_head") else None
        return PolicyValueOutput(logits, value_logits, actions)


def _resolve(name: Any) -> Any:
    """Return the folder of a shipped checkpoint or of a run folder's best model; return other names unchanged."""
    from trickformer.checkpoints.folders import locate

    if not isinstance(name, str | PathLike):
        return name
    folder = locate(str(name))
    return name if folder == Path(name) else folder


AutoConfig.register(MODEL_TYPE, TrickformerConfig, exist_ok=True)
AutoModel.register(TrickformerConfig, GPT2PolicyValueModel, exist_ok=True)


def save(model: GPT2PolicyValueModel, folder: Path, dtype: torch.dtype, text: str | None = None) -> None:
    """Write config.json, model.safetensors and a model card, atomically.

    Args:
        model: The model, which is converted to `dtype`.
        folder: Folder of the checkpoint; it is replaced.
        dtype: Type of the weights.
        text: The model card; None writes none.

    Raises:
        TrickformerError: The disk refuses.
    """
    draft = folder.with_name(f".{folder.name}.part")
    torch.nn.Module.to(model, dtype)
    try:
        with writing(folder):
            shutil.rmtree(draft, ignore_errors=True)  # left by a process that was killed
            model.save_pretrained(draft)
            if text is not None:
                (draft / "README.md").write_text(text, encoding="utf-8")
            digests.write(draft)
            replace_folder(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
