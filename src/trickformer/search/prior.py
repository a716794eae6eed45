"""Rollouts of the actions that a model proposes.

The model proposes candidates, and its own choice is played unless another candidate is better by a margin. Games that
are finished from sampled worlds compare the candidates by sequential halving. A script of the core finishes a thousand
games in the time in which copies of a model play one, and that many worlds are worth more than better players in few
worlds (docs/results/recipe.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import Decision, Memo, Player, RolloutSettings, SampledWorlds, Thought, View, WorldSimulator
from trickformer.models.decide import action_values, legal_policy, values_behind
from trickformer.search.halving import halving

if TYPE_CHECKING:
    from trickformer.models.player import ModelPlayer


class PriorRollouts(Player):
    """Player by rollouts with a prior, one decision after the other."""

    batch = 1

    def __init__(self, prior: ModelPlayer, positions: WorldSimulator, options: RolloutSettings, action_values: bool):
        """Set up a search.

        Args:
            prior: Proposes actions; its own choice stays unless another is better.
            positions: Draws worlds and finishes games.
            options: Number of games, threshold of candidates, and margin.
            action_values: Whether the model's Q(s, a) ranks the candidates; else V(h, a).
        """
        self.options = options
        self._prior, self._positions = prior, positions
        self._action_values = action_values

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(view, r, m) for view, r, m in zip(views, rng, memo)]

    def _decide(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        if len(view.legal) == 1:
            return Decision(view.legal[0])
        own: Memo = memo.setdefault("prior", {})
        likely, worth = self._assess(view, own)
        actions = [action for action, p in likely.items() if p > self.options.threshold]
        actions = actions or [max(likely, key=lambda action: likely[action])]
        thought = Thought(policy=likely) if memo.get("explain") else None
        totals, visits = [worth[action] for action in actions], [1] * len(actions)  # the model's value is one visit
        best = 0
        worlds: SampledWorlds | None = None
        rng = np.random.default_rng(int(rng.integers(1 << 63)))
        if len(actions) > 1:
            (decision,) = self._prior.act([view], [rng], [own])
            anchor = actions.index(decision.action) if decision.action in actions else None
            if self._positions.can_evaluate(view):
                # Two actions or more share the runs.
                worlds = self._positions.worlds(view, (self.options.runs + 1) // 2, rng)
                best = self._compare(worlds, actions, totals, visits, anchor, int(rng.integers(2**62)))
            else:
                best = max(range(len(actions)), key=lambda i: totals[i]) if anchor is None else anchor
        means = {action: total / n for action, total, n in zip(actions, totals, visits)}
        return Decision(
            actions[best],
            value=means[actions[best]],
            visits=dict(zip(actions, visits)),
            illegal=0 if worlds is None else worlds.illegal,
            searched=0 if worlds is None else worlds.searched,
            values=means,
            thought=thought,
        )

    def _assess(self, view: View, own: Memo) -> tuple[dict[int, float], dict[int, float]]:
        """Return the model's probability and value of each legal action, in the order of their tokens."""
        prior = self._prior
        tokens, nodes = prior.feed_views([view], [own])
        by_token = {prior.tokenizer.token(action): action for action in view.legal}
        legal = np.zeros((1, len(prior.tokenizer.vocab)), dtype=bool)
        legal[0, list(by_token)] = True
        policy = legal_policy(prior.backend.policy(nodes), legal)[0]
        look = action_values if self._action_values else values_behind
        worth = look(prior.backend, nodes, legal, prior.feature_function(tokens))[0]
        ordered = sorted(by_token)
        return {by_token[t]: float(policy[t]) for t in ordered}, {by_token[t]: float(worth[t]) for t in ordered}

    def _compare(
        self,
        worlds: SampledWorlds,
        actions: list[int],
        totals: list[float],
        visits: list[int],
        anchor: int | None,
        chance: int,
    ) -> int:
        """Return the index of the best action, and add the games to `totals` and `visits`. `chance` is a seed."""
        runs = self.options.runs
        played = 0

        def play(edges: list[int], games: int) -> list[list[float]]:
            nonlocal played
            values: list[list[float]] = [[] for _ in edges]
            # If some of the sampled worlds are impossible, the others are used again.
            while games:
                start = played % len(worlds)
                rows = slice(start, min(start + games, len(worlds)))
                points = worlds.play(rows, [actions[edge] for edge in edges], chance + played)
                for row, column in zip(values, (points / self._positions.unit).T.tolist(), strict=True):
                    row += column
                played, games = played + len(points), games - len(points)
            for edge, row in zip(edges, values, strict=True):
                for value in row:
                    totals[edge] += value
                visits[edge] += len(row)
            return values

        return halving(list(totals), anchor, runs if len(worlds) else 0, play, self.options.margin)
