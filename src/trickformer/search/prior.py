"""Rollouts of the actions that another player, the prior, proposes.

A model (`ModelPlayer`) proposes the actions that it finds likely. Any other player proposes all legal actions; with a
script this is the control, the same search without a model. Sequential halving compares the candidates by simulated
games from sampled worlds. The prior's own choice, if it is a candidate, is played unless another one is better by a
margin. By default a scripted player of the core finishes the simulated games, because it plays a thousand games in the
time in which the model plays one (docs/results/recipe.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer.base import (
    Decision,
    Memo,
    Player,
    RolloutSettings,
    SampledWorlds,
    Thought,
    View,
    WorldSimulator,
    decide_in_batches,
)
from trickformer.models.decide import action_values, legal_policy, values_after
from trickformer.models.player import ModelPlayer
from trickformer.search.halving import halving
from trickformer.search.states import part_memo


class PriorRollouts(Player):
    """Player that improves on another player (the prior) by rollouts."""

    batch = 1

    def __init__(
        self,
        prior: Player,
        positions: WorldSimulator,
        options: RolloutSettings,
        action_values: bool,
        policy_caveats: Sequence[str] = (),
    ):
        """Set up a search.

        Args:
            prior: Player that proposes actions.
            positions: Samples worlds and finishes games.
            options: Number of games, threshold of candidates, and margin.
            action_values: For a prior with a model. True: the candidates' initial values are the model's Q(s, a).
                False: they are the model's values of the histories after each action.
            policy_caveats: Caveats of the player that finishes the games.
        """
        self.caveats = tuple(dict.fromkeys((*prior.caveats, *policy_caveats)))
        self.options = options
        self._prior, self._positions = prior, positions
        self._action_values = action_values

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(view, r, m) for view, r, m in zip(views, rng, memo)]

    def end(self, views: Sequence[View], scores: tuple[int, ...], memo: Sequence[Memo]) -> None:
        self._prior.end(views, scores, [m.get("prior", {}) for m in memo])

    def _decide(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        prior, prior_memo = self._prior, part_memo(memo, "prior")
        model = prior if isinstance(prior, ModelPlayer) else None
        if len(view.legal) == 1:
            faults = () if model else self._choose(view, rng, prior_memo).faults  # a program must see all its turns
            return Decision(view.legal[0], faults=faults)
        rng = np.random.default_rng(int(rng.integers(1 << 63)))
        thought, choice = None, None
        if model is None:
            choice = self._choose(view, rng, prior_memo)
            actions, prior_values = list(view.legal), {}
        else:
            policy, prior_values = self._evaluate_actions(model, view, prior_memo)
            actions = [action for action, p in policy.items() if p > self.options.threshold]
            actions = actions or [max(policy, key=lambda action: policy[action])]
            thought = Thought(policy=policy) if memo.get("explain") else None
        totals = [prior_values.get(action, 0.0) for action in actions]
        visits = [int(action in prior_values) for action in actions]  # the model's value counts as one visit
        best = 0
        worlds: SampledWorlds | None = None
        if len(actions) > 1:
            choice = choice or self._choose(view, rng, prior_memo)
            anchor = actions.index(choice.action) if choice.action in actions else None
            if self._positions.can_evaluate(view):
                # At least two actions share the runs in the same worlds, so no more than half as many worlds are used.
                worlds = self._positions.worlds(view, (self.options.runs + 1) // 2, rng)
                best = self._compare(worlds, actions, totals, visits, anchor, int(rng.integers(2**62)))
            else:
                best = max(range(len(actions)), key=lambda i: totals[i]) if anchor is None else anchor
        means = {action: total / n for action, total, n in zip(actions, totals, visits) if n}
        return Decision(
            actions[best],
            value=means.get(actions[best]),
            visits={action: n for action, n in zip(actions, visits) if n} or None,
            illegal=0 if worlds is None else worlds.illegal,
            searched=0 if worlds is None else worlds.searched,
            values=means or None,
            thought=thought,
            faults=choice.faults if choice else (),
        )

    def _choose(self, view: View, rng: np.random.Generator, prior_memo: Memo) -> Decision:
        (decision,) = decide_in_batches(self._prior, [view], [rng], [prior_memo])
        return decision

    def _evaluate_actions(
        self, prior: ModelPlayer, view: View, prior_memo: Memo
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Return the model's probability and value of each legal action, in the order of their tokens."""
        tokens, nodes = prior.feed_views([view], [prior_memo])
        by_token = {prior.tokenizer.token(action): action for action in view.legal}
        legal = np.zeros((1, len(prior.tokenizer.vocab)), dtype=bool)
        legal[0, list(by_token)] = True
        policy = legal_policy(prior.backend.policy(nodes), legal)[0]
        evaluate = action_values if self._action_values else values_after
        values = evaluate(prior.backend, nodes, legal, prior.feature_function(tokens))[0]
        ordered = sorted(by_token)
        return {by_token[t]: float(policy[t]) for t in ordered}, {by_token[t]: float(values[t]) for t in ordered}

    def _compare(
        self,
        worlds: SampledWorlds,
        actions: list[int],
        totals: list[float],
        visits: list[int],
        anchor: int | None,
        seed: int,
    ) -> int:
        """Return the index of the best action by sequential halving; add the games' values to `totals` and `visits`."""
        runs = self.options.runs
        played = 0  # games of each action so far, which also selects the next world

        def play(candidates: list[int], games: int) -> list[list[float]]:
            nonlocal played
            values: list[list[float]] = [[] for _ in candidates]
            while games:
                start = played % len(worlds)  # worlds are used again if fewer were consistent than needed
                rows = slice(start, min(start + games, len(worlds)))
                points = worlds.play(rows, [actions[i] for i in candidates], seed + played)
                for candidate_values, column in zip(values, (points / self._positions.unit).T.tolist(), strict=True):
                    candidate_values += column
                played, games = played + len(points), games - len(points)
            for i, candidate_values in zip(candidates, values, strict=True):
                for value in candidate_values:
                    totals[i] += value
                visits[i] += len(candidate_values)
            return values

        return halving(list(totals), anchor, runs if len(worlds) else 0, play, self.options.margin)
