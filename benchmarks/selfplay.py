"""Self-play of Hearts on one core: sequences learned from an hour, and hands generated a second, against plain Hugging
Face on the same data and deals. Every figure is the process' CPU time.

train: `fit` as a preset trains (data mapped from disk, losses reported) against a loop around
`GPT2PolicyValueModel.forward`: whole batches indexed from int64 tensors in memory, AdamW (fused), linear schedule,
bfloat16 autocast; same batch size and dropout, losses read each step. Ours uses eager attention on the CPU, where
Hugging Face's default is sdpa; preset small takes the value loss at 16 drawn positions of a sequence where the plain
loop takes all, ties the value head's outcomes and learns the turn besides. A row `alike` has none of that, the value
loss everywhere and eager attention on both sides: what is left is the loop.

generate: NFSP's schedule, one ArgmaxVal* seat a hand with the newest of three models, three seats that sample the
policy of a model of the three, sequences of the first kept; ours on the C++ engine as self-play uses it (activations
rounded to bfloat16 where the processor has AVX512-BF16), no model asked where one card is legal; theirs on Hugging
Face modules in the same precision with a key-value cache, each pass over all tables whose sequences grew about alike. A
row `float32` has float32 weights and arithmetic on both sides. Rules, deals and the manner of drawing are shared. The
weights are random, the heads made as peaky as trained ones (about three legal cards pass ArgmaxVal*'s threshold).
Before anything is timed, both sides must play the same hands in float32: every passed, sampled and greedy card.

`--quick` leaves out `alike` and `float32` and plays few tables, which flatters us: passes over many suit Hugging Face.
"""

from __future__ import annotations

import copy
import os
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import Row, arguments, emit

os.environ.setdefault("OMP_NUM_THREADS", "1")
import torch
from accelerate import Accelerator
from transformers import get_linear_schedule_with_warmup

from trickformer import _core, games, tokenizers
from trickformer.models import presets
from trickformer.models.engine import Engine, instruction_sets, load_engine
from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.models.structure import tied_outcomes
from trickformer.selfplay import data as stored
from trickformer.selfplay import generate, nfsp, train
from trickformer.selfplay.config import Config
from trickformer.selfplay.data import Sequences

MODELS = 3
THRESHOLD = 0.05  # of ArgmaxVal*
BATCH = 32  # sequences a training step, of either preset
PEAKY = {"paper": 25.0, "small": 50.0}  # factor of the heads' random weights
NAMES = {"paper": "8x256", "small": "2x128"}
STEPS = {"paper": 6, "small": 30}  # of training, a repeat
TABLES = {"paper": 96, "small": 400}  # hands played in step, a repeat
CHECKED = 16  # hands that both sides must play alike
ROUNDED = "avx512bf16"  # the engine's instruction set that rounds activations
GROWTH = (0, 1, 2, 4, 8, 75)  # of tokens fed at once: bounds of the baseline's batches, the fastest of those tried


def main() -> None:
    options = arguments(__doc__ or "")
    torch.set_num_threads(1)
    game = games.load("hearts")
    repeats = 2 if options.quick else 5
    rows = []
    for preset, name in NAMES.items():
        steps = max(2, STEPS[preset] // 6) if options.quick else STEPS[preset]
        rows += train_rows(game, preset, f"train {name}", steps, repeats, options.quick)
    for preset, name in NAMES.items():
        tables = TABLES[preset] // 12 if options.quick else TABLES[preset]
        rows += generate_rows(game, preset, f"generate {name}", tables, repeats, options.quick)
    emit(rows, options.json)


# ------------------------------------------------------------------------------------------------ ours


def ours_train(game: Any, model: GPT2PolicyValueModel, data: Sequences, config: Config) -> None:
    """One pass over `data`, as `trickformer train` with this config."""
    options = replace(nfsp.fit_options(config, 1), epochs=1)
    tie = tied_outcomes(model, game.outcomes.labels) if config.tied_outcomes else nullcontext()
    with tie, TemporaryDirectory() as state:
        tokenizer = tokenizers.make(game)
        objective = train.Objective(model, options, tokenizer.fact_sizes)
        train.fit(objective, data, tokenizer.facts, 0, Accelerator(cpu=True, mixed_precision="bf16"), Path(state))


def ours_generate(
    game: Any, engines: list[Engine], seats: np.ndarray, greedy: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """One hand a row of `seats` (int [n, 4], each seat's model) and `greedy` (bool [n, 4]): tokens [hands, T] of the
    greedy seats, scores int8 [n, 4]."""
    kept, scores = generate.model_hands(game, engines, generate.Roles(seats, greedy, greedy), seed, 0, THRESHOLD)
    return kept.tokens, scores


# --------------------------------------------------------------------------------------------- training


def train_rows(game: Any, preset: str, name: str, steps: int, repeats: int, quick: bool) -> list[Row]:
    """As it is and, unless quick, alike."""
    tokenizer = tokenizers.make(game)
    made = generate.cast_hands(game, ["random"], 0, 0, steps * BATCH)
    folder = TemporaryDirectory()
    with stored.Writer(Path(folder.name), game, tokenizer, {}) as writer:
        writer.append(made, len(made))
        writer.finish()
    data = stored.load(Path(folder.name), game, tokenizer)
    tokens = torch.from_numpy(data.tokens.astype(np.int64))
    outcomes = torch.from_numpy(data.outcomes.astype(np.int64))
    # Filled up with end tokens, of which only the first is a target.
    labels = tokens.clone()
    labels[:, 1:].masked_fill_(tokens[:, :-1] == tokenizer.eos, -100)
    config = Config(game="hearts", preset=preset, batch_size=BATCH)
    plain = {"value_positions": 0, "facts_weight": 0.0, "tied_outcomes": False}

    def ours(config: Config) -> Callable[[], float]:
        def run() -> float:
            model = fresh(game, preset, 0, config.dropout)
            start = time.process_time()
            ours_train(game, model, data, config)
            return len(data) * 3600 / (time.process_time() - start)

        return run

    def theirs(attention: str | None) -> Callable[[], float]:
        def run() -> float:
            model = fresh(game, preset, 0, config.dropout)
            if attention:
                model.set_attn_implementation(attention)
            start = time.process_time()
            plain_train(model, tokens, labels, outcomes)
            return len(data) * 3600 / (time.process_time() - start)

        return run

    unit = f"sequences/h (batch {BATCH})"
    runs = {name: (ours(config), theirs(None))}
    if not quick:
        runs[f"{name}, alike"] = ours(config.model_copy(update=plain)), theirs("eager")
    rows = measured(runs, repeats, unit)
    folder.cleanup()
    return rows


def plain_train(model: Any, tokens: torch.Tensor, labels: torch.Tensor, outcomes: torch.Tensor) -> None:
    """One pass. tokens, labels int64 [N, T], outcomes int64 [N]; N is a multiple of the batch."""
    model.train()
    steps = len(tokens) // BATCH
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    schedule = get_linear_schedule_with_warmup(optimizer, 1, steps)
    sums = [0.0, 0.0]
    for batch in torch.randperm(len(tokens)).view(steps, BATCH):
        with torch.autocast("cpu", torch.bfloat16):
            out = model(tokens[batch], labels=labels[batch], value_labels=outcomes[batch])
        out.loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        sums = [sums[0] + out.policy_loss.item(), sums[1] + out.value_loss.item()]


# ------------------------------------------------------------------------------------------- generation


def generate_rows(game: Any, preset: str, name: str, tables: int, repeats: int, quick: bool) -> list[Row]:
    """A row as self-play plays and, where that rounds and unless quick, one in float32. Raises AssertionError where
    the two sides play different hands in float32."""
    models = [peaky(fresh(game, preset, i), PEAKY[preset]) for i in range(MODELS)]
    values = game.outcomes.values
    exact = [load_engine(m, values, "float32") for m in models]
    checked = roles(4 if quick else CHECKED)
    kept, scores = ours_generate(game, exact, *checked, 0)
    their_kept, their_scores = plain_generate(game, models, *checked, 0)
    if not (np.array_equal(kept, their_kept) and np.array_equal(scores, their_scores)):
        raise AssertionError(f"{name}: the two sides play different hands in float32")

    def timed(play: Callable[..., object], players: list[Any]) -> Callable[[], float]:
        def run() -> float:
            start = time.process_time()
            play(game, players, *roles(tables), 1)
            return tables / (time.process_time() - start)

        return run

    runs = {}
    if rounded := ROUNDED in instruction_sets("bfloat16"):
        engines = [load_engine(m, values, isa=ROUNDED) for m in models]
        halves = [copy.deepcopy(m).bfloat16() for m in models]
        runs[name] = timed(ours_generate, engines), timed(plain_generate, halves)
    if not quick or not rounded:
        runs[f"{name}, float32" if rounded else name] = timed(ours_generate, exact), timed(plain_generate, models)
    return measured(runs, repeats, f"hands/s ({tables} tables)")


def roles(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The model in each seat, int [n, 4], and who plays ArgmaxVal*, bool [n, 4]: one seat a hand, the newest model."""
    seats = np.random.default_rng(0).integers(MODELS, size=(n, 4))
    greedy = (np.arange(n) // 4 % 4)[:, None] == np.arange(4)
    seats[greedy] = MODELS - 1
    return seats, greedy


class Store:
    """Cached keys and values of the sequences of one model, and what its attention asks of `past_key_values`.

    Slot j of a row is position j, so that rows of different lengths share a pass: attention masks what lies beyond a
    token's own position, and what padding wrote there is overwritten before it is seen."""

    def __init__(self, model: GPT2PolicyValueModel, rows: int):
        config = model.config
        shape = (config.n_layer, rows, config.n_head, 2 * config.n_positions, config.n_embd // config.n_head)
        self.model, self.last = model, config.n_positions - 1
        self.keys, self.values = (torch.zeros(shape, dtype=model.dtype) for _ in range(2))
        self.new: list[tuple[torch.Tensor, torch.Tensor]] = []  # by layer, of the last pass: [B, Q, heads, width]

    def forward(self, rows: torch.Tensor, tokens: torch.Tensor, at: torch.Tensor, keep: bool) -> torch.Tensor:
        """Hidden states [B, Q, D] of tokens int64 [B, Q] at positions at[b], at[b] + 1, ... of rows int64 [B].

        keep: they become part of the rows; otherwise rows may be listed several times."""
        self.rows, self.keep, self.new = rows, keep, []
        self.places = at[:, None] + torch.arange(tokens.shape[1])
        self.longest = int(at.max()) + tokens.shape[1]
        seen = torch.arange(self.longest) <= self.places[..., None]
        return self.model.transformer(
            tokens,
            past_key_values=self,
            attention_mask=seen[:, None],
            position_ids=self.places.clamp(max=self.last),
            use_cache=True,
        ).last_hidden_state

    def update(self, keys: torch.Tensor, values: torch.Tensor, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """New keys and values [B, heads, Q, width] -> all that the pass attends to, [B, heads, longest, width]."""
        self.new.append((keys.transpose(1, 2), values.transpose(1, 2)))
        every = torch.arange(len(self.rows))[:, None]
        out = []
        for store, new in zip((self.keys[layer], self.values[layer]), self.new[-1]):
            if self.keep:
                store[self.rows[:, None], :, self.places] = new
            gathered = store[:, :, : self.longest][self.rows]
            if not self.keep:
                gathered[every, :, self.places] = new
            out.append(gathered)
        return out[0], out[1]

    def choose(self, branches: torch.Tensor) -> None:
        """Keep these branches, int64 [n], of a pass of one token each."""
        rows, places = self.rows[branches], self.places[branches, 0]
        for layer, (keys, values) in enumerate(self.new):
            self.keys[layer][rows, :, places] = keys[branches, 0]
            self.values[layer][rows, :, places] = values[branches, 0]


@torch.inference_mode()
def plain_generate(
    game: Any, models: list[GPT2PolicyValueModel], seats: np.ndarray, greedy: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """As ours_generate, on modules."""
    n = len(seats)
    tables = _core.hearts.Tables(tokenizers.make(game).table, seed, 0, n)
    rng = np.random.default_rng([seed, 0])
    worth = torch.from_numpy(game.outcomes.values[:, 0].astype(np.float32))
    own = np.zeros((n, 4), dtype=int)  # the row of a seat's sequence in the store of its model
    stores = []
    for m, model in enumerate(models):
        own[seats == m] = np.arange((seats == m).sum())
        stores.append(Store(model, int((seats == m).sum())))
    fed = np.zeros((n, 4), dtype=int)  # tokens that the cache holds
    tokens, lengths = tables.tokens, tables.lengths
    hidden_at = [
        torch.zeros(s.keys.shape[1], s.model.config.n_embd, dtype=s.model.dtype) for s in stores
    ]  # of each row's last token
    while (turn := tables.current().astype(int)).max() >= 0:
        live = np.flatnonzero(turn >= 0)
        legal, cards = tables.legal(), np.zeros(n, dtype=np.int32)
        for m, (model, store, hidden) in enumerate(zip(models, stores, hidden_at)):
            at = live[seats[live, turn[live]] == m]
            if not len(at):
                continue
            seat = turn[at]
            # Sequences that grew by about as many tokens share a pass.
            grown = lengths[at, seat] - fed[at, seat]
            for lower, upper in pairwise(GROWTH):
                same = np.flatnonzero((grown > lower) & (grown <= upper))
                if not len(same):
                    continue
                t, s, count = at[same], seat[same], grown[same]
                index = np.minimum(fed[t, s][:, None] + np.arange(count.max()), tokens.shape[2] - 1)
                new = torch.from_numpy(tokens[t[:, None], s[:, None], index].astype(np.int64))
                rows = torch.from_numpy(own[t, s])
                out = store.forward(rows, new, torch.from_numpy(fed[t, s]), keep=True)
                hidden[rows] = out[torch.arange(len(t)), torch.from_numpy(count - 1)]
            fed[at, seat] = lengths[at, seat]
            rows = torch.from_numpy(own[at, seat])
            allowed = torch.from_numpy(legal[at])
            logits = model.lm_head(torch.nn.functional.gelu(model.lm_hidden(hidden[rows])))
            probs = logits.double().masked_fill(~allowed, -torch.inf).softmax(1)
            below = probs.cumsum(1)
            drawn = torch.from_numpy(rng.random(len(at)))
            chosen = (below <= drawn[:, None] * below[:, -1:]).sum(1)
            best = torch.from_numpy(np.flatnonzero(greedy[at, seat]))
            if len(best):
                candidate = allowed[best] & (probs[best] >= THRESHOLD)
                none = ~candidate.any(1)
                candidate[none, probs[best][none].argmax(1)] = True
                which, token = candidate.nonzero(as_tuple=True)
                place = torch.from_numpy(fed[at, seat])[best][which]
                out = store.forward(rows[best][which], token[:, None], place, keep=False)[:, 0]
                outcomes = model.val_head(torch.nn.functional.gelu(model.val_hidden(out))).float().softmax(1)
                value = torch.full(candidate.shape, -torch.inf)
                value[which, token] = outcomes @ worth
                chosen[best] = top = value.argmax(1)
                # The chosen branch is what the seat will see next: it need not be computed again.
                branch = (token == top[which]).nonzero()[:, 0]
                store.choose(branch)
                hidden[rows[best]] = out[branch]
                fed[at[best], seat[best]] += 1
            cards[at] = chosen.numpy()
        tables.step(live.astype(np.int32), cards[live])
    return tokens.reshape(n * 4, -1)[greedy.reshape(-1)], tables.scores()


# ----------------------------------------------------------------------------------------------- shared


def fresh(game: Any, preset: str, seed: int, dropout: float = 0.0) -> GPT2PolicyValueModel:
    """Random weights."""
    tokenizer = tokenizers.make(game)
    torch.manual_seed(seed)
    sizes = len(tokenizer.vocab), tokenizer.n_positions, len(game.outcomes.labels), tokenizer.eos
    size = presets.config(preset, *sizes)
    size.embd_pdrop = size.resid_pdrop = dropout
    return GPT2PolicyValueModel(size).eval()


def peaky(model: GPT2PolicyValueModel, factor: float) -> GPT2PolicyValueModel:
    with torch.no_grad():
        model.lm_head.weight.mul_(factor)
        model.val_head.weight.mul_(factor)
    return model


def measured(runs: dict[str, tuple[Callable[[], float], Callable[[], float]]], repeats: int, unit: str) -> list[Row]:
    """A row of each named pair (ours, baseline): medians of `repeats` results, all taken in turn after one unmeasured
    round, so that what else the machine does meets both."""
    rounds = [[(ours(), theirs()) for ours, theirs in runs.values()] for _ in range(repeats + 1)][1:]
    rows = []
    for name, results in zip(runs, zip(*rounds)):
        ours, theirs = zip(*results)
        median = statistics.median(ours)
        rows.append(Row(name, median, statistics.median(theirs), unit, (max(ours) - min(ours)) / median))
    return rows


if __name__ == "__main__":
    main()
