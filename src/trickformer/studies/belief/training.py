"""Training of a belief network on a stream of games of scripts or networks, in which no game appears twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trickformer.belief.hanabi.config import BeliefTraining
from trickformer.belief.hanabi.learned import CardConstraints, GameSequences, mean_loss
from trickformer.belief.hanabi.networks import NETWORK, BeliefNetwork, network_of, save
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.belief.hanabi.seat_tokens import SeatTokens
from trickformer.belief.learner import Learner, open_log, plot_loss, read_step_count
from trickformer.models.torch_backend import usable
from trickformer.plumbing.folder import RunFolder, resumable
from trickformer.plumbing.progress import progress
from trickformer.plumbing.training import prepare_training
from trickformer.studies.belief.system import digests_of_players, process_of

STATE = "state.npz"  # weights and optimizer of an unfinished run, in its folder


def play(process: HanabiProcess, seed: int, first: int, n: int) -> GameSequences:
    """Play games `first` to `first` + n - 1 of a series.

    Args:
        process: System that plays; its seat is the viewer.
        seed: Seed of the series. A game depends on the seed and its number alone.
        first: Number of the first game.
        n: Number of games.

    Returns:
        Emissions, controls, tokens and hidden cards of the games; all arrays are on the CPU.
    """
    tables = process.start(seed, first, n)
    positions: list[tuple[np.ndarray, ...]] = []
    constraints: list[CardConstraints] = []
    sequences = SeatTokens(process, tables)
    lengths = np.zeros(n, dtype=np.int64)
    control = np.full(n, -1, dtype=np.int64)
    mover = process.with_fixed_policies()
    while (tables.current() >= 0).any():
        emission, hidden = process.emission(tables) != 0, process.hidden_cards(tables)
        positions.append((emission, control, sequences.lengths - 1, hidden))
        constraints.append(process.tensors(tables, torch.device("cpu")))
        lengths += tables.current() >= 0
        is_own_turn = tables.current() == process.seat
        before = tables
        tables, actions = mover.move(tables, None, seed, first)
        sequences.move(before, actions, tables)
        control = np.where(is_own_turn, actions, -1) if process.form is Form.POMDP else control
    columns = [np.stack(column) for column in zip(*positions)]
    ends, cards = columns[2:]
    return GameSequences(
        torch.from_numpy(columns[0]),
        torch.from_numpy(columns[1]),
        torch.from_numpy(sequences.tokens[:, : ends.max() + 1]),
        torch.from_numpy(ends),
        torch.from_numpy(cards.astype(np.int64)),
        CardConstraints(*(torch.stack([getattr(c, f.name) for c in constraints]) for f in fields(CardConstraints))),
        torch.from_numpy(lengths),
    )


def loss(model: BeliefNetwork, games: GameSequences, at: torch.Tensor) -> torch.Tensor:
    """Compute the cross entropy per card at some positions of each game.

    Args:
        model: Network to train.
        games: n games, on the device of the model.
        at: int64 [n, targets], positions in each game.

    Returns:
        float32 [n, targets], in nats.
    """
    game = torch.arange(len(at), device=at.device).unsqueeze(1)
    constraints, cards = games.known[at, game], games.cards[at, game]
    return mean_loss(model.log_probs(model.weights(), model.summaries(games)[at, game], constraints, cards), cards)


def run(config: BeliefTraining) -> Iterator[dict[str, Any]]:
    """Train in the folder config.out, which must exist, and write the network there at the end.

    A stopped run continues from its last saved state and reaches the same weights.

    Args:
        config: Options of the training.

    Yields:
        {"step", "loss"} after every gradient step.
    """
    prepare_training(config.threads)
    torch.manual_seed(config.seed)
    model = network_of(config).to(usable(config.device))
    learner = Learner(model, config.learning_rate, config.steps, config.out / STATE, config.clip, config.fall)
    process = process_of(config)

    def games(step: int) -> GameSequences:
        return play(process, config.seed, step * config.games, config.games)

    yield from fit(model, learner, games, config.seed, config.targets, config.steps, config.save_every)
    save(model, config, process.identities(), config.out / NETWORK)


def fit(
    model: BeliefNetwork,
    learner: Learner,
    games: Callable[[int], GameSequences],
    seed: int,
    targets: int,
    steps: int,
    save_every: int,
) -> Iterator[dict[str, Any]]:
    """Make gradient steps from the state in the learner's file up to `steps`.

    Args:
        model: Network to train.
        learner: Optimizer with its file.
        games: Returns the games of a step, by the number of the step.
        seed: Seed of the positions that are drawn.
        targets: Number of random positions that a step takes from each game.
        steps: Number of gradient steps, those before a resumption included.
        save_every: Gradient steps between two saved states.

    Yields:
        {"step", "loss"} after every gradient step, before the state is saved; the loss is in nats per card.
    """
    for step in range(learner.resume(), steps):
        sequences = games(step)
        # Each step has its own generator, so a resumed run draws the same positions; 1,000,003 is a prime.
        rng = torch.Generator().manual_seed((seed * 1_000_003 + step) % 2**63)
        at = (torch.rand(len(sequences.lengths), targets, generator=rng) * sequences.lengths.unsqueeze(1)).long()
        mean = loss(model, sequences.to(model.device), at.to(model.device)).mean()
        mean.backward()
        learner.step()
        yield {"step": step + 1, "loss": float(mean.detach())}
        if (step + 1) % save_every == 0 or step + 1 == steps:
            learner.save(step + 1)


def command(config: BeliefTraining, resume: bool) -> Path:
    """Train with progress in the folder config.out.

    Args:
        config: Options of the training.
        resume: Whether to continue the run in the folder.

    Returns:
        File of the network.

    Raises:
        TrickformerError: If the input is bad; nothing is written then.
        Interruption: On Ctrl-C.
    """
    process_of(config)
    usable(config.device)
    free, files = ("out", "save_every"), digests_of_players(config)
    opened = RunFolder(config.out).open(config, resume=resume, free=free, files=files)
    with resumable("belief train", config), opened:
        begin = read_step_count(config.out / STATE)
        with progress("belief train", "steps", begin, config.steps) as advance, open_log(config.out, begin) as log:
            for record in run(config):
                log.append(record)
                advance()
        plot_loss(config.out)
    return config.out / NETWORK
