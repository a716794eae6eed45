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
from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Belief, Game, Memo, View
from trickformer.gomcts.halving import halving
from trickformer.gomcts.search import SearchOptions, SearchResult
from trickformer.search.nodes import Node, Nodes, Path, result
from trickformer.search.states import Branches, Line, query_policy, sample_consistent_states

if TYPE_CHECKING:
    from trickformer.players.argmax import ArgmaxPlayer


@dataclass(eq=False, slots=True)
class _Simulation:
    """A simulation."""

    line: Line
    selected: list[tuple[Node, int]]  # the root's first
    number: int  # of those that began with its action
    steps: int | None = None  # own turns left, once it is beyond the tree

    def select(self, node: Node, chosen: int) -> None:
        node.in_flight[chosen] += 1
        self.selected.append((node, chosen))


@dataclass(frozen=True, eq=False, slots=True)
class _Tree:
    """A search under way."""

    nodes: dict[Path, Node]
    branches: Branches
    seed: int
    viewer: int
    length: int  # tokens before the root
    results: list[list[float]]  # of runs by action of the root, NaN while under way
    brought: list[tuple[Path, float]] | None  # which way each run went, and its result; None if nobody asks


class WorldsSearch:
    """Searches one decision after the other."""

    def __init__(self, game: Game, copies: ArgmaxPlayer, belief: Belief, options: SearchOptions):
        """copies: who plays in the worlds; its engine is asked for policy and values."""
        self._game, self._copies, self._belief, self._options = game, copies, belief, options
        self._nodes = Nodes(copies, options)

    def search(self, view: View, own: Memo, seed: int, keep: bool = False) -> SearchResult:
        """own: the copies' memo of the decision. keep: whether the result brings its tree.

        Raises ValueError on a view that no deal explains."""
        options = self._options
        (root,) = self._nodes.expand([view], [own])
        if len(root.tokens) == 1:
            return result(root, 0, 0, 0, [] if keep else None)
        states = sample_consistent_states(self._belief, view, options.runs, np.random.default_rng(seed))
        branches = Branches(self._game, self._copies, states, view.viewer, own)
        length = len(self._copies.tokenizer.encode(view))
        tree = _Tree({(): root}, branches, seed, view.viewer, length, [[] for _ in root.tokens], [] if keep else None)
        if options.root == "halving":
            (decision,) = self._copies.act([view], [np.random.default_rng(seed)], [own])
            best = halving(
                root.values,
                root.child(decision.action),
                options.runs if states else 0,
                lambda edges, games: self._compare(tree, edges, games),
                options.margin,
            )
        else:
            if states:
                self._play(tree, (root.select(options.c) for _ in range(options.runs)))
            best = root.best()
        return result(root, best, options.runs - len(states), options.runs, tree.brought)

    def _compare(self, tree: _Tree, edges: list[int], games: int) -> list[list[float]]:
        self._play(tree, iter(edges * games))
        return [tree.results[edge][-games:] for edge in edges]

    def _play(self, tree: _Tree, edges: Iterator[int]) -> None:
        """A run for each action of the root, asked for as soon as there is room for one more."""
        root, runs = tree.nodes[()], list[_Simulation]()
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
            runs += [_Simulation(line, [(root, edge)], n) for line, (edge, n) in zip(lines, chosen, strict=True)]
            if not runs:
                return
            ended = self._step(runs, tree)
            for run, value in ended.items():
                tree.results[run.selected[0][1]][run.number] = value
                for node, edge in run.selected:
                    node.in_flight[edge] -= 1
                    node.add_visit(edge, value)
                if tree.brought is not None:
                    tree.brought.append((self._path(run, tree), value))
            runs = [run for run in runs if run not in ended]

    def _step(self, runs: Sequence[_Simulation], tree: _Tree) -> dict[_Simulation, float]:
        """One action in each run. What each that is at its end has brought."""
        game, viewer, nodes, ended = self._game, tree.viewer, tree.nodes, dict[_Simulation, float]()
        acting, fresh, leaves = list[_Simulation](), list[tuple[_Simulation, Path]](), list[_Simulation]()
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
        expanded = self._nodes.expand(views, [run.line.memos[viewer] for run, _ in fresh])
        for (run, path), node in zip(fresh, expanded, strict=True):
            nodes.setdefault(path, node)  # another run of the wave may have come here first
            run.steps = self._options.steps
            (acting if run.steps else leaves).append(run)
        first = {run: nodes[path] for run, path in fresh}
        for run, decision in zip(acting, query_policy(game, self._copies, [run.line for run in acting]), strict=True):
            # As in the paper, the first move of a rollout counts too where its node has a child for it.
            if run in first and (edge := first[run].child(decision.action)) is not None:
                run.select(first[run], edge)
            run.line.apply(decision.action)
        views, memos = [game.view(run.line.state, viewer) for run in leaves], [run.line.memos[viewer] for run in leaves]
        ended.update(zip(leaves, self._nodes.evaluate_leaves(views, memos), strict=True))
        return ended

    def _path(self, run: _Simulation, tree: _Tree) -> Path:
        tokens = self._copies.tokenizer.encode(self._game.view(run.line.state, tree.viewer))
        return tuple(tokens[tree.length :].tolist())
