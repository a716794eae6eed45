"""Own turns of GO-MCTS in worlds, as the model sees them, and what a search of one has found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trickformer.base import Memo, SearchNode, View
from trickformer.gomcts.search import SearchOptions, SearchResult
from trickformer.models.decide import action_values, legal_policy, values_behind

if TYPE_CHECKING:
    from trickformer.players.argmax import ArgmaxPlayer

Path = tuple[int, ...]  # the own tokens that have followed the root


@dataclass(slots=True)
class Node:
    """An own turn: its children, each of which begins with what the model says of it as one visit."""

    tokens: list[int]
    actions: list[int]
    values: list[float]  # sums
    visits: list[int]
    in_flight: list[int]

    def select(self, c: float) -> int:
        """UCT; a run in flight counts as a visit that brought c less than the mean, as in the core's search."""
        total = math.log(sum(self.visits) + sum(self.in_flight))

        def score(i: int) -> float:
            visits, in_flight = self.visits[i] + self.in_flight[i], self.in_flight[i]
            mean = (self.values[i] + in_flight * (self.values[i] / self.visits[i] - c)) / visits
            return mean + c * math.sqrt(total / visits)

        return max(range(len(self.tokens)), key=score)

    def best(self) -> int:
        return max(range(len(self.tokens)), key=lambda i: self.values[i] / self.visits[i])

    def add_visit(self, edge: int, value: float) -> None:
        """A run has gone this way."""
        self.visits[edge] += 1
        self.values[edge] += value

    def child(self, action: int) -> int | None:
        """Which child an action is."""
        return self.actions.index(action) if action in self.actions else None


class _ModelEvaluation(NamedTuple):
    actions: list[dict[int, int]]  # the legal ones by their tokens
    policy: np.ndarray  # float64 [n, V]
    worth: np.ndarray  # float32 [n, V], NaN where not legal


class Nodes:
    """What the model says of own turns."""

    def __init__(self, copies: ArgmaxPlayer, options: SearchOptions):
        """copies: whose engine is asked."""
        self._copies, self._options = copies, options

    def _evaluate(self, views: Sequence[View], memos: Sequence[Memo], action_valued: bool) -> _ModelEvaluation:
        """Of actions Q(s, a), or V behind them."""
        copies = self._copies
        tokens, nodes = copies.feed_views(views, memos)
        actions = [{copies.tokenizer.token(a): a for a in view.legal} for view in views]
        legal = np.zeros((len(views), len(copies.tokenizer.vocab)), dtype=bool)
        for row, by_token in enumerate(actions):
            legal[row, list(by_token)] = True
        policy = legal_policy(copies.engine.policy(nodes), legal)
        look = action_values if action_valued else values_behind
        return _ModelEvaluation(actions, policy, look(copies.engine, nodes, legal, copies.feature_function(tokens)))

    def expand(self, views: Sequence[View], memos: Sequence[Memo]) -> list[Node]:
        """Each action that the policy finds likely enough becomes a child, with one visit of what the model says."""
        if not views:
            return []
        actions, policy, worth = self._evaluate(views, memos, self._options.action_values)
        found = []
        for row, by_token in enumerate(actions):
            likely = [t for t in sorted(by_token) if policy[row, t] > self._options.threshold]
            tokens = likely or [int(policy[row].argmax())]
            values = [float(worth[row, t]) for t in tokens]
            found.append(Node(tokens, [by_token[t] for t in tokens], values, [1] * len(tokens), [0] * len(tokens)))
        return found

    def evaluate_leaves(self, views: Sequence[View], memos: Sequence[Memo]) -> list[float]:
        """What the model expects of games that are not played to their end."""
        if not views:
            return []
        if self._options.leaf_action_values:
            return np.nanmax(self._evaluate(views, memos, True).worth, axis=1).tolist()
        _, nodes = self._copies.feed_views(views, memos)
        return self._copies.engine.values(nodes)[:, 0].tolist()


def result(
    root: Node, best: int, illegal: int, searched: int, brought: Sequence[tuple[Path, float]] | None
) -> SearchResult:
    """illegal: of the `searched` worlds that were drawn, those that explain nothing. brought: by which own tokens each
    run went, and its result; None where no tree is kept."""
    return SearchResult(
        np.array(root.tokens, dtype=np.int32),
        np.array(root.values),
        np.array(root.visits, dtype=np.int32),
        illegal,
        searched,
        best,
        () if brought is None else _build_tree_nodes(brought),
    )


def _build_tree_nodes(brought: Sequence[tuple[Path, float]]) -> tuple[SearchNode, ...]:
    """The tree that paths make together, the root first."""
    index: dict[Path, int] = {(): 0}
    runs, sums = [0], [0.0]
    for path, value in brought:
        for end in range(len(path) + 1):
            at = index.setdefault(path[:end], len(index))
            if at == len(runs):
                runs.append(0)
                sums.append(0.0)
            runs[at] += 1
            sums[at] += value
    return tuple(
        SearchNode(index[path[:-1]] if path else -1, path[-1] if path else -1, runs[at], sums[at] / max(runs[at], 1))
        for path, at in index.items()
    )
