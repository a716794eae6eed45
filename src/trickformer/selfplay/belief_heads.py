"""Training of a belief head (trickformer.belief.heads) on fresh hands, and its measurement on held-out hands.

A head estimates the place (seat or skat) of each hidden card. The loss of a position is -log P / number of hidden
cards. P is the probability of the true places: the product of their odds, normalized over all places that the view
allows. The gradient with respect to the log odds is the marginal probability of each place, minus 1 for the true place.
The samplers compute both exactly. The trunk is the transformer under the head; its weights do not change.
"""

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

from trickformer import checkpoints, games, players
from trickformer.base import Game, TrickformerError, View, deal_seed
from trickformer.belief import heads, sampler
from trickformer.belief.heads import Trunk
from trickformer.belief.learner import Learner, open_log, plot_loss, read_step_count
from trickformer.belief.samplers import MAX_LOG_ODDS, PLACES, CardBelief
from trickformer.plumbing import paths
from trickformer.plumbing.files import replace, whole
from trickformer.plumbing.folder import RESULT, RunFolder, build, resumable
from trickformer.plumbing.progress import progress
from trickformer.plumbing.report import Report
from trickformer.plumbing.tables import mean_and_error, plus_minus
from trickformer.plumbing.text import to_json
from trickformer.plumbing.training import prepare_training
from trickformer.selfplay.generate import play_hands
from trickformer.selfplay.head_config import HeadTraining

STATE = "state.npz"  # weights and optimizer of an unfinished run, in its folder
_PIECE = 16  # held-out hands that are played in lockstep


@dataclass(frozen=True, slots=True)
class HeadPosition:
    """A decision that a head learns from or is measured on, and the cards that the seat on turn does not see."""

    hand: int  # number of the hand in its series
    view: View
    seat: Any  # the core's form of the view
    hidden: np.ndarray  # int16 [1, H]: the real deal in the form of the sampler's worlds
    places: np.ndarray  # int8 [cards]: true place of each card; -1 if the view shows it
    histories: int  # number of hidden histories, such as passes, that lead to each placement; all equally likely

    def loss(self, sampler: Any) -> float:
        """Compute -log P of the true places, in nats per hidden card.

        Args:
            sampler: Sampler of the view, with or without log odds.
        """
        return -(sampler.log_prob(self.hidden)[0] + math.log(self.histories)) / (self.places >= 0).sum()


def positions(game: Game, config: HeadTraining, first: int, n: int) -> list[HeadPosition]:
    """Play hands and draw decisions with two or more legal actions and at least one hidden card.

    Args:
        game: The game.
        config: Config of the run; `positions` is the largest number of decisions of a hand.
        first: Number of the first hand in the series.
        n: Number of hands.
    """
    belief = sampler(game)
    assert isinstance(belief, CardBelief)
    sample: list[HeadPosition] = []
    series = deal_seed(config.seed, 0)  # not the seed itself: matches with it must not be played on training deals
    for record in play_hands(game, config.players, series, first, n):
        state = game.spiel.new_initial_state()
        decisions = []  # numbers of moves
        for move, action in enumerate(record.history):
            if state.current_player() >= 0 and len(state.legal_actions()) > 1:
                decisions.append(move)
            state.apply_action(action)
        rng = np.random.default_rng([config.seed, record.deal])
        chosen = set(rng.permutation(decisions)[: config.positions].tolist())
        state = game.spiel.new_initial_state()
        for move, action in enumerate(record.history):
            if move in chosen:
                view = game.view(state, state.current_player())
                belief.reset(view)
                truth = belief.truth(state)
                places = belief.places(truth)[0]
                if (places >= 0).any():
                    seat = belief.seat_view(view)
                    sample.append(HeadPosition(record.deal, view, seat, truth.hidden, places, belief.histories()))
            state.apply_action(action)
    return sample


class HeadNetwork(nn.Module):
    """Network of a head, for training; all odds are equal at first.

    Its state dict has the names and shapes of `heads.shapes`.
    """

    def __init__(self, width: int, hidden: int, cards: int):
        super().__init__()
        self.hidden = nn.Linear(width, hidden)
        self.out = nn.Linear(hidden, cards * PLACES)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Compute log odds.

        Args:
            states: float32 [n, width], hidden states of the trunk.

        Returns:
            float32 [n, cards, PLACES].
        """
        raw = self.out(torch.relu(self.hidden(states)))
        # A soft limit, because the samplers accept log odds up to MAX_LOG_ODDS.
        return (MAX_LOG_ODDS * torch.tanh(raw / MAX_LOG_ODDS)).reshape(len(states), -1, PLACES)


def likelihood(
    sampler_class: Callable[..., Any], batch: list[HeadPosition], log_odds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the loss of positions and its gradient.

    Args:
        sampler_class: Makes the sampler of a view from the core's form of the view and log odds.
        batch: n positions.
        log_odds: float64 [n, cards, PLACES].

    Returns:
        -log P in nats per hidden card, float64 [n], and its gradient, float64 [n, cards, PLACES].
    """
    loss, gradient = np.empty(len(batch)), np.zeros_like(log_odds)
    for i, position in enumerate(batch):
        sampler = sampler_class(position.seat, log_odds[i])
        cards = np.flatnonzero(position.places >= 0)
        loss[i] = position.loss(sampler)
        gradient[i] = sampler.marginals()
        gradient[i, cards, position.places[cards]] -= 1
        gradient[i] /= len(cards)
    return loss, gradient


def run(config: HeadTraining, game: Game, trunk: Trunk) -> Iterator[dict[str, Any]]:
    """Train a head in the folder config.out, which exists. A run that was stopped continues to the same weights.

    Args:
        config: Config of the run.
        game: The game.
        trunk: The transformer under the head.

    Yields:
        `step`, `positions`, `loss` and `uniform`, the loss of equal odds, after every step and before its state is
        saved. The head is saved after the last step.
    """
    prepare_training(config.threads)
    torch.manual_seed(config.seed)
    model = HeadNetwork(trunk.backend.width, config.hidden, heads.cards(game))
    learner = Learner(model, config.learning_rate, config.steps, config.out / STATE)
    sampler_class = _sampler_class(game)
    for step in range(learner.resume(), config.steps):
        batch = positions(game, config, step * config.hands, config.hands)
        log_odds = model(torch.from_numpy(trunk.states([p.view for p in batch])))
        loss, gradient = likelihood(sampler_class, batch, log_odds.detach().double().numpy())
        log_odds.backward(torch.from_numpy(gradient / len(batch)).float())
        learner.step()
        uniform = np.mean([p.loss(sampler_class(p.seat)) for p in batch])
        yield {"step": step + 1, "positions": len(batch), "loss": float(loss.mean()), "uniform": float(uniform)}
        if (step + 1) % config.save_every == 0 or step + 1 == config.steps:
            learner.save(step + 1)
    _save(model, config, trunk)


def _sampler_class(game: Game) -> Callable[..., Any]:
    """Return the function that makes samplers, as `likelihood` takes it."""
    belief = sampler(game)
    assert isinstance(belief, CardBelief)
    return belief.sampler_class


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
    """Measure a head on hands.

    Args:
        config: Config of the run.
        game: The game.
        head: The head.
        first: Number of the first hand in the series.
        n: Number of hands.

    Returns:
        For each hand float64 [4], sums over its positions: -log P in nats of equal odds, -log P of the head, hidden
        cards, and positions.
    """
    batch = positions(game, config, first, n)
    sums: dict[int, np.ndarray] = {p.hand: np.zeros(4) for p in batch}
    sampler_class = _sampler_class(game)
    for position, log_odds in zip(batch, head([p.view for p in batch])):
        cards = (position.places >= 0).sum()
        uniform = position.loss(sampler_class(position.seat))
        learned = position.loss(sampler_class(position.seat, log_odds))
        sums[position.hand] += uniform * cards, learned * cards, cards, 1
    return sums


def summary(by_hand: np.ndarray) -> dict[str, Any]:
    """Summarize the measurement of a head, in nats per hidden card.

    Args:
        by_hand: float64 [hands, 4], the values of `judge`.

    Returns:
        Counts, and mean and standard error over hands of `uniform`, `head` and `difference`. The loss of a hand is
        the ratio of its sums.

    Raises:
        TrickformerError: There is no hand.
    """
    if not len(by_hand):
        raise TrickformerError("no held-out hand has a decision; give a larger --held-out")
    uniform, learned = by_hand[:, 0] / by_hand[:, 2], by_hand[:, 1] / by_hand[:, 2]
    figures = {"uniform": uniform, "head": learned, "difference": learned - uniform}
    return {
        "hands": len(by_hand),
        "positions": int(by_hand[:, 3].sum()),
        "cards": int(by_hand[:, 2].sum()),
        **{name: mean_and_error(x) for name, x in figures.items()},
    }


def make_report(result: dict[str, Any]) -> Report:
    """Make the report of a head's result.

    Args:
        result: Result of `command`.
    """
    rows = [
        (label, plus_minus(result[name], signed=name == "difference", digits=4)) for name, label in _FIGURES.items()
    ]
    return Report(
        result,
        f"{result['file']}: -log P of the hidden cards on {result['hands']} hands that it was not trained on, "
        f"{result['positions']:,} positions",
        [("", (("belief", "nats a card"), rows))],
        keys=["nats a card: cross entropy; lower is better. head minus uniform: below 0, the head is better."],
        notes=["Figures are means over hands ± standard errors."],
    )


_FIGURES = {"uniform": "uniform", "head": "head", "difference": "head minus uniform"}  # label of each figure


def command(config: HeadTraining, resume: bool) -> dict[str, Any]:
    """Train a head in the folder config.out with progress, and measure it.

    Args:
        config: Config of the run.
        resume: Whether to continue a run that was stopped.

    Returns:
        Result of `summary`, with the head's file as `file`.

    Raises:
        TrickformerError: The input is bad; nothing was written.
        Interruption: Ctrl-C.
    """
    config = _with_absolute_paths(config)
    game = games.load(config.game)
    trunk = heads.trunk(config.checkpoint, game)
    for spec in config.players:
        players.make(spec, game)
    file = config.out / heads.FILE
    files = {config.checkpoint: trunk.digest} | players.digests(game, config.players)
    free = ("out", "save_every")
    with (
        resumable("belief head", config, players.to_type(config)),
        RunFolder(config.out).open(config, resume=resume, free=free, files=files, resolve=_with_absolute_paths),
    ):
        result = _learn(config, game, trunk, file)
        replace(config.out / RESULT, to_json(result, indent=2) + "\n")
    return {"file": str(file), **result}


def _with_absolute_paths(config: HeadTraining) -> HeadTraining:
    """Copy a config with absolute paths, so that the run continues from any folder."""
    update = {
        "checkpoint": checkpoints.absolute(config.checkpoint),
        "players": [players.relocate(spec, paths.absolute) for spec in config.players],
    }
    return config.model_copy(update=update)


def _learn(config: HeadTraining, game: Game, trunk: Trunk, file: Path) -> dict[str, Any]:
    begin = read_step_count(config.out / STATE)
    with progress("belief head", "steps", begin, config.steps) as advance, open_log(config.out, begin) as log:
        for record in run(config, game, trunk):
            log.append(record)
            advance()
    plot_loss(config.out)
    head = heads.load(str(file), game)
    by_hand: dict[int, np.ndarray] = {}
    with progress("belief head", "held-out hands", 0, config.held_out) as advance:
        for at in range(0, config.held_out, _PIECE):
            n = min(_PIECE, config.held_out - at)
            by_hand |= judge(config, game, head, config.steps * config.hands + at, n)
            advance(n)
    return summary(np.array([by_hand[hand] for hand in sorted(by_hand)]))
