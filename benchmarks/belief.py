"""Speed of belief fine-tuning (BFT) on one CPU thread: gradient steps a second, of 32 worlds of one game each.

Ten games of two-player Hanabi in the public form are tuned together. The network is an LSTM of 2 layers of 128 units
with random weights. The baseline minimizes the same loss: autograd runs LSTM cells one after the other, on a copy of
every weight for each game. Every figure is CPU time of the thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal
from unittest.mock import patch

import torch

from benchmarks import Row, arguments, emit, measure
from trickformer import _core
from trickformer.belief.hanabi import learned
from trickformer.belief.hanabi.finetune import FilterState, FineTunedBelief, Finetuning, NextWorlds
from trickformer.belief.hanabi.learned import Seq2Seq, Seq2SeqSizes, mean_loss
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.belief.hanabi.recurrence import lstm_cell

GAMES = 10
BATCH = 32  # worlds of a game in a gradient step
WORLDS = 640  # worlds of a game
UNIT = "steps/s"
PARTS: tuple[Literal["encoder", "full"], ...] = ("encoder", "full")


def main() -> None:
    options = arguments(__doc__ or "")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    steps, repeats = (5, 3) if options.quick else (20, 5)
    process = HanabiProcess(_core.hanabi.Rules(), Form.HMM, ("smart", "smart"))
    shape = Seq2SeqSizes(
        process.features, 0, process.slots, process.rules.kinds, process.traits, process.hint_bits, 128
    )
    model = Seq2Seq(shape)
    rows = []
    for part in PARTS:
        tuning = Finetuning(steps, BATCH, WORLDS, part=part)
        plain = measure(partial(count_steps, tune_plainly, process, model, tuning), repeats)[0]
        for name, bf16 in (("", False), (", bf16", True)):
            run = partial(count_steps, tune_ours, process, model, replace(tuning, bf16=bf16))
            median, spread = measure(run, repeats)
            rows.append(Row(f"tune {part}{name}", median, plain, UNIT, spread))
    emit(rows, options.json)


def count_steps(tune: Callable[..., None], process: HanabiProcess, model: Seq2Seq, tuning: Finetuning) -> float:
    """Return the steps a second of all games. Each game has ten moves, so that hands are still full."""
    belief, x = FineTunedBelief(model, process, tuning, 1), process.start(1, 0, GAMES)
    for move in range(10):
        x, _ = process.move(x, None, move)
    before = belief.begin(x)
    worlds = belief.worlds(before, None)
    start = time.thread_time()
    tune(belief, worlds, before, model, tuning)
    return GAMES * tuning.steps / (time.thread_time() - start)


def tune_ours(
    belief: FineTunedBelief, worlds: NextWorlds, before: FilterState, model: Seq2Seq, tuning: Finetuning
) -> None:
    belief.tune(worlds, None, before.state)


def tune_plainly(
    belief: FineTunedBelief, worlds: NextWorlds, before: FilterState, model: Seq2Seq, tuning: Finetuning
) -> None:
    """Tune a copy of the weights for each game by autograd."""
    own = {}
    for name, w in model.weights().items():
        tuned = tuning.part == "full" or name.startswith("encoder")
        own[name] = w.detach().expand(GAMES, *w.shape).clone().requires_grad_() if tuned else w.detach()
    adam = torch.optim.Adam([w for w in own.values() if w.requires_grad], lr=tuning.learning_rate, fused=True)
    state = tuple((out.unsqueeze(1), cell.unsqueeze(1)) for out, cell in before.state)
    with patch.object(learned, "lstm", run_cells):
        for step in range(tuning.steps):
            at = (torch.arange(BATCH) + step * BATCH) % WORLDS
            summary = model.encode(own, worlds.emission[:, at].float(), None, state)[-1][0]
            cards = worlds.cards[:, at]
            loss = mean_loss(model.log_probs(own, summary, worlds.known[:, at], cards), cards).mean(dim=1)
            adam.zero_grad(set_to_none=True)
            loss.sum().backward()
            adam.step()


def run_cells(gates: torch.Tensor, out: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Run an LSTM layer cell by cell; stands in for `learned.lstm` in the baseline."""
    cell, outs = torch.zeros_like(out), []
    for s in range(gates.shape[-3]):
        out, cell = lstm_cell(gates[..., s, :, :] + out @ weight, cell)
        outs.append(out)
    return torch.stack(outs, dim=-3)


if __name__ == "__main__":
    main()
