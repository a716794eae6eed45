"""From a model's answers to a decision: the policies of the GO-MCTS paper, section 5.2, on batches of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from trickformer.models.engine import Engine

Facts: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (row int [k], token int32 [k]) -> float32 [k, F]


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


class Decided(NamedTuple):
    tokens: np.ndarray  # int32 [n]
    values: np.ndarray  # float32 [n], V behind the chosen token, or its Q
    nodes: np.ndarray | None  # int32 [n], the engine's node of the chosen token; the caller's to release. None: not fed


def action_values(engine: Engine, nodes: np.ndarray, legal: np.ndarray, facts: Facts | None = None) -> np.ndarray:
    """What the model says that each legal token is worth: Q(h, a), or V behind it where it has no action values.

    The arguments are those of `argmax_val`. Returns float64 [n, V], NaN on tokens that are not legal."""
    row, token, values, children = _valued(engine, nodes, legal, facts)
    if children is not None:
        engine.release(children)
    found = np.full(legal.shape, np.nan)
    found[row, token] = values
    return found


def _valued(
    engine: Engine, nodes: np.ndarray, candidate: np.ndarray, facts: Facts | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Rows, tokens and values of the candidates, and the nodes behind them where the model was asked there."""
    row, token = np.nonzero(candidate)
    token = token.astype(np.int32)
    if engine.has_action_values:
        return row, token, engine.action_values(nodes)[row, token], None
    children = engine.extend(nodes[row], token, None, facts(row, token) if facts and engine.n_facts else None)
    return row, token, engine.values(children)[:, 0], children


def argmax_val(
    engine: Engine,
    nodes: np.ndarray,
    logits: np.ndarray,
    legal: np.ndarray,
    threshold: float,
    facts: Facts | None = None,
) -> Decided:
    """ArgmaxVal*: the legal token of highest value V(h, a) among those of p_legal(a | h) >= threshold
    (equations 2 and 3); the most probable one if none passes. Ties go to the lower token. A model with action values
    says Q(h, a) of all at once; others are asked for the value behind each.

    nodes int32 [n], logits float32 [n, V], legal bool [n, V]. facts(row int [k], token int32 [k]) -> float32 [k, F]:
    what is known once a row's token has followed; for a model that takes facts and has no action values."""
    probs = legal_policy(logits, legal)
    candidate = legal & (probs >= threshold)
    none = ~candidate.any(axis=1)
    candidate[none, probs[none].argmax(axis=1)] = True
    row, token, values, children = _valued(engine, nodes, candidate, facts)
    start = np.searchsorted(row, np.arange(len(nodes)))
    best = np.lexsort((token, -values, row))[start]
    if children is None:
        return Decided(token[best], values[best], None)
    engine.release(np.delete(children, best))
    return Decided(token[best], values[best], children[best])
