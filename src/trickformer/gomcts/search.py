"""Drives searches over observation sequences: the C++ core walks the trees, the engine answers for the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from trickformer import _core
from trickformer.base import SearchNode, SearchSettings, Tracker
from trickformer.models.backend import Backend


@dataclass(frozen=True, slots=True)
class SearchOptions(SearchSettings):
    """All settings of a search."""

    mu: float = 0.01  # an illegal history takes this from every action on its path
    root: Literal["uct", "halving"] = "uct"  # how runs are shared among the actions; halving in worlds alone
    legal: bool = False  # sample only observations that some deal allows
    early: bool = False  # end a run where its history becomes illegal
    action_values: bool = False  # edges begin with the model's Q(s, a), and cost no pass of their own
    leaf_action_values: bool = False  # a run that stops at an own turn counts the best Q(s, a) there


@dataclass(frozen=True, slots=True)
class SearchResult:
    tokens: np.ndarray  # int32 [k], the actions that the root has children for
    values: np.ndarray  # float64 [k], sums of backed-up values, the model's own prediction included
    visits: np.ndarray  # int32 [k], that prediction counts as one
    illegal: int  # runs that ended in a history which no deal explains
    searched: int  # all runs, or the worlds that were drawn for them
    best: int  # index of the highest values / visits
    imagined: tuple[SearchNode, ...] = ()  # the tree, the root first; where it is kept

    @property
    def token(self) -> int:
        return int(self.tokens[self.best])

    @property
    def value(self) -> float:
        return float(self.values[self.best] / self.visits[self.best])


def search(
    engine: Backend,
    outcome_values: np.ndarray,
    trackers: Sequence[Tracker],
    roots: np.ndarray,
    seeds: Sequence[int],
    options: SearchOptions,
    keep: bool = False,
) -> list[SearchResult]:
    """One search a tracker, all sharing the engine's forward passes; none depends on the others.

    outcome_values: float32 [outcomes, players], v(o), own first. trackers: at the own turn, not changed.
    roots: int32 [n], the engine's node of each tracker's last token. seeds: 64 bits each, all the randomness.
    keep: whether results bring their trees. Raises ValueError where it is not the own turn, or the options ask for
    action values that the model lacks, and what a tracker written in Python raises."""
    batch = _core.gomcts.SearchBatch(np.ascontiguousarray(outcome_values, dtype=np.float32))
    for tracker, root, seed in zip(trackers, roots, seeds, strict=True):
        batch.add(
            tracker,
            seed,
            int(root),
            runs=options.runs,
            steps=options.steps,
            c=options.c,
            threshold=options.threshold,
            mu=options.mu,
            wave=options.wave,
            legal=options.legal,
            early=options.early,
            features=engine.n_features > 0,
            action_values=options.action_values,
            leaf_action_values=options.leaf_action_values,
        )
    asks_actions = options.action_values or options.leaf_action_values
    try:
        if isinstance(engine, _core.GPT2Engine):
            batch.run(engine, asks_actions)  # the same as below without a step outside the core
        while batch.advance():
            parents, tokens, features = batch.branches()
            if len(tokens):
                batch.give_nodes(engine.extend(parents, tokens, None, features if engine.n_features else None))
            asked = batch.policy_nodes()
            actions = engine.action_values(asked) if asks_actions else None
            batch.answer(engine.policy(asked), engine.values(batch.value_nodes()), actions)
        return [_result(batch, i, options.runs, keep) for i in range(len(batch))]
    finally:
        engine.release(batch.engine_nodes())


def _result(batch: _core.gomcts.SearchBatch, i: int, runs: int, keep: bool) -> SearchResult:
    tokens, values, visits = zip(*batch.edges(i))
    return SearchResult(
        np.array(tokens, dtype=np.int32),
        np.array(values, dtype=np.float64),
        np.array(visits, dtype=np.int32),
        batch.illegal(i),
        runs,
        batch.best(i),
        _read_tree_nodes(batch, i) if keep else (),
    )


def _read_tree_nodes(batch: _core.gomcts.SearchBatch, i: int) -> tuple[SearchNode, ...]:
    nodes = zip(*(array.tolist() for array in batch.imagined(i)))
    return tuple(SearchNode(parent, token, runs, total / runs if runs else 0.0) for parent, token, runs, total in nodes)
