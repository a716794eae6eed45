"""Schedule of a run: who plays each iteration's hands (GO-MCTS paper, sections 5.2 and 6.1), and jobs to play them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from trickformer import games, players, tokenizers
from trickformer.base import Game, deal_seed
from trickformer.gomcts.options import default_options
from trickformer.models.backend import ROUNDED, Backend, instruction_sets, load_backend
from trickformer.selfplay import data as stored
from trickformer.selfplay import generate, rollout_network
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.data import Sequences
from trickformer.selfplay.train import FitOptions

_WAVE = 4  # simulations of a search that run at once; a little faster than one by one, and hardly worse


@dataclass(frozen=True)
class Job:
    """Pieces of an iteration's hands for one process."""

    config: SelfPlay
    iteration: int
    out: Path  # run folder, which must be visible to the process
    device: str  # PyTorch device
    firsts: range  # number of the first hand of each piece
    hands: int  # number of hands of the iteration


@dataclass(frozen=True)
class Piece:
    """Consecutive hands of an iteration, played in lockstep."""

    first: int  # number of the first hand
    hands: int
    data: Sequences
    points: dict[str, float]  # mean score a hand of the seats that play ArgmaxVal*, and of the other seats


def series(config: SelfPlay, iteration: int) -> int:
    """Derive the series of deals of an iteration.

    Args:
        config: Config of the run.
        iteration: The iteration.

    Returns:
        A seed, different for each iteration. A tournament is unlikely to have the same seed.
    """
    return deal_seed(config.seed, iteration)


def held_out_series(config: SelfPlay) -> int:
    """Derive the series of deals of the run's matches. No iteration uses it, because there are fewer than 2^32.

    Args:
        config: Config of the run.
    """
    return deal_seed(config.seed, 1 << 32)


def sequences_of(config: SelfPlay, iteration: int) -> int:
    """Return the number of sequences that an iteration adds to the training data.

    Args:
        config: Config of the run.
        iteration: The iteration.
    """
    return config.bootstrap_hands * config.seats_kept if iteration == 0 else config.sequences


def hands_of(config: SelfPlay, iteration: int) -> int:
    """Return the number of hands that an iteration plays.

    Args:
        config: Config of the run.
        iteration: The iteration.
    """
    keeps_several = iteration <= 1 or config.roles == "all"
    sequences = sequences_of(config, iteration) + config.held_out
    return -(-sequences // (config.seats_kept if keeps_several else 1))


def learned_from(config: SelfPlay, iteration: int) -> list[int]:
    """List the iterations whose data a model learns from.

    These are the iterations of the window whose labels have the same source as the newest ones, searches or playouts.
    Otherwise the many labels by playouts would outweigh the few by searches (docs/results/recipe.md).

    Args:
        config: Config of the run.
        iteration: Iteration of the model.
    """

    def has_search_targets(i: int) -> bool:
        return config.searches(i) if i else config.expert_iteration

    window = range(max(0, iteration + 1 - config.window), iteration + 1)
    return [i for i in window if has_search_targets(i) == has_search_targets(iteration)]


def describe_players(config: SelfPlay, iteration: int) -> str:
    """Describe who plays an iteration's hands.

    Args:
        config: Config of the run.
        iteration: The iteration.

    Returns:
        A phrase for the manifest of the data and the model card.
    """
    if iteration == 0:
        retries = f"; of every second hand up to {config.tries} deals until one succeeds" if config.tries > 1 else ""
        return "each seat one of: " + ", ".join(config.bootstrap) + retries
    newest = iteration - 1
    if iteration == 1 or config.roles == "all":
        models = f"ArgmaxVal* of model {newest} in all seats"
    else:
        low, high = pool(config, iteration)
        models = f"ArgmaxVal* of model {newest} in one seat, imitations of models {low} to {high - 1} in the others"
    if config.guests:
        models += f"; {config.guest_share:.0%} of the seats that are not kept by " + ", ".join(config.guests)
    if config.searches(iteration):
        return f"{models}; GO-MCTS for {config.search_share:.0%} of its decisions"
    anchored = config.anchor and not config.expert_iteration
    return models + (f"; in {config.anchor:.0%} of the hands as in iteration 0" if anchored else "")


def pool(config: SelfPlay, iteration: int) -> tuple[int, int]:
    """Return the models that the imitators of an iteration are drawn from.

    Args:
        config: Config of the run.
        iteration: An iteration, 2 or later.

    Returns:
        The first model, and the number after the last one.
    """
    high = iteration if config.pool_newest else iteration - 1
    return (max(0, high - config.pool) if config.pool else 0), high


def count_anchor_hands(config: SelfPlay, iteration: int, first: int, n: int) -> int:
    """Count the anchor hands of a piece: those that the bootstrap players play.

    They are the first hands of the piece; their sequences are then shuffled among the others. There are none if this
    iteration or the bootstrap hands get labels from searches. Rounding is over the whole iteration, so that the share
    of anchor hands does not depend on the size of a piece.

    Args:
        config: Config of the run.
        iteration: An iteration, 1 or later.
        first: First hand of the piece.
        n: Number of hands of the piece.
    """
    if config.searches(iteration) or config.expert_iteration:
        return 0
    return round(config.anchor * (first + n)) - round(config.anchor * first)


def roles(config: SelfPlay, iteration: int, first: int, n: int, seats: int) -> generate.Roles:
    """Draw the model or guest of each seat in the hands of a piece.

    Args:
        config: Config of the run.
        iteration: An iteration, 1 or later.
        first: First hand of the piece.
        n: Number of hands of the piece.
        seats: Number of seats of the game.
    """
    if iteration == 1 or config.roles == "all":
        model, greedy = np.full((n, seats), iteration - 1), np.ones((n, seats), dtype=bool)
        kept = generate.kept_seats(first, n, config.seats_kept, seats)
    else:
        kept = greedy = generate.kept_seats(first, n, 1, seats)
        rng = np.random.default_rng([config.seed, iteration, first])
        model = rng.integers(*pool(config, iteration), size=(n, seats))
        model[greedy] = iteration - 1
    if config.guests:
        rng = np.random.default_rng([config.seed, iteration, first, 1])
        is_guest = (rng.random((n, seats)) < config.guest_share) & ~kept
        model = np.where(is_guest, -1 - rng.integers(len(config.guests), size=(n, seats)), model)
        greedy = greedy & ~is_guest
    return generate.Roles(model, greedy, kept)


def rollout_network_file(out: Path, iteration: int) -> Path:
    """Return the file of the rollout network that was trained with an iteration's model.

    Args:
        out: Run folder.
        iteration: The iteration.
    """
    return out / "quick" / f"{iteration}.safetensors"


def first_rollout_network(config: SelfPlay) -> float:
    """Return the first iteration that trains a rollout network. It is the first iteration with labels.

    Args:
        config: Config of the run.

    Returns:
        The iteration; infinity if none trains one.
    """
    if not config.rollout_network:
        return math.inf
    return 0 if config.bootstrap_hands else 1


def labels_of(config: SelfPlay, out: Path, iteration: int) -> generate.Labels:
    """Return the options of labels by playouts in an iteration; none if searches give the labels.

    Args:
        config: Config of the run.
        out: Run folder; the rollout network is read from it.
        iteration: The iteration.
    """
    if config.searches(iteration):
        return generate.NO_LABELS
    net = None
    if iteration > first_rollout_network(config):
        net = rollout_network.load(rollout_network_file(out, iteration - 1))
    return generate.Labels(config.label_share, config.label_playouts, net, worlds=config.label_worlds)


def rounded_instruction_set(config: SelfPlay) -> str | None:
    """Return the instruction set with which models play hands on this CPU in bfloat16; None if they play in float32.

    Args:
        config: Config of the run.
    """
    rounded = [isa for isa in instruction_sets("bfloat16") if isa in ROUNDED]
    return rounded[-1] if config.rounded and rounded else None


def _load_model(job: Job, game: Game, model: Path) -> Backend:
    values = game.outcomes
    if job.device != "cpu":
        return load_backend(model, values, device=job.device)
    if (isa := rounded_instruction_set(job.config)) is not None:
        return load_backend(model, values, isa=isa)
    # With hundreds of hands in lockstep, arithmetic is the bottleneck, not memory. So float32 weights, which need no
    # conversion, are faster than smaller ones.
    return load_backend(model, values, "float32")


def play_pieces(job: Job) -> Iterator[Piece]:
    """Play the pieces of a job, one after the other.

    Args:
        job: The job. A piece depends only on the config, the models and the number of its first hand.

    Yields:
        The pieces, in order.
    """
    config, iteration = job.config, job.iteration
    game = games.load(config.game)
    deals = series(config, iteration)
    labels = labels_of(config, job.out, iteration)

    def bootstrap(first: int, n: int, n_kept: int) -> Sequences:
        return generate.cast_hands(
            game,
            config.bootstrap,
            deals,
            first,
            n,
            n_kept,
            tries=config.tries,
            noise=config.noise,
            labels=replace(labels, from_search=config.expert_iteration),
        )

    if iteration == 0:
        for first in job.firsts:
            n = min(config.tables, job.hands - first)
            data = bootstrap(first, n, config.seats_kept)
            yield Piece(first, n, data, {})
        return
    newest_only = iteration == 1 or config.roles == "all"
    n_kept = config.seats_kept if newest_only else 1
    low = iteration - 1 if newest_only else pool(config, iteration)[0]  # the earliest model that plays
    backends = [_load_model(job, game, job.out / f"model-{i}") for i in range(low, iteration)]
    guests = [players.make(spec, game) for spec in config.guests]
    searches = None
    if config.searches(iteration):
        newest, overrides = backends[-1], {"runs": config.search_runs, "wave": _WAVE}
        options = default_options(
            game, masked=newest.has_masked_policy, action_values=newest.has_action_values, overrides=overrides
        )
        searches = generate.Searches(config.search_share, options)
    for first in job.firsts:
        n = min(config.tables, job.hands - first)
        anchors = count_anchor_hands(config, iteration, first, n)
        begin, end = first + anchors, first + n
        parts, points = [], {}
        if begin < end:
            seats = roles(config, iteration, begin, end - begin, game.players)
            backend_index = np.where(seats.model < 0, seats.model, seats.model - low)
            data, scores = generate.model_hands(
                game,
                backends,
                replace(seats, model=backend_index),
                deals,
                begin,
                threshold=config.threshold,
                noise=config.noise,
                labels=labels,
                searches=searches,
                guests=guests,
            )
            points["greedy_points"] = float(scores[seats.greedy].mean())
            if not seats.greedy.all():
                points["other_points"] = float(scores[~seats.greedy].mean())
            parts.append(data)
        if anchors:
            parts.append(bootstrap(first, anchors, n_kept))
        data = stored.join(*parts)
        if len(parts) > 1:
            data = data[_shuffle_rows(config, iteration, first, n, n_kept)]
        yield Piece(first, n, data, points)


def _shuffle_rows(config: SelfPlay, iteration: int, first: int, n: int, n_kept: int) -> np.ndarray:
    """Draw an order of n hands with `n_kept` sequences each: int64 [n * n_kept], the sequences of a hand adjacent.

    The last sequences of an iteration are held out. They must have the same share of anchor hands as the training data.
    """
    hands = np.random.default_rng([config.seed, iteration, first, n]).permutation(n)
    return (hands[:, None] * n_kept + np.arange(n_kept)).ravel()


def fit_options(config: SelfPlay, iteration: int) -> FitOptions:
    """Return the options for the training of an iteration's model.

    Args:
        config: Config of the run.
        iteration: The iteration.
    """
    return FitOptions(
        epochs=config.epochs if iteration else config.bootstrap_epochs,
        batch_size=config.batch_size,
        learning_rate=config.bootstrap_learning_rate if iteration == 0 else config.learning_rate,
        # `muon` is the rate of model 0. It changes for later models by the same factor as AdamW's rate.
        muon=config.muon * (1 if iteration == 0 else config.learning_rate / config.bootstrap_learning_rate),
        policy_weight=config.policy_weight,
        action_weight=config.action_weight,
        bucket=config.bucket,
        augment=tokenizers.bulk(games.load(config.game)) if config.augment else None,
        value_positions=config.value_positions or None,
        save_every=config.save_every,
    )
