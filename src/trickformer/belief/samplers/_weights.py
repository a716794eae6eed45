"""Importance weights over sampled worlds, for any game."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer.base import Game, Policy, View, Worlds


def policy_log_likelihood(game: Game, worlds: Worlds, viewer: int, policies: Sequence[Policy]) -> np.ndarray:
    """float64 [n], natural logarithm of the probability that the seats other than `viewer` do what they do in
    each world, where seat p plays by `policies[p]`: Bayes' rule, up to the viewer's own and chance's part.

    Walks through every world's history; meant for tens of worlds. Infeasible worlds get -inf."""
    result = np.where(worlds.feasible, 0.0, -np.inf)
    asked: dict[int, list[tuple[int, int, View]]] = {p: [] for p in range(game.players) if p != viewer}
    for i in np.flatnonzero(worlds.feasible):
        state = game.spiel.new_initial_state()
        for step in worlds.state(int(i)).full_history():
            if step.player in asked:
                asked[step.player].append((int(i), step.action, game.view(state, step.player)))
            state.apply_action(step.action)
    for player, items in asked.items():
        if not items:
            continue
        index, actions, views = zip(*items)
        probs = np.asarray(policies[player].probs(views), dtype=np.float64)
        with np.errstate(divide="ignore"):
            np.add.at(result, list(index), np.log(probs[np.arange(len(views)), list(actions)]))
    return result


def resample(log_weight: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """int64 [n]: indices drawn with probability proportional to exp(log_weight), by systematic resampling
    (Kitagawa 1996). Raises ValueError where no weight is positive."""
    top = log_weight.max(initial=-np.inf)
    if not np.isfinite(top):
        raise ValueError("no world has a positive weight")
    cumulative = np.cumsum(np.exp(log_weight - top))
    at = (rng.random() + np.arange(n)) / n * cumulative[-1]
    return np.minimum(np.searchsorted(cumulative, at, side="right"), len(log_weight) - 1)
