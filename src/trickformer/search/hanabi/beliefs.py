"""Beliefs for searches of Hanabi: exact, or of a network. Only the latter import torch, which takes seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from trickformer import _core
from trickformer.base import Belief, TrickformerError
from trickformer.belief.hanabi.config import VARIANTS, FineTuningOptions
from trickformer.belief.hanabi.process import HanabiProcess
from trickformer.belief.samplers.hanabi import ExplainedBelief
from trickformer.games.hanabi import Hanabi, core_options
from trickformer.search.hanabi.blueprint import Blueprint
from trickformer.search.hanabi.public import PublicBelief

if TYPE_CHECKING:
    from trickformer.belief.hanabi.learned import Seq2Seq

# Makes the belief of one seat in one game. The generator seeds the belief's own randomness.
Maker: TypeAlias = Callable[[np.random.Generator], Belief]


def _load_network(
    file: Path | None, game: Hanabi, form: str, blueprint: Blueprint, seat: int, device: str, option: str
) -> Seq2Seq:
    """Load the network of a learned belief.

    Raises:
        TrickformerError: There is no network, or it was trained for another game, seat or blueprint.
    """
    if file is None:
        raise TrickformerError(f"beliefs seq2seq and bft need {option}=DIR, a run folder of `trickformer belief train`")
    from trickformer.belief.hanabi import networks
    from trickformer.belief.hanabi.learned import Seq2Seq
    from trickformer.models.torch_backend import usable
    from trickformer.plumbing.training import prepare_training

    variants = [
        name
        for name, rules in VARIANTS.items()
        if core_options(_core.hanabi.Rules(**rules)) == core_options(game.rules)
    ]
    if not variants:
        raise TrickformerError(f"belief networks are for {', '.join(VARIANTS)} of two players, not for {game.spiel}")
    model, config = networks.trained_for(file, form, variants[0], seat)
    if not isinstance(model, Seq2Seq):
        raise TrickformerError(f"{file} is a transformer; searches take the LSTMs of `trickformer belief train`")
    if set(networks.policies_of(file)) != {blueprint.identity}:
        if set(config.players) == {blueprint.name}:
            raise TrickformerError(f"{file} was trained on other weights of {blueprint.name}; train it again on these")
        players = " and ".join(config.players)
        raise TrickformerError(f"{file} was trained on {players}, not on the blueprint {blueprint.name}")
    prepare_training(threads=1)  # the sums of fine-tuning depend on the number of threads
    return model.to(usable(device))


def make_exact_belief(game: Hanabi, blueprint: Blueprint, listed: int, tries: int) -> Belief:
    """Make the exact belief of one seat.

    Args:
        game: The game; of two players if the blueprint is a network.
        blueprint: Policy that the other seats are assumed to play.
        listed: Largest number of hands that are listed. If there are more, hands are drawn.
        tries: Largest number of draws for a sample.
    """
    if isinstance(blueprint.policy, str):
        return ExplainedBelief(game, blueprint.policy, listed, tries)
    from trickformer.belief.hanabi.seat import ExactSeatBelief

    return ExactSeatBelief(game, blueprint.policy, listed, tries)


def make_network_belief(
    name: str,
    game: Hanabi,
    blueprint: Blueprint,
    seat: int,
    fine_tuning: FineTuningOptions,
    file: Path | None,
    device: str,
    option: str = "checkpoint",
) -> Maker:
    """Return a function that makes the belief of one seat by a network.

    Args:
        name: `seq2seq`, the network as trained, or `bft`, which fine-tunes it at each move.
        game: The game.
        blueprint: Policy that all seats are assumed to play.
        seat: Seat that searches.
        fine_tuning: Settings of the fine-tuning, for bft.
        file: File of the network.
        device: Torch device.
        option: Name of the player's option for the file, for messages.

    Raises:
        TrickformerError: The network does not fit.
    """
    from trickformer.belief.hanabi.estimators import BFT, Recurrent
    from trickformer.belief.hanabi.finetune import tuning
    from trickformer.belief.hanabi.seat import EstimatedBelief

    model = _load_network(file, game, "pomdp", blueprint, seat, device, option)
    players = [blueprint.policy] * game.players
    if name == "seq2seq":
        return lambda _: EstimatedBelief(game, players, lambda process: Recurrent(process, model))

    def make_fine_tuned(rng: np.random.Generator) -> Belief:
        seed = int(rng.integers(2**63))
        return EstimatedBelief(game, players, lambda process: BFT(process, model, tuning(fine_tuning), seed))

    return make_fine_tuned


def make_public_belief(
    name: str,
    game: Hanabi,
    process: HanabiProcess,
    blueprint: Blueprint,
    fine_tuning: FineTuningOptions,
    file: Path | None,
    device: str,
    exact: Callable[[], PublicBelief],
    option: str = "checkpoint",
) -> Callable[[int], PublicBelief]:
    """Return a function that makes a game's belief over both hands from a seed.

    Args:
        name: `exact`, `seq2seq` or `bft`.
        game: The game.
        process: The game's process, in the form fosg (belief/hanabi/process.py).
        blueprint: Policy that all seats are assumed to play.
        fine_tuning: Settings of the fine-tuning, for bft.
        file: File of the network.
        device: Torch device.
        exact: Makes the exact belief.
        option: Name of the player's option for the file, for messages.

    Raises:
        TrickformerError: The network does not fit.
    """
    if name == "exact":
        return lambda _: exact()
    from trickformer.belief.hanabi.estimators import BFT, Recurrent
    from trickformer.belief.hanabi.finetune import tuning

    model = _load_network(file, game, "fosg", blueprint, 0, device, option)
    if name == "seq2seq":
        return lambda _: Recurrent(process, model)
    return lambda seed: BFT(process, model, tuning(fine_tuning), seed)
