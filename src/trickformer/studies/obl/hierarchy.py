"""Hierarchies beside off-belief learning: k-level reasoning and cognitive hierarchies, whose levels are best responses
to levels below, in the past and in the future alike; and best responses in turn."""

from __future__ import annotations

import math

import numpy as np

from trickformer.studies.obl import operator
from trickformer.studies.obl.tree import Tree


def best_responses(tree: Tree, policy: np.ndarray, temperature: float) -> np.ndarray:
    """For each seat the best response, softened by `temperature`, to all others playing `policy`. Raises
    TrickformerError where some information state is out of the others' reach."""
    answers = [operator.respond(tree, policy, temperature, policy, seat).policy for seat in range(tree.players)]
    return operator.combine_policies(tree, answers)


def mixture(tree: Tree, policies: list[np.ndarray], weights: list[float]) -> np.ndarray:
    """The policy of seats that each draw one of `policies` before the game, by `weights`, and keep to it.

    By Kuhn's theorem it is the mean of the policies, weighted in each information state by how likely the seat's own
    past makes it. The first must allow every action."""
    own = np.log(weights)[:, None] + np.zeros((len(policies), len(tree.owner)))  # of a sequence of own actions
    all_of = np.empty(len(tree.owner))
    found = np.empty(len(tree.owner))
    for slots, _ in tree.downwards():
        states = np.searchsorted(tree.first, np.arange(slots.start, slots.stop), side="right") - 1
        last = tree.before[states]
        for i, policy in enumerate(policies):
            own[i, slots] = np.where(last >= 0, own[i, last], math.log(weights[i])) + policy[slots]
        all_of[slots] = np.logaddexp.reduce(own[:, slots])
        found[slots] = all_of[slots] - np.where(last >= 0, all_of[last], math.log(sum(weights)))
    return found


def k_levels(tree: Tree, temperature: float, count: int) -> list[np.ndarray]:
    """Levels 1 to `count`: each is the best response to the level below, the first to the uniform policy."""
    found, below = [], operator.uniform(tree)
    for _ in range(count):
        below = best_responses(tree, below, temperature)
        found.append(below)
    return found


def cognitive_hierarchy(tree: Tree, temperature: float, count: int, tau: float) -> list[np.ndarray]:
    """Levels 1 to `count`: each is the best response to seats whose levels are drawn from all those below, by Poisson's
    distribution of mean `tau` ("A Cognitive Hierarchy Model of Games", Camerer, Ho, Chong 2004)."""
    found = [operator.uniform(tree)]
    for _ in range(count):
        below = mixture(tree, found, poisson(len(found), tau))
        found.append(best_responses(tree, below, temperature))
    return found[1:]


def poisson(count: int, tau: float) -> list[float]:
    """The shares of levels 0 to count - 1 among themselves."""
    logs = np.array([i * math.log(tau) - math.lgamma(i + 1) for i in range(count)])
    shares = np.exp(logs - logs.max())
    return (shares / shares.sum()).tolist()


def climb(tree: Tree, policy: np.ndarray, temperature: float, rounds: int) -> np.ndarray:
    """Self-play by best responses in turn: seats take turns at answering the others, until no answer gains more than
    1e-6 or `rounds` are over. With a shared payoff it ends where no seat alone can do better, which need not be the
    best."""
    worth = operator.value(tree, policy)[0]
    for _ in range(rounds):
        for seat in range(tree.players):
            policy = operator.respond(tree, policy, temperature, policy, seat).policy
        gained, worth = operator.value(tree, policy)[0] - worth, operator.value(tree, policy)[0]
        if gained <= 1e-6:
            break
    return policy
