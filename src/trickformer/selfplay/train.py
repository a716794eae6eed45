"""Fit of a policy-value model to sequences of observations (GO-MCTS paper, section 5.1 and Table 6).

Accelerate chooses the devices: one CPU, one GPU, or several under `accelerate launch`. A fit saves the model, the
optimizer and the step, and every random number depends only on the seed and the step. So a fit that continues from a
saved state ends in the same weights as a fit that was never stopped.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from transformers import GPT2Config

from trickformer import tokenizers
from trickformer.base import FastGame, Tokenizer, TrickformerError
from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.plumbing import digests
from trickformer.plumbing.files import make_folder, replace_folder, writing
from trickformer.plumbing.text import json_object, read_text
from trickformer.selfplay.data import Sequences, augment_sequences, crop, lengths_of

IGNORE = -100  # target of padding, which `cross_entropy` ignores


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Options of a fit."""

    epochs: int = 1
    batch_size: int = 32  # number of sequences in a step, over all devices
    learning_rate: float = 1e-3  # peak rate of AdamW, which falls linearly to zero
    muon: float = 0.0  # peak rate of Muon, which trains the matrices of the blocks; 0: AdamW trains them too
    warmup_steps: int = 100  # number of steps over which the rates rise; a shorter training stays below the peaks
    policy_weight: float = 9.0  # weight of the policy loss; the weight of the value loss is 1
    action_weight: float = 0.0  # weight of the action values' squared errors, which are in squares of v(o)
    bucket: int = 1  # number of batches whose sequences are sorted by length together, to save padding
    augment: FastGame | None = None  # game whose symmetries permute the sequences at each step; None: no augmentation
    value_positions: int | None = None  # number of positions of a sequence in the value loss; None: all
    report_every: int = 100  # steps between two reports
    save_every: int = 500  # steps between two saved states

    def steps(self, sequences: int) -> int:
        """Return the number of training steps.

        Args:
            sequences: Number of sequences in the training data.
        """
        return self.epochs * (sequences // self.batch_size)

    def schedule(self, step: int, steps: int) -> float:
        """Return the learning rates at a step, as a share of their peaks.

        Args:
            step: The step, from 0.
            steps: Number of steps of the whole fit.
        """
        return min((step + 1) / self.warmup_steps, (steps - step) / max(1, steps))


LEVEL_WEIGHT = 0.1  # weight of a decision's squared mean error, relative to the variance of its actions' errors


@dataclass(frozen=True, slots=True)
class Batch:
    """Training data of one step, as tensors on a device. D decisions have labels."""

    tokens: torch.Tensor  # int64 [B, T]
    outcomes: torch.Tensor  # int64 [B]: true output of the value head
    features: torch.Tensor | None  # float [B, T, F], for a model that reads features
    possible: torch.Tensor | None  # bool [B, T, V]: possible next tokens; None: the policy is over all tokens
    rows: torch.Tensor  # int64 [D]: sequence of each labelled decision
    positions: torch.Tensor  # int64 [D]: position of the token before it
    labels: torch.Tensor  # float [D, V]: value of each action; 0 if it has no label
    labelled: torch.Tensor  # bool [D, V]


class LabelledDecisions(NamedTuple):
    """The labelled decisions of sequences, as arrays; see `Batch`."""

    rows: np.ndarray  # int64 [D]
    positions: np.ndarray  # int64 [D]
    labels: np.ndarray  # float32 [D, V]
    labelled: np.ndarray  # bool [D, V]


def batch_of(data: Sequences, tokenizer: Tokenizer, model: GPT2PolicyValueModel, classes: np.ndarray) -> Batch:
    """Make a batch on the model's device.

    Args:
        data: Sequences.
        tokenizer: Tokenizer of their game.
        model: The model.
        classes: int [outcomes], the output of the value head for each of the game's outcomes.
    """
    device, config = model.device, model.config
    tokens = crop(data.tokens, tokenizer.eos)
    masked = bool(getattr(config, "masked", False))
    features = possible = None
    if model.n_features or masked:
        feature_array, possible_array = tokenizers.follow(tokenizer, tokens, masked)
        features = torch.from_numpy(feature_array).to(device) if model.n_features else None
        possible = torch.from_numpy(possible_array).to(device) if masked else None
    labelled = decisions(data, len(tokenizer.vocab))
    return Batch(
        tokens=torch.from_numpy(tokens.astype(np.int64)).to(device),
        outcomes=torch.from_numpy(classes[data.outcomes].astype(np.int64)).to(device),
        features=features,
        possible=possible,
        **{name: torch.from_numpy(array).to(device) for name, array in labelled._asdict().items()},
    )


def decisions(data: Sequences, vocabulary: int) -> LabelledDecisions:
    """Collect the labelled decisions of sequences.

    Args:
        data: Sequences.
        vocabulary: Number V of tokens.
    """
    row = data.rows
    position = data.labels["position"].astype(np.int64)
    # The labels of a decision are adjacent, so a new decision begins where the row or the position changes.
    is_first = np.diff(row * data.tokens.shape[1] + position, prepend=-1) != 0
    decision = np.cumsum(is_first) - 1
    values = np.zeros((int(is_first.sum()), vocabulary), np.float32)
    labelled = np.zeros(values.shape, bool)
    values[decision, data.labels["token"]] = data.labels["value"]
    labelled[decision, data.labels["token"]] = True
    return LabelledDecisions(row[is_first], position[is_first], values, labelled)


def action_loss(predicted: torch.Tensor, values: torch.Tensor, labelled: torch.Tensor) -> torch.Tensor:
    """Compute the loss of action values, the mean over decisions.

    The loss of a decision is the variance of its actions' errors, plus LEVEL_WEIGHT times the square of their mean. So
    differences between actions count for more than their common level.

    Args:
        predicted: float [D, V], the model's action values.
        values: float [D, V], the labels.
        labelled: bool [D, V], at least one True in each row.
    """
    n = labelled.sum(dim=1, keepdim=True)
    error = (predicted - values).masked_fill(~labelled, 0)
    level = error.sum(dim=1, keepdim=True) / n
    spread = (error - level).masked_fill(~labelled, 0).square().sum(dim=1, keepdim=True) / n
    return (spread + LEVEL_WEIGHT * level.square()).mean()


class Objective(nn.Module):
    """The model and its losses."""

    def __init__(self, model: GPT2PolicyValueModel, options: FitOptions):
        super().__init__()
        self.model, self.options = model, options

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute the losses of a batch.

        The losses are those of the GO-MCTS paper (section 9.1). For the policy loss, position t predicts token t+1,
        among the possible tokens if the batch has them. The value loss is the mean over all positions. With
        `value_positions` it is estimated at this many positions of each sequence, drawn uniformly, because a large
        value head is expensive; then long and short sequences have the same weight. `action_loss` comes on top.

        Args:
            batch: The batch.

        Returns:
            The weighted loss, and the losses of policy, value and actions, float32 [3]: nats, the last in squares of
            v(o).
        """
        model, options = self.model, self.options
        tokens = batch.tokens
        eos = model.config.eos_token_id
        assert isinstance(eos, int)
        states = model.hidden_states(tokens, batch.features)
        hidden, is_token = states[:, :-1], tokens[:, :-1] != eos
        logits = model.policy_logits(hidden).float()
        if batch.possible is not None:
            logits = logits.masked_fill(~batch.possible[:, :-1], -1e9)
        targets = tokens[:, 1:].masked_fill(~is_token, IGNORE)
        policy = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        if options.value_positions is None:
            inputs, labels = hidden, batch.outcomes[:, None].expand_as(is_token).masked_fill(~is_token, IGNORE)
        else:
            lengths = is_token.sum(dim=1, keepdim=True)
            sampled = (torch.rand(len(tokens), options.value_positions, device=tokens.device) * lengths).long()
            inputs = hidden.gather(1, sampled[..., None].expand(-1, -1, hidden.shape[-1]))
            labels = batch.outcomes[:, None].expand_as(sampled)
        value = F.cross_entropy(model.value_logits(inputs).float().flatten(0, 1), labels.flatten())
        actions = torch.zeros_like(value)
        if options.action_weight and len(batch.rows):
            predicted = model.action_values(states[batch.rows, batch.positions])
            actions = action_loss(predicted.float(), batch.labels, batch.labelled)
        loss = (value + options.policy_weight * policy + options.action_weight * actions) / (1 + options.policy_weight)
        return loss, torch.stack((policy, value, actions)).detach()


def fit(
    objective: Objective,
    data: Sequences,
    tokenizer: Tokenizer,
    classes: np.ndarray,
    seed: int,
    accelerator: Accelerator,
    state: Path,
    report: Callable[[dict[str, float]], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    watch: Callable[[int, torch.Tensor, float], None] = lambda step, loss, rate: None,
) -> bool:
    """Train `objective.model` in place with a fresh optimizer and schedule, or continue from the state in a folder.

    The result is reproducible for a `seed` on one machine with the same number of processes and threads.

    Args:
        objective: The model and its losses.
        data: Training data.
        tokenizer: Tokenizer of its game.
        classes: int [outcomes], see `batch_of`.
        seed: Seed of the batches and of dropout.
        accelerator: Accelerator that places the model on devices.
        state: Folder for the state, saved every `save_every` steps and when `stop` returns true. The caller removes it.
        report: Callback every `report_every` steps, with the step, the number of steps, the losses (means since the
            last report), sequences and tokens a second, and the model's TFLOP/s.
        stop: Function that returns whether to stop before the next step.
        watch: Callback after each step, with the number of finished steps, the loss as a tensor on the device, and the
            learning rate of AdamW.

    Returns:
        Whether the fit is finished.
    """
    options, model = objective.options, objective.model
    if accelerator.device.type == "cpu":
        # Twice as fast on short sequences: the same attention without the flash kernel's backward pass, and the
        # same GELU (tanh form) as one operation.
        model.set_attn_implementation("eager")
        for block in model.transformer.h:
            setattr(block.mlp, "act", torch.nn.GELU(approximate="tanh"))  # noqa: B010 (untyped module)
    objective.train()
    optimizers = _optimizers(objective)
    peaks = [optimizer.param_groups[0]["lr"] for optimizer in optimizers]
    learner, *optimizers = accelerator.prepare(objective, *optimizers)
    steps, eos = options.steps(len(data)), model.config.eos_token_id
    assert isinstance(eos, int)
    start = _restore(accelerator, state)
    step = start.step
    counted = start.counted
    sums = torch.tensor(start.sums, device=accelerator.device)
    last_report, work = time.perf_counter(), _Work()
    try:
        lengths = lengths_of(data.tokens, eos) if options.bucket > 1 else None
        for batch in row_batches(len(data), options, seed, step, lengths):
            if stop():
                _save(accelerator, state, _FitPosition(step, counted, sums.tolist()))
                return False
            sequences = data[batch[accelerator.process_index :: accelerator.num_processes]]
            if options.augment is not None:
                rng = np.random.default_rng([seed, step, accelerator.process_index, 1])
                sequences = augment_sequences(sequences, options.augment, rng)
            inputs = batch_of(sequences, tokenizer, model, classes)
            for optimizer, peak in zip(optimizers, peaks):
                for group in optimizer.param_groups:
                    group["lr"] = peak * options.schedule(step, steps)
            entropy = np.random.SeedSequence([seed, step, accelerator.process_index])
            torch.manual_seed(int(entropy.generate_state(1)[0]))
            loss, losses = learner(inputs)
            accelerator.backward(loss)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            step += 1
            watch(step, loss.detach(), optimizers[0].param_groups[0]["lr"])
            sums += losses
            counted += 1
            work.add(model.config, inputs.tokens.shape[1], options)
            if step % options.report_every == 0 or step == steps:
                means = (sums / counted).tolist()  # waits for the device, so it comes before the clock is read
                seconds = time.perf_counter() - last_report
                entry = {"step": step, "steps": steps, "policy_loss": means[0], "value_loss": means[1]}
                if options.action_weight:
                    entry["action_loss"] = means[2]
                report(entry | {name: amount / seconds for name, amount in asdict(work).items()})
                sums.zero_()
                counted = 0
                last_report, work = time.perf_counter(), _Work()
            if step % options.save_every == 0 and step < steps:
                _save(accelerator, state, _FitPosition(step, counted, sums.tolist()))
    finally:
        accelerator.free_memory()
    model.eval()
    return True


def _optimizers(objective: Objective) -> list[torch.optim.Optimizer]:
    """Make AdamW, or Muon (Jordan et al. 2024) for the matrices of the blocks and AdamW for the rest."""
    options = objective.options
    blocks = list(objective.model.transformer.h.parameters()) if options.muon else []
    matrices = [p for p in blocks if p.ndim == 2]
    by_muon = {id(p) for p in matrices}
    rest = [p for p in objective.parameters() if id(p) not in by_muon]
    optimizers: list[torch.optim.Optimizer] = [torch.optim.AdamW(rest, lr=options.learning_rate, fused=True)]
    if matrices:
        optimizers.append(torch.optim.Muon(matrices, lr=options.muon, weight_decay=0.0))
    return optimizers


def row_batches(
    n: int, options: FitOptions, seed: int, first_step: int, lengths: np.ndarray | None = None
) -> Iterator[np.ndarray]:
    """Yield the rows of the training data for each step. Every epoch has a new random order.

    Args:
        n: Number of sequences.
        options: Options of the fit.
        seed: Seed of the orders.
        first_step: Number of steps to skip.
        lengths: int [n], lengths of the sequences. If given, every `bucket` consecutive batches are sorted by length
            together, and the batches of such a group come in random order.

    Yields:
        int [batch_size].
    """
    epoch_steps = n // options.batch_size
    for epoch in range(first_step // epoch_steps, options.epochs):
        rng = np.random.default_rng([seed, epoch])
        order = rng.permutation(n)[: epoch_steps * options.batch_size]
        if lengths is not None:
            for bucket in np.array_split(order, range(0, len(order), options.bucket * options.batch_size)[1:]):
                bucket[:] = bucket[np.argsort(lengths[bucket], kind="stable")]  # a view: this changes `order`
                rng.shuffle(bucket.reshape(-1, options.batch_size))
        skip = first_step - epoch * epoch_steps if epoch == first_step // epoch_steps else 0
        yield from order.reshape(epoch_steps, options.batch_size)[skip:]


def forward_flops(config: GPT2Config, positions: int, value_positions: int) -> float:
    """Count the floating-point operations of one sequence's forward pass.

    Only matrix products count, and attention counts as if it were not causal. Action values are left out, because they
    are computed at few positions.

    Args:
        config: Config of the model.
        positions: Length of the sequence.
        value_positions: Number of positions at which the value head is computed.
    """
    width, inner = config.n_embd, config.n_inner or 4 * config.n_embd
    layer = 4 * width * width + 2 * width * inner + 2 * positions * width
    policy = width * width + width * config.vocab_size
    value = width * width + width * int(config.num_labels or 0)
    features = width * int(getattr(config, "n_features", 0))
    # Each weight costs a multiplication and an addition.
    return 2.0 * (positions * (config.n_layer * layer + policy + features) + value_positions * value)


@dataclass(slots=True)
class _Work:
    """Amounts of work since the last report. Each field is named after the speed that the report computes from it."""

    speed: float = 0  # sequences
    tokens_per_second: float = 0  # tokens, padding included
    tflops: float = 0  # operations of the model, in 10^12

    def add(self, config: GPT2Config, positions: int, options: FitOptions) -> None:
        # The backward pass takes twice as many operations as the forward pass.
        flops = 3 * forward_flops(config, positions, options.value_positions or positions)
        self.speed += options.batch_size
        self.tokens_per_second += options.batch_size * positions
        self.tflops += options.batch_size * flops / 1e12


@dataclass(frozen=True, slots=True)
class _FitPosition:
    """Progress of a fit. step.json holds these fields."""

    step: int  # finished steps
    counted: int  # steps since the last report
    sums: list[float]  # sums of the losses over these steps


def _save(accelerator: Accelerator, state: Path, position: _FitPosition) -> None:
    """Save the state atomically, and remove older ones."""
    step = position.step
    if (state / str(step)).exists():  # the fit was stopped just after it had saved
        return
    draft = state / f"{step}.part"
    with writing(state):
        make_folder(state)
        accelerator.save_state(str(draft))
        accelerator.wait_for_everyone()  # each process writes a part of the state
        if accelerator.is_main_process:
            (draft / "step.json").write_text(json.dumps(asdict(position)), encoding="utf-8")
            digests.write(draft)
            replace_folder(draft, state / str(step))
            for other in state.iterdir():
                if other.name != str(step):
                    shutil.rmtree(other)
    accelerator.wait_for_everyone()


def saved_step(state: Path) -> int:
    """Return the step of the newest saved state; 0 if there is none.

    Args:
        state: Folder of the states.
    """
    return max((int(p.name) for p in state.glob("*") if p.name.isdigit()), default=0)


def _restore(accelerator: Accelerator, state: Path) -> _FitPosition:
    step = saved_step(state)
    if not step:
        return _FitPosition(0, 0, [0.0, 0.0, 0.0])
    folder = state / str(step)
    digests.check(folder)
    try:
        accelerator.load_state(str(folder))
        return _FitPosition(**json_object(read_text(folder / "step.json"), finite=False))
    except Exception as e:  # torch and safetensors raise many kinds of errors for a damaged file
        text = str(e).splitlines()[0] if str(e) else type(e).__name__
        raise TrickformerError(f"{folder} is damaged ({text}); remove it") from None
