"""Self-play of Hearts on one core against plain Hugging Face: training, generation of hands, and labels of decisions.

All figures are CPU time of the process. Both sides use the same data and deals.

train: sequences learned in an hour. Ours is `fit` with a preset: data are mapped from disk and losses are reported. The
baseline is a plain loop with the same batch size and dropout: `GPT2PolicyValueModel.forward`, the paper's losses,
batches indexed from int64 tensors in memory, fused AdamW, a linear schedule, and bfloat16 autocast. It reads the losses
at each step. Ours uses eager attention on the CPU, and Hugging Face's default is sdpa. Preset small also has features
as inputs, a policy over possible tokens, value classes, action values learned from labels, and Muon. The baseline's
model has none of these. In the row `alike` neither side has them and both use eager attention, so that the row compares
the loops alone.

generate: hands generated a second, by NFSP's schedule. One seat of each hand plays ArgmaxVal* with the newest of three
models, and the other three seats sample the policy of one of the models. The sequences of the first seat are kept. Ours
uses the C++ backend as self-play does: activations are rounded to bfloat16 if the processor has AVX512-BF16, and no
model is evaluated if one card is legal. The baseline uses Hugging Face modules in the same precision with a key-value
cache, and each pass covers all tables whose sequences grew by about as many tokens. A row `float32` has float32 weights
and arithmetic on both sides. Both sides share rules, deals and the method of sampling. The weights are random, but the
heads are scaled until their policies are as peaked as trained ones: about three legal cards pass the threshold of
ArgmaxVal*. Before the timing, both sides must play the same hands in float32.

labels: decisions labelled a second. Ours are the labels that preset small adds to its bootstrap hands: half of all
decisions get three playouts of each legal card by a rollout network, each from another sampled world. The baseline
makes as many playouts of a sample of these decisions in Python with OpenSpiel: it clones the state, plays uniformly
random actions to the end, and reads the returns. It starts from the true deal and has no network, so it does less work.

`--quick` leaves out `alike` and `float32` and plays few tables. That favours our side, because Hugging Face gains most
from passes over many tables.
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
from trickformer.selfplay import generate, rollout_network, train
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.data import Sequences
from trickformer.selfplay.schedule import fit_options

MODELS = 3  # models of which each seat plays one
THRESHOLD = 0.05  # smallest probability of a candidate of ArgmaxVal*
BATCH = 32  # sequences of a training step, in both presets
PEAKY = {"paper": 25.0, "small": 50.0}  # factor of the heads' random weights
NAMES = {"paper": "8x256", "small": "2x128"}  # layers x width of each preset
STEPS = {"paper": 6, "small": 30}  # training steps of a repeat
TABLES = {"paper": 96, "small": 400}  # hands that a repeat plays in lockstep
LABELLED = 60  # hands whose decisions are labelled in a repeat
SAMPLE = 50  # decisions of these hands for which the baseline makes playouts
CHECKED = 16  # hands that both sides must play alike
# Bounds of the number of new tokens of sequences that share a pass of the baseline; the fastest of those tried.
GROWTH = (0, 1, 2, 4, 8, 75)


def main() -> None:
    options = arguments(__doc__ or "")
    torch.set_num_threads(1)
    # A fit collects garbage at its end. A collection that scans all imported objects takes as long as several steps of
    # preset small, and would distort the time of a step.
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
    """Train for one epoch on `data`, as `trickformer train` with this config does."""
    options = replace(fit_options(config, 1), epochs=1)
    classes, _ = game.outcomes.head_outputs(model.num_labels)
    with TemporaryDirectory() as state:
        accelerator = Accelerator(cpu=True, mixed_precision=mixed_precision(bf16=True, cpu=True))
        train.fit(train.Objective(model, options), data, tokenizers.make(game), classes, 0, accelerator, Path(state))


def ours_generate(
    game: Any, backends: list[Backend], seats: np.ndarray, greedy: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Play one hand for each row of `seats` and `greedy`, as self-play does.

    Args:
        game: Hearts.
        backends: Backends of the models.
        seats: Model in each seat, int [n, 4].
        greedy: Whether a seat plays ArgmaxVal*, bool [n, 4]. The other seats sample the policy.
        seed: Seed of the deals and samples.

    Returns:
        Tokens of the greedy seats, [greedy seats, T], and scores, int8 [n, 4].
    """
    kept, scores = generate.model_hands(game, backends, generate.Roles(seats, greedy, greedy), seed, 0, THRESHOLD)
    return kept.tokens, scores


# --------------------------------------------------------------------------------------------- training


def train_rows(game: Any, preset: str, name: str, steps: int, repeats: int, quick: bool) -> list[Row]:
    """Measure training with the preset and, unless `quick`, with both sides alike."""
    tokenizer = tokenizers.make(game)
    config = SelfPlay(game="hearts", preset=preset, batch_size=BATCH)
    hands = generate.cast_hands(
        game, ["random"], 0, 0, steps * BATCH, labels=generate.Labels(config.label_share, playouts=1)
    )
    folder = TemporaryDirectory()
    with stored.DataWriter(Path(folder.name), game, tokenizer, {}) as writer:
        writer.append(hands, len(hands))
        writer.finish()
    data = stored.load(Path(folder.name), game, tokenizer)
    tokens = torch.from_numpy(data.tokens.astype(np.int64))
    outcomes = torch.from_numpy(data.outcomes.astype(np.int64))
    # Sequences are padded with end tokens, of which only the first is a target.
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
    rows = measure_rows(runs, repeats, unit)
    folder.cleanup()
    return rows


def plain_train(model: Any, tokens: torch.Tensor, labels: torch.Tensor, outcomes: torch.Tensor) -> None:
    """Train for one epoch. `tokens` and `labels` are int64 [N, T], `outcomes` int64 [N]; N is a multiple of BATCH."""
    model.train()
    steps = len(tokens) // BATCH
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    schedule = get_linear_schedule_with_warmup(optimizer, 1, steps)
    sums = [0.0, 0.0]
    for batch in torch.randperm(len(tokens)).view(steps, BATCH):
        with torch.autocast("cpu", torch.bfloat16):
            batch_losses = losses(model(tokens[batch]), labels[batch], outcomes[batch])
        batch_losses.loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        sums = [sums[0] + batch_losses.policy.item(), sums[1] + batch_losses.value.item()]


# ------------------------------------------------------------------------------------------- generation


def generate_rows(game: Any, preset: str, name: str, tables: int, repeats: int, quick: bool) -> list[Row]:
    """Measure generation in the precision of self-play and, unless `quick`, in float32.

    Raises AssertionError if the two sides play different hands in float32.
    """
    models = [peaky(fresh(game, preset, i), PEAKY[preset]) for i in range(MODELS)]
    values = game.outcomes.values
    exact = [load_backend(m, values, "float32") for m in models]
    checked = roles(4 if quick else CHECKED)
    kept, scores = ours_generate(game, exact, *checked, 0)
    their_kept, their_scores = plain_generate(game, models, *checked, 0)
    if not (np.array_equal(kept, their_kept) and np.array_equal(scores, their_scores)):
        raise AssertionError(f"{name}: the two sides play different hands in float32")

    def make_run(play: Callable[..., object], players: list[Any]) -> Callable[[], float]:
        def run() -> float:
            start = time.process_time()
            play(game, players, *roles(tables), 1)
            return tables / (time.process_time() - start)

        return run

    runs = {}
    if rounded := [isa for isa in instruction_sets("bfloat16") if isa in ROUNDED]:
        backends = [load_backend(m, values, isa=rounded[-1]) for m in models]
        halves = [copy.deepcopy(m).bfloat16() for m in models]
        runs[name] = make_run(ours_generate, backends), make_run(plain_generate, halves)
    if not quick or not rounded:
        runs[f"{name}, float32" if rounded else name] = make_run(ours_generate, exact), make_run(plain_generate, models)
    return measure_rows(runs, repeats, f"hands/s ({tables} tables)")


def roles(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the model in each seat, int [n, 4], and the seats that play ArgmaxVal*, bool [n, 4].

    One seat of each hand plays ArgmaxVal* with the newest model. The models of the others are random.
    """
    seats = np.random.default_rng(0).integers(MODELS, size=(n, 4))
    greedy = (np.arange(n) // 4 % 4)[:, None] == np.arange(4)
    seats[greedy] = MODELS - 1
    return seats, greedy


class Store:
    """Key-value cache of the sequences of one model, which stands in for `past_key_values` of Hugging Face.

    Slot j of a row is position j, so that rows of different lengths can share a pass. A token's attention masks all
    later positions. Padding may write to them, but the next tokens overwrite them before attention reads them.
    """

    def __init__(self, model: GPT2PolicyValueModel, rows: int):
        config = model.config
        shape = (config.n_layer, rows, config.n_head, 2 * config.n_positions, config.n_embd // config.n_head)
        self.model, self.last = model, config.n_positions - 1
        self.keys, self.values = (torch.zeros(shape, dtype=model.dtype) for _ in range(2))
        # Keys and values of the last pass by layer, [B, Q, heads, width of a head]. B: rows, Q: new tokens of a row.
        self.new: list[tuple[torch.Tensor, torch.Tensor]] = []

    def forward(self, rows: torch.Tensor, tokens: torch.Tensor, at: torch.Tensor, keep: bool) -> torch.Tensor:
        """Compute the hidden states of new tokens.

        Args:
            rows: Rows of the cache, int64 [B]. A row may occur several times if `keep` is false.
            tokens: New tokens of each row, int64 [B, Q].
            at: Position of the first new token of each row, int64 [B].
            keep: Whether the tokens become part of their rows.

        Returns:
            Hidden states, [B, Q, embedding].
        """
        self.rows, self.keep = rows, keep
        self.new = []
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
        """Return all keys and values that the pass attends to, [B, heads, longest, width of a head].

        Hugging Face calls this method in each layer with the new keys and values, [B, heads, Q, width of a head].
        """
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
        """Add the tokens of some branches, int64 [n], of the last pass to their rows. Each branch has one token."""
        rows, places = self.rows[branches], self.places[branches, 0]
        for layer, (keys, values) in enumerate(self.new):
            self.keys[layer][rows, :, places] = keys[branches, 0]
            self.values[layer][rows, :, places] = values[branches, 0]


@torch.inference_mode()
def plain_generate(
    game: Any, models: list[GPT2PolicyValueModel], seats: np.ndarray, greedy: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Play as `ours_generate` does, on Hugging Face modules."""
    n = len(seats)
    tables = tokenizers.fast(game).tables(seed, 0, n)
    rng = np.random.default_rng([seed, 0])
    worth = torch.from_numpy(game.outcomes.values[:, 0].astype(np.float32))
    own = np.zeros((n, 4), dtype=int)  # row of each seat's sequence in the store of the seat's model
    stores = []
    for m, model in enumerate(models):
        own[seats == m] = np.arange((seats == m).sum())
        stores.append(Store(model, int((seats == m).sum())))
    fed = np.zeros((n, 4), dtype=int)  # tokens that the cache holds
    tokens, lengths = tables.tokens, tables.lengths
    # By model: hidden state of each row's last token, [rows, embedding].
    hidden_at = [torch.zeros(s.keys.shape[1], s.model.config.n_embd, dtype=s.model.dtype) for s in stores]
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
                t, s = at[same], seat[same]
                count = grown[same]
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
                # The seat's own card is its next token, so that the pass over the chosen branch need not be repeated.
                branch = (token == top[which]).nonzero()[:, 0]
                store.choose(branch)
                hidden[rows[best]] = out[branch]
                fed[at[best], seat[best]] += 1
            cards[at] = chosen.numpy()
        tables.step(live.astype(np.int32), cards[live])
    return tokens.reshape(n * 4, -1)[greedy.reshape(-1)], tables.scores()


# ----------------------------------------------------------------------------------------------- labels


def labels_row(game: Any, hands: int, repeats: int) -> Row:
    """Measure the labels of the decisions of `hands` bootstrap hands of preset small."""
    tokenizer, config = tokenizers.make(game), SelfPlay(game="hearts", preset="small")
    torch.manual_seed(0)
    net = rollout_network.core(rollout_network.RolloutNetwork(tokenizer.n_features, len(tokenizer.vocab)))
    labels = generate.Labels(config.label_share, config.label_playouts, net, worlds=True)

    def seconds(labels: generate.Labels) -> float:
        start = time.process_time()
        generate.cast_hands(game, config.bootstrap, 0, 0, hands, game.players, labels=labels)
        return time.process_time() - start

    data = generate.cast_hands(game, config.bootstrap, 0, 0, hands, game.players, labels=labels)
    decisions = train.decisions(data, len(tokenizer.vocab))
    sequences, positions = decisions.rows, decisions.positions
    histories = tokenizers.fast(game).core_hands(config.bootstrap, 0, 0, hands).history
    picked = np.random.default_rng(0).permutation(len(sequences))[:SAMPLE]
    starts = [before(game, histories[sequences[i] // 4], int(sequences[i] % 4), int(positions[i])) for i in picked]

    def ours() -> float:
        return len(sequences) / (seconds(labels) - seconds(generate.NO_LABELS))

    def theirs() -> float:
        start = time.process_time()
        plain_playouts(starts, config.label_playouts)
        return len(starts) / (time.process_time() - start)

    unit = f"decisions/s ({config.label_playouts} playouts a card, {hands} hands)"
    return measure_rows({"labels": (ours, theirs)}, repeats, unit)[0]


def before(game: Any, history: np.ndarray, seat: int, position: int) -> Any:
    """Return OpenSpiel's state at a decision of a seat.

    Args:
        game: Hearts.
        history: Actions of the hand, uint8 [117], padded with 255.
        seat: The seat.
        position: Position of the seat's last token before the decision.
    """
    actions = [int(a) for a in history if a != 255]
    # A sequence is the seat, 13 cards, the pass direction, three passed and three received cards if there is a pass,
    # the leader, and all played cards. A history is the direction, 52 dealt and 12 passed cards, and the played cards.
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
    """Play each legal card of each state `playouts` times to the end at random. Sum up the seat's returns."""
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
    """Make a model with random weights, with the inputs, outputs and dropout of a config; by default the paper's."""
    tokenizer = tokenizers.make(game)
    torch.manual_seed(seed)
    results = game.outcomes.class_values if config and config.value_classes else game.outcomes.labels
    sizes = len(tokenizer.vocab), tokenizer.n_positions, len(results), tokenizer.eos
    more = (tokenizer.n_features * config.features, config.action_weight > 0, config.masked) if config else ()
    size = presets.config(preset, *sizes, *more)
    size.embd_pdrop = size.resid_pdrop = config.dropout if config else 0.0
    return GPT2PolicyValueModel(size).eval()


def peaky(model: GPT2PolicyValueModel, factor: float) -> GPT2PolicyValueModel:
    """Scale the weights of the heads, so that policy and values are as peaked as a trained model's."""
    with torch.no_grad():
        model.lm_head.weight.mul_(factor)
        model.val_head.weight.mul_(factor)
    return model


def measure_rows(
    runs: dict[str, tuple[Callable[[], float], Callable[[], float]]], repeats: int, unit: str
) -> list[Row]:
    """Return a row for each named pair (ours, baseline), with the medians of `repeats` results.

    After one unmeasured round, all runs take turns, so that other load on the machine affects both sides.
    """
    rounds = [[(ours(), theirs()) for ours, theirs in runs.values()] for _ in range(repeats + 1)][1:]
    rows = []
    for name, results in zip(runs, zip(*rounds)):
        ours, theirs = zip(*results)
        median = statistics.median(ours)
        rows.append(Row(name, median, statistics.median(theirs), unit, (max(ours) - min(ours)) / median))
    return rows


if __name__ == "__main__":
    main()
