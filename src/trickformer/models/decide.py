"""Decisions from a model's outputs on batches of nodes: the policies of section 5.2 of the GO-MCTS paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from trickformer.models.backend import Backend

# Features after one more token: a function of rows int [k] and tokens int32 [k]; it returns float32 [k, F].
Features: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]


def legal_policy(logits: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Normalize the policy over the legal tokens.

    Args:
        logits: float32 [n, V].
        legal: bool [n, V], at least one True in each row.

    Returns:
        float64 [n, V].
    """
    masked = np.where(legal, logits.astype(np.float64), -np.inf)
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def draw(probs: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Draw one token for each row by inverting the cumulative distribution.

    Args:
        probs: float [n, V].
        uniforms: float64 [n], from [0, 1).

    Returns:
        int32 [n].
    """
    cumulative = np.cumsum(probs, axis=1)
    tokens = (cumulative <= uniforms[:, None] * cumulative[:, -1:]).sum(axis=1)
    # If a uniform is close to 1, rounding may lead beyond the last token of positive probability.
    last = probs.shape[1] - 1 - np.argmax(probs[:, ::-1] > 0, axis=1)
    return np.minimum(tokens, last).astype(np.int32)


class ArgmaxResult(NamedTuple):
    """Decisions of ArgmaxVal*."""

    tokens: np.ndarray  # int32 [n], chosen tokens
    values: np.ndarray  # float32 [n], their values: Q(h, a), or V(h, a) if the model has no action values
    nodes: np.ndarray | None  # int32 [n], their nodes, which the caller releases; None if they were not computed
    token_values: np.ndarray  # float32 [n, V], value of each evaluated token, NaN elsewhere; Q covers all legal tokens


class _Children(NamedTuple):
    """Nodes one token after others, with the values there."""

    rows: np.ndarray  # int64 [k]
    tokens: np.ndarray  # int32 [k]
    values: np.ndarray  # float32 [k]
    nodes: np.ndarray  # int32 [k]


def action_values(
    backend: Backend, nodes: np.ndarray, legal: np.ndarray, features: Features | None = None
) -> np.ndarray:
    """Compute the value of each legal token: Q(h, a), or V(h, a) after the token if the model has no action values.

    Args:
        backend: The model.
        nodes: int32 [n].
        legal: bool [n, V].
        features: Features after a row's token, see `argmax_val`.

    Returns:
        float32 [n, V], NaN for tokens that are not legal.
    """
    if not backend.has_action_values:
        return values_after(backend, nodes, legal, features)
    q = np.full(legal.shape, np.nan, dtype=np.float32)
    q[legal] = backend.action_values(nodes)[legal]
    return q


def values_after(
    backend: Backend, nodes: np.ndarray, legal: np.ndarray, features: Features | None = None
) -> np.ndarray:
    """Compute V(h, a), the value of the position after each legal token.

    Args:
        backend: The model.
        nodes: int32 [n].
        legal: bool [n, V].
        features: Features after a row's token, see `argmax_val`.

    Returns:
        float32 [n, V], NaN for tokens that are not legal.
    """
    values = np.full(legal.shape, np.nan, dtype=np.float32)
    children = _extend(backend, nodes, legal, features)
    backend.release(children.nodes)
    values[children.rows, children.tokens] = children.values
    return values


def _extend(backend: Backend, nodes: np.ndarray, candidate: np.ndarray, features: Features | None) -> _Children:
    """Append the candidate tokens, bool [n, V], to nodes, int32 [n], and evaluate the new nodes."""
    rows, tokens = np.nonzero(candidate)
    tokens = tokens.astype(np.int32)
    inputs = features(rows, tokens) if features and backend.n_features else None
    children = backend.extend(nodes[rows], tokens, None, inputs)
    return _Children(rows, tokens, backend.values(children)[:, 0], children)


def argmax_val(
    backend: Backend,
    nodes: np.ndarray,
    logits: np.ndarray,
    legal: np.ndarray,
    threshold: float,
    features: Features | None = None,
    use_action_values: bool = True,
) -> ArgmaxResult:
    """Choose by ArgmaxVal*: the token with the highest value V(h, a) among those with p_legal(a | h) >= threshold.

    These are equations 2 and 3 of the paper. If no token passes, the most probable one is chosen. Ties go to the lower
    token. A model with action values computes Q(h, a) of all tokens at once. V(h, a) needs one more forward pass for
    the candidate tokens.

    Args:
        backend: The model.
        nodes: int32 [n].
        logits: float32 [n, V], the policy at the nodes.
        legal: bool [n, V].
        threshold: Smallest probability of a candidate.
        features: Function that computes the features after one more token of some rows. Needed by a model that reads
            features, unless it has action values and these are used.
        use_action_values: Whether the values are Q(h, a) if the model has action values.
    """
    probs = legal_policy(logits, legal)
    candidate = legal & (probs >= threshold)
    has_none = ~candidate.any(axis=1)
    candidate[has_none, probs[has_none].argmax(axis=1)] = True
    if use_action_values and backend.has_action_values:
        token_values = action_values(backend, nodes, legal)
        rows, tokens = np.nonzero(candidate)
        best = _best(rows, tokens, token_values[rows, tokens], len(nodes))
        return ArgmaxResult(tokens[best].astype(np.int32), token_values[rows, tokens][best], None, token_values)
    children = _extend(backend, nodes, candidate, features)
    token_values = np.full(legal.shape, np.nan, dtype=np.float32)
    token_values[children.rows, children.tokens] = children.values
    best = _best(children.rows, children.tokens, children.values, len(nodes))
    backend.release(np.delete(children.nodes, best))
    return ArgmaxResult(children.tokens[best], children.values[best], children.nodes[best], token_values)


def _best(rows: np.ndarray, tokens: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """Return for each row the index of the entry with the highest value; the lower token if two are equal.

    `rows`, int [k], is ascending and contains each of 0 to n - 1.
    """
    return np.lexsort((tokens, -values, rows))[np.searchsorted(rows, np.arange(n))]
