"""Reading and writing of Hanabi's belief networks. Their files contain the config of the training too."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.belief.hanabi.config import VARIANTS, BeliefTraining
from trickformer.belief.hanabi.learned import Seq2Seq, Seq2SeqSizes
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.belief.hanabi.seat_tokens import initial_embeddings
from trickformer.belief.hanabi.transformer import Transformer
from trickformer.models.weights import must_be_finite
from trickformer.plumbing.files import whole
from trickformer.plumbing.text import json_object, to_json

# The file's metadata has one entry: a JSON object of the config, with the policies under this key. Safetensors writes
# several entries in random order, so a run that is resumed after its end would change the bytes of the file.
_METADATA, _POLICIES = "trickformer_belief", "policies"
NETWORK = "model.safetensors"  # file of the network in the folder of a run
BeliefNetwork: TypeAlias = Seq2Seq | Transformer


def network_of(config: BeliefTraining) -> BeliefNetwork:
    """Return a new network, with random weights from PyTorch's global generator.

    Args:
        config: Config of the training.
    """
    rules = _core.hanabi.Rules(**VARIANTS[config.variant])
    names = [_core.hanabi.BOTS[0]] * rules.players  # any player will do, because nobody moves
    process = HanabiProcess(rules, Form(config.form), names, config.seat)
    sizes = Seq2SeqSizes(
        features=process.features,
        controls=process.controls,
        slots=process.slots,
        kinds=process.rules.kinds,
        traits=process.traits,
        hint_bits=process.hint_bits,
        hidden=config.hidden,
        layers=config.layers,
    )
    return Seq2Seq(sizes) if config.model == "lstm" else Transformer(sizes, *initial_embeddings(process), config.heads)


def save(model: BeliefNetwork, config: BeliefTraining, policies: list[str], file: Path) -> None:
    """Write a network, the config of its training and the policies that it knows to one file.

    Args:
        model: The network.
        config: Config of its training.
        policies: `HanabiProcess.identities` of the training.
        file: Path of the file.

    Raises:
        TrickformerError: The disk refuses, or a weight is infinite or not a number.
    """
    about = config.model_dump(mode="json", exclude={"out", "device"}) | {_POLICIES: policies}
    weights = {name: w.detach().cpu().contiguous() for name, w in model.weights().items()}
    must_be_finite({name: w.float().numpy() for name, w in weights.items()}, str(file))
    with whole(file) as draft:
        save_file(weights, draft, {_METADATA: to_json(about)})


def file_of(path: Path) -> Path:
    """Return the file of a network.

    Args:
        path: The file, or the folder of the run.
    """
    return path / NETWORK if path.is_dir() else path


def load(file: Path) -> tuple[BeliefNetwork, BeliefTraining]:
    """Load a network and the config of its training.

    Args:
        file: The file, or the folder of the run.

    Raises:
        TrickformerError: The file is missing or damaged, or holds no belief network.
    """
    file = file_of(file)
    try:
        with safe_open(file, "pt") as tensors:
            config = _read_training(tensors, file)
            weights = {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118 (no mapping)
        # A lower bound of the number of weights. Without this check, a file from elsewhere with a wrong config could
        # make `network_of` allocate more memory than the machine has.
        if config.layers * config.hidden**2 > sum(w.numel() for w in weights.values()):
            raise ValueError("its weights are too few for its config")
        model = network_of(config)
        model.set_weights(weights)
    except (OSError, KeyError, ValueError, SafetensorError) as e:
        raise TrickformerError(f"{file} is no belief network of trickformer: {str(e).splitlines()[0]}") from None
    must_be_finite({name: w.float().numpy() for name, w in weights.items()}, str(file))
    return model, config


def training_of(file: Path) -> BeliefTraining:
    """Read the config of the training of a network, without its weights.

    Args:
        file: The file, or the folder of the run; it holds a network that `load` has read.
    """
    file = file_of(file)
    with safe_open(file, "pt") as tensors:
        return _read_training(tensors, file)


def policies_of(file: Path) -> list[str]:
    """Read which policies of the seats a network was trained on, as `HanabiProcess.identities` returns them.

    Args:
        file: The file, or the folder of the run; it holds a network that `load` has read.

    Raises:
        TrickformerError: The entry is damaged.
    """
    file = file_of(file)
    with safe_open(file, "pt") as tensors:
        about = _read_metadata(tensors, file)
        if _POLICIES not in about:  # versions before 0.3.0 knew scripts alone, which the config names
            return _read_training(tensors, file).players
    policies = about[_POLICIES]
    if not isinstance(policies, list) or not all(isinstance(policy, str) for policy in policies):
        raise TrickformerError(f"{file} is damaged: it does not name the policies of its training")
    return policies


def _read_training(tensors: safe_open, file: Path) -> BeliefTraining:
    about = _read_metadata(tensors, file)
    about.pop(_POLICIES, None)
    return BeliefTraining.model_validate(about, context={"stored": about.keys()})


def _read_metadata(tensors: safe_open, file: Path) -> dict[str, Any]:
    about = (tensors.metadata() or {}).get(_METADATA)
    if about is None:
        raise TrickformerError(f"{file} is no belief network; give a run folder of `trickformer belief train`")
    return json_object(about)


def trained_for(file: Path, form: str, variant: str, seat: int) -> tuple[BeliefNetwork, BeliefTraining]:
    """Load a network that must have been trained for a system, and the config of its training.

    Args:
        file: The file, or the folder of the run.
        form: Form of the system.
        variant: Variant of Hanabi.
        seat: Observing seat in a pomdp.

    Raises:
        TrickformerError: There is no network, or it was trained for another system.
    """
    model, config = load(file)
    # Networks of the forms hmm and fosg read the same inputs, public observations, so either serves both forms.
    is_pomdp = "pomdp" in (config.form, form)
    if config.variant != variant or (is_pomdp and config.form != form):
        raise TrickformerError(f"{file} was trained for {config.form} on {config.variant}, not for {form} on {variant}")
    if is_pomdp and config.seat != seat:
        raise TrickformerError(f"{file} was trained for seat {config.seat}, not for seat {seat}")
    return model, config
