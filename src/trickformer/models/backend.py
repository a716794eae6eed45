"""Inference: a tree of token sequences that share the cached keys and values of their prefixes.

One interface, two implementations: C++ on the CPU and torch on the GPU. Loading a checkpoint for the C++
backend imports neither torch nor transformers.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Protocol

import numpy as np

from trickformer.base import Outcomes, Tracker, TrickformerError, UnknownNameError
from trickformer.models.weights import Weights, model_weights, read_weights
from trickformer.plumbing.isa import ISA_VARIABLE
from trickformer.plumbing.isa import ROUNDED as ROUNDED

if TYPE_CHECKING:
    from trickformer.models.gpt2 import GPT2PolicyValueModel

DTYPES = ("bfloat16", "float32")


class Backend(Protocol):
    """A tree of sequences. A node is one token; what leads to it from a root is its sequence.

    Results on the CPU are bitwise independent of what else shares a call and of whether a sequence was fed at
    once or token by token. Every method raises ValueError, and changes nothing, on a node that is not live.
    """

    @property
    def vocab_size(self) -> int: ...
    @property
    def n_outcomes(self) -> int: ...
    @property
    def n_positions(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def n_features(self) -> int:
        """Numbers that `extend` takes beside each token; 0: none."""
        ...

    @property
    def has_action_values(self) -> bool: ...
    @property
    def has_masked_policy(self) -> bool:
        """True if the policy was trained over possible tokens alone, so that other logits mean nothing."""
        ...

    @property
    def dtype(self) -> str:
        """How weights are stored: "bfloat16" or "float32"."""
        ...

    @property
    def node_count(self) -> int:
        """Number of live nodes."""
        ...

    @property
    def generation(self) -> int:
        """How often `reset` was called."""
        ...

    def extend(
        self,
        parents: np.ndarray,
        tokens: np.ndarray,
        lengths: np.ndarray | None = None,
        features: np.ndarray | None = None,
    ) -> np.ndarray:
        """Append branches, all in one pass through the layers, and return their nodes, int32 [total].

        Branch i is the next lengths[i] (1 where `lengths` is None) of `tokens`, below node parents[i], -1 for
        a new root. parents, lengths int32 [n], tokens int32 [total]; features float32 [total, n_features], known
        after each token, for a model that takes them. Raises ValueError on a token outside the
        vocabulary, a parent that is not live, a sequence longer than n_positions, and lengths that are not
        positive or do not add up to `total`, and features of another shape.
        """
        ...

    def policy(self, nodes: np.ndarray, /) -> np.ndarray:
        """float32 [n, vocab_size]: logits of the token after each node; nodes int32 [n]."""
        ...

    def outcomes(self, nodes: np.ndarray, /) -> np.ndarray:
        """float32 [n, n_outcomes]: the probability of each outcome, seen from each node; nodes int32 [n]."""
        ...

    def values(self, nodes: np.ndarray, /) -> np.ndarray:
        """float32 [n, P]: outcomes(nodes) @ values, in the units of the values given to load_backend."""
        ...

    def action_values(self, nodes: np.ndarray, /) -> np.ndarray:
        """float32 [n, vocab_size]: Q(s, a) of each own action after each node, in units of v(o); of other tokens it
        says nothing. nodes int32 [n]. Raises ValueError on a model without action values."""
        ...

    def hidden_states(self, nodes: np.ndarray, /) -> np.ndarray:
        """float32 [n, width]: the final hidden state of each node, which the heads read; nodes int32 [n]."""
        ...

    def release(self, nodes: np.ndarray, /) -> None:
        """Give back nodes, int32 [n]; the caller promises that no node which stays descends from them."""
        ...

    def reset(self) -> None:
        """Give back all nodes."""
        ...


def load_backend(
    model: str | PathLike[str] | GPT2PolicyValueModel,
    values: np.ndarray | Outcomes,
    dtype: str = "bfloat16",
    device: str = "cpu",
    backend: str | None = None,
    isa: str | None = None,
) -> Backend:
    """A backend for a checkpoint folder or a model.

    `values` float32 [n_outcomes, P]: what each outcome is worth to each player; or a game's outcomes, of which the
    model tells all apart, or their classes. `dtype` "bfloat16" or "float32": storage of weights. `device` "cpu", or
    what torch understands. `backend` "cpp" or "torch"; None is "cpp" on the CPU and "torch" elsewhere. `isa` (C++
    only): the instruction set, one of instruction_sets(dtype); None: the environment variable TRICKFORMER_ISA, else the
    best that computes in float32. Those of ROUNDED round activations and cache to bfloat16 too: several times the speed
    of "avx512", and probabilities that can be off by some hundredths.

    Raises TrickformerError on a damaged or foreign checkpoint and on values that do not fit it, and its
    subclass UnknownNameError on an unknown dtype, backend or instruction set.
    """
    if dtype not in DTYPES:
        raise UnknownNameError("dtype", dtype, DTYPES)
    if backend is None:
        backend = "cpp" if device == "cpu" else "torch"
    if backend not in ("cpp", "torch"):
        raise UnknownNameError("backend", backend, ("cpp", "torch"))
    if backend == "cpp" and device != "cpu":
        raise TrickformerError(f"the C++ backend runs on the CPU, not on {device!r}; use backend='torch'")
    weights = read_weights(model) if isinstance(model, (str, PathLike)) else model_weights(model)
    if isinstance(values, Outcomes):
        try:
            values = values.told_by(weights.sizes["n_outcomes"])[1]
        except ValueError as error:
            raise TrickformerError(f"the model is of another game: {error}; use the checkpoint of this game") from None
    values = np.ascontiguousarray(values, dtype=np.float32)
    if values.ndim != 2 or values.shape[0] != weights.sizes["n_outcomes"] or values.shape[1] == 0:
        raise TrickformerError(
            f"values has shape {values.shape}, but the model tells {weights.sizes['n_outcomes']} "
            "outcomes apart; use the checkpoint of this game"
        )
    if backend == "torch":
        from trickformer.models.torch_backend import TorchBackend

        return TorchBackend(weights, values, dtype, device)
    return _cpp_backend(weights, values, dtype, isa)


def instruction_sets(dtype: str) -> list[str]:
    """Instruction sets that the C++ backend can use on this CPU, fastest last; see load_backend."""
    from trickformer import _core

    return _core.gpt2_instruction_sets(dtype == "bfloat16")


def _limit(usable: list[str]) -> str:
    """The instruction set that the environment names. One for bfloat16 alone, such as amx, stands for the best below it
    where the weights are float32."""
    limit, every = os.environ.get(ISA_VARIABLE, ""), instruction_sets("bfloat16")
    if limit in usable or limit not in every:
        return limit
    return [name for name in every[: every.index(limit)] if name in usable][-1]


def _cpp_backend(weights: Weights, values: np.ndarray, dtype: str, isa: str | None) -> Backend:
    from trickformer import _core

    usable = instruction_sets(dtype)
    isa = isa or _limit(usable)
    if isa and isa not in usable:
        raise UnknownNameError(f"instruction set for {dtype} on this CPU", isa, usable)
    return _core.GPT2Backend(weights.sizes, weights.epsilon, weights.tensors, values, dtype == "bfloat16", isa)


class Prefix:
    """One growing sequence in a backend: it owns its nodes and gives them back when it is collected.

    start: for a model that takes features, the tracker of an empty sequence. A copy (`copy.copy`) goes on where its
    original is, and shares the nodes so far; the original may grow, but not be cut short while copies live."""

    __slots__ = ("_generation", "_original", "_shared", "_start", "_tracker", "backend", "nodes", "tokens")

    def __init__(self, backend: Backend, start: Tracker | None = None):
        self.backend = backend
        self.tokens = np.empty(0, np.int32)  # int32 [T]
        self.nodes = np.empty(0, np.int32)  # int32 [T]
        self._generation = backend.generation
        self._original: Prefix | None = None  # who owns the first nodes
        self._shared = 0  # how many
        self._start = start
        self._tracker: Tracker | None = None  # after the tokens; None: not known

    def __copy__(self) -> Prefix:
        twin = Prefix(self.backend, self._start)
        twin.tokens, twin.nodes, twin._generation = self.tokens, self.nodes, self._generation
        twin._original, twin._shared = self, self.nodes.size
        twin._tracker = None if self._tracker is None else self._tracker.copy()
        return twin

    @property
    def node(self) -> int:
        """The node of the last token; -1 before the first."""
        return int(self.nodes[-1]) if self.nodes.size else -1

    def keep(self, length: int) -> None:
        """Give back all nodes beyond the first `length`; those of before a reset are gone already."""
        if self._generation != self.backend.generation:
            self._generation = self.backend.generation
            length, self._shared, self._original = 0, 0, None
            self.nodes, self._tracker = self.nodes[:0], None
        if length < self.nodes.size:
            dropped = self.nodes[max(length, self._shared) :]
            self.nodes, self._tracker = self.nodes[:length], None
            self._shared = min(length, self._shared)
            if dropped.size:
                self.backend.release(dropped)
        self.tokens = self.tokens[: self.nodes.size]

    def tracker(self) -> Tracker:
        """The tracker after the tokens so far, which callers do not change.

        Raises:
            ValueError: If the prefix was made without a tracker.
        """
        if self._start is None:
            raise ValueError("this model takes features, and the prefix has no tracker")
        if self._tracker is None:
            self._tracker = self._start.copy()
            for token in self.tokens.tolist():
                self._tracker.push(token)
        return self._tracker

    def features_after(self, new: np.ndarray) -> np.ndarray:
        """The features after each of the tokens that are to follow: int32 [T] -> float32 [T, n_features]."""
        from trickformer import _core

        features, _ = _core.follow(self.tracker(), new[None].astype(np.int16), np.array([new.size], np.int32), False)
        return features[0]

    def grow(self, new: np.ndarray, nodes: np.ndarray) -> None:
        """Tokens int32 [T] that were fed, and their nodes, int32 [T]."""
        self.tokens, self.nodes = np.concatenate((self.tokens, new)), np.concatenate((self.nodes, nodes))
        if self._tracker is not None:
            for token in new.tolist():
                self._tracker.push(token)

    def __del__(self) -> None:
        self.keep(0)


def advance(prefixes: Sequence[Prefix], token_lists: Sequence[np.ndarray]) -> np.ndarray:
    """Make each prefix hold its complete token array, in one batched call; returns their last nodes, int32 [n].

    What a prefix has in common with its new tokens (int32 [T]) is kept, the rest released, and only what is new is fed.
    Raises ValueError on prefixes of different backends, on one that is listed twice, on one without the tracker that
    the model's features take, and as Backend.extend does; the prefixes then hold at most what they had in common.
    """
    if len(prefixes) != len(token_lists):
        raise ValueError(f"there are {len(prefixes)} prefixes, but {len(token_lists)} token lists")
    if not prefixes:
        return np.empty(0, np.int32)
    backend = prefixes[0].backend
    if any(prefix.backend is not backend for prefix in prefixes):
        raise ValueError("the prefixes of one call must share a backend")
    if len({id(prefix) for prefix in prefixes}) != len(prefixes):
        raise ValueError("a prefix is listed twice in one call")
    growing: list[Prefix] = []
    added: list[np.ndarray] = []
    for prefix, wanted in zip(prefixes, token_lists, strict=True):
        tokens = np.asarray(wanted, dtype=np.int32)
        prefix.keep(_common(prefix.tokens, tokens))
        if prefix.nodes.size < tokens.size:
            growing.append(prefix)
            added.append(tokens[prefix.nodes.size :])
    if growing:
        lengths = np.array([a.size for a in added], np.int32)
        parents = np.array([prefix.node for prefix in growing], np.int32)
        features = (
            np.concatenate([p.features_after(new) for p, new in zip(growing, added)]) if backend.n_features else None
        )
        nodes = backend.extend(parents, np.concatenate(added), lengths, features)
        for prefix, new, end in zip(growing, added, np.cumsum(lengths).tolist(), strict=True):
            prefix.grow(new, nodes[end - new.size : end])
    return np.array([prefix.node for prefix in prefixes], np.int32)


def _common(a: np.ndarray, b: np.ndarray) -> int:
    """Length of the longest common prefix of two token arrays."""
    n = min(a.size, b.size)
    different = np.flatnonzero(a[:n] != b[:n])
    return int(different[0]) if different.size else n
