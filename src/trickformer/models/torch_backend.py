"""The inference backend in torch, for the GPU; on the CPU it serves to check the C++ backend.

Pools (preallocated arrays) hold the attention keys and values of all nodes. For each token a call gathers the keys and
values on the path from the root to its node. Importing this module imports torch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from trickformer.base import TrickformerError
from trickformer.models.weights import Weights

CHUNK = 4096  # the pools grow by multiples of this number of nodes
ROWS = 1024  # largest number of tokens that go through the layers together


def usable(device: str) -> torch.device:
    """Return a device if torch can use it.

    Args:
        device: Torch's name of the device.

    Raises:
        TrickformerError: Torch does not have the device.
    """
    try:
        usable_device = torch.empty(0, device=device).device
        if usable_device.type == "meta":
            raise RuntimeError("its tensors hold nothing")
        return usable_device
    except (RuntimeError, AssertionError) as error:
        raise TrickformerError(
            f"torch cannot use device {device!r} ({str(error).splitlines()[0]}); use device='cpu'"
        ) from error


class TorchBackend:
    """Implementation of `trickformer.models.backend.Backend` in torch. A node is an index of the pools."""

    def __init__(self, weights: Weights, values: np.ndarray, dtype: str, device: str):
        """Copy a model's weights to a device.

        Args:
            weights: The weights.
            values: float32 [n_outcomes, P].
            dtype: "bfloat16" or "float32".
            device: Torch's name of the device.

        Raises:
            TrickformerError: Torch does not have the device.
        """
        sizes = weights.sizes
        self.vocab_size = sizes["vocab_size"]
        self.n_outcomes = sizes["n_outcomes"]
        self.n_positions = sizes["n_positions"]
        self.width = sizes["n_embd"]
        self.dtype = dtype
        self.n_features = sizes["n_features"]
        self.has_action_values = sizes["n_actions"] > 0
        self.has_masked_policy = sizes["masked"] > 0
        self.generation = 0
        self._layers, self._heads = sizes["n_layer"], sizes["n_head"]
        self._head_size = sizes["n_embd"] // sizes["n_head"]
        self._epsilon = weights.epsilon
        self._type = torch.bfloat16 if dtype == "bfloat16" else torch.float32
        self._device = usable(device)
        self._values = torch.from_numpy(values).to(self._device)
        # GPT-2 stores the matrices of its blocks ("c_*") as [in, out]; torch.nn.functional.linear takes [out, in].
        self._tensors = {
            name: torch.tensor(
                data.T if data.ndim == 2 and ".c_" in name else data, dtype=self._type, device=self._device
            )
            for name, data in weights.tensors.items()
        }
        self._parent = np.empty(0, np.int32)
        self._depth = np.empty(0, np.int32)  # -1 for a node that is not live
        # A node's index is reused after its release, so each use has a serial number. A parent's serial number reveals
        # whether it was released before its children.
        self._serial = np.empty(0, np.int64)
        self._parent_serial = np.empty(0, np.int64)
        self._next_serial = 0
        self._free: list[int] = []  # nodes that are not live; the last one is used first
        self._keys = self._cache(0)  # [layers, nodes, heads, head size]
        self._cached_values = self._cache(0)  # the same shape
        self._hidden = torch.empty(0, sizes["n_embd"], dtype=self._type, device=self._device)

    @property
    def node_count(self) -> int:
        return self._depth.size - len(self._free)

    def extend(
        self,
        parents: np.ndarray,
        tokens: np.ndarray,
        lengths: np.ndarray | None = None,
        features: np.ndarray | None = None,
    ) -> np.ndarray:
        parents, tokens = _ids(parents), _ids(tokens)
        if features is None and self.n_features and tokens.size:
            raise ValueError("this model needs the features of each token")
        features = np.zeros((tokens.size, self.n_features), np.float32) if features is None else features
        if features.shape != (tokens.size, self.n_features):
            raise ValueError(f"features have shape {features.shape}, not {(tokens.size, self.n_features)}")
        lengths = np.ones(parents.size, np.int32) if lengths is None else _ids(lengths)
        if lengths.size != parents.size:
            raise ValueError(f"there are {parents.size} parents, but {lengths.size} lengths")
        if lengths.size and lengths.min() < 1:
            raise ValueError(f"a branch has length {lengths.min()}; give at least one token")
        self._check(parents[parents != -1])
        before = np.zeros(parents.size, np.int64)
        before[parents >= 0] = self._depth[parents[parents >= 0]] + 1
        if parents.size and (before + lengths).max() > self.n_positions:
            raise ValueError(
                f"a sequence of {(before + lengths).max()} tokens is longer than the model's "
                f"{self.n_positions} positions"
            )
        if lengths.sum() != tokens.size:
            raise ValueError(f"the branches' lengths add up to {lengths.sum()}, but there are {tokens.size} tokens")
        if tokens.size and not (tokens.min() >= 0 and tokens.max() < self.vocab_size):
            token = tokens[(tokens < 0) | (tokens >= self.vocab_size)][0]
            raise ValueError(f"token {token} is not in the vocabulary of {self.vocab_size}")
        self._paths(parents[parents >= 0])  # raises if an ancestor was released

        self._grow(tokens.size)
        nodes = np.array([self._free.pop() for _ in range(tokens.size)], np.int32)
        starts = np.cumsum(lengths) - lengths
        token_parents = np.concatenate((np.full(min(1, tokens.size), -1, np.int32), nodes[:-1]))
        token_parents[starts] = parents
        self._parent[nodes] = token_parents
        self._serial[nodes] = np.arange(self._next_serial, self._next_serial + tokens.size)
        self._next_serial += tokens.size
        self._parent_serial[nodes] = np.where(token_parents < 0, -1, self._serial[token_parents])
        self._depth[nodes] = np.arange(tokens.size) - np.repeat(starts - before, lengths)
        for start in range(0, tokens.size, ROWS):
            rows = slice(start, start + ROWS)
            self._forward(nodes[rows], tokens[rows], features[rows])
        return nodes

    @torch.inference_mode()
    def policy(self, nodes: np.ndarray) -> np.ndarray:
        return self._head(nodes, "lm").cpu().numpy()

    @torch.inference_mode()
    def outcomes(self, nodes: np.ndarray) -> np.ndarray:
        return self._head(nodes, "val").softmax(-1).cpu().numpy()

    @torch.inference_mode()
    def values(self, nodes: np.ndarray) -> np.ndarray:
        return (self._head(nodes, "val").softmax(-1) @ self._values).cpu().numpy()

    @torch.inference_mode()
    def action_values(self, nodes: np.ndarray) -> np.ndarray:
        if not self.has_action_values:
            raise ValueError("this model has no action values")
        return self._head(nodes, "act").cpu().numpy()

    @torch.inference_mode()
    def hidden_states(self, nodes: np.ndarray) -> np.ndarray:
        nodes = _ids(nodes)
        self._check(nodes)
        return self._hidden[self._tensor(nodes)].float().cpu().numpy()

    def release(self, nodes: np.ndarray) -> None:
        nodes = _ids(nodes)
        self._check(nodes)
        unique, counts = np.unique(nodes, return_counts=True)
        if unique.size != nodes.size:
            raise ValueError(f"node {unique[counts > 1][0]} is not a live node of this backend")
        self._depth[nodes] = -1
        self._free.extend(nodes[::-1].tolist())

    def reset(self) -> None:
        self._depth[:] = -1
        self._free = list(range(self._depth.size - 1, -1, -1))
        self.generation += 1

    def _cache(self, nodes: int) -> torch.Tensor:
        shape = (self._layers, nodes, self._heads, self._head_size)
        return torch.zeros(shape, dtype=self._type, device=self._device)

    def _grow(self, nodes: int) -> None:
        """Make at least `nodes` nodes free. The pools grow by at least a quarter, so that copies are rare."""
        missing = nodes - len(self._free)
        if missing <= 0:
            return
        first = self._depth.size
        added = -(-max(missing, first // 4) // CHUNK) * CHUNK
        self._keys = torch.cat((self._keys, self._cache(added)), 1)
        self._cached_values = torch.cat((self._cached_values, self._cache(added)), 1)
        self._hidden = torch.cat((self._hidden, self._hidden.new_zeros(added, self._hidden.size(1))))
        self._parent = np.concatenate((self._parent, np.full(added, -1, np.int32)))
        self._depth = np.concatenate((self._depth, np.full(added, -1, np.int32)))
        self._serial = np.concatenate((self._serial, np.full(added, -1, np.int64)))
        self._parent_serial = np.concatenate((self._parent_serial, np.full(added, -1, np.int64)))
        self._free[:0] = range(first + added - 1, first - 1, -1)

    def _check(self, nodes: np.ndarray) -> None:
        """Raise ValueError if one of the nodes is not live."""
        dead = (nodes < 0) | (nodes >= self._depth.size)
        dead[~dead] = self._depth[nodes[~dead]] < 0
        if dead.any():
            raise ValueError(f"node {nodes[dead][0]} is not a live node of this backend")

    def _paths(self, nodes: np.ndarray) -> np.ndarray:
        """Return the path from the root to each node.

        Args:
            nodes: int32 [n], live nodes.

        Returns:
            int64 [n, longest], each path followed by zeros.

        Raises:
            ValueError: An ancestor was released.
        """
        depths = self._depth[nodes]
        paths = np.zeros((nodes.size, int(depths.max(initial=-1)) + 1), np.int64)
        rows, current = np.arange(nodes.size), nodes
        paths[rows, depths] = nodes
        while True:
            has_parent = self._parent[current] >= 0
            rows, current = rows[has_parent], current[has_parent]
            if not rows.size:
                return paths
            parents = self._parent[current]
            if ((self._depth[parents] < 0) | (self._serial[parents] != self._parent_serial[current])).any():
                raise ValueError("a parent was released before the nodes below it")
            current = parents
            paths[rows, self._depth[current]] = current

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(array, dtype=torch.int64).to(self._device)

    def _linear(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self._tensors[name + ".weight"], self._tensors.get(name + ".bias"))

    def _norm(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(
            x, x.shape[-1:], self._tensors[name + ".weight"], self._tensors[name + ".bias"], self._epsilon
        )

    @torch.inference_mode()
    def _forward(self, nodes: np.ndarray, tokens: np.ndarray, features: np.ndarray) -> None:
        """Compute rows through all layers.

        Args:
            nodes: int32 [n], parents before children.
            tokens: int32 [n].
            features: float32 [n, F].
        """
        index, path = self._tensor(nodes), self._tensor(self._paths(nodes))
        depth = self._tensor(self._depth[nodes])  # position of each token
        mask = (torch.arange(path.shape[1], device=self._device) <= depth[:, None])[:, None, None, :]
        x = self._tensors["transformer.wte.weight"][self._tensor(tokens)]
        x = x + self._tensors["transformer.wpe.weight"][depth]
        if self.n_features:
            x = x + torch.from_numpy(features).to(self._device, self._type) @ self._tensors["features.weight"]
        for i in range(self._layers):
            block = f"transformer.h.{i}."
            projected = self._linear(block + "attn.c_attn", self._norm(block + "ln_1", x))
            qkv = projected.view(nodes.size, 3, self._heads, self._head_size)  # queries, keys and values
            self._keys[i, index] = qkv[:, 1]
            self._cached_values[i, index] = qkv[:, 2]
            attended = F.scaled_dot_product_attention(
                qkv[:, 0, :, None],
                self._keys[i, path].transpose(1, 2),
                self._cached_values[i, path].transpose(1, 2),
                attn_mask=mask,
                scale=1 / math.sqrt(self._head_size),
            )
            x = x + self._linear(block + "attn.c_proj", attended.reshape(nodes.size, -1))
            inner = self._linear(block + "mlp.c_fc", self._norm(block + "ln_2", x))
            x = x + self._linear(block + "mlp.c_proj", F.gelu(inner, approximate="tanh"))
        self._hidden[index] = self._norm("transformer.ln_f", x)

    def _head(self, nodes: np.ndarray, name: str) -> torch.Tensor:
        """Return the float32 outputs of the head `name`, "lm", "val" or "act", at nodes int32 [n]."""
        nodes = _ids(nodes)
        self._check(nodes)
        hidden = F.gelu(self._linear(name + "_hidden", self._hidden[self._tensor(nodes)]))
        return self._linear(name + "_head", hidden).float()


def _ids(array: Any) -> np.ndarray:
    """Convert to int32 [n].

    Raises:
        TypeError: The array has another number of axes, or a type that does not cast safely.
    """
    ids = np.asarray(array)
    if ids.ndim != 1 or not np.can_cast(ids.dtype, np.int64):
        raise TypeError(f"give an int32 array of one axis, not {ids.dtype} {ids.shape}")
    return ids.astype(np.int32)
