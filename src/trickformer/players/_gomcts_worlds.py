"""GO-MCTS on games in place of imagined sequences: what follows an action is what copies of the model do in a world.

The paper's search has the model imagine the others' actions from what the own seat sees. Where these hang on cards that
the seat cannot see, as in The Crew, no partners would play such a sequence (docs/results/recipe.md). Here each
simulation is a game in a world that explains what was seen, in which all play ArgmaxVal*, each by what it sees there.
The tree is still one of the own observations: worlds that the seat cannot tell apart share their nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trickformer.base import Belief, Game, Imagined, Memo, View
from trickformer.gomcts.search import SearchOptions, SearchResult
from trickformer.models.decide import action_values, legal_policy, values_behind
from trickformer.players._played import Branches, Line, decided, explaining

if TYPE_CHECKING:
    from trickformer.players.argmax import ArgmaxPlayer

Path = tuple[int, ...]  # the own tokens that have followed the root


@dataclass(slots=True)
class _Node:
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


@dataclass(eq=False, slots=True)
class _Run:
    """A simulation."""

    line: Line
    selected: list[tuple[_Node, int]]  # the root's first
    number: int  # of those that began with its action
    steps: int | None = None  # own turns left, once it is beyond the tree

    def select(self, node: _Node, chosen: int) -> None:
        node.in_flight[chosen] += 1
        self.selected.append((node, chosen))


@dataclass(frozen=True, eq=False, slots=True)
class _Tree:
    """A search under way."""

    nodes: dict[Path, _Node]
    branches: Branches
    seed: int
    viewer: int
    length: int  # tokens before the root
    results: list[list[float]]  # of runs by action of the root, NaN while under way
    brought: list[tuple[Path, float]] | None  # which way each run went, and its result; None if nobody asks


class _Asked(NamedTuple):
    actions: list[dict[int, int]]  # the legal ones by their tokens
    policy: np.ndarray  # float64 [n, V]
    worth: np.ndarray  # float32 [n, V], NaN where not legal


class WorldsSearch:
    """Searches one decision after the other."""

    def __init__(self, game: Game, copies: ArgmaxPlayer, belief: Belief, options: SearchOptions):
        """copies: who plays in the worlds; its engine is asked for policy and values."""
        self._game, self._copies, self._belief, self._options = game, copies, belief, options

    def search(self, view: View, own: Memo, seed: int, keep: bool = False) -> SearchResult:
        """own: the copies' memo of the decision. keep: whether the result brings its tree.

        Raises ValueError on a view that no deal explains."""
        options = self._options
        (root,) = self._expanded([view], [own])
        if len(root.tokens) == 1:
            return _result(root, 0, 0, [] if keep else None)
        states = explaining(self._belief, view, options.runs, np.random.default_rng(seed))
        branches = Branches(self._game, self._copies, states, view.viewer, own)
        length = len(self._copies.tokenizer.encode(view))
        tree = _Tree({(): root}, branches, seed, view.viewer, length, [[] for _ in root.tokens], [] if keep else None)
        if options.root == "halving":
            (decision,) = self._copies.act([view], [np.random.default_rng(seed)], [own])
            best = self._halve(tree, decision.action)
        else:
            if states:
                self._play(tree, (root.select(options.c) for _ in range(options.runs)))
            best = root.best()
        return _result(root, best, options.runs - len(states), tree.brought)

    def _halve(self, tree: _Tree, stays: int) -> int:
        """Sequential halving (Karnin, Koren & Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", 2013): in
        each round all actions left have as many games, in the same worlds; the better half goes on.

        stays: the action of the copies. It is in every round, and is played unless another is the better one by
        `margin` standard errors of their differences in the same worlds."""
        root, results = tree.nodes[()], tree.results
        left = self._options.runs if len(tree.branches) else 0
        anchor = root.actions.index(stays) if stays in root.actions else None

        def rank(i: int) -> tuple[float, bool]:
            return -float(np.mean(results[i])), i != anchor

        order = sorted(range(len(root.tokens)), key=lambda i: (i != anchor, -root.values[i]))
        while sum(_rounds(len(order))) > left:
            order.pop()
        sizes = list(_rounds(len(order)))
        for number, size in enumerate(sizes):
            kept = order[:size]
            if anchor is not None and anchor not in kept:
                kept[-1] = anchor
            games = max(1, left // ((len(sizes) - number) * size))
            self._play(tree, iter(kept * games))
            left -= games * size
            order = sorted(kept, key=rank)
        best = order[0]
        return best if anchor is None or self._is_better(results[best], results[anchor]) else anchor

    def _is_better(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Of results in the same worlds."""
        gained = np.subtract(one, other)
        if len(gained) < 2:
            return False
        return gained.mean() > self._options.margin * gained.std(ddof=1) / math.sqrt(len(gained))

    def _play(self, tree: _Tree, edges: Iterator[int]) -> None:
        """A run for each action of the root, asked for as soon as there is room for one more."""
        root, runs = tree.nodes[()], list[_Run]()
        while True:
            starts: list[tuple[int, int]] = []
            chosen: list[tuple[int, int]] = []
            for edge in islice(edges, self._options.wave - len(runs)):
                root.in_flight[edge] += 1
                # The n-th run of each action is in the same world, so that actions are compared in like worlds.
                number = len(tree.results[edge])
                tree.results[edge].append(math.nan)
                chosen.append((edge, number))
                starts.append((number % len(tree.branches), root.actions[edge]))
            lines = tree.branches.begin(starts, tree.seed)
            runs += [_Run(line, [(root, edge)], n) for line, (edge, n) in zip(lines, chosen, strict=True)]
            if not runs:
                return
            ended = self._step(runs, tree)
            for run, value in ended.items():
                tree.results[run.selected[0][1]][run.number] = value
                for node, edge in run.selected:
                    node.in_flight[edge] -= 1
                    node.visits[edge] += 1
                    node.values[edge] += value
                if tree.brought is not None:
                    tree.brought.append((self._path(run, tree), value))
            runs = [run for run in runs if run not in ended]

    def _step(self, runs: Sequence[_Run], tree: _Tree) -> dict[_Run, float]:
        """One action in each run. What each that is at its end has brought."""
        game, viewer, nodes, ended = self._game, tree.viewer, tree.nodes, dict[_Run, float]()
        acting, fresh, leaves = list[_Run](), list[tuple[_Run, Path]](), list[_Run]()
        for run in runs:
            if not run.line.goes_on():
                ended[run] = run.line.result(game, viewer)
            elif run.line.state.current_player() != viewer:
                acting.append(run)
            elif run.steps is not None:
                run.steps -= 1
                (leaves if run.steps <= 0 else acting).append(run)
            else:
                path = self._path(run, tree)
                node = nodes.get(path)
                if node is None:
                    fresh.append((run, path))
                    continue
                edge = node.select(self._options.c)
                run.select(node, edge)
                run.line.apply(node.actions[edge])
        views = [game.view(run.line.state, viewer) for run, _ in fresh]
        expanded = self._expanded(views, [run.line.memos[viewer] for run, _ in fresh])
        for (run, path), node in zip(fresh, expanded, strict=True):
            nodes.setdefault(path, node)  # another run of the wave may have come here first
            run.steps = self._options.steps
            (acting if run.steps else leaves).append(run)
        first = {run: nodes[path] for run, path in fresh}
        for run, decision in zip(acting, decided(game, self._copies, [run.line for run in acting]), strict=True):
            # As in the paper, the first move of a rollout counts too where its node has a child for it.
            if run in first and decision.action in first[run].actions:
                run.select(first[run], first[run].actions.index(decision.action))
            run.line.apply(decision.action)
        ended.update(zip(leaves, self._worth(leaves, viewer), strict=True))
        return ended

    def _path(self, run: _Run, tree: _Tree) -> Path:
        tokens = self._copies.tokenizer.encode(self._game.view(run.line.state, tree.viewer))
        return tuple(tokens[tree.length :].tolist())

    def _asked(self, views: Sequence[View], memos: Sequence[Memo], action_valued: bool) -> _Asked:
        """What the model says of own turns; of actions Q(s, a), or V behind them."""
        copies = self._copies
        tokens, nodes = copies.seen(views, memos)
        actions = [{copies.tokenizer.token(a): a for a in view.legal} for view in views]
        legal = np.zeros((len(views), len(copies.tokenizer.vocab)), dtype=bool)
        for row, by_token in enumerate(actions):
            legal[row, list(by_token)] = True
        policy = legal_policy(copies.engine.policy(nodes), legal)
        look = action_values if action_valued else values_behind
        return _Asked(actions, policy, look(copies.engine, nodes, legal, copies.following(tokens)))

    def _expanded(self, views: Sequence[View], memos: Sequence[Memo]) -> list[_Node]:
        """Each action that the policy finds likely enough becomes a child, with one visit of what the model says."""
        if not views:
            return []
        actions, policy, worth = self._asked(views, memos, self._options.action_values)
        found = []
        for row, by_token in enumerate(actions):
            likely = [t for t in sorted(by_token) if policy[row, t] > self._options.threshold]
            tokens = likely or [int(policy[row].argmax())]
            values = [float(worth[row, t]) for t in tokens]
            found.append(_Node(tokens, [by_token[t] for t in tokens], values, [1] * len(tokens), [0] * len(tokens)))
        return found

    def _worth(self, leaves: Sequence[_Run], viewer: int) -> list[float]:
        """What the model expects of games that are not played to their end."""
        if not leaves:
            return []
        views = [self._game.view(run.line.state, viewer) for run in leaves]
        memos = [run.line.memos[viewer] for run in leaves]
        if self._options.leaf_action_values:
            return np.nanmax(self._asked(views, memos, True).worth, axis=1).tolist()
        _, nodes = self._copies.seen(views, memos)
        return self._copies.engine.values(nodes)[:, 0].tolist()


def _rounds(actions: int) -> Iterator[int]:
    """How many actions each round of sequential halving tries; the last one two."""
    while actions > 1:
        yield actions
        actions = (actions + 1) // 2


def _result(root: _Node, best: int, illegal: int, brought: Sequence[tuple[Path, float]] | None) -> SearchResult:
    """illegal: worlds drawn that explain nothing. brought: by which own tokens each run went, and its result; None
    where no tree is kept."""
    return SearchResult(
        np.array(root.tokens, dtype=np.int32),
        np.array(root.values),
        np.array(root.visits, dtype=np.int32),
        illegal,
        best,
        () if brought is None else _imagined(brought),
    )


def _imagined(brought: Sequence[tuple[Path, float]]) -> tuple[Imagined, ...]:
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
        Imagined(index[path[:-1]] if path else -1, path[-1] if path else -1, runs[at], sums[at] / max(runs[at], 1))
        for path, at in index.items()
    )
