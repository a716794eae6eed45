"""Fit a policy-value model to sequences of observations (GO-MCTS paper, section 5.1 and Table 6)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from trickformer.models.gpt2 import POLICY_WEIGHT, GPT2PolicyValueModel
from trickformer.models.structure import tied_outcomes


@dataclass(frozen=True, slots=True)
class Sequences:
    """Training data: what one seat saw of each hand, and how the hand ended."""

    tokens: np.ndarray  # int16 [N, T], filled up with the end token
    outcomes: np.ndarray  # int32 [N], index among the game's outcomes

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True)
class FitOptions:
    epochs: int = 1
    batch_size: int = 32
    learning_rate: float = 1e-3  # of AdamW, falling linearly to zero
    warmup_steps: int = 100
    policy_weight: float = POLICY_WEIGHT  # loss = (value + this times policy) / (1 + this); the paper's is 9
    value_positions: int = 16  # positions of a sequence that the value loss is taken at, drawn anew each step
    bf16: bool = True  # autocast; weights and optimizer stay float32


def losses(
    model: GPT2PolicyValueModel, tokens: torch.Tensor, outcomes: torch.Tensor, eos: int, positions: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Policy and value loss of a batch, in nats. tokens int64 [B, T], outcomes int64 [B].

    The policy loss is the model's own. So is the value loss in expectation, but for each sequence counting alike
    whatever its length: the outcome is the same at each position, so its loss is estimated at `positions` of them,
    drawn uniformly, which saves most of the cost of a large value head."""
    hidden = model.transformer(tokens).last_hidden_state[:, :-1]
    targets = tokens[:, 1:].masked_fill(tokens[:, :-1] == eos, -100)
    logits = model.lm_head(F.gelu(model.lm_hidden(hidden)))
    policy = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())
    # The position before the end token is the last that counts.
    lengths = (tokens != eos).sum(dim=1, keepdim=True)
    drawn = (torch.rand(len(tokens), positions, device=tokens.device) * lengths).long()
    picked = hidden.gather(1, drawn[..., None].expand(-1, -1, hidden.shape[-1]))
    value_logits = model.val_head(F.gelu(model.val_hidden(picked)))
    labels = outcomes[:, None].expand(-1, positions)
    return policy, F.cross_entropy(value_logits.float().flatten(0, 1), labels.flatten())


def fit(
    model: GPT2PolicyValueModel,
    data: Sequences,
    labels: Sequence[Sequence[int]],
    options: FitOptions,
    seed: int,
    report: Callable[[dict[str, float]], None] = lambda _: None,
    report_every: int = 100,
) -> None:
    """Train in place with a fresh optimizer and schedule.

    `labels`: the game's outcomes. `report` gets step, steps, both losses (nats, mean since the last report) and
    sequences a second. Reproducible from `seed` on one machine and thread count."""
    torch.manual_seed(seed)
    device = next(model.parameters()).device
    if device.type == "cpu":
        # Twice as fast on short sequences: the same attention without the flash kernel's backward pass, and the
        # same GELU (tanh form) as one operation.
        model.set_attn_implementation("eager")
        for block in model.transformer.h:
            setattr(block.mlp, "act", torch.nn.GELU(approximate="tanh"))  # noqa: B010 (untyped module)
    model.train()
    with tied_outcomes(model, labels):
        _fit(model, data, options, np.random.default_rng(seed), report, report_every)
    model.eval()


def _fit(
    model: GPT2PolicyValueModel,
    data: Sequences,
    options: FitOptions,
    rng: np.random.Generator,
    report: Callable[[dict[str, float]], None],
    report_every: int,
) -> None:
    device = next(model.parameters()).device
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, fused=True)
    steps = options.epochs * (len(data) // options.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min((s + 1) / options.warmup_steps, (steps - s) / max(1, steps))
    )
    eos = model.config.eos_token_id
    assert isinstance(eos, int)
    sums, since, step = np.zeros(2), time.perf_counter(), 0
    for _ in range(options.epochs):
        order = rng.permutation(len(data))[: len(data) // options.batch_size * options.batch_size]
        for batch in order.reshape(-1, options.batch_size):
            tokens = torch.from_numpy(data.tokens[batch].astype(np.int64)).to(device)
            outcomes = torch.from_numpy(data.outcomes[batch].astype(np.int64)).to(device)
            with torch.autocast(device.type, torch.bfloat16, enabled=options.bf16):
                policy, value = losses(model, tokens, outcomes, eos, options.value_positions)
            ((value + options.policy_weight * policy) / (1 + options.policy_weight)).backward()
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            step += 1
            sums += policy.item(), value.item()
            if step % report_every == 0 or step == steps:
                n = (step - 1) % report_every + 1
                speed = n * options.batch_size / (time.perf_counter() - since)
                mean = sums / n
                report({"step": step, "steps": steps, "policy_loss": mean[0], "value_loss": mean[1], "speed": speed})
                sums, since = np.zeros(2), time.perf_counter()
