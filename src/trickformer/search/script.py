"""GO-MCTS whose simulations a scripted player plays on, in worlds that explain what was seen.

The model says which actions are worth a look, and which is played unless another is better; games say the rest. A
script of the core plays a thousand games on in the time in which copies of a model play one, and in The Crew so many
worlds are worth more than better players in few (docs/results/crew.md). No two of these games share a tree: what
follows an action is hardly ever seen twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Memo, View
from trickformer.gomcts.halving import halving
from trickformer.gomcts.search import SearchOptions, SearchResult
from trickformer.search.nodes import Nodes, result

if TYPE_CHECKING:
    from trickformer.players.argmax import ArgmaxPlayer
    from trickformer.search.sparta import WorldSimulator


class ScriptSearch:
    """Searches one decision after the other."""

    def __init__(self, copies: ArgmaxPlayer, positions: WorldSimulator, options: SearchOptions):
        """copies: whose model is asked, and whose action stays. positions: what draws worlds and plays them on."""
        self._copies, self._positions, self._options = copies, positions, options
        self._nodes = Nodes(copies, options)

    def search(self, view: View, own: Memo, seed: int, keep: bool = False) -> SearchResult:
        """own: the copies' memo of the decision. keep: whether the result brings its tree.

        Raises ValueError on a view that no deal explains."""
        options = self._options
        (root,) = self._nodes.expand([view], [own])
        if len(root.tokens) == 1:
            return result(root, 0, 0, 0, [] if keep else None)
        rng = np.random.default_rng(seed)
        (decision,) = self._copies.act([view], [rng], [own])
        anchor = root.child(decision.action)
        if not self._positions.can_evaluate(view):
            return result(root, root.best() if anchor is None else anchor, 0, 0, [] if keep else None)
        # Two actions or more share the runs.
        drawn = self._positions.worlds(view, (options.runs + 1) // 2, rng)
        chance, played = int(rng.integers(2**62)), 0
        brought: list[tuple[tuple[int, ...], float]] = []

        def play(edges: list[int], games: int) -> list[list[float]]:
            nonlocal played
            found: list[list[float]] = [[] for _ in edges]
            # Where some of the worlds drawn explain nothing, those that do may come again.
            while games:
                start = played % len(drawn)
                rows = slice(start, min(start + games, len(drawn)))
                points = drawn.play(rows, [root.actions[edge] for edge in edges], chance + played)
                for values, column in zip(found, (points / self._positions.unit).T.tolist(), strict=True):
                    values += column
                played, games = played + len(points), games - len(points)
            for edge, values in zip(edges, found, strict=True):
                for value in values:
                    root.add_visit(edge, value)
                    brought.append(((root.tokens[edge],), value))
            return found

        best = halving(root.values, anchor, options.runs if len(drawn) else 0, play, options.margin)
        return result(root, best, drawn.illegal, drawn.searched, brought if keep else None)
