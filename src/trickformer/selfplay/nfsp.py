"""Population neural fictitious self-play (GO-MCTS paper, sections 5.2 and 6.1), one game's model from nothing.

Iteration 0 learns uniformly random hands. Iteration 1 learns hands in which every seat plays ArgmaxVal* of model 0,
all four sequences of each. From then on one seat plays ArgmaxVal* of the newest model, each other seat samples the
policy of an earlier one, drawn uniformly for the hand, and only the ArgmaxVal* seat's sequences are learned from.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trickformer import checkpoints, games, tokenizers
from trickformer import config as configs
from trickformer.base import TrickformerError
from trickformer.folder import Interrupted, build, replace
from trickformer.games.hearts import Hearts
from trickformer.models import presets, structure
from trickformer.models.engine import load_engine
from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.models.weights import read_weights
from trickformer.progress import progress
from trickformer.selfplay.config import Config
from trickformer.selfplay.generate import model_hands, random_hands
from trickformer.selfplay.train import FitOptions, Sequences, fit


def run(config: Config) -> Path:
    """Train every model that the run's folder does not hold yet, and return the folder of the last one.

    A run goes on where it stopped: at the iteration under way. Raises TrickformerError where the folder was made
    with another config. Models are written whole or not at all: model-0, model-1, ..."""
    game = games.load(config.game)
    if not isinstance(game, Hearts):
        raise TrickformerError(f"self-play is there for hearts, not yet for {game.name}")
    presets.config(config.preset, 1, 1, 1, 0)  # an unknown preset, before anything is written
    torch.set_num_threads(config.threads)
    out = config.folder
    saved, text = out / "config.toml", configs.dump(config.model_copy(update={"out": None}))
    if saved.exists() and saved.read_bytes() != text.encode():
        raise TrickformerError(f"{out} holds a run with another config; give --out another folder")
    done = [(out / f"model-{i}").exists() for i in range(config.iterations + 1)]
    for i in np.flatnonzero(done):
        checkpoints.check(out / f"model-{i}", game, tokenizers.make(game))
        read_weights(out / f"model-{i}")  # a damaged one, before anything is written
    try:
        out.mkdir(parents=True, exist_ok=True)
        log = (out / "log.jsonl").open("a", encoding="utf-8")
    except OSError as e:
        raise TrickformerError(f"cannot make or write the folder {out}: {e.strerror}") from None
    replace(saved, text)
    with log:

        def report(**entry: Any) -> None:
            print(json.dumps({"time": round(time.time()), **entry}), file=log, flush=True)

        report(build=build())
        try:
            for iteration in np.flatnonzero(np.logical_not(done)).tolist():
                _iterate(config, game, out, iteration, report)
        except KeyboardInterrupt:
            again = f"trickformer train --config {saved} --out {out}"
            raise Interrupted(f"interrupted; go on with: {again}") from None
    return out / f"model-{config.iterations}"


def _iterate(config: Config, game: Hearts, out: Path, iteration: int, report) -> None:
    tokenizer = tokenizers.make(game)
    torch.manual_seed(config.seed)
    if iteration == 0:
        sizes = len(tokenizer.vocab), tokenizer.n_positions, len(game.outcomes.labels), tokenizer.eos
        size = presets.config(config.preset, *sizes)
        size.embd_pdrop = size.resid_pdrop = config.dropout
        model = GPT2PolicyValueModel(size)
        if config.structured:
            structure.initialize(model, *tokenizer.features())
        model.config.trickformer = checkpoints.stamp(game, tokenizer)
        data = random_hands(game, config.seed, config.random_hands)
    else:
        model = GPT2PolicyValueModel.from_pretrained(out / f"model-{iteration - 1}")
        data = self_play(config, game, out, iteration, report)
    options = FitOptions(
        epochs=1 if iteration == 0 else config.epochs,
        batch_size=config.batch_size,
        learning_rate=config.random_learning_rate if iteration == 0 else config.learning_rate,
        policy_weight=config.policy_weight,
        value_positions=config.value_positions,
    )
    trained = 0
    total = options.epochs * (len(data) // options.batch_size) * options.batch_size
    with progress(f"iteration {iteration}: learning", "sequences", 0, total) as advance:

        def note(entry: dict[str, float]) -> None:
            nonlocal trained
            report(iteration=iteration, **entry)
            advance(int(entry["step"]) * options.batch_size - trained)
            trained = int(entry["step"]) * options.batch_size

        fit(model, data, game.outcomes.labels, options, config.seed + iteration, note, report_every=500)
    save(model, out / f"model-{iteration}", torch.float32)


def self_play(config: Config, game: Hearts, out: Path, iteration: int, report) -> Sequences:
    """The sequences that iteration `iteration` learns from. Reports hands, hands a second and mean points of the
    ArgmaxVal* seats and of the others."""
    rng = np.random.default_rng([config.seed, iteration])
    hands = config.sequences // game.players if iteration == 1 else config.sequences
    engines = [load_engine(out / f"model-{i}", game.outcomes.values) for i in range(iteration)]
    parts, began = [], time.perf_counter()
    points = np.zeros(2)
    series = config.seed + 1_000_003 * iteration  # of deals: another one each iteration
    with progress(f"iteration {iteration}: playing", "hands", 0, hands) as advance:
        for first in range(0, hands, config.tables):
            n = min(config.tables, hands - first)
            newest = iteration - 1
            if iteration == 1:
                seats, greedy = np.zeros((n, game.players), dtype=int), np.ones((n, game.players), dtype=bool)
            else:
                seats = rng.integers(newest, size=(n, game.players))
                # The pass direction runs with the hand's number mod 4: the seat moves on after each such group.
                greedy = (np.arange(first, first + n) // 4 % game.players)[:, None] == np.arange(game.players)
                seats[greedy] = newest
            kept, scores = model_hands(game, engines, seats, greedy, series, first, config.threshold)
            parts.append(kept)
            points += scores[greedy].mean(), scores[~greedy].mean() if not greedy.all() else 0.0
            report(
                iteration=iteration,
                hands=first + n,
                speed=(first + n) / (time.perf_counter() - began),
                greedy_points=points[0] / len(parts),
                other_points=points[1] / len(parts),
            )
            advance(n)
    return Sequences(np.concatenate([p.tokens for p in parts]), np.concatenate([p.outcomes for p in parts]))


def save(model: GPT2PolicyValueModel, folder: Path, dtype: torch.dtype) -> None:
    """Write config.json and model.safetensors in `dtype`, whole or not at all. The model becomes that dtype."""
    draft = folder.with_name(folder.name + f".{os.getpid()}.part")
    torch.nn.Module.to(model, dtype)
    model.save_pretrained(draft)
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)
