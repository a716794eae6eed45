"""Self-play of Hearts on one core: sequences learned from an hour, hands generated a second, against plain Hugging Face
on the same data and deals, and decisions labelled a second. Every figure is the process' CPU time.

train: `fit` as a preset trains (data mapped from disk, losses reported) against a loop around
`GPT2PolicyValueModel.forward` and the paper's losses: whole batches indexed from int64 tensors in memory, AdamW
(fused), linear schedule, bfloat16 autocast; same batch size and dropout, losses read each step. Ours uses eager
attention on the CPU, where Hugging Face's default is sdpa; preset small takes features as inputs, masks the policy to
possible tokens, tells values by class, learns action values from labels and has Muon besides, where the plain loop has
a model without any of that. A row `alike` has none of it on either side, and eager attention on both: what is left is
the loop.

generate: NFSP's schedule, one ArgmaxVal* seat a hand with the newest of three models, three seats that sample the
policy of a model of the three, sequences of the first kept; ours on the C++ backend as self-play uses it (activations
rounded to bfloat16 where the processor has AVX512-BF16), no model asked where one card is legal; theirs on Hugging
Face modules in the same precision with a key-value cache, each pass over all tables whose sequences grew about alike. A
row `float32` has float32 weights and arithmetic on both sides. Rules, deals and the manner of drawing are shared. The
weights are random, the heads made as peaky as trained ones (about three legal cards pass ArgmaxVal*'s threshold).
Before anything is timed, both sides must play the same hands in float32: every passed, sampled and greedy card.

labels: what the labels of preset small add to its bootstrap hands: half of all decisions, three playouts of each legal
card by a rollout network, each from another sampled world. The baseline makes as many playouts in
Python with OpenSpiel, of a sample of the same decisions: clone, uniformly random actions to the end, returns; from the
deal as it was and without a network, so it does less for each.

`--quick` leaves out `alike` and `float32` and plays few tables, which flatters us: passes over many suit Hugging Face.
"""

from __future__ import annotations

import copy
import gc
import os
import random
import statistics
import time
from collections.abc import Callable
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

from tests.support.losses import losses
from trickformer import games, tokenizers
from trickformer.models import presets
from trickformer.models.backend import ROUNDED, Backend, instruction_sets, load_backend
from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.plumbing.training import mixed_precision
from trickformer.selfplay import data as stored
from trickformer.selfplay import generate, nfsp, rollout_network, train
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.data import Sequences

MODELS = 3
THRESHOLD = 0.05  # of ArgmaxVal*
BATCH = 32  # sequences a training step, of either preset
PEAKY = {"paper": 25.0, "small": 50.0}  # factor of the heads' random weights
NAMES = {"paper": "8x256", "small": "2x128"}
STEPS = {"paper": 6, "small": 30}  # of training, a repeat
TABLES = {"paper": 96, "small": 400}  # hands played in step, a repeat
LABELLED, SAMPLE = 60, 50  # hands whose decisions are labelled, a repeat; decisions of theirs that the baseline takes
CHECKED = 16  # hands that both sides must play alike
GROWTH = (0, 1, 2, 4, 8, 75)  # of tokens fed at once: bounds of the baseline's batches, the fastest of those tried


def main() -> None:
    options = arguments(__doc__ or "")
    torch.set_num_threads(1)
    # A fit collects garbage when it ends. To look at all that is imported takes as long as several steps of preset
    # small, and is not what a step costs.
    gc.freeze()
    game = games.load("hearts")
    repeats = 2 if options.quick else 5
    rows = []
    for preset, name in NAMES.items():
        steps = max(2, STEPS[preset] // 6) if options.quick else STEPS[preset]
        rows += train_rows(game, preset, f"train {name}", steps, repeats, options.quick)
    for preset, name in NAMES.items():
        tables = TABLES[preset] // 12 if options.quick else TABLES[preset]
        rows += generate_rows(game, preset, f"generate {name}", tables, repeats, options.quick)
    rows.append(labels_row(game, LABELLED // 4 if options.quick else LABELLED, repeats))
    emit(rows, options.json)


# ------------------------------------------------------------------------------------------------ ours


def ours_train(game: Any, model: GPT2PolicyValueModel, data: Sequences, config: SelfPlay) -> None:
    """One pass over `data`, as `trickformer train` with this config."""
    options = replace(nfsp.fit_options(config, 1), epochs=1)
    classes, _ = game.outcomes.head_outputs(model.num_labels)
    with TemporaryDirectory() as state:
        accelerator = Accelerator(cpu=True, mixed_precision=mixed_precision(bf16=True, cpu=True))
        train.fit(train.Objective(model, options), data, tokenizers.make(game), classes, 0, accelerator, Path(state))


def ours_generate(
    game: Any, backends: list[Backend], seats: np.ndarray, greedy: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """One hand a row of `seats` (int [n, 4], each seat's model) and `greedy` (bool [n, 4]): tokens [hands, T] of the
    greedy seats, scores int8 [n, 4]."""
    kept, scores = generate.model_hands(game, backends, generate.Roles(seats, greedy, greedy), seed, 0, THRESHOLD)
    return kept.tokens, scores


# --------------------------------------------------------------------------------------------- training


def train_rows(game: Any, preset: str, name: str, steps: int, repeats: int, quick: bool) -> list[Row]:
    """As it is and, unless quick, alike."""
    tokenizer = tokenizers.make(game)
    config = SelfPlay(game="hearts", preset=preset, batch_size=BATCH)
    given = generate.Labels(config.label_share, 1)
    made = generate.cast_hands(game, ["random"], 0, 0, steps * BATCH, labels=given)
    folder = TemporaryDirectory()
    with stored.DataWriter(Path(folder.name), game, tokenizer, {}) as writer:
        writer.append(made, len(made))
        writer.finish()
    data = stored.load(Path(folder.name), game, tokenizer)
    tokens = torch.from_numpy(data.tokens.astype(np.int64))
    outcomes = torch.from_numpy(data.outcomes.astype(np.int64))
    # Filled up with end tokens, of which only the first is a target.
    labels = tokens.clone()
    labels[:, 1:].masked_fill_(tokens[:, :-1] == tokenizer.eos, -100)
    beyond = {"features": False, "masked": False, "value_classes": False, "muon": 0.0, "action_weight": 0.0}
    plain = config.model_copy(update=beyond)

    def ours(config: SelfPlay) -> Callable[[], float]:
        def run() -> float:
            model = fresh(game, preset, 0, config)
            start = time.process_time()
            ours_train(game, model, data, config)
            return len(data) * 3600 / (time.process_time() - start)

        return run

    def theirs(attention: str | None) -> Callable[[], float]:
        def run() -> float:
            model = fresh(game, preset, 0, plain)
            if attention:
                model.set_attn_implementation(attention)
            start = time.process_time()
            plain_train(model, tokens, labels, outcomes)
            return len(data) * 3600 / (time.process_time() - start)

        return run

    unit = f"sequences/h (batch {BATCH})"
    runs = {name: (ours(config), theirs(None))}
    if not quick:
        runs[f"{name}, alike"] = ours(plain), theirs("eager")
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
            found = losses(model(tokens[batch]), labels[batch], outcomes[batch])
        found.loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        sums = [sums[0] + found.policy.item(), sums[1] + found.value.item()]


# ------------------------------------------------------------------------------------------- generation


def generate_rows(game: Any, preset: str, name: str, tables: int, repeats: int, quick: bool) -> list[Row]:
    """A row as self-play plays and, where that rounds and unless quick, one in float32. Raises AssertionError where
    the two sides play different hands in float32."""
    models = [peaky(fresh(game, preset, i), PEAKY[preset]) for i in range(MODELS)]
    values = game.outcomes.values
    exact = [load_backend(m, values, "float32") for m in models]
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
    if rounded := [isa for isa in instruction_sets("bfloat16") if isa in ROUNDED]:
        backends = [load_backend(m, values, isa=rounded[-1]) for m in models]
        halves = [copy.deepcopy(m).bfloat16() for m in models]
        runs[name] = timed(ours_generate, backends), timed(plain_generate, halves)
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
    tables = tokenizers.fast(game).tables(seed, 0, n)
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


# ----------------------------------------------------------------------------------------------- labels


def labels_row(game: Any, hands: int, repeats: int) -> Row:
    """Labels of the decisions of `hands` bootstrap hands of preset small."""
    tokenizer, config = tokenizers.make(game), SelfPlay(game="hearts", preset="small")
    torch.manual_seed(0)
    net = rollout_network.core(rollout_network.RolloutNetwork(tokenizer.n_features, len(tokenizer.vocab)))
    labels = generate.Labels(config.label_share, config.label_playouts, net, worlds=True)

    def seconds(labels: generate.Labels) -> float:
        start = time.process_time()
        generate.cast_hands(game, config.bootstrap, 0, 0, hands, game.players, labels=labels)
        return time.process_time() - start

    data = generate.cast_hands(game, config.bootstrap, 0, 0, hands, game.players, labels=labels)
    found, positions, _, _ = train.decisions(data, len(tokenizer.vocab))
    histories = tokenizers.fast(game).core_hands(config.bootstrap, 0, 0, hands).history
    picked = np.random.default_rng(0).permutation(len(found))[:SAMPLE]
    starts = [before(game, histories[found[i] // 4], int(found[i] % 4), int(positions[i])) for i in picked]

    def ours() -> float:
        return len(found) / (seconds(labels) - seconds(generate.NO_LABELS))

    def theirs() -> float:
        start = time.process_time()
        plain_playouts(starts, config.label_playouts)
        return len(starts) / (time.process_time() - start)

    unit = f"decisions/s ({config.label_playouts} playouts a card, {hands} hands)"
    return measured({"labels": (ours, theirs)}, repeats, unit)[0]


def before(game: Any, history: np.ndarray, seat: int, position: int) -> Any:
    """OpenSpiel's state at the decision of a seat after this position of its sequence; history uint8 [117]."""
    actions = [int(a) for a in history if a != 255]
    # A sequence is the seat, 13 cards, the direction, with passing three cards passed and three received, the leader,
    # and what is played.
    if actions[0] and position < 17:
        length = 53 + 3 * seat + position - 14
    else:
        length = (65 + position - 21) if actions[0] else (53 + position - 15)
    state = game.spiel.new_initial_state()
    for action in actions[:length]:
        state.apply_action(action)
    if state.current_player() != seat:
        raise AssertionError(f"seat {seat} is not on turn after position {position}")
    return state


def plain_playouts(starts: list[Any], playouts: int) -> float:
    """The sum of what random play on brings to the seat on turn, of each card `playouts` times."""
    rng, total = random.Random(0), 0.0
    for start in starts:
        seat = start.current_player()
        for card in start.legal_actions():
            for _ in range(playouts):
                state = start.child(card)
                while not state.is_terminal():
                    state.apply_action(rng.choice(state.legal_actions()))
                total += state.returns()[seat]
    return total


# ----------------------------------------------------------------------------------------------- shared


def fresh(game: Any, preset: str, seed: int, config: SelfPlay | None = None) -> GPT2PolicyValueModel:
    """Random weights; with what a config asks for beyond the paper's model, and its dropout."""
    tokenizer = tokenizers.make(game)
    torch.manual_seed(seed)
    results = game.outcomes.class_values if config and config.value_classes else game.outcomes.labels
    sizes = len(tokenizer.vocab), tokenizer.n_positions, len(results), tokenizer.eos
    more = (tokenizer.n_features * config.features, config.action_weight > 0, config.masked) if config else ()
    size = presets.config(preset, *sizes, *more)
    size.embd_pdrop = size.resid_pdrop = config.dropout if config else 0.0
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
