"""Inference on a tree of token sequences, which share the attention keys and values of common prefixes.

The interface `Backend` has two implementations: C++ on the CPU, and torch for the GPU. Loading a checkpoint for the C++
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
    """A tree of sequences. A node is one token; the tokens from a root to the node are its sequence.

    Results of the C++ backend do not depend, to the last bit, on the other nodes of a call, nor on whether a sequence
    was appended at once or token by token; those of torch may differ by rounding. A node is live until it is released.
    If a node is not live, every method raises ValueError and changes nothing.
    """

    @property
    def vocab_size(self) -> int: ...
    @property
    def n_outcomes(self) -> int: ...
    @property
    def n_positions(self) -> int: ...
    @property
    def width(self) -> int:
        """Size of a hidden state."""
        ...

    @property
    def n_features(self) -> int:
        """Number of features that `extend` takes with each token; 0 for none."""
        ...

    @property
    def has_action_values(self) -> bool: ...
    @property
    def has_masked_policy(self) -> bool:
        """True if the policy was trained on possible tokens only, so that the logits of others are meaningless."""
        ...

    @property
    def dtype(self) -> str:
        """Type of the stored weights: "bfloat16" or "float32"."""
        ...

    @property
    def node_count(self) -> int:
        """Number of live nodes."""
        ...

    @property
    def generation(self) -> int:
        """Number of calls of `reset`."""
        ...

    def extend(
        self,
        parents: np.ndarray,
        tokens: np.ndarray,
        lengths: np.ndarray | None = None,
        features: np.ndarray | None = None,
    ) -> np.ndarray:
        """Append branches, all in one pass through the layers.

        Args:
            parents: int32 [n], the node that each branch is appended to; -1 begins a new sequence.
            tokens: int32 [total], the tokens of all branches, one branch after the other.
            lengths: int32 [n], the number of tokens of each branch; None means one token each.
            features: float32 [total, n_features], the features after each token, for a model that reads features.

        Returns:
            The nodes of the tokens, int32 [total].

        Raises:
            ValueError: A token is outside the vocabulary, a parent is not live, a sequence is longer than n_positions,
                lengths are not positive or do not add up to `total`, or features have another shape.
        """
        ...

    def policy(self, nodes: np.ndarray, /) -> np.ndarray:
        """Compute the policy at nodes.

        Args:
            nodes: int32 [n].

        Returns:
            float32 [n, vocab_size], logits of the next token.
        """
        ...

    def outcomes(self, nodes: np.ndarray, /) -> np.ndarray:
        """Compute the probabilities of the outcomes at nodes.

        Args:
            nodes: int32 [n].

        Returns:
            float32 [n, n_outcomes].
        """
        ...

    def values(self, nodes: np.ndarray, /) -> np.ndarray:
        """Compute the expected value for each player: outcomes(nodes) @ `values` of `load_backend`.

        Args:
            nodes: int32 [n].

        Returns:
            float32 [n, P] for P players, in the units of `values`.
        """
        ...

    def action_values(self, nodes: np.ndarray, /) -> np.ndarray:
        """Compute Q(s, a) of each own action at nodes.

        Args:
            nodes: int32 [n].

        Returns:
            float32 [n, vocab_size], in units of v(o). Entries of tokens that are no own actions are meaningless.

        Raises:
            ValueError: The model has no action values.
        """
        ...

    def hidden_states(self, nodes: np.ndarray, /) -> np.ndarray:
        """Return the final hidden states of nodes, which the heads read.

        Args:
            nodes: int32 [n].

        Returns:
            float32 [n, width].
        """
        ...

    def release(self, nodes: np.ndarray, /) -> None:
        """Release nodes, whose memory is then reused.

        Args:
            nodes: int32 [n]. The caller guarantees that all their descendants are released too.
        """
        ...

    def reset(self) -> None:
        """Release all nodes."""
        ...


def load_backend(
    model: str | PathLike[str] | GPT2PolicyValueModel,
    values: np.ndarray | Outcomes,
    dtype: str = "bfloat16",
    device: str = "cpu",
    backend: str | None = None,
    isa: str | None = None,
) -> Backend:
    """Load a backend for a checkpoint folder or a model.

    Args:
        model: Checkpoint folder, or a model in memory.
        values: float32 [n_outcomes, P], the value of each outcome for each of P players. Or the game's outcomes, for a
            model that predicts all outcomes, or only classes of outcomes that have the same value for the own seat.
        dtype: Type of the weights in memory, "bfloat16" or "float32". The torch backend also computes in it. The C++
            backend computes in float32, except with the instruction sets in ROUNDED.
        device: "cpu", or a device of torch.
        backend: "cpp" or "torch"; None means "cpp" on the CPU and "torch" elsewhere.
        isa: Instruction set of the C++ backend, one of `instruction_sets(dtype)`. None means the environment variable
            TRICKFORMER_ISA, or by default the best set that computes in float32. The sets in ROUNDED also round
            activations and cached keys and values to bfloat16. They are several times faster than "avx512", and their
            probabilities can be wrong by some hundredths.

    Raises:
        TrickformerError: The checkpoint is damaged or foreign, or the values do not fit it.
        UnknownNameError: The dtype, backend or instruction set is unknown.
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
            values = values.head_outputs(weights.sizes["n_outcomes"])[1]
        except ValueError as error:
            raise TrickformerError(f"the model is of another game: {error}; use the checkpoint of this game") from None
    values = np.ascontiguousarray(values, dtype=np.float32)
    if values.ndim != 2 or values.shape[0] != weights.sizes["n_outcomes"] or values.shape[1] == 0:
        raise TrickformerError(
            f"values has shape {values.shape}, but the model has {weights.sizes['n_outcomes']} "
            "outcomes; use the checkpoint of this game"
        )
    if backend == "torch":
        from trickformer.models.torch_backend import TorchBackend

        return TorchBackend(weights, values, dtype, device)
    return _cpp_backend(weights, values, dtype, isa)


def instruction_sets(dtype: str) -> list[str]:
    """List the instruction sets that the C++ backend can use on this CPU, fastest last; see `load_backend`.

    Args:
        dtype: Type of the stored weights.
    """
    from trickformer import _core

    return _core.gpt2_instruction_sets(dtype == "bfloat16")


def _isa_from_environment(usable: list[str]) -> str:
    """Return the instruction set that the environment variable names; "" if it is not set.

    If this CPU has the set, but the set needs bfloat16 weights and the caller's are float32, the result is the next
    slower set that takes float32. A set that this CPU lacks is returned unchanged, and the caller rejects it.
    """
    isa, all_sets = os.environ.get(ISA_VARIABLE, ""), instruction_sets("bfloat16")
    if isa in usable or isa not in all_sets:
        return isa
    return [name for name in all_sets[: all_sets.index(isa)] if name in usable][-1]


def _cpp_backend(weights: Weights, values: np.ndarray, dtype: str, isa: str | None) -> Backend:
    from trickformer import _core

    usable = instruction_sets(dtype)
    isa = isa or _isa_from_environment(usable)
    if isa and isa not in usable:
        raise UnknownNameError(f"instruction set for {dtype} on this CPU", isa, usable)
    return _core.GPT2Backend(weights.sizes, weights.epsilon, weights.tensors, values, dtype == "bfloat16", isa)


class Prefix:
    """A growing sequence in a backend. It owns its nodes and releases them when it is garbage collected.

    A copy (`copy.copy`) starts with the same tokens and shares their nodes. As long as copies exist, the original may
    grow but must not be shortened.
    """

    __slots__ = ("_generation", "_original", "_shared", "_start", "_tracker", "backend", "nodes", "tokens")

    def __init__(self, backend: Backend, start: Tracker | None = None):
        """Begin with an empty sequence.

        Args:
            backend: The backend.
            start: Tracker of an empty sequence, for a model that reads features.
        """
        self.backend = backend
        self.tokens = np.empty(0, np.int32)  # int32 [T]
        self.nodes = np.empty(0, np.int32)  # int32 [T]
        self._generation = backend.generation
        self._original: Prefix | None = None  # owner of the first nodes of a copy, referenced to keep it alive
        self._shared = 0  # number of nodes that the original owns
        self._start = start
        self._tracker: Tracker | None = None  # tracker after all tokens; None if it is not computed

    def __copy__(self) -> Prefix:
        copied = Prefix(self.backend, self._start)
        copied.tokens, copied.nodes = self.tokens, self.nodes
        copied._generation = self._generation
        copied._original, copied._shared = self, self.nodes.size
        copied._tracker = None if self._tracker is None else self._tracker.copy()
        return copied

    @property
    def node(self) -> int:
        """Node of the last token; -1 before the first token."""
        return int(self.nodes[-1]) if self.nodes.size else -1

    def keep(self, length: int) -> None:
        """Keep the first tokens, and release the nodes of the others.

        If the backend was reset, it has released all nodes, so no token is kept.

        Args:
            length: Number of tokens to keep.
        """
        if self._generation != self.backend.generation:
            self._generation = self.backend.generation
            length = self._shared = 0
            self._original = None
            self.nodes, self._tracker = self.nodes[:0], None
        if length < self.nodes.size:
            released = self.nodes[max(length, self._shared) :]
            self.nodes, self._tracker = self.nodes[:length], None
            self._shared = min(length, self._shared)
            if released.size:
                self.backend.release(released)
        self.tokens = self.tokens[: self.nodes.size]

    def tracker(self) -> Tracker:
        """Return the tracker after the tokens so far. Callers must not change it.

        Raises:
            ValueError: The prefix was made without a tracker.
        """
        if self._start is None:
            raise ValueError("this model reads features, and the prefix has no tracker; pass start=")
        if self._tracker is None:
            self._tracker = self._start.copy()
            for token in self.tokens.tolist():
                self._tracker.push(token)
        return self._tracker

    def features_after(self, new: np.ndarray) -> np.ndarray:
        """Compute the features after each of the next tokens.

        Args:
            new: int32 [T].

        Returns:
            float32 [T, n_features].
        """
        from trickformer import _core

        features, _ = _core.follow(self.tracker(), new[None].astype(np.int16), np.array([new.size], np.int32), False)
        return features[0]

    def grow(self, new: np.ndarray, nodes: np.ndarray) -> None:
        """Append tokens and their nodes.

        Args:
            new: int32 [T].
            nodes: int32 [T].
        """
        self.tokens, self.nodes = np.concatenate((self.tokens, new)), np.concatenate((self.nodes, nodes))
        if self._tracker is not None:
            for token in new.tolist():
                self._tracker.push(token)

    def __del__(self) -> None:
        self.keep(0)


def advance(prefixes: Sequence[Prefix], token_lists: Sequence[np.ndarray]) -> np.ndarray:
    """Change each prefix to a new token sequence, in one batched call.

    A prefix keeps the tokens that it has in common with its new sequence and releases the rest. Only the nodes of the
    further tokens are computed.

    Args:
        prefixes: n prefixes of one backend, each listed once.
        token_lists: New sequence of each prefix, int32 [T].

    Returns:
        The last node of each prefix, int32 [n].

    Raises:
        ValueError: The lists have different lengths, the prefixes are of different backends, or one is listed twice. In
            these cases nothing is changed. Also if a prefix lacks the tracker that the model's features need, or if
            `Backend.extend` raises it. The prefixes have then released all tokens beyond the common ones.
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
    for prefix, sequence in zip(prefixes, token_lists, strict=True):
        tokens = np.asarray(sequence, dtype=np.int32)
        prefix.keep(_common_length(prefix.tokens, tokens))
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


def _common_length(a: np.ndarray, b: np.ndarray) -> int:
    """Return the length of the longest common prefix of two token arrays."""
    n = min(a.size, b.size)
    different = np.flatnonzero(a[:n] != b[:n])
    return int(different[0]) if different.size else n
