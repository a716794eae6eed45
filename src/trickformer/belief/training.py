"""Trains a Seq2Seq belief on a stream of fresh games of given policies: no game is seen twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from safetensors import safe_open
from safetensors.torch import save_file

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.belief.hanabi import HanabiProcess
from trickformer.belief.learned import Known, Seq2Seq, Shape, mean_loss
from trickformer.belief.markov import Form

VARIANTS = {  # two-player Hanabi of the paper
    "5-card-8-hint": {},
    "5-card-2-hint": {"hints": 2},
    "7-card-4-hint": {"hand": 7, "hints": 4},
}


class Config(BaseModel):
    """Training of one belief network."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    form: Form = Field(Form.HMM, description="whose policies are fixed and what is seen: hmm, pomdp or fosg")
    variant: Literal["5-card-8-hint", "5-card-2-hint", "7-card-4-hint"] = Field(
        "5-card-8-hint", description="of two-player Hanabi"
    )
    players: list[str] = Field(["smart", "smart"], description="the fixed policies, one a seat")
    hidden: int = Field(128, ge=8, description="units of a layer; the paper: 512")
    layers: int = Field(2, ge=1, description="of the encoder")
    games: int = Field(64, ge=1, description="games of a gradient step")
    targets: int = Field(16, ge=1, description="positions of a game that are learned, drawn at random")
    steps: int = Field(2000, ge=1, description="gradient steps")
    learning_rate: float = Field(1e-3, gt=0, description="of Adam at the start; it falls to a tenth along a cosine")
    seed: int = Field(1, ge=0, lt=2**63, description="of the games and the first weights")
    threads: int = Field(1, ge=1, description="of torch")
    save_every: int = Field(500, ge=1, description="gradient steps between two states on disk")
    out: Path = Field(Path("out/belief"), description="folder of the run")

    def process(self) -> HanabiProcess:
        """The system that the network learns."""
        return HanabiProcess(_core.hanabi.Rules(**VARIANTS[self.variant]), self.form, self.players)

    def shape(self) -> Shape:
        """The sizes of the network."""
        p = self.process()
        return Shape(p.features, p.controls, p.slots, p.rules.kinds, self.hidden, self.layers)


@dataclass(frozen=True, slots=True)
class Games:
    """Games of the fixed policies, position by position; T is the longest."""

    emission: torch.Tensor  # bool [T, n, features]
    control: torch.Tensor  # int64 [T, n]: the one before the emission, -1 for none
    cards: torch.Tensor  # int64 [T, n, S]
    possible: torch.Tensor  # bool [T, n, S, K]
    counts: torch.Tensor  # float32 [T, n, K]
    lengths: torch.Tensor  # int64 [n]: positions with a decision


def play(process: HanabiProcess, seed: int, first: int, n: int) -> Games:
    """Games `first` .. `first` + n - 1 of the series `seed`, each a function of seed and number alone."""
    x = process.start(seed, first, n)
    rows: list[tuple[np.ndarray, ...]] = []
    lengths = np.zeros(n, dtype=np.int64)
    control = np.full(n, -1, dtype=np.int64)
    mover = HanabiProcess(process.rules, Form.HMM, [_core.hanabi.BOTS[p] for p in process.players])
    while (x.current() >= 0).any():
        rows.append((process.emission(x) != 0, control, process.hidden(x), *process.known(x)))
        lengths += x.current() >= 0
        own = x.current() == process.seat
        x, actions = mover.move(x, None, seed=(seed * 1_000_003 + first) * 1_009 + len(rows))
        control = np.where(own, actions, -1) if process.form is Form.POMDP else control
    emission, controls, cards, possible, counts = (np.stack(column) for column in zip(*rows))
    return Games(
        torch.from_numpy(emission),
        torch.from_numpy(controls),
        torch.from_numpy(cards.astype(np.int64)),
        torch.from_numpy(possible),
        torch.from_numpy(counts),
        torch.from_numpy(lengths),
    )


def loss(model: Seq2Seq, games: Games, at: torch.Tensor) -> torch.Tensor:
    """float32 [n, targets]: cross entropy per card at positions `at`, int64 [n, targets], of each game, in nats."""
    weights = model.weights()
    state = model.start(games.emission.shape[1])
    summaries = []
    for emission, control in zip(games.emission, games.control):
        state = model.encode(weights, emission.float(), control, state)
        summaries.append(state[-1][0])
    row = torch.arange(len(at)).unsqueeze(1)
    known = Known(games.possible[at, row], games.counts[at, row])
    cards = games.cards[at, row]
    return mean_loss(model.log_probs(weights, torch.stack(summaries)[at, row], known, cards), cards)


def run(config: Config, resume: bool) -> Iterator[dict[str, Any]]:
    """Trains, yielding {"step", "loss"} after every step; the network stands in config.out / "model.safetensors" at the end.

    A run that was stopped goes on with `resume` where it last saved, to the same weights."""
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    model = Seq2Seq(config.shape())
    adam = torch.optim.Adam(model.parameters(), lr=config.learning_rate, fused=True)
    fall = torch.optim.lr_scheduler.CosineAnnealingLR(adam, config.steps, eta_min=config.learning_rate / 10)
    state, begin = config.out / "state.pt", 0
    if resume and state.exists():
        held = torch.load(state, weights_only=True)
        model.load_state_dict(held["model"])
        adam.load_state_dict(held["adam"])
        fall.load_state_dict(held["fall"])
        begin = held["step"]
    process = config.process()
    for step in range(begin, config.steps):
        games = play(process, config.seed, step * config.games, config.games)
        rng = torch.Generator().manual_seed(config.seed * 1_000_003 + step)
        at = (torch.rand(config.games, config.targets, generator=rng) * games.lengths.unsqueeze(1)).long()
        mean = loss(model, games, at).mean()
        adam.zero_grad(set_to_none=True)
        mean.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        fall.step()
        done = step + 1
        if done % config.save_every == 0 or done == config.steps:
            held = {"model": model.state_dict(), "adam": adam.state_dict(), "fall": fall.state_dict(), "step": done}
            draft = state.with_suffix(".part")
            torch.save(held, draft)
            draft.replace(state)
        yield {"step": done, "loss": float(mean.detach())}
    save(model, config, config.out / "model.safetensors")


def save(model: Seq2Seq, config: Config, file: Path) -> None:
    """The network with what it was trained on, as one file."""
    metadata = {"trickformer_belief": config.model_dump_json(exclude={"out"})}
    weights = {name: w.detach().contiguous() for name, w in model.weights().items()}
    draft = file.with_suffix(".part")
    save_file(weights, draft, metadata)
    draft.replace(file)


def load(file: Path) -> tuple[Seq2Seq, Config]:
    """A network and what it was trained on. Raises TrickformerError on a file that is none."""
    try:
        with safe_open(file, "pt") as held:
            config = Config.model_validate(json.loads((held.metadata() or {})["trickformer_belief"]))
            weights = {name: held.get_tensor(name) for name in held.keys()}
    except (OSError, KeyError, ValueError) as e:
        raise TrickformerError(f"{file} is no belief network of trickformer: {str(e).splitlines()[0]}") from None
    model = Seq2Seq(config.shape())
    model.set_weights(weights)
    return model, config
