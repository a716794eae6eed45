"""Trains a belief network on a stream of fresh games of given policies: no game is seen twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trickformer import _core
from trickformer.belief.hanabi.config import BeliefTraining
from trickformer.belief.hanabi.learned import CardConstraints, GameSequences, mean_loss
from trickformer.belief.hanabi.networks import NETWORK, BeliefNetwork, network_of, process_of, save
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.belief.hanabi.seat_tokens import SeatTokens
from trickformer.belief.learner import Learner, curve, log_of, read_step_count
from trickformer.models.torch_backend import usable
from trickformer.plumbing.folder import RunFolder, resumable
from trickformer.plumbing.progress import progress

STATE = "state.npz"  # file of a run


def play(process: HanabiProcess, seed: int, first: int, n: int) -> GameSequences:
    """Games `first` .. `first` + n - 1 of the series `seed`, each a function of seed and number alone."""
    x = process.start(seed, first, n)
    rows: list[tuple[np.ndarray, ...]] = []
    known: list[CardConstraints] = []
    sequences = SeatTokens(process, x)
    lengths = np.zeros(n, dtype=np.int64)
    control = np.full(n, -1, dtype=np.int64)
    mover = HanabiProcess(process.rules, Form.HMM, [_core.hanabi.BOTS[p] for p in process.players])
    while (x.current() >= 0).any():
        rows.append((process.emission(x) != 0, control, sequences.lengths - 1, process.hidden_cards(x)))
        known.append(process.tensors(x, torch.device("cpu")))
        lengths += x.current() >= 0
        own = x.current() == process.seat
        before = x
        x, actions = mover.move(x, None, seed, first)
        sequences.move(before, actions, x)
        control = np.where(own, actions, -1) if process.form is Form.POMDP else control
    emission, controls, ends, cards = (np.stack(column) for column in zip(*rows))
    return GameSequences(
        torch.from_numpy(emission),
        torch.from_numpy(controls),
        torch.from_numpy(sequences.tokens[:, : ends.max() + 1]),
        torch.from_numpy(ends),
        torch.from_numpy(cards.astype(np.int64)),
        CardConstraints(*(torch.stack([getattr(k, f.name) for k in known]) for f in fields(CardConstraints))),
        torch.from_numpy(lengths),
    )


def loss(model: BeliefNetwork, games: GameSequences, at: torch.Tensor) -> torch.Tensor:
    """float32 [n, targets]: cross entropy per card at positions `at`, int64 [n, targets], of each game, in nats."""
    row = torch.arange(len(at), device=at.device).unsqueeze(1)
    known, cards = games.known[at, row], games.cards[at, row]
    return mean_loss(model.log_probs(model.weights(), model.summaries(games)[at, row], known, cards), cards)


def run(config: BeliefTraining) -> Iterator[dict[str, Any]]:
    """Trains in the folder config.out, which exists, yielding {"step", "loss"} after every step; at the end the
    network is there.

    A run that was stopped goes on where it last saved, to the same weights."""
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    model = network_of(config).to(usable(config.device))
    learner = Learner(model, config.learning_rate, config.steps, config.out / STATE, config.clip, config.fall)
    process = process_of(config)

    def games(step: int) -> GameSequences:
        return play(process, config.seed, step * config.games, config.games)

    yield from fit(model, learner, games, config.seed, config.targets, config.steps, config.save_every)
    save(model, config, config.out / NETWORK)


def fit(
    model: BeliefNetwork,
    learner: Learner,
    games: Callable[[int], GameSequences],
    seed: int,
    targets: int,
    steps: int,
    save_every: int,
) -> Iterator[dict[str, Any]]:
    """Gradient steps from where the learner's file stands up to `steps`, each on the games of its number at `targets`
    positions of every one, drawn at random. Yields {"step", "loss"} after each, before it is kept."""
    for step in range(learner.resume(), steps):
        played = games(step)
        rng = torch.Generator().manual_seed((seed * 1_000_003 + step) % 2**63)
        at = (torch.rand(len(played.lengths), targets, generator=rng) * played.lengths.unsqueeze(1)).long()
        mean = loss(model, played.to(model.device), at.to(model.device)).mean()
        mean.backward()
        learner.step()
        yield {"step": step + 1, "loss": float(mean.detach())}
        if (step + 1) % save_every == 0 or step + 1 == steps:
            learner.keep(step + 1)


def command(config: BeliefTraining, resume: bool) -> Path:
    """Trains with progress in the folder config.out; returns the file of the network.

    Raises TrickformerError on bad input, before anything is written, and Interruption on Ctrl-C."""
    process_of(config)
    usable(config.device)
    opened = RunFolder(config.out).open(config, resume=resume, free=("out", "threads", "save_every"))
    with resumable("belief train", config), opened:
        begin = read_step_count(config.out / STATE)
        with progress("belief train", "steps", begin, config.steps) as advance, log_of(config.out, begin) as log:
            for record in run(config):
                log.append(record)
                advance()
        curve(config.out)
    return config.out / NETWORK
