"""Trains a belief network on a stream of fresh games of given policies: no game is seen twice."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from trickformer import _core, folder
from trickformer.base import TrickformerError
from trickformer.belief.config import VARIANTS, Evaluation, Training
from trickformer.belief.hanabi import Form, HanabiProcess
from trickformer.belief.learned import Games, Known, Seq2Seq, Shape, mean_loss
from trickformer.belief.sequences import Sequences, features
from trickformer.belief.transformer import Transformer
from trickformer.models.torch_engine import usable
from trickformer.progress import progress


def process_of(config: Training | Evaluation) -> HanabiProcess:
    """The system that a network learns, or whose beliefs are judged."""
    rules = _core.hanabi.Rules(**VARIANTS[config.variant])
    if len(config.players) != rules.players:
        raise TrickformerError(f"players: {rules.players} names, one a seat, not {len(config.players)}")
    return HanabiProcess(rules, Form(config.form), config.players, config.seat)


Network: TypeAlias = Seq2Seq | Transformer


def network_of(config: Training) -> Network:
    """A network with fresh weights from torch's generator."""
    p = process_of(config)
    shape = Shape(p.features, p.controls, p.slots, p.rules.kinds, p.traits, p.told, config.hidden, config.layers)
    return Seq2Seq(shape) if config.model == "lstm" else Transformer(shape, *features(p), config.heads)


NETWORK, STATE, LOG = "model.safetensors", "state.pt", "log.jsonl"  # files of a run


def play(process: HanabiProcess, seed: int, first: int, n: int) -> Games:
    """Games `first` .. `first` + n - 1 of the series `seed`, each a function of seed and number alone."""
    x = process.start(seed, first, n)
    rows: list[tuple[np.ndarray, ...]] = []
    known: list[Known] = []
    sequences = Sequences(process, x)
    lengths = np.zeros(n, dtype=np.int64)
    control = np.full(n, -1, dtype=np.int64)
    mover = HanabiProcess(process.rules, Form.HMM, [_core.hanabi.BOTS[p] for p in process.players])
    while (x.current() >= 0).any():
        rows.append((process.emission(x) != 0, control, sequences.lengths - 1, process.hidden(x)))
        known.append(process.tensors(x, torch.device("cpu")))
        lengths += x.current() >= 0
        own = x.current() == process.seat
        before = x
        x, actions = mover.move(x, None, seed, first)
        sequences.move(before, actions, x)
        control = np.where(own, actions, -1) if process.form is Form.POMDP else control
    emission, controls, ends, cards = (np.stack(column) for column in zip(*rows))
    return Games(
        torch.from_numpy(emission),
        torch.from_numpy(controls),
        torch.from_numpy(sequences.tokens[:, : ends.max() + 1]),
        torch.from_numpy(ends),
        torch.from_numpy(cards.astype(np.int64)),
        Known(*(torch.stack([getattr(k, f.name) for k in known]) for f in fields(Known))),
        torch.from_numpy(lengths),
    )


def loss(model: Network, games: Games, at: torch.Tensor) -> torch.Tensor:
    """float32 [n, targets]: cross entropy per card at positions `at`, int64 [n, targets], of each game, in nats."""
    row = torch.arange(len(at), device=at.device).unsqueeze(1)
    known, cards = games.known[at, row], games.cards[at, row]
    return mean_loss(model.log_probs(model.weights(), model.summaries(games)[at, row], known, cards), cards)


class Learner:
    """Adam on a network, gradients clipped to norm 1, a rate that falls to a tenth along a cosine; and the file that
    holds where all of it stands."""

    def __init__(self, model: torch.nn.Module, learning_rate: float, steps: int, file: Path):
        self._model, self._file = model, file
        self._adam = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
        self._fall = torch.optim.lr_scheduler.CosineAnnealingLR(self._adam, steps, eta_min=learning_rate / 10)

    def resume(self) -> int:
        """Takes what the file holds, if there is one; returns the steps that it has seen."""
        held = _held(self._file, next(self._model.parameters()).device)
        if held is None:
            return 0
        self._model.load_state_dict(held["model"])
        self._adam.load_state_dict(held["adam"])
        self._fall.load_state_dict(held["fall"])
        return held["step"]

    def step(self) -> None:
        """One step by the gradients that are there, which it takes away."""
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._adam.step()
        self._fall.step()
        self._adam.zero_grad(set_to_none=True)

    def keep(self, steps: int) -> None:
        """Writes the file, after so many steps."""
        held = {"model": self._model, "adam": self._adam, "fall": self._fall}
        with folder.whole(self._file) as draft:
            torch.save({name: part.state_dict() for name, part in held.items()} | {"step": steps}, draft)


def done(file: Path) -> int:
    """The steps that a Learner's file has seen; 0 where there is none. Raises TrickformerError where it is broken."""
    held = _held(file, torch.device("cpu"))
    return 0 if held is None else held["step"]


def _held(file: Path, device: torch.device) -> dict[str, Any] | None:
    if not file.exists():
        return None
    try:
        held = torch.load(file, map_location=device, weights_only=True)
        if held.keys() == {"model", "adam", "fall", "step"}:
            return held
    except (OSError, EOFError, RuntimeError, KeyError, AttributeError, pickle.UnpicklingError):
        pass
    raise TrickformerError(f"{file} is broken; choose another --out")


def run(config: Training) -> Iterator[dict[str, Any]]:
    """Trains in the folder config.out, which exists, yielding {"step", "loss"} after every step; at the end the
    network is there.

    A run that was stopped goes on where it last saved, to the same weights."""
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    device = usable(config.device)
    model = network_of(config).to(device)
    learner = Learner(model, config.learning_rate, config.steps, config.out / STATE)
    process = process_of(config)
    for step in range(learner.resume(), config.steps):
        games = play(process, config.seed, step * config.games, config.games)
        rng = torch.Generator().manual_seed((config.seed * 1_000_003 + step) % 2**63)
        at = (torch.rand(config.games, config.targets, generator=rng) * games.lengths.unsqueeze(1)).long()
        mean = loss(model, games.to(device), at.to(device)).mean()
        mean.backward()
        learner.step()
        if (step + 1) % config.save_every == 0 or step + 1 == config.steps:
            learner.keep(step + 1)
        yield {"step": step + 1, "loss": float(mean.detach())}
    save(model, config, config.out / NETWORK)


def save(model: Network, config: Training, file: Path) -> None:
    """The network with what it was trained on, as one file."""
    metadata = {"trickformer_belief": config.model_dump_json(exclude={"out", "device"})}
    weights = {name: w.detach().cpu().contiguous() for name, w in model.weights().items()}
    with folder.whole(file) as draft:
        save_file(weights, draft, metadata)


def load(file: Path) -> tuple[Network, Training]:
    """A network and what it was trained on; of a run's folder the one in it. Raises TrickformerError on a file that is
    none."""
    file = file / NETWORK if file.is_dir() else file
    try:
        with safe_open(file, "pt") as held:
            config = Training.model_validate(json.loads((held.metadata() or {})["trickformer_belief"]))
            weights = {name: held.get_tensor(name) for name in held.keys()}  # noqa: SIM118 (no mapping)
        model = network_of(config)
        model.set_weights(weights)
    except (OSError, KeyError, ValueError, SafetensorError) as e:
        raise TrickformerError(f"{file} is no belief network of trickformer: {str(e).splitlines()[0]}") from None
    return model, config


def command(config: Training, resume: bool) -> Path:
    """Trains with progress in the folder config.out; returns the file of the network.

    Raises TrickformerError on bad input, before anything is written, and Interrupted on Ctrl-C."""
    process_of(config)
    usable(config.device)
    try:
        with folder.begun(config.out, config, resume, free=("out", "threads", "save_every")):
            begin = done(config.out / STATE)
            with progress("belief train", "steps", begin, config.steps) as advance, log_of(config.out, begin) as log:
                for record in run(config):
                    log.append(record)
                    advance()
            curve(config.out)
    except KeyboardInterrupt:
        raise folder.Interrupted(
            f"interrupted; go on with: trickformer belief train --config {config.out}/config.toml --out {config.out} "
            "--resume"
        ) from None
    return config.out / NETWORK


def curve(out: Path) -> None:
    """loss.png of a training's log: the mean loss of each hundredth of the steps. Raises TrickformerError where the
    disk does not take it."""
    from trickformer.figures import plt, save

    loss = np.array([json.loads(line)["loss"] for line in (out / LOG).read_text().splitlines()])
    if len(loss) == 0:  # of steps that are done, and whose log is gone
        return
    pieces = np.array_split(np.arange(len(loss)), min(100, len(loss)))
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    axes.plot([at.mean() + 1 for at in pieces], [loss[at].mean() for at in pieces], color="#2b6cb0", linewidth=1.2)
    axes.set_xlabel("gradient step")
    axes.set_ylabel("nats a card")
    save(figure, out / "loss.png")


@contextmanager
def log_of(out: Path, step: int) -> Iterator[folder.Lines]:
    """log.jsonl of a training, a record a step, cut back to the step at which it goes on."""
    with folder.Lines(out / LOG) as lines:
        lines.keep(lines.known[:step])
        yield lines
