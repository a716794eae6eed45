"""Belief heads: small networks that predict where the hidden cards lie, from the hidden state of a trained transformer.

A head reads the final hidden state of the transformer (its trunk) after the last token that a seat has seen. A ReLU
layer and a linear layer give the log-odds that each card lies at each place. The samplers of the card games draw the
worlds that are consistent with the view, with probability proportional to the product of the odds
(trickformer.belief.samplers). If all odds are equal, the belief is uniform.

The idea is from Solinas, Rebstock & Buro, "Improving Search with Supervised Learning in Trick-Based Card Games" (2019),
whose network predicts the location of each card and whose world weights are such products. Here worlds are sampled
exactly from the normalized product, and training maximizes the likelihood of whole worlds. This module needs neither
torch nor transformers.
"""

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

FILE = "belief.safetensors"  # file of a head in the folder of a checkpoint or of a run
METADATA = "trickformer_head"  # key of that file's metadata; the value is a JSON text with the trunk's name and digest


@dataclass(frozen=True, slots=True)
class Trunk:
    """The transformer whose hidden state a head reads."""

    name: str  # name of a shipped checkpoint, or path of a checkpoint's folder
    digest: str  # SHA-256 of the file of its weights
    backend: Backend
    tokenizer: Tokenizer

    def states(self, views: Sequence[View]) -> np.ndarray:
        """Compute the final hidden state after all that each seat has seen.

        Args:
            views: Views of seats.

        Returns:
            float32 [n, width].
        """
        tokens = [self.tokenizer.encode(view) for view in views]
        lengths = np.array([len(t) for t in tokens], dtype=np.int32)
        features = None
        if self.backend.n_features:
            features = np.concatenate([tokenizers.features_of(self.tokenizer, t) for t in tokens])
        starts = np.full(len(views), -1, dtype=np.int32)  # -1: each sequence starts at the root
        nodes = self.backend.extend(starts, np.concatenate(tokens), lengths, features)
        states = self.backend.hidden_states(nodes[np.cumsum(lengths) - 1])
        self.backend.release(nodes)
        return states


class Head:
    """A trunk and the weights of a head; calling it gives the log-odds that the samplers expect (`base.LogOdds`)."""

    def __init__(self, trunk: Trunk, weights: Mapping[str, np.ndarray]):
        """Combine a trunk and the tensors of a head.

        Args:
            trunk: The transformer whose hidden state the head reads.
            weights: Tensors by name, float32, with the sizes of `shapes`.
        """
        self.trunk = trunk
        self.weights = weights

    def __call__(self, views: Sequence[View]) -> np.ndarray:
        """Return the log-odds of each card's place for each view, float64 [n, cards, PLACES]."""
        return self._log_odds(self.trunk.states(views))

    def _log_odds(self, states: np.ndarray) -> np.ndarray:
        """Return float64 [n, cards, PLACES] for hidden states, float32 [n, width]."""
        w = self.weights
        # The extra axis multiplies row by row. So the result of one view is bit for bit independent of other views.
        hidden = np.maximum(states[:, None] @ w["hidden.weight"].T + w["hidden.bias"], 0)
        out = hidden @ w["out.weight"].T + w["out.bias"]
        log_odds = MAX_LOG_ODDS * np.tanh(out.astype(np.float64) / MAX_LOG_ODDS)  # a smooth bound
        return log_odds.reshape(len(states), -1, PLACES)


def shapes(width: int, hidden: int, cards: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a head's tensors by name.

    Args:
        width: Size of the trunk's hidden state.
        hidden: Number of ReLU units.
        cards: Number of cards in the deck.
    """
    return {
        "hidden.weight": (hidden, width),
        "hidden.bias": (hidden,),
        "out.weight": (cards * PLACES, hidden),
        "out.bias": (cards * PLACES,),
    }


def cards(game: Game) -> int:
    """Return the number of cards that a head of a game covers.

    Args:
        game: The game.

    Raises:
        TrickformerError: The game's sampler takes no odds.
    """
    belief = sampler(game)
    if not isinstance(belief, CardBelief):
        raise TrickformerError(f"there are no belief heads of {game.name}; choose hearts, skat or crew")
    return belief.cards


def trunk(checkpoint: str, game: Game) -> Trunk:
    """Load the transformer of a checkpoint.

    Args:
        checkpoint: Name of a shipped checkpoint, or a folder.
        game: Game that the checkpoint must be for.

    Raises:
        TrickformerError: There is no such checkpoint, it is for another game, or the game's sampler takes no odds.
    """
    cards(game)
    folder, tokenizer = checkpoints.find(checkpoint), tokenizers.make(game)
    checkpoints.check(folder, game, tokenizer)
    backend = load_backend(folder, game.outcomes)
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    name = checkpoint if checkpoint in checkpoints.names() else str(folder.resolve())
    return Trunk(name, digest, backend, tokenizer)


def load(name: str, game: Game) -> Head:
    """Load a belief head.

    Args:
        name: Name of a shipped checkpoint, path of a head's file, or folder of a run or checkpoint with such a file.
        game: Game that the head must be for.

    Raises:
        UnknownNameError: There is no such head.
        TrickformerError: The head is damaged or for another game, or its trunk is missing or has other weights.
    """
    file = _find(name)
    metadata = _read_metadata(file)
    beside_trunk = (file.parent / "config.json").is_file()
    head_trunk = trunk(str(file.parent) if beside_trunk else metadata["checkpoint"], game)
    if head_trunk.digest != metadata["weights"]:
        raise TrickformerError(f"{file} was trained on other weights of {head_trunk.name}; train it again on these")
    tensors = read_safetensors(file)
    hidden = tensors["hidden.bias"].size if "hidden.bias" in tensors else 0
    expected = shapes(head_trunk.backend.width, hidden, cards(game))
    if {name: t.shape for name, t in tensors.items()} != expected:
        raise TrickformerError(
            f"{file} is no belief head of {game.name} for {head_trunk.name}: its tensors have other shapes"
        )
    return Head(head_trunk, tensors)


def head_checkpoints() -> tuple[str, ...]:
    """Return the names of the shipped checkpoints that have a head."""
    return tuple(name for name in checkpoints.names() if (checkpoints.find(name) / FILE).is_file())


def _find(name: str) -> Path:
    path = checkpoints.find(name) if name in checkpoints.names() else Path(name)
    for file in (path / FILE, path):
        if file.is_file():
            return file
    raise UnknownNameError("belief", name, ("uniform", *head_checkpoints(), f"a folder with {FILE}"))


def _read_metadata(file: Path) -> dict[str, str]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "np") as tensors:
            metadata = json_object((tensors.metadata() or {})[METADATA])
        return {"checkpoint": str(metadata["checkpoint"]), "weights": str(metadata["weights"])}
    except (OSError, KeyError, TypeError, ValueError, SafetensorError):
        raise TrickformerError(
            f"{file} is no belief head of trickformer; make one by `trickformer belief head`"
        ) from None
