"""GO-MCTS on games in place of imagined sequences: what follows an action is what copies of the model do in a world.

The paper's search has the model imagine the others' actions from what the own seat sees. Where these hang on cards that
the seat cannot see, as in The Crew, no partners would play such a sequence (docs/results/recipe.md). Here each
simulation is a game in a world that explains what was seen, in which all play ArgmaxVal*, each by what it sees there.
The tree is still one of the own observations: worlds that the seat cannot tell apart share their nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
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
    selected: list[tuple[_Node, int]]
    steps: int | None = None  # own turns left, once it is beyond the tree

    def select(self, node: _Node, chosen: int) -> None:
        node.in_flight[chosen] += 1
        self.selected.append((node, chosen))


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
            return _result(root, 0, [] if keep else None)
        rng = np.random.default_rng(seed)
        states = explaining(self._belief, view, options.runs, rng)
        branches = Branches(self._game, self._copies, states, view.viewer, own)
        tree: dict[Path, _Node] = {(): root}
        brought: list[tuple[Path, float]] = []
        begun = [0] * len(root.tokens)
        runs: list[_Run] = []
        left = options.runs if states else 0
        length = len(self._copies.tokenizer.encode(view))
        while left or runs:
            # The n-th run of each action is in the same world, so that actions are compared in like worlds.
            starts: list[tuple[int, int]] = []
            chosen: list[int] = []
            while left and len(runs) + len(starts) < options.wave:
                edge = root.select(options.c)
                root.in_flight[edge] += 1
                chosen.append(edge)
                starts.append((begun[edge] % len(states), root.actions[edge]))
                begun[edge] += 1
                left -= 1
            lines = branches.begin(starts, seed)
            runs += [_Run(line, [(root, edge)]) for line, edge in zip(lines, chosen, strict=True)]
            ended = self._step(runs, tree, view.viewer, length)
            for run, value in ended.items():
                for node, edge in run.selected:
                    node.in_flight[edge] -= 1
                    node.visits[edge] += 1
                    node.values[edge] += value
                if keep:
                    brought.append((self._path(run, view.viewer, length), value))
            runs = [run for run in runs if run not in ended]
        return _result(root, options.runs - len(states), brought if keep else None)

    def _step(self, runs: Sequence[_Run], tree: dict[Path, _Node], viewer: int, length: int) -> dict[_Run, float]:
        """One action in each run. What each that is at its end has brought."""
        game, ended = self._game, dict[_Run, float]()
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
                path = self._path(run, viewer, length)
                node = tree.get(path)
                if node is None:
                    fresh.append((run, path))
                    continue
                edge = node.select(self._options.c)
                run.select(node, edge)
                run.line.apply(node.actions[edge])
        views = [game.view(run.line.state, viewer) for run, _ in fresh]
        expanded = self._expanded(views, [run.line.memos[viewer] for run, _ in fresh])
        for (run, path), node in zip(fresh, expanded, strict=True):
            tree.setdefault(path, node)  # another run of the wave may have come here first
            run.steps = self._options.steps
            (acting if run.steps else leaves).append(run)
        first = {run: tree[path] for run, path in fresh}
        for run, decision in zip(acting, decided(game, self._copies, [run.line for run in acting]), strict=True):
            # As in the paper, the first move of a rollout counts too where its node has a child for it.
            if run in first and decision.action in first[run].actions:
                run.select(first[run], first[run].actions.index(decision.action))
            run.line.apply(decision.action)
        ended.update(zip(leaves, self._worth(leaves, viewer), strict=True))
        return ended

    def _path(self, run: _Run, viewer: int, length: int) -> Path:
        tokens = self._copies.tokenizer.encode(self._game.view(run.line.state, viewer))
        return tuple(tokens[length:].tolist())

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


def _result(root: _Node, illegal: int, brought: Sequence[tuple[Path, float]] | None) -> SearchResult:
    """illegal: worlds drawn that explain nothing. brought: by which own tokens each run went, and its result; None
    where no tree is kept."""
    return SearchResult(
        np.array(root.tokens, dtype=np.int32),
        np.array(root.values),
        np.array(root.visits, dtype=np.int32),
        illegal,
        root.best(),
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
