"""Driver of searches over observation sequences: the C++ core walks the trees, the backend runs the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from trickformer import _core
from trickformer.base import SearchNode, Tracker
from trickformer.gomcts.options import SearchOptions
from trickformer.models.backend import Backend


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Result of a search at its root."""

    tokens: np.ndarray  # int32 [k], actions of the root's children
    values: np.ndarray  # float64 [k], sums of backed-up values, the model's own prediction included
    visits: np.ndarray  # int32 [k], the prediction counts as one
    illegal: int  # runs that ended in a history which no deal explains
    searched: int  # all runs
    best: int  # index of the highest values / visits
    imagined: tuple[SearchNode, ...] = ()  # the tree, the root first, if it is kept

    @property
    def token(self) -> int:
        return int(self.tokens[self.best])

    @property
    def value(self) -> float:
        return float(self.values[self.best] / self.visits[self.best])


def search(
    backend: Backend,
    outcome_values: np.ndarray,
    trackers: Sequence[Tracker],
    roots: np.ndarray,
    seeds: Sequence[int],
    options: SearchOptions,
    keep: bool = False,
) -> list[SearchResult]:
    """Run one search for each tracker. All share the backend's forward passes, and none depends on the others.

    Args:
        backend: The model.
        outcome_values: float32 [outcomes, players], v(o), the own value first.
        trackers: n trackers at own turns, which are not changed.
        roots: int32 [n], the backend's node of each tracker's last token.
        seeds: n seeds of 64 bits, the only source of randomness.
        options: Settings of the searches.
        keep: Whether results have their trees.

    Raises:
        ValueError: It is not the own turn, or the options need action values and the model has none.
    """
    batch = _core.gomcts.SearchBatch(np.ascontiguousarray(outcome_values, dtype=np.float32))
    for tracker, root, seed in zip(trackers, roots, seeds, strict=True):
        batch.add(
            tracker,
            seed,
            int(root),
            **asdict(options),
            features=backend.n_features > 0,
        )
    asks_actions = options.action_values or options.leaf_action_values
    try:
        if isinstance(backend, _core.GPT2Backend):
            batch.run(backend, asks_actions)  # the loop below, inside the core
        while batch.advance():
            branches = batch.branches()  # parents, tokens, features
            if len(branches[1]):
                features = branches[2] if backend.n_features else None
                batch.give_nodes(backend.extend(branches[0], branches[1], None, features))
            nodes = batch.policy_nodes()
            actions = backend.action_values(nodes) if asks_actions else None
            batch.answer(backend.policy(nodes), backend.values(batch.value_nodes()), actions)
        return [_result(batch, i, options.runs, keep) for i in range(len(batch))]
    finally:
        backend.release(batch.backend_nodes())


def _result(batch: _core.gomcts.SearchBatch, i: int, runs: int, keep: bool) -> SearchResult:
    edges = batch.edges(i)
    return SearchResult(
        np.array([token for token, _, _ in edges], dtype=np.int32),
        np.array([value for _, value, _ in edges], dtype=np.float64),
        np.array([visits for _, _, visits in edges], dtype=np.int32),
        batch.illegal(i),
        runs,
        batch.best(i),
        _read_tree_nodes(batch, i) if keep else (),
    )


def _read_tree_nodes(batch: _core.gomcts.SearchBatch, i: int) -> tuple[SearchNode, ...]:
    nodes = zip(*(array.tolist() for array in batch.imagined_tree(i)))
    return tuple(SearchNode(parent, token, runs, total / runs if runs else 0.0) for parent, token, runs, total in nodes)
