"""Fit a policy-value model to sequences of observations (GO-MCTS paper, section 5.1 and Table 6).

Accelerate places the model: one CPU, one GPU, or several under `accelerate launch`. A state of the model, the optimizer
and the step is kept on disk, and every random number follows from the seed and the step: a fit that goes on from
such a state ends in the same weights as one that was never stopped.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

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

IGNORE = -100  # a label that no loss counts: padding


@dataclass(frozen=True, slots=True)
class FitOptions:
    epochs: int = 1
    batch_size: int = 32  # sequences a step, over all devices
    learning_rate: float = 1e-3  # of AdamW, falling linearly to zero
    muon: float = 0.0  # the same of Muon, which then learns the matrices of the blocks; 0: AdamW learns them all
    warmup_steps: int = 100  # over which the rates rise to their peaks; a training of fewer stays below them
    policy_weight: float = 9.0  # the losses' weights; that of the value loss is 1
    action_weight: float = 0.0  # of the action values' squared errors, in units of v(o)
    bucket: int = 1  # batches whose sequences are shared out by length, so that little is padding
    augment: FastGame | None = None  # exchanges what is alike in each sequence, anew in each step; None: nothing
    value_positions: int | None = None  # positions of a sequence that the value loss is taken at; None: all
    report_every: int = 100  # steps
    save_every: int = 500  # steps

    def steps(self, sequences: int) -> int:
        return self.epochs * (sequences // self.batch_size)

    def schedule(self, step: int, steps: int) -> float:
        """The share of the peak rates at a step."""
        return min((step + 1) / self.warmup_steps, (steps - step) / max(1, steps))


LEVEL_WEIGHT = (
    0.1  # of the square of a decision's mean error, beside the squares of what is left of its actions' errors
)


@dataclass(frozen=True, slots=True)
class Batch:
    """What a step learns from, as tensors on a device. D decisions have labels."""

    tokens: torch.Tensor  # int64 [B, T]
    outcomes: torch.Tensor  # int64 [B], of the value head's results
    features: torch.Tensor | None  # float [B, T, F], for a model that takes them
    possible: torch.Tensor | None  # bool [B, T, V]: what may follow; None: the policy is over all tokens
    rows: torch.Tensor  # int64 [D], of each labelled decision
    positions: torch.Tensor  # int64 [D], of the token before it
    labels: torch.Tensor  # float [D, V], what each action was worth; 0 where there is no label
    labelled: torch.Tensor  # bool [D, V]


def batch_of(data: Sequences, tokenizer: Tokenizer, model: GPT2PolicyValueModel, classes: np.ndarray) -> Batch:
    """A batch on the model's device. classes: int [outcomes], the value head's result of each of the game's
    outcomes."""
    device, config = model.device, model.config
    tokens = crop(data.tokens, tokenizer.eos)
    masked = bool(getattr(config, "masked", False))
    features = possible = None
    if model.n_features or masked:
        known, allowed = tokenizers.follow(tokenizer, tokens, masked)
        features = torch.from_numpy(known).to(device) if model.n_features else None
        possible = torch.from_numpy(allowed).to(device) if masked else None
    return Batch(
        torch.from_numpy(tokens.astype(np.int64)).to(device),
        torch.from_numpy(classes[data.outcomes].astype(np.int64)).to(device),
        features,
        possible,
        *(torch.from_numpy(array).to(device) for array in decisions(data, len(tokenizer.vocab))),
    )


def decisions(data: Sequences, vocabulary: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The labelled decisions: the row and the position before each, int64 [D], and of each token its value, float32
    [D, V], and whether it has one, bool [D, V]."""
    row = data.rows
    position = data.labels["position"].astype(np.int64)
    new = np.diff(row * data.tokens.shape[1] + position, prepend=-1) != 0
    which = np.cumsum(new) - 1
    values = np.zeros((int(new.sum()), vocabulary), np.float32)
    labelled = np.zeros(values.shape, bool)
    values[which, data.labels["token"]] = data.labels["value"]
    labelled[which, data.labels["token"]] = True
    return row[new], position[new], values, labelled


def action_loss(found: torch.Tensor, values: torch.Tensor, labelled: torch.Tensor) -> torch.Tensor:
    """The mean over decisions of the mean square of what the actions' labels differ from Q, their mean difference taken
    off, and a tenth of the square of that: which action is best counts for more than how the hand stands.

    found, values float [D, V]; labelled bool [D, V], at least one True a row."""
    n = labelled.sum(dim=1, keepdim=True)
    error = (found - values).masked_fill(~labelled, 0)
    level = error.sum(dim=1, keepdim=True) / n
    spread = (error - level).masked_fill(~labelled, 0).square().sum(dim=1, keepdim=True) / n
    return (spread + LEVEL_WEIGHT * level.square()).mean()


class Objective(nn.Module):
    """The model and the losses it learns from."""

    def __init__(self, model: GPT2PolicyValueModel, options: FitOptions):
        super().__init__()
        self.model, self.options = model, options

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss, and policy, value and actions' loss float32 [3]: in nats, the last in squares of v(o).

        The policy loss is the paper's (GO-MCTS, section 9.1): position t speaks of token t+1; over the tokens that were
        possible, where the batch has them. So is the value loss in expectation, but for each sequence counting alike
        whatever its length: the outcome is the same at each position, so its loss may be estimated at `value_positions`
        of them, drawn uniformly, which saves most of the cost of a large value head. The actions' loss is
        `action_loss`."""
        model, options, tokens = self.model, self.options, batch.tokens
        eos = model.config.eos_token_id
        assert isinstance(eos, int)
        every = model.hidden_states(tokens, batch.features)
        hidden, counted = every[:, :-1], tokens[:, :-1] != eos
        logits = model.policy_logits(hidden).float()
        if batch.possible is not None:
            logits = logits.masked_fill(~batch.possible[:, :-1], -1e9)
        targets = tokens[:, 1:].masked_fill(~counted, IGNORE)
        policy = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        if options.value_positions is None:
            picked, labels = hidden, batch.outcomes[:, None].expand_as(counted).masked_fill(~counted, IGNORE)
        else:
            # The position before the end token is the last that counts.
            lengths = counted.sum(dim=1, keepdim=True)
            drawn = (torch.rand(len(tokens), options.value_positions, device=tokens.device) * lengths).long()
            picked = hidden.gather(1, drawn[..., None].expand(-1, -1, hidden.shape[-1]))
            labels = batch.outcomes[:, None].expand_as(drawn)
        value = F.cross_entropy(model.value_logits(picked).float().flatten(0, 1), labels.flatten())
        actions = torch.zeros_like(value)
        if options.action_weight and len(batch.rows):
            found = model.action_values(every[batch.rows, batch.positions])
            actions = action_loss(found.float(), batch.labels, batch.labelled)
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
    """Train `objective.model` in place with a fresh optimizer and schedule, or go on from what `state` holds.

    classes: as batch_of takes them. state: folder that keeps the state every `save_every` steps and when `stop` says
    so; the caller's to remove. `report` gets step, steps, the losses (nats, mean since the last report), sequences and
    tokens a second and model TFLOP/s. `watch` gets the number of finished steps, the loss as a tensor on the
    device, and AdamW's learning rate, after each step.
    Returns whether the fit is finished. The result follows from `seed` on one machine with the same processes and
    threads."""
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
    at = _restore(accelerator, state)
    step, counted, sums = at.step, at.counted, torch.tensor(at.sums, device=accelerator.device)
    since, done = time.perf_counter(), _Work()
    try:
        lengths = lengths_of(data.tokens, eos) if options.bucket > 1 else None
        for batch in row_batches(len(data), options, seed, step, lengths):
            if stop():
                _save(accelerator, state, _At(step, counted, sums.tolist()))
                return False
            own = batch[accelerator.process_index :: accelerator.num_processes]
            rows = data[own]
            if options.augment is not None:
                rng = np.random.default_rng([seed, step, accelerator.process_index, 1])
                rows = augment_sequences(rows, options.augment, rng)
            learned = batch_of(rows, tokenizer, model, classes)
            for optimizer, peak in zip(optimizers, peaks):
                for group in optimizer.param_groups:
                    group["lr"] = peak * options.schedule(step, steps)
            drawn = np.random.SeedSequence([seed, step, accelerator.process_index])
            torch.manual_seed(int(drawn.generate_state(1)[0]))
            loss, parts = learner(learned)
            accelerator.backward(loss)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            step += 1
            watch(step, loss.detach(), optimizers[0].param_groups[0]["lr"])
            sums += parts
            counted += 1
            done.add(model.config, learned.tokens.shape[1], options)
            if step % options.report_every == 0 or step == steps:
                policy, value, actions = (sums / counted).tolist()  # waits for the device
                seconds = time.perf_counter() - since
                entry = {"step": step, "steps": steps, "policy_loss": policy, "value_loss": value}
                if options.action_weight:
                    entry["action_loss"] = actions
                report(entry | {k: v / seconds for k, v in asdict(done).items()})
                sums.zero_()
                since, counted, done = time.perf_counter(), 0, _Work()
            if step % options.save_every == 0 and step < steps:
                _save(accelerator, state, _At(step, counted, sums.tolist()))
    finally:
        accelerator.free_memory()
    model.eval()
    return True


def _optimizers(objective: Objective) -> list[torch.optim.Optimizer]:
    """AdamW; or Muon (Jordan et al. 2024) for the matrices of the blocks, and AdamW for the rest."""
    options = objective.options
    blocks = list(objective.model.transformer.h.parameters()) if options.muon else []
    matrices = [p for p in blocks if p.ndim == 2]
    taken = {id(p) for p in matrices}
    rest = [p for p in objective.parameters() if id(p) not in taken]
    found: list[torch.optim.Optimizer] = [torch.optim.AdamW(rest, lr=options.learning_rate, fused=True)]
    if matrices:
        found.append(torch.optim.Muon(matrices, lr=options.muon, weight_decay=0.0))
    return found


def row_batches(
    n: int, options: FitOptions, seed: int, done: int, lengths: np.ndarray | None = None
) -> Iterator[np.ndarray]:
    """The rows of each step from step `done` on: every epoch in an order of its own. Given lengths int [n], the rows of
    each `bucket` batches in a row go into them by length, and the batches come in any order."""
    a_epoch = n // options.batch_size
    for epoch in range(done // a_epoch, options.epochs):
        rng = np.random.default_rng([seed, epoch])
        order = rng.permutation(n)[: a_epoch * options.batch_size]
        if lengths is not None:
            for part in np.array_split(order, range(0, len(order), options.bucket * options.batch_size)[1:]):
                part[:] = part[np.argsort(lengths[part], kind="stable")]
                rng.shuffle(part.reshape(-1, options.batch_size))
        skip = done - epoch * a_epoch if epoch == done // a_epoch else 0
        yield from order.reshape(a_epoch, options.batch_size)[skip:]


def forward_flops(config: GPT2Config, positions: int, value_positions: int) -> float:
    """Floating-point operations of one sequence's forward pass: matrix products alone, causal attention in full,
    without action values, which few positions are asked for."""
    width, inner = config.n_embd, config.n_inner or 4 * config.n_embd
    layer = 4 * width * width + 2 * width * inner + 2 * positions * width
    policy = width * width + width * config.vocab_size
    value = width * width + width * int(config.num_labels or 0)
    features = width * int(getattr(config, "n_features", 0))
    return 2.0 * (positions * (config.n_layer * layer + policy + features) + value_positions * value)


@dataclass(slots=True)
class _Work:
    """What steps have worked off: sequences, positions (padding included), and the model's operations in 10^12."""

    speed: float = 0
    tokens_per_second: float = 0
    tflops: float = 0

    def add(self, config: GPT2Config, positions: int, options: FitOptions) -> None:
        flops = 3 * forward_flops(config, positions, options.value_positions or positions)
        self.speed += options.batch_size
        self.tokens_per_second += options.batch_size * positions
        self.tflops += options.batch_size * flops / 1e12


@dataclass(frozen=True, slots=True)
class _At:
    """Where a fit stands: the step, and what has been summed up since the last report."""

    step: int
    counted: int
    sums: list[float]


def _save(accelerator: Accelerator, state: Path, at: _At) -> None:
    """Keeps the state, whole or not at all, and drops older ones."""
    step = at.step
    if (state / str(step)).exists():  # stopped where it had just been kept
        return
    draft = state / f"{step}.part"
    with writing(state):
        make_folder(state)
        accelerator.save_state(str(draft))
        accelerator.wait_for_everyone()  # each has written its own part
        if accelerator.is_main_process:
            (draft / "step.json").write_text(json.dumps(asdict(at)), encoding="utf-8")
            digests.write(draft)
            replace_folder(draft, state / str(step))
            for other in state.iterdir():
                if other.name != str(step):
                    shutil.rmtree(other)
    accelerator.wait_for_everyone()


def saved_step(state: Path) -> int:
    """The step of the newest state kept there; 0 where there is none."""
    return max((int(p.name) for p in state.glob("*") if p.name.isdigit()), default=0)


def _restore(accelerator: Accelerator, state: Path) -> _At:
    step = saved_step(state)
    if not step:
        return _At(0, 0, [0.0, 0.0, 0.0])
    folder = state / str(step)
    digests.check(folder)
    try:
        accelerator.load_state(str(folder))
        return _At(**json_object(read_text(folder / "step.json"), finite=False))
    except Exception as e:  # whatever torch and safetensors say of a damaged file
        text = str(e).splitlines()[0] if str(e) else type(e).__name__
        raise TrickformerError(f"{folder} is damaged ({text}); remove it") from None
