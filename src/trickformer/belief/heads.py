"""A belief head: where the cards lie that a seat does not see, read off the hidden state of a trained transformer.

From the trunk's final hidden state after what a seat has seen, a layer of rectified units and a linear one give log
odds of each place for each card. The samplers of the card games draw worlds in proportion to the product of the odds,
under all that the view rules out (trickformer.belief.samplers), so what a head says is taken on top of counting, not
instead: a head that says nothing is the uniform belief.

After Solinas, Rebstock & Buro, "Improving Search with Supervised Learning in Trick-Based Card Games" (2019), where a
network tells the location of each card and a world weighs the product; here worlds are drawn by it exactly, and it is
learned as the likelihood of whole worlds. Importing this module imports neither torch nor transformers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trickformer import checkpoints, tokenizers
from trickformer.base import Game, Tokenizer, TrickformerError, UnknownNameError, View
from trickformer.belief.samplers import MAX_LOG_ODDS, PLACES, CardBelief, sampler
from trickformer.models.backend import Backend, load_backend
from trickformer.models.weights import read_safetensors
from trickformer.plumbing.text import json_object

FILE = "belief.safetensors"  # in the folder of a checkpoint or of a run
METADATA = "trickformer_head"


@dataclass(frozen=True, slots=True)
class Trunk:
    """The transformer that a head reads."""

    name: str  # of a shipped checkpoint, or the folder
    digest: str  # SHA-256 of its weights
    backend: Backend
    tokenizer: Tokenizer

    def states(self, views: Sequence[View]) -> np.ndarray:
        """float32 [n, width]: the final hidden state after all that each seat has seen."""
        tokens = [self.tokenizer.encode(view) for view in views]
        lengths = np.array([len(t) for t in tokens], dtype=np.int32)
        features = None
        if self.backend.n_features:
            features = np.concatenate([tokenizers.features_of(self.tokenizer, t) for t in tokens])
        nodes = self.backend.extend(np.full(len(views), -1, dtype=np.int32), np.concatenate(tokens), lengths, features)
        states = self.backend.hidden_states(nodes[np.cumsum(lengths) - 1])
        self.backend.release(nodes)
        return states


class Head:
    """Log odds of where each card lies; callable as the samplers want it. `weights` holds its tensors by name."""

    def __init__(self, trunk: Trunk, weights: Mapping[str, np.ndarray]):
        """weights: as `shapes` has them, float32."""
        self.trunk = trunk
        self.weights = weights

    def __call__(self, views: Sequence[View]) -> np.ndarray:
        """float64 [n, cards, PLACES]."""
        return self.of_states(self.trunk.states(views))

    def of_states(self, states: np.ndarray) -> np.ndarray:
        """float64 [n, cards, PLACES], of float32 [n, width]."""
        w = self.weights
        # Row by row, so that what is said of one view does not depend on the others, to the last bit.
        hidden = np.maximum(states[:, None] @ w["hidden.weight"].T + w["hidden.bias"], 0)
        out = hidden @ w["out.weight"].T + w["out.bias"]
        odds = MAX_LOG_ODDS * np.tanh(out.astype(np.float64) / MAX_LOG_ODDS)
        return odds.reshape(len(states), -1, PLACES)


def shapes(width: int, hidden: int, cards: int) -> dict[str, tuple[int, ...]]:
    """The tensors of a head by name."""
    return {
        "hidden.weight": (hidden, width),
        "hidden.bias": (hidden,),
        "out.weight": (cards * PLACES, hidden),
        "out.bias": (cards * PLACES,),
    }


def cards(game: Game) -> int:
    """The number of cards that a head of the game speaks of. Raises TrickformerError where the game's sampler takes no
    odds."""
    belief = sampler(game)
    if not isinstance(belief, CardBelief):
        raise TrickformerError(f"there are no belief heads of {game.name}: its sampler takes no odds")
    return belief.cards


def trunk(checkpoint: str, game: Game) -> Trunk:
    """The transformer of a checkpoint. Raises TrickformerError where there is none, it is of another game, or the
    samplers of the game take no odds."""
    cards(game)
    folder, tokenizer = checkpoints.find(checkpoint), tokenizers.make(game)
    checkpoints.check(folder, game, tokenizer)
    backend = load_backend(folder, game.outcomes)
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    name = checkpoint if checkpoint in checkpoints.names() else str(folder.resolve())
    return Trunk(name, digest, backend, tokenizer)


def load(name: str, game: Game) -> Head:
    """The head of a shipped checkpoint, or one on disk: its file, or the folder of a run or checkpoint with one.

    Raises UnknownNameError where there is none, TrickformerError where it is damaged, of another game, or its trunk is
    missing or another."""
    file = _find(name)
    about = _about(file)
    beside = (file.parent / "config.json").is_file()
    read = trunk(str(file.parent) if beside else about["checkpoint"], game)
    if read.digest != about["weights"]:
        raise TrickformerError(f"{file} was trained on other weights of {read.name}; train it again on these")
    tensors = read_safetensors(file)
    hidden = tensors["hidden.bias"].size if "hidden.bias" in tensors else 0
    wanted = shapes(read.backend.width, hidden, cards(game))
    if {name: t.shape for name, t in tensors.items()} != wanted:
        raise TrickformerError(f"{file} holds no belief head of {game.name} for {read.name}: its shapes are others")
    return Head(read, tensors)


def head_checkpoints() -> tuple[str, ...]:
    """The shipped checkpoints that have a head."""
    return tuple(name for name in checkpoints.names() if (checkpoints.find(name) / FILE).is_file())


def _find(name: str) -> Path:
    path = checkpoints.find(name) if name in checkpoints.names() else Path(name)
    for file in (path / FILE, path):
        if file.is_file():
            return file
    raise UnknownNameError("belief", name, ("uniform", *head_checkpoints(), f"a folder with {FILE}"))


def _about(file: Path) -> dict[str, str]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "np") as held:
            about = json_object((held.metadata() or {})[METADATA])
        return {"checkpoint": str(about["checkpoint"]), "weights": str(about["weights"])}
    except (OSError, KeyError, TypeError, ValueError, SafetensorError):
        raise TrickformerError(
            f"{file} is no belief head of trickformer; make one by `trickformer belief head`"
        ) from None
