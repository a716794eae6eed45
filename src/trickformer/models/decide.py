"""From a model's answers to a decision: the policies of the GO-MCTS paper, section 5.2, on batches of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from trickformer.models.backend import Backend

Features: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (row int [k], token int32 [k]) -> float32 [k, F]


def legal_policy(logits: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """The policy normalized over the legal tokens. logits float32 [n, V], legal bool [n, V], at least one
    True a row -> float64 [n, V]."""
    masked = np.where(legal, logits.astype(np.float64), -np.inf)
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def draw(probs: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """One token a row by inverting the distribution function. probs [n, V], uniforms float64 [n] -> int32 [n]."""
    cumulative = np.cumsum(probs, axis=1)
    tokens = (cumulative <= uniforms[:, None] * cumulative[:, -1:]).sum(axis=1)
    # Rounding may leave the last step of the sum short of a uniform next to 1.
    last = probs.shape[1] - 1 - np.argmax(probs[:, ::-1] > 0, axis=1)
    return np.minimum(tokens, last).astype(np.int32)


class ArgmaxResult(NamedTuple):
    tokens: np.ndarray  # int32 [n]
    values: np.ndarray  # float32 [n], V behind the chosen token, or its Q
    nodes: np.ndarray | None  # int32 [n], nodes of the chosen tokens, which the caller releases; None: not fed
    looked: np.ndarray  # float32 [n, V], what each token that was looked at is worth, NaN elsewhere; Q knows all legal


def action_values(
    backend: Backend, nodes: np.ndarray, legal: np.ndarray, features: Features | None = None
) -> np.ndarray:
    """What the model says that each legal token is worth: Q(h, a), or V behind it where it has no action values.

    The arguments are those of `argmax_val`. Returns float32 [n, V], NaN on tokens that are not legal."""
    if not backend.has_action_values:
        return values_behind(backend, nodes, legal, features)
    found = np.full(legal.shape, np.nan, dtype=np.float32)
    found[legal] = backend.action_values(nodes)[legal]
    return found


def values_behind(
    backend: Backend, nodes: np.ndarray, legal: np.ndarray, features: Features | None = None
) -> np.ndarray:
    """V behind each legal token, as `action_values` has it of a model without action values."""
    found = np.full(legal.shape, np.nan, dtype=np.float32)
    row, token, values, children = _behind(backend, nodes, legal, features)
    backend.release(children)
    found[row, token] = values
    return found


def _behind(
    backend: Backend, nodes: np.ndarray, candidate: np.ndarray, features: Features | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows and tokens of the candidates, V behind each, and the nodes there."""
    row, token = np.nonzero(candidate)
    token = token.astype(np.int32)
    known = features(row, token) if features and backend.n_features else None
    children = backend.extend(nodes[row], token, None, known)
    return row, token, backend.values(children)[:, 0], children


def argmax_val(
    backend: Backend,
    nodes: np.ndarray,
    logits: np.ndarray,
    legal: np.ndarray,
    threshold: float,
    features: Features | None = None,
) -> ArgmaxResult:
    """ArgmaxVal*: the legal token of highest value V(h, a) among those of p_legal(a | h) >= threshold
    (equations 2 and 3); the most probable one if none passes. Ties go to the lower token. A model with action values
    says Q(h, a) of all at once; others are asked for the value behind each.

    nodes int32 [n], logits float32 [n, V], legal bool [n, V]. features(row int [k], token int32 [k]) -> float32 [k, F]:
    what is known once a row's token has followed; for a model that takes features and has no action values."""
    probs = legal_policy(logits, legal)
    candidate = legal & (probs >= threshold)
    none = ~candidate.any(axis=1)
    candidate[none, probs[none].argmax(axis=1)] = True
    looked = np.full(legal.shape, np.nan, dtype=np.float32)
    if backend.has_action_values:
        looked[legal] = backend.action_values(nodes)[legal]
        row, token = np.nonzero(candidate)
        token, children, values = token.astype(np.int32), None, looked[row, token]
    else:
        row, token, values, children = _behind(backend, nodes, candidate, features)
        looked[row, token] = values
    start = np.searchsorted(row, np.arange(len(nodes)))
    best = np.lexsort((token, -values, row))[start]
    if children is None:
        return ArgmaxResult(token[best], values[best], None, looked)
    backend.release(np.delete(children, best))
    return ArgmaxResult(token[best], values[best], children[best], looked)
