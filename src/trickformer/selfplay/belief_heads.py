"""Trains a belief head (trickformer.belief.heads) on a stream of fresh hands, and judges it on hands not seen before.

What is minimized is the mean over positions of -log P per hidden card, P being the probability with which the hidden
cards are laid as they lie: the product of the odds under the constraints of the view, normalized. Its gradient with
respect to the log odds is the marginal probability of each place less 1 for the place where the card lies; the samplers
give both exactly. The trunk stays as it is."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from trickformer import games, players
from trickformer.base import Game, View
from trickformer.belief import heads, sampler
from trickformer.belief.heads import Trunk
from trickformer.belief.learner import Learner, curve, log_of, read_step_count
from trickformer.belief.samplers import MAX_LOG_ODDS, PLACES, CardBelief
from trickformer.plumbing.files import replace, whole
from trickformer.plumbing.folder import RESULT, RunFolder, build, resumable
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import Report
from trickformer.plumbing.text import to_json
from trickformer.selfplay.generate import play_hands
from trickformer.selfplay.head_config import HeadTraining

STATE = "state.npz"  # in the folder of a run
_PIECE = 16  # held-out hands that are played in step


@dataclass(frozen=True, slots=True)
class HeldOutDecision:
    """A decision of a hand, and what the seat on turn did not see."""

    hand: int
    view: View
    seat: Any  # the core's form of the view
    hidden: np.ndarray  # int16 [1, H]
    places: np.ndarray  # int8 [cards]
    histories: int  # hidden ones for each laying of the cards: what is not asked of a head

    def loss(self, deals: Any) -> float:
        """-log P of how the cards lie, by a sampler of the view, per open card in nats."""
        return -(deals.log_prob(self.hidden)[0] + math.log(self.histories)) / (self.places >= 0).sum()


def positions(game: Game, config: HeadTraining, first: int, n: int) -> list[HeldOutDecision]:
    """Decisions of the hands `first` .. `first` + n of the series, with two legal actions or more and a card whose
    place the view leaves open: config.positions of each hand, all where they are fewer."""
    belief = sampler(game)
    assert isinstance(belief, CardBelief)
    found: list[HeldOutDecision] = []
    for record in play_hands(game, config.players, config.seed, first, n):
        state = game.spiel.new_initial_state()
        choices = []
        for at, action in enumerate(record.history):
            if state.current_player() >= 0 and len(state.legal_actions()) > 1:
                choices.append(at)
            state.apply_action(action)
        rng = np.random.default_rng([config.seed, record.deal])
        drawn = set(rng.permutation(choices)[: config.positions].tolist())
        state = game.spiel.new_initial_state()
        for at, action in enumerate(record.history):
            if at in drawn:
                view = game.view(state, state.current_player())
                belief.reset(view)
                truth = belief.truth(state)
                places = belief.places(truth)[0]
                if (places >= 0).any():
                    seat = belief.seat_view(view)
                    found.append(HeldOutDecision(record.deal, view, seat, truth.hidden, places, belief.histories()))
            state.apply_action(action)
    return found


class HeadNetwork(nn.Module):
    """A head that learns: begins with equal odds. Its state dict has the names and shapes of heads.shapes."""

    def __init__(self, width: int, hidden: int, cards: int):
        super().__init__()
        self.hidden = nn.Linear(width, hidden)
        self.out = nn.Linear(hidden, cards * PLACES)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """float32 [n, width] -> log odds float32 [n, cards, PLACES]."""
        out = self.out(torch.relu(self.hidden(states)))
        return (MAX_LOG_ODDS * torch.tanh(out / MAX_LOG_ODDS)).reshape(len(states), -1, PLACES)


def likelihood(
    deals: Callable[..., Any], batch: list[HeldOutDecision], log_odds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of positions and log odds float64 [n, cards, PLACES]: -log P per open card in nats, float64 [n], and its
    gradient, float64 [n, cards, PLACES]."""
    loss, gradient = np.empty(len(batch)), np.zeros_like(log_odds)
    for i, position in enumerate(batch):
        weighted = deals(position.seat, log_odds[i])
        cards = np.flatnonzero(position.places >= 0)
        loss[i] = position.loss(weighted)
        gradient[i] = weighted.marginals()
        gradient[i, cards, position.places[cards]] -= 1
        gradient[i] /= len(cards)
    return loss, gradient


def run(config: HeadTraining, game: Game, trunk: Trunk) -> Iterator[dict[str, Any]]:
    """Trains in the folder config.out, which exists, yielding {"step", "positions", "loss", "uniform"} after every
    step and before it is kept; at the end the head is there.

    A run that was stopped goes on where it last saved, to the same weights."""
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    model = HeadNetwork(trunk.backend.width, config.hidden, heads.cards(game))
    learner = Learner(model, config.learning_rate, config.steps, config.out / STATE)
    deals = _deals(game)
    for step in range(learner.resume(), config.steps):
        batch = positions(game, config, step * config.hands, config.hands)
        log_odds = model(torch.from_numpy(trunk.states([p.view for p in batch])))
        loss, gradient = likelihood(deals, batch, log_odds.detach().double().numpy())
        log_odds.backward(torch.from_numpy(gradient / len(batch)).float())
        learner.step()
        uniform = np.mean([p.loss(deals(p.seat)) for p in batch])
        yield {"step": step + 1, "positions": len(batch), "loss": float(loss.mean()), "uniform": float(uniform)}
        if (step + 1) % config.save_every == 0 or step + 1 == config.steps:
            learner.keep(step + 1)
    _save(model, config, trunk)


def _deals(game: Game) -> Callable[..., Any]:
    belief = sampler(game)
    assert isinstance(belief, CardBelief)
    return belief.deals


def _save(model: HeadNetwork, config: HeadTraining, trunk: Trunk) -> None:
    about = {
        "checkpoint": trunk.name,
        "weights": trunk.digest,
        "training": config.model_dump(mode="json", exclude={"out", "threads", "save_every"}),
        "build": build(),
    }
    weights = {name: w.detach().to(torch.bfloat16).contiguous() for name, w in model.state_dict().items()}
    with whole(config.out / heads.FILE) as draft:
        save_file(weights, draft, {heads.METADATA: json.dumps(about)})


def judge(config: HeadTraining, game: Game, head: heads.Head, first: int, n: int) -> dict[int, np.ndarray]:
    """By hand, of `first` .. `first` + n: float64 [4]: sums over positions of -log P in nats by the uniform belief and
    by the head, open cards, positions."""
    batch = positions(game, config, first, n)
    found: dict[int, np.ndarray] = {p.hand: np.zeros(4) for p in batch}
    deals = _deals(game)
    for position, log_odds in zip(batch, head([p.view for p in batch])):
        cards = (position.places >= 0).sum()
        uniform, learned = position.loss(deals(position.seat)), position.loss(deals(position.seat, log_odds))
        found[position.hand] += uniform * cards, learned * cards, cards, 1
    return found


def summary(by_hand: np.ndarray) -> dict[str, Any]:
    """Nats per open card: of a hand the ratio of its sums, means over hands and their standard errors. by_hand: float64
    [hands, 4], as `judge` has them."""
    uniform, learned = by_hand[:, 0] / by_hand[:, 2], by_hand[:, 1] / by_hand[:, 2]
    figures = {"uniform": uniform, "head": learned, "difference": learned - uniform}
    error = np.sqrt(max(len(by_hand) - 1, 1) * len(by_hand))
    return {
        "hands": len(by_hand),
        "positions": int(by_hand[:, 3].sum()),
        "cards": int(by_hand[:, 2].sum()),
        **{
            name: {"mean": float(x.mean()), "se": float(np.linalg.norm(x - x.mean()) / error)}
            for name, x in figures.items()
        },
    }


def make_report(result: dict[str, Any]) -> Report:
    """Make the report of a head's result."""
    rows = [(name, f"{result[name]['mean']:+.4f} ± {result[name]['se']:.4f}") for name in _FIGURES]
    return Report(
        result,
        f"{result['file']}: -log P of the hidden cards on {result['hands']} hands that it was not trained on, "
        f"{result['positions']:,} positions",
        [("", (("belief", "nats a card"), rows))],
        notes=["Figures are means over hands ± standard errors."],
    )


_FIGURES = ("uniform", "head", "difference")


def command(config: HeadTraining, resume: bool) -> dict[str, Any]:
    """Trains with progress in the folder config.out and judges the head; returns `summary` with the head's file.

    Raises TrickformerError on bad input, before anything is written, and Interruption on Ctrl-C."""
    game = games.load(config.game)
    trunk = heads.trunk(config.checkpoint, game)
    for spec in config.players:
        players.make(spec, game)
    file = config.out / heads.FILE
    read = {config.checkpoint: trunk.digest} | players.digests(game, config.players)
    free = ("out", "threads", "save_every")
    with (
        resumable("belief head", config, players.to_type(config)),
        RunFolder(config.out).open(config, resume=resume, free=free, files=read),
    ):
        result = _learn(config, game, trunk, file)
        replace(config.out / RESULT, to_json(result, indent=2) + "\n")
    return {"file": str(file), **result}


def _learn(config: HeadTraining, game: Game, trunk: Trunk, file: Path) -> dict[str, Any]:
    begin = read_step_count(config.out / STATE)
    with progress("belief head", "steps", begin, config.steps) as advance, log_of(config.out, begin) as log:
        for record in run(config, game, trunk):
            log.append(record)
            advance()
    curve(config.out)
    head = heads.load(str(file), game)
    by_hand: dict[int, np.ndarray] = {}
    with progress("belief head", "held-out hands", 0, config.held_out) as advance:
        for at in range(0, config.held_out, _PIECE):
            n = min(_PIECE, config.held_out - at)
            by_hand |= judge(config, game, head, config.steps * config.hands + at, n)
            advance(n)
    return summary(np.array([by_hand[hand] for hand in sorted(by_hand)]))
