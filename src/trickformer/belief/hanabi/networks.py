"""Belief networks of Hanabi as files: what each was trained on stands in it."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.belief.hanabi.config import VARIANTS, BeliefTraining, Evaluation
from trickformer.belief.hanabi.learned import Seq2Seq, Seq2SeqSizes
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.belief.hanabi.seat_tokens import initial_embeddings
from trickformer.belief.hanabi.transformer import Transformer
from trickformer.models.weights import must_be_finite
from trickformer.plumbing.files import whole
from trickformer.plumbing.text import from_json

NETWORK = "model.safetensors"  # file of a run
BeliefNetwork: TypeAlias = Seq2Seq | Transformer


def process_of(config: BeliefTraining | Evaluation) -> HanabiProcess:
    """The system that a network learns, or whose beliefs are judged."""
    rules = _core.hanabi.Rules(**VARIANTS[config.variant])
    if len(config.players) != rules.players:
        raise TrickformerError(f"players: {rules.players} names, one a seat, not {len(config.players)}")
    return HanabiProcess(rules, Form(config.form), config.players, config.seat)


def network_of(config: BeliefTraining) -> BeliefNetwork:
    """A network with fresh weights from torch's generator."""
    p = process_of(config)
    shape = Seq2SeqSizes(p.features, p.controls, p.slots, p.rules.kinds, p.traits, p.told, config.hidden, config.layers)
    return Seq2Seq(shape) if config.model == "lstm" else Transformer(shape, *initial_embeddings(p), config.heads)


def save(model: BeliefNetwork, config: BeliefTraining, file: Path) -> None:
    """The network with what it was trained on, as one file."""
    metadata = {"trickformer_belief": config.model_dump_json(exclude={"out", "device"})}
    weights = {name: w.detach().cpu().contiguous() for name, w in model.weights().items()}
    with whole(file) as draft:
        save_file(weights, draft, metadata)


def file_of(path: Path) -> Path:
    """The file of a network; of a run's folder the one in it."""
    return path / NETWORK if path.is_dir() else path


def load(file: Path) -> tuple[BeliefNetwork, BeliefTraining]:
    """A network and what it was trained on; of a run's folder the one in it. Raises TrickformerError on a file that is
    none."""
    file = file_of(file)
    try:
        with safe_open(file, "pt") as held:
            config = BeliefTraining.model_validate(from_json((held.metadata() or {})["trickformer_belief"]))
            weights = {name: held.get_tensor(name) for name in held.keys()}  # noqa: SIM118 (no mapping)
        # Each layer has more weights than that. The config may be a stranger's, and ask for more memory than there is.
        if config.layers * config.hidden**2 > sum(w.numel() for w in weights.values()):
            raise ValueError("its weights are too few for its config")
        model = network_of(config)
        model.set_weights(weights)
    except (OSError, KeyError, ValueError, SafetensorError) as e:
        raise TrickformerError(f"{file} is no belief network of trickformer: {str(e).splitlines()[0]}") from None
    must_be_finite({name: w.float().numpy() for name, w in weights.items()}, str(file))
    return model, config


def trained_for(file: Path, form: str, variant: str, seat: int) -> tuple[BeliefNetwork, BeliefTraining]:
    """The network of a file, which must have been trained for this system, and what it was trained on. Raises
    TrickformerError where it was not."""
    model, trained = load(file)
    # A network that reads what everybody sees, and no control, serves the forms hmm and fosg alike.
    pomdp = "pomdp" in (trained.form, form)
    if trained.variant != variant or (pomdp and trained.form != form):
        raise TrickformerError(
            f"{file} was trained for {trained.form} on {trained.variant}, not for {form} on {variant}"
        )
    if pomdp and trained.seat != seat:
        raise TrickformerError(f"{file} was trained for seat {trained.seat}, not for seat {seat}")
    return model, trained
