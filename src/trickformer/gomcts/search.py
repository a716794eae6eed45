"""GO-MCTS searches in lockstep: the C++ core grows the trees, and the backend evaluates the model for all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from trickformer import _core
from trickformer.base import SearchNode, Tracker
from trickformer.gomcts.options import SearchOptions
from trickformer.models.backend import Backend


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Statistics of the root's children after a search."""

    tokens: np.ndarray  # int32 [k], token of each child's action
    values: np.ndarray  # float64 [k], sum of backed-up values of each child, including the model's initial estimate
    squares: np.ndarray  # float64 [k], sum of the squares of these values
    visits: np.ndarray  # int32 [k], number of values in each sum; the initial estimate counts as one visit
    illegal: int  # simulations that ended in a history that no deal is consistent with
    searched: int  # all simulations
    best: int  # index of the child with the highest mean value
    imagined: tuple[SearchNode, ...] = ()  # nodes of the tree, the root first, if the caller requested them

    @property
    def token(self) -> int:
        return int(self.tokens[self.best])

    @property
    def value(self) -> float:
        return float(self.values[self.best] / self.visits[self.best])

    def beats(self, anchor: int, margin: float) -> bool:
        """Return whether the best action's mean is higher than another's by more than some standard errors.

        The values of a tree search are not independent, so this is a rule of thumb and not a test.

        Args:
            anchor: Token of the other action. If the search did not try it, nothing beats it.
            margin: Number of standard errors of the difference.
        """
        (reference,) = np.nonzero(self.tokens == anchor)
        pair = [self.best, *reference.tolist()]
        if len(pair) < 2 or anchor == self.token or self.visits[pair].min() < 2:
            return False
        means = self.values[pair] / self.visits[pair]
        variances = np.maximum(self.squares[pair] / self.visits[pair] - means**2, 0) / (self.visits[pair] - 1)
        return bool(means[0] - means[1] > margin * math.sqrt(variances.sum()))


def search(
    backend: Backend,
    outcome_values: np.ndarray,
    trackers: Sequence[Tracker],
    roots: np.ndarray,
    seeds: Sequence[int],
    options: SearchOptions,
    keep: bool = False,
) -> list[SearchResult]:
    """Run one search for each tracker. The searches share forward passes, but their results are independent.

    Args:
        backend: The model.
        outcome_values: float32 [outcomes, players], v(o), the own value first.
        trackers: n trackers whose seats are on turn; they are not changed.
        roots: int32 [n], the backend's node of each tracker's last token.
        seeds: n seeds of 64 bits, the only source of randomness.
        options: Settings of the searches.
        keep: Whether the results contain the trees.

    Raises:
        ValueError: A tracker's seat is not on turn, or the options need action values and the model has none.
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
    needs_q = options.needs_action_values
    try:
        if isinstance(backend, _core.GPT2Backend):
            batch.run(backend, needs_q)  # runs the loop below in C++, which then has nothing left to do
        while batch.advance():
            branches = batch.branches()  # parents, tokens, features of the nodes that the backend must add
            if len(branches[1]):
                features = branches[2] if backend.n_features else None
                batch.give_nodes(backend.extend(branches[0], branches[1], None, features))
            nodes = batch.policy_nodes()
            q = backend.action_values(nodes) if needs_q else None
            batch.answer(backend.policy(nodes), backend.values(batch.value_nodes()), q)
        return [_result(batch, i, options.runs, keep) for i in range(len(batch))]
    finally:
        backend.release(batch.backend_nodes())


def _result(batch: _core.gomcts.SearchBatch, i: int, runs: int, keep: bool) -> SearchResult:
    edges = batch.edges(i)
    return SearchResult(
        np.array([token for token, _, _, _ in edges], dtype=np.int32),
        np.array([value for _, value, _, _ in edges], dtype=np.float64),
        np.array([squares for _, _, squares, _ in edges], dtype=np.float64),
        np.array([visits for _, _, _, visits in edges], dtype=np.int32),
        batch.illegal(i),
        runs,
        batch.best(i),
        _read_tree_nodes(batch, i) if keep else (),
    )


def _read_tree_nodes(batch: _core.gomcts.SearchBatch, i: int) -> tuple[SearchNode, ...]:
    nodes = zip(*(array.tolist() for array in batch.imagined_tree(i)))
    return tuple(SearchNode(parent, token, runs, total / runs if runs else 0.0) for parent, token, runs, total in nodes)
