"""Level below a level of off-belief learning: its checkpoint, its games, and the belief network trained on them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import torch

from trickformer import _core, checkpoints
from trickformer.base import TrickformerError, UnknownNameError
from trickformer.belief.hanabi.learned import CardConstraints, GameSequences, Seq2Seq
from trickformer.belief.learner import Learner, open_log, plot_loss, read_step_count
from trickformer.models.decide import draw
from trickformer.models.hanabi_values import CONFIG, WEIGHTS, HanabiCheckpoint, load, probabilities
from trickformer.models.torch_backend import usable
from trickformer.plumbing.digests import sha256
from trickformer.plumbing.files import make_folder
from trickformer.plumbing.progress import progress
from trickformer.plumbing.training import prepare_training
from trickformer.studies.belief.training import fit
from trickformer.studies.obl.hanabi.actors import explorations
from trickformer.studies.obl.hanabi.beliefs import (
    CountingTableBelief,
    ExactTableBelief,
    LearnedTableBelief,
    TableBelief,
    hand_constraints,
    hands,
    sizes_of,
)
from trickformer.studies.obl.hanabi.config import OffBeliefTraining
from trickformer.studies.obl.hanabi.partner import evaluate_level

FOLDER = "belief"  # folder of the belief network, in the run's folder
_STATE = "state.npz"
_GAMES = 1 << 61  # added to the seed, so that these games are not those of the training


def load_level(config: OffBeliefTraining, rules: _core.hanabi.Rules) -> HanabiCheckpoint | None:
    """Load the level below.

    Args:
        config: Options of the training.
        rules: Rules of the game.

    Returns:
        The checkpoint; None at level 1.

    Raises:
        TrickformerError: If the checkpoint is missing, is of another game, level or method, or does not fit the config.
    """
    if config.below is None:
        return None
    name = str(config.below)
    try:
        folder = checkpoints.find(name)
    except UnknownNameError:
        raise TrickformerError(f"--below {name} is no run folder of `trickformer obl train`; give one") from None
    checkpoint = load(folder).require_rules(rules, name)
    method, level = checkpoint.about.get("method"), checkpoint.about.get("level")
    if method != config.method or level != config.level - 1:
        kind = f"level {level}" if method == config.method else f"of the method {method}"
        raise TrickformerError(
            f"checkpoint {name} is {kind}; level {config.level} needs level {config.level - 1} of {config.method}"
        )
    sizes = checkpoint.model.sizes
    own_sizes = (config.hidden, config.layers, config.model == "lstm", config.v0, config.odds)
    sizes_below = (sizes.hidden, sizes.layers, sizes.recurrent, checkpoint.v0, sizes.odds)
    if config.warm and own_sizes != sizes_below:
        inputs = ("--v0" if checkpoint.v0 else "--no-v0") + (" --odds" if sizes.odds else " --no-odds")
        raise TrickformerError(
            f"checkpoint {name} has --model {'lstm' if sizes.recurrent else 'mlp'} --hidden {sizes.hidden} --layers "
            f"{sizes.layers} {inputs}; give the same, or --no-warm"
        )
    if config.method == "obl" and config.belief == "exact":
        hands(rules)  # raises if there are too many
        if checkpoint.temperature == config.slip == 0:
            raise TrickformerError(
                f"checkpoint {name} always takes the best action, which makes most hands impossible; "
                "give --slip above 0, such as 0.05"
            )
    checkpoint.model.to(usable(config.device))
    return checkpoint


def resolve_paths(config: OffBeliefTraining) -> OffBeliefTraining:
    """Return a config whose path of the level below is absolute, so that its run continues from any folder.

    Args:
        config: Options of the training. `below` may name a shipped network, which stays as it is.
    """
    below = config.below and Path(checkpoints.absolute(str(config.below)))
    return config.model_copy(update={"below": below})


def digests(config: OffBeliefTraining) -> dict[str, str]:
    """Compute the SHA-256 of the files of the level below, by name.

    Args:
        config: Options of the training.

    Returns:
        Digests in hexadecimal; empty at level 1.
    """
    if config.below is None:
        return {}
    name = str(config.below)
    return sha256({f"{name}/{file}": checkpoints.find(name) / file for file in (CONFIG, WEIGHTS)})


@torch.no_grad()
def _play_games(below: HanabiCheckpoint, config: OffBeliefTraining, first: int, n: int) -> GameSequences:
    """Play n games of the level below from number `first` on, and record each as one random seat observes it.

    This viewer also explores, as seats do in the training. Exploration does not distort the belief about the viewer's
    hand: the viewer does not see the hand, so its moves carry no information about it.
    """
    rules = below.rules
    tables = _core.hanabi.Tables(rules, config.seed + _GAMES, first, n)
    rng = np.random.default_rng([config.seed, 4, first])
    viewer = rng.integers(rules.players, size=n)
    rates = explorations(config)
    viewer_rates = rates[rng.integers(len(rates), size=n)]
    memory, rows = below.model.memory(n * rules.players), np.arange(n)
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    constraints: list[CardConstraints] = []
    lengths = np.zeros(n, dtype=np.int64)
    while not (over := tables.over()).all():
        steps.append((tables.observe(viewer.astype(np.int8)) != 0, tables.hands()[rows, viewer]))
        constraints.append(hand_constraints(tables, torch.device("cpu"))[rows * rules.players + viewer])
        lengths += ~over
        turn = np.maximum(tables.current(), 0)
        q, memory = evaluate_level(below, tables, memory)
        legal = torch.from_numpy(tables.legal()).to(q.device)
        random_share = np.where(turn == viewer, viewer_rates, config.slip)[:, None]
        policy = probabilities(q, legal, below.temperature).cpu().numpy().astype(np.float64)
        mask = legal.cpu().numpy()
        policy = (1 - random_share) * policy + random_share * mask / mask.sum(axis=1, keepdims=True).clip(min=1)
        tables.step(draw(policy, rng.random(n)).astype(np.int64))
    emission, cards = (np.stack(column) for column in zip(*steps))
    zeros = torch.zeros(len(emission), n, dtype=torch.int64)
    return GameSequences(
        emission=torch.from_numpy(emission),
        control=zeros - 1,  # none; the LSTM reads neither controls nor tokens
        tokens=zeros[:0].T,
        ends=zeros,
        cards=torch.from_numpy(cards.astype(np.int64)),
        known=CardConstraints(
            *(torch.stack([getattr(c, f.name) for c in constraints]) for f in fields(CardConstraints))
        ),
        lengths=torch.from_numpy(lengths),
    )


def train_network(below: HanabiCheckpoint, config: OffBeliefTraining) -> Seq2Seq:
    """Train the belief network in the run's folder, with progress, from the last saved state on.

    If the training is complete, the network is that of the last state.

    Args:
        below: Checkpoint of the level below.
        config: Options of the training.

    Returns:
        The network, without gradients.

    Raises:
        TrickformerError: If the saved state is broken.
    """
    prepare_training(config.threads)
    torch.manual_seed(config.seed)
    model = Seq2Seq(sizes_of(below.rules, config.belief_hidden, config.belief_layers)).to(usable(config.device))
    out = config.out / FOLDER
    make_folder(out)
    # The last state holds the trained network and is checked for damage, so a resumed run needs no other file of it.
    _train(below, config, model, out)
    return model.requires_grad_(False)


def belief_of(below: HanabiCheckpoint | None, config: OffBeliefTraining, rules: _core.hanabi.Rules) -> TableBelief:
    """Return the belief by which a run imagines hands. If it needs a belief network, this may train one first.

    Args:
        below: Checkpoint of the level below; None at level 1.
        config: Options of the training.
        rules: Rules of the game.
    """
    if below is None or config.method != "obl":
        return CountingTableBelief()
    if config.belief == "exact":
        return ExactTableBelief(rules, config.tables, below, config.slip)
    return LearnedTableBelief(rules, config.tables, train_network(below, config))


def _train(below: HanabiCheckpoint, config: OffBeliefTraining, model: Seq2Seq, out: Path) -> None:
    learner = Learner(
        model,
        config.belief_rate,
        config.belief_steps,
        out / _STATE,
        clip=config.belief_clip,
        fall=config.belief_fall,
        adam_epsilon=config.belief_adam_epsilon,
    )
    begin, n = read_step_count(out / _STATE), config.belief_games
    with progress("obl train, belief", "steps", begin, config.belief_steps) as advance, open_log(out, begin) as log:
        for record in fit(
            model,
            learner,
            lambda step: _play_games(below, config, step * n, n),
            config.seed,
            config.belief_targets,
            config.belief_steps,
            config.save_every,
        ):
            log.append(record)
            advance()
    plot_loss(out)
