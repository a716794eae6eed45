"""How good are beliefs? Cross entropy per card on games that no estimator has seen, all estimators on the same games.

A game's figure is the mean over its positions and their hidden cards of -log b(card), in nats, a card given those before it in the
hand where the belief has an order; games are the samples of means and standard errors. In the forms pomdp and fosg the seats whose
policies are not fixed play what no network has seen: at every step a seeded draw among the scripted players decides how the acting
seat plays. In a fosg that draw is the control, which fine-tuning and the exact belief know and networks do not."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, field_validator

from trickformer import _core
from trickformer.base import TrickformerError, UnknownNameError
from trickformer.belief import estimators, training
from trickformer.belief.estimators import Estimator
from trickformer.belief.finetune import Tuning
from trickformer.belief.hanabi import HanabiProcess
from trickformer.belief.markov import Form
from trickformer.belief.particles import Particles

NAMES = ("v0", "v1", "bb", "v2", "particles", "rejection", "seq2seq", "bft", "exact")
BINS = 20  # of the calibration, by probability


class Config(BaseModel):
    """An evaluation of beliefs on two-player Hanabi."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    form: Form = Field(Form.HMM, description="whose policies are fixed and what is seen: hmm, pomdp or fosg")
    variant: Literal["5-card-8-hint", "5-card-2-hint", "7-card-4-hint"] = Field(
        "5-card-8-hint", description="of two-player Hanabi"
    )
    players: list[str] = Field(["smart", "smart"], description="the fixed policies, one a seat")
    others: list[str] = Field(
        ["smart", "holmes", "simple", "piers", "iggi"], description="drawn among at each step by a seat that is not fixed"
    )
    estimators: list[str] = Field(["v0", "v1", "seq2seq", "bft", "exact"], description=f"any of {', '.join(NAMES)}")
    checkpoint: Path | None = Field(None, description="a belief network of `trickformer belief train`")
    games: int = Field(100, ge=1, description="games of the series")
    seed: int = Field(1, ge=0, lt=2**63, description="of the games, the draws and the estimators; not that of training")
    stack: int = Field(10, ge=1, description="games that are played, and fine-tuned, in step")
    steps: int = Field(100, ge=0, description="gradient steps of bft at each position; the paper: 10000")
    batch: int = Field(32, ge=1, description="worlds in a gradient step")
    worlds: int = Field(3200, ge=1, description="worlds drawn for the gradient steps of a position")
    learning_rate: float = Field(2.5e-4, gt=0, description="of fine-tuning")
    part: Literal["encoder", "full"] = Field("encoder", description="of the network that is fine-tuned")
    alpha: float = Field(0.01, ge=0, le=1, description="share of V1 in v2")
    samples: int = Field(16, ge=1, description="draws of the other slots for a likelihood of bb and v2")
    particles: int = Field(2000, ge=1, description="worlds a game of particles and rejection")
    limit: int = Field(20_000, ge=1, description="hands that the exact belief lists at most")
    pairs: int = Field(400_000, ge=1, description="pairs of hands that the exact belief lists at most")
    threads: int = Field(1, ge=1, description="of torch")
    out: Path | None = Field(None, description="folder for records, report and plot")

    @field_validator("players", "others")
    @classmethod
    def _scripted(cls, names: list[str]) -> list[str]:
        for name in names:
            if name not in _core.hanabi.BOTS:
                raise ValueError(f"no scripted player; choose from: {', '.join(_core.hanabi.BOTS)}")
        return names

    @field_validator("estimators")
    @classmethod
    def _known(cls, names: list[str]) -> list[str]:
        for name in names:
            if name not in NAMES:
                raise ValueError(f"no estimator; choose from: {', '.join(NAMES)}")
        return names

    def process(self) -> HanabiProcess:
        """The system whose beliefs are judged."""
        return HanabiProcess(_core.hanabi.Rules(**training.VARIANTS[self.variant]), self.form, self.players)


@dataclass(slots=True)
class _Sum:
    """Of one estimator over one stack of games."""

    loss: np.ndarray  # float64 [G], summed over hidden cards
    cards: np.ndarray  # int64 [G]
    missing: np.ndarray  # int64 [G]: positions without a belief
    seconds: float
    bins: np.ndarray  # float64 [3, BINS]: probabilities, hits, numbers


def play(config: Config, first: int) -> Iterator[dict[str, Any]]:
    """Games `first` .. of one stack: a record each. A function of the config and the number of the first game."""
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed * 1_000_003 + first)
    process, n = config.process(), min(config.stack, config.games - first)
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


def _control(config: Config, process: HanabiProcess, x: Any, rng: np.random.Generator) -> np.ndarray | None:
    """What comes from outside before the next move."""
    if process.form is Form.HMM:
        return None
    drawn = np.array([_core.hanabi.BOTS.index(name) for name in config.others], dtype=np.int8)
    bots = drawn[rng.integers(len(drawn), size=len(x))]
    if process.form is Form.FOSG:
        return bots.astype(np.int64)
    return np.where(x.current() == process.seat, x.choose(bots, int(rng.integers(2**62))), -1)


def _cast(config: Config, process: HanabiProcess, first: int) -> dict[str, Estimator]:
    seed = int(np.random.SeedSequence([config.seed, first]).generate_state(1)[0])
    made: dict[str, Any] = {
        "v0": lambda: estimators.V0(process),
        "v1": lambda: estimators.V1(process),
        "bb": lambda: estimators.V2(process, 0.0, config.samples, seed),
        "v2": lambda: estimators.V2(process, config.alpha, config.samples, seed),
        "particles": lambda: Particles(process, config.particles, seed),
        "rejection": lambda: Particles(process, config.particles, seed, rejection=True),
        "seq2seq": lambda: estimators.Network(process, network(config)),
        "bft": lambda: estimators.BFT(process, network(config), tuning(config), seed),
        "exact": lambda: estimators.Exact(process, config.limit, config.pairs),
    }
    return {name: made[name]() for name in config.estimators}


def tuning(config: Config) -> Tuning:
    """How bft tunes."""
    return Tuning(config.steps, config.batch, config.worlds, config.learning_rate, config.part)


def network(config: Config) -> Any:
    """The network of the config. Raises TrickformerError where there is none, or one of another system."""
    if config.checkpoint is None:
        raise TrickformerError("seq2seq and bft need a network: --checkpoint FILE, made by `trickformer belief train`")
    model, trained = training.load(config.checkpoint)
    # A network that reads what everybody sees, and no control, serves the forms hmm and fosg alike.
    pomdp = Form.POMDP in (trained.form, config.form)
    if trained.variant != config.variant or (pomdp and trained.form != config.form):
        raise TrickformerError(
            f"{config.checkpoint} was trained for {trained.form} on {trained.variant}, not for {config.form} on {config.variant}"
        )
    return model


def check(config: Config) -> None:
    """Everything that can be wrong before a game is played. Raises TrickformerError."""
    if {"seq2seq", "bft"} & set(config.estimators):
        network(config)


def records(path: Path) -> list[dict[str, Any]]:
    """The records of a file, whole lines alone."""
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]
