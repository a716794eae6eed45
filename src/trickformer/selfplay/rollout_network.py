"""The rollout network: a small network from the features of a position to a value for each action.

It is fast enough for the core to play hands to their end with it. The results of these playouts are the labels of
action values, from which both the transformer and the rollout network learn. In each iteration the transformer of the
previous iteration plays the hands and its rollout network the playouts (approximate policy iteration by rollouts;
Lagoudakis & Parr 2003).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from torch import nn

from trickformer import _core, tokenizers
from trickformer.base import Tokenizer, TrickformerError
from trickformer.models.weights import read_safetensors
from trickformer.plumbing.files import whole
from trickformer.plumbing.training import has_bfloat16
from trickformer.selfplay.data import Sequences
from trickformer.selfplay.train import action_loss, decisions

HIDDEN = 256
_DIGEST = "blake2b"  # name of the weights' digest in the file's metadata


class RolloutNetwork(nn.Module):
    """Network from features, float [n, F], to a value for each action, float [n, V], in units of v(o)."""

    def __init__(self, features: int, actions: int, hidden: int = HIDDEN):
        super().__init__()
        self.first = nn.Linear(features, hidden)
        self.second = nn.Linear(hidden, actions)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(features)))

    def weights(self) -> dict[str, np.ndarray]:
        """Return the weights in the core's form.

        Returns:
            float32 arrays: `first` [F + 1, hidden], the last row the bias; `second` [V, hidden]; `third` [V].
        """
        with torch.no_grad():
            first = torch.cat([self.first.weight.T, self.first.bias[None]])
            tensors = {"first": first, "second": self.second.weight, "third": self.second.bias}
            return {name: np.ascontiguousarray(t.float().numpy()) for name, t in tensors.items()}


def fit(
    model: RolloutNetwork,
    data: Sequences,
    tokenizer: Tokenizer,
    seed: int,
    epochs: int = 4,
    batch: int = 1_024,
    rate: float = 2e-3,
    piece: int = 2_000,
) -> float:
    """Train the network further on the labels of sequences. The result depends only on the arguments.

    Args:
        model: The network, which is changed in place.
        data: Sequences with labels.
        tokenizer: Tokenizer of their game.
        seed: Seed of the order of the decisions.
        epochs: Passes over all decisions.
        batch: Decisions of a gradient step.
        rate: Learning rate of the first step; it falls linearly to zero.
        piece: Number of sequences whose features are computed at a time. The result does not depend on it.

    Returns:
        The mean loss of the last pass.

    Raises:
        TrickformerError: No decision has a label.
    """
    if not len(data.labels):
        raise TrickformerError("no decision has a label for the rollout network; give a larger --label-share")
    parts = [decision_tensors(data[at : at + piece], tokenizer) for at in range(0, len(data), piece)]
    columns = [torch.cat(tensors) for tensors in zip(*parts)]
    inputs, rounded = columns[0], has_bfloat16()
    labels, has_label = columns[1:]
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
    generator = torch.Generator().manual_seed(seed)
    steps = epochs * -(-len(inputs) // batch)
    step = 0
    losses: list[float] = []
    for _ in range(epochs):
        losses = []
        for rows in torch.randperm(len(inputs), generator=generator).split(batch):
            for group in optimizer.param_groups:
                group["lr"] = rate * (1 - step / steps)
            with torch.autocast("cpu", torch.bfloat16, enabled=rounded):
                predicted = model(inputs[rows] if rounded else inputs[rows].float())
            loss = action_loss(predicted.float(), labels[rows].float(), has_label[rows])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            losses.append(loss.item())
            step += 1
    return float(np.mean(losses))


def decision_tensors(data: Sequences, tokenizer: Tokenizer) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Collect the labelled decisions of sequences as tensors.

    Args:
        data: Sequences with labels.
        tokenizer: Tokenizer of their game.

    Returns:
        Features, bfloat16 [D, F]; labels, float16 [D, V]; whether an action has a label, bool [D, V].
    """
    features, _ = tokenizers.follow(tokenizer, data.tokens)
    labelled = decisions(data, len(tokenizer.vocab))
    inputs = torch.from_numpy(features[labelled.rows, labelled.positions]).bfloat16()
    return inputs, torch.from_numpy(labelled.labels).half(), torch.from_numpy(labelled.labelled)


def save(model: RolloutNetwork, file: Path) -> None:
    """Write the weights atomically.

    Args:
        model: The network.
        file: File to write.
    """
    weights = model.weights()
    with whole(file) as draft:
        save_file(weights, draft, metadata={_DIGEST: _digest(weights)})


def _digest(weights: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.blake2b()
    for name in sorted(weights):
        digest.update(f"{name} {weights[name].dtype} {weights[name].shape} ".encode() + weights[name].tobytes())
    return digest.hexdigest()


def read(file: Path) -> RolloutNetwork:
    """Read a network, to continue its training.

    Args:
        file: File that `save` wrote.

    Raises:
        TrickformerError: The file is damaged.
    """
    tensors = read_safetensors(file)
    try:
        first = torch.from_numpy(tensors["first"])
        second = {"weight": torch.from_numpy(tensors["second"]), "bias": torch.from_numpy(tensors["third"])}
        model = RolloutNetwork(len(first) - 1, len(second["bias"]), first.shape[1])
        weights = {"first.weight": first[:-1].T, "first.bias": first[-1]}
        model.load_state_dict(weights | {f"second.{name}": tensor for name, tensor in second.items()})
    except (IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise TrickformerError(
            f"{file} holds no rollout network ({str(error).splitlines()[0]}); train it again"
        ) from None
    try:
        with safe_open(file, "np") as opened:
            stored_digest = (opened.metadata() or {}).get(_DIGEST)
    except SafetensorError:
        stored_digest = None
    if stored_digest != _digest(tensors):
        raise TrickformerError(f"{file} is damaged: its checksum differs; train it again")
    return model


def core(model: RolloutNetwork) -> _core.RolloutNet:
    """Convert the network to the core's form.

    Args:
        model: The network.
    """
    return _core.RolloutNet(*model.weights().values())


def load(file: Path) -> _core.RolloutNet:
    """Read a network into the core's form.

    Args:
        file: File that `save` wrote.

    Raises:
        TrickformerError: The file is damaged.
    """
    return core(read(file))
