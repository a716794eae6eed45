"""How good are beliefs? Cross entropy per card on games that no estimator has seen, all estimators on the same games.

A game's figure is the mean over its positions and their hidden cards of -log b(card), in nats, a card given those
before it in the hand where the belief has an order; games are the samples of means and standard errors. In the forms
pomdp and fosg the seats whose policies are not fixed play what no network has seen: at every step a seeded draw among
the scripted players decides how the acting seat plays. In a fosg that draw is the control, which fine-tuning and the
exact belief know and networks do not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trickformer import _core, folder
from trickformer.base import TrickformerError
from trickformer.belief import estimators, training
from trickformer.belief.config import Evaluation
from trickformer.belief.estimators import Estimator
from trickformer.belief.finetune import Tuning
from trickformer.belief.hanabi import HanabiProcess
from trickformer.belief.learned import Seq2Seq
from trickformer.belief.markov import Form
from trickformer.belief.particles import Particles
from trickformer.belief.transformer import Transformer
from trickformer.models.torch_engine import usable
from trickformer.progress import Advance, progress

RECORDS = "records.jsonl"
BINS = 20  # of the calibration, by probability


@dataclass(slots=True)
class _Sum:
    """Of one estimator over one stack of games."""

    loss: np.ndarray  # float64 [G], summed over hidden cards
    cards: np.ndarray  # int64 [G]
    missing: np.ndarray  # int64 [G]: positions without a belief
    seconds: float
    bins: np.ndarray  # float64 [3, BINS]: probabilities, hits, numbers


def play(config: Evaluation, first: int, advance: Advance | None = None) -> Iterator[dict[str, Any]]:
    """Games `first` .. of one stack: a record each. A function of the config and the number of the first game.

    advance: told of each move, for a stack may take an hour."""
    torch.set_num_threads(config.threads)
    process, n = training.process_of(config), len(_stack(config, first))
    cast = _cast(config, process, first)
    rng = np.random.default_rng([config.seed, first])
    x = process.start(config.seed, first, n)
    sums = {
        name: _Sum(np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64), 0.0, np.zeros((3, BINS))) for name in cast
    }
    # Where hands are few enough, all are judged on the same positions: those that have an exact belief.
    judged = {name: np.zeros(n) for name in cast}
    judged_cards = np.zeros(n, np.int64)
    live, positions = np.arange(n), np.zeros(n, np.int64)
    for name, each in cast.items():
        sums[name].seconds -= time.perf_counter()
        each.begin(x)
        sums[name].seconds += time.perf_counter()
    while True:
        positions[live] += 1
        losses = {name: _judge(each, process.hidden(x), live, sums[name]) for name, each in cast.items()}
        if "exact" in losses:
            good = ~np.isnan(losses["exact"])
            cards = (process.hidden(x) >= 0).sum(axis=1)
            judged_cards[live[good]] += cards[good]
            for name, loss in losses.items():
                judged[name][live[good]] += np.nan_to_num(loss[good])
        control = _control(config, process, x, rng)
        after, actions = process.move(x, control, int(rng.integers(2**62)))
        for name, each in cast.items():
            sums[name].seconds -= time.perf_counter()
            each.observe(x, control, actions, after)
            sums[name].seconds += time.perf_counter()
        rows = np.flatnonzero(after.current() >= 0)
        if advance:
            advance(0, f"games {first} to {first + n - 1} at move {int(positions.max())}")
        if len(rows) == 0:
            break
        live, x = live[rows], after.take(rows)
        for each in cast.values():
            each.keep(rows)
    for g in range(n):
        yield {
            "game": first + g,
            "positions": int(positions[g]),
            "exact_cards": int(judged_cards[g]),
            "estimators": {
                name: {
                    "loss": float(s.loss[g]),
                    "cards": int(s.cards[g]),
                    "missing": int(s.missing[g]),
                    "loss_where_exact": float(judged[name][g]),
                    "seconds": s.seconds / n,
                    **({"bins": s.bins.tolist(), "notes": cast[name].notes()} if g == 0 else {}),
                }
                for name, s in sums.items()
            },
        }


def _stack(config: Evaluation, first: int) -> range:
    """The games that are played in step with game `first`, the first of them."""
    return range(first, min(first + config.stack, config.games))


def _judge(each: Estimator, hidden: np.ndarray, live: np.ndarray, into: _Sum) -> np.ndarray:
    """float64 [G]: -log b summed over the hidden cards of each game, NaN where there is no belief; noted in `into`."""
    into.seconds -= time.perf_counter()
    log_p = np.asarray(each.log_probs(hidden), dtype=np.float64)
    into.seconds += time.perf_counter()
    there = hidden >= 0
    of_truth = np.take_along_axis(log_p, np.maximum(hidden, 0)[..., None].astype(np.int64), axis=-1)[..., 0]
    loss = -np.where(there, of_truth, 0.0).sum(axis=1)
    good = ~np.isnan(loss)
    into.loss[live[good]] += loss[good]
    into.cards[live[good]] += there[good].sum(axis=1)
    into.missing[live[~good]] += 1
    p = np.exp(log_p[good][there[good]])
    hit = np.zeros_like(p)
    hit[np.arange(len(p)), hidden[good][there[good]]] = 1
    at = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    for row, weight in enumerate((p, hit, np.ones_like(p))):
        into.bins[row] += np.bincount(at.ravel(), weight.ravel(), BINS)
    return loss


def _control(config: Evaluation, process: HanabiProcess, x: Any, rng: np.random.Generator) -> np.ndarray | None:
    """What comes from outside before the next move."""
    if process.form is Form.HMM:
        return None
    drawn = np.array([_core.hanabi.BOTS.index(name) for name in config.others], dtype=np.int8)
    bots = drawn[rng.integers(len(drawn), size=len(x))]
    if process.form is Form.FOSG:
        return bots.astype(np.int64)
    return np.where(x.current() == process.seat, x.choose(bots, int(rng.integers(2**62))), -1)


def _cast(config: Evaluation, process: HanabiProcess, first: int) -> dict[str, Estimator]:
    seed = int(np.random.SeedSequence([config.seed, first]).generate_state(1)[0])
    made: dict[str, Any] = {
        "v0": lambda: estimators.V0(process),
        "v1": lambda: estimators.V1(process),
        "bb": lambda: estimators.V2(process, 0.0, config.samples, seed),
        "v2": lambda: estimators.V2(process, config.alpha, config.samples, seed),
        "particles": lambda: Particles(process, config.particles, seed),
        "rejection": lambda: Particles(process, config.particles, seed, rejection=True),
        "seq2seq": lambda: estimators.Network(process, network(config)),
        "transformer": lambda: estimators.Reader(process, transformer(config)),
        "bft": lambda: estimators.BFT(process, network(config), tuning(config), seed),
        "exact": lambda: estimators.Exact(process, config.limit, config.pairs),
    }
    return {name: made[name]() for name in config.estimators}


def tuning(config: Evaluation) -> Tuning:
    """How bft tunes."""
    worlds = config.worlds or max(1, min(config.steps, max(100, 3 * config.steps // 10)) * config.batch)
    return Tuning(config.steps, config.batch, worlds, config.learning_rate, config.part, config.bf16)


def network(config: Evaluation) -> Seq2Seq:
    """The LSTM of the config. Raises TrickformerError where there is none, or one of another system."""
    if config.checkpoint is None:
        raise TrickformerError("seq2seq and bft need a network: --checkpoint FILE, made by `trickformer belief train`")
    model = _trained(config, config.checkpoint)
    if not isinstance(model, Seq2Seq):
        raise TrickformerError(
            f"{config.checkpoint} is a transformer: seq2seq and bft, which tunes LSTMs only, cannot use it; give it as "
            "--transformer to the estimator transformer"
        )
    return model


def transformer(config: Evaluation) -> Transformer:
    """The transformer of the config. Raises TrickformerError where there is none, or one of another system."""
    if config.transformer is None:
        raise TrickformerError(
            "transformer needs a network: --transformer FILE, made by `trickformer belief train --model transformer`"
        )
    model = _trained(config, config.transformer)
    if not isinstance(model, Transformer):
        raise TrickformerError(f"{config.transformer} is an LSTM; give it as --checkpoint to seq2seq and bft")
    return model


def _trained(config: Evaluation, file: Path) -> training.Network:
    model, trained = training.load(file)
    # A network that reads what everybody sees, and no control, serves the forms hmm and fosg alike.
    pomdp = "pomdp" in (trained.form, config.form)
    if trained.variant != config.variant or (pomdp and trained.form != config.form):
        raise TrickformerError(
            f"{file} was trained for {trained.form} on {trained.variant}, not for {config.form} on {config.variant}"
        )
    if pomdp and trained.seat != config.seat:
        raise TrickformerError(f"{file} was trained for seat {trained.seat}, not for seat {config.seat}")
    if trained.seed == config.seed:
        raise TrickformerError(f"{file} has learned the games of seed {config.seed}; choose another --seed")
    return model.to(usable(config.device))


def command(config: Evaluation, resume: bool) -> list[dict[str, Any]]:
    """The records of all games, by number: those of the folder, and what was missing, which goes there stack by stack.

    Raises TrickformerError on bad input, before anything is written, and Interrupted on Ctrl-C."""
    training.process_of(config)
    usable(config.device)
    if {"seq2seq", "bft"} & set(config.estimators):
        network(config)
    if "transformer" in config.estimators:
        transformer(config)
    if resume and config.out is None:
        raise TrickformerError("--resume needs the --out of the run to continue")
    found: dict[int, list[dict[str, Any]]] = {}
    with _kept(config, resume) or nullcontext() as kept:
        if kept:
            found |= {stack[0]["game"]: stack for stack in kept.known}
        done = sum(map(len, found.values()))
        try:
            with progress("belief evaluate", "games", done, config.games) as advance:
                for first in range(0, config.games, config.stack):
                    if first in found:
                        continue
                    found[first] = list(play(config, first, advance))
                    if kept:
                        kept.append(found[first])
                    advance(len(found[first]))
        except KeyboardInterrupt:
            on = "go on with the same command and --resume" if kept else "nothing is kept without --out"
            done = sum(map(len, found.values()))
            raise folder.Interrupted(f"interrupted after {done} of {config.games} games; {on}") from None
    return [record for first in sorted(found) for record in found[first]]


def _kept(config: Evaluation, resume: bool) -> folder.Lines | None:
    """The stacks in the folder of the run, if it has one."""
    if config.out is None:
        return None
    lines = folder.begin(config.out, config, resume, ("out", "threads"), RECORDS)
    try:
        whole = all(
            [record["game"] for record in stack] == list(_stack(config, stack[0]["game"]))
            and all(record["estimators"].keys() == set(config.estimators) for record in stack)
            for stack in lines.known
        )
    except (AttributeError, IndexError, KeyError, TypeError):
        whole = False
    if not whole:
        lines.__exit__()
        raise TrickformerError(f"{config.out / RECORDS} is broken; choose another --out")
    return lines
