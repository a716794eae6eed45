"""Methods to compare with off-belief learning: k-level reasoning, cognitive hierarchies and self-play.

In the first two a level is a best response to lower levels, which also made all moves so far. Self-play alternates best
responses of the seats.
"""

from __future__ import annotations

import math

import numpy as np

from trickformer.studies.obl import operator
from trickformer.studies.obl.tree import Tree


def _best_responses(tree: Tree, policy: np.ndarray, temperature: float) -> np.ndarray:
    """Compute for each seat the best response, softened by `temperature`, to all others playing `policy`.

    Raises TrickformerError if the others never reach some information state.
    """
    responses = [operator.respond(tree, policy, temperature, policy, seat).policy for seat in range(tree.players)]
    return operator.combine_policies(tree, responses)


def mixture(tree: Tree, policies: list[np.ndarray], weights: list[float]) -> np.ndarray:
    """Compute a policy equivalent to drawing one of some policies before the game, in each seat, and keeping to it.

    By Kuhn's theorem it is the weighted mean of the policies in each information state. A policy's weight there is its
    prior weight, times the probability of the seat's own past actions under it.

    Args:
        tree: Game tree.
        policies: Policies, float64 [k] each; the first must allow every action.
        weights: Prior weights of the policies.

    Returns:
        float64 [k], log-probabilities.
    """
    # Log-weight of each policy after the seat's own actions up to a slot, this one included; total: their sum.
    own = np.log(weights)[:, None] + np.zeros((len(policies), len(tree.owner)))
    total = np.empty(len(tree.owner))
    mixed = np.empty(len(tree.owner))
    for slots, _ in tree.downwards():
        states = np.searchsorted(tree.first, np.arange(slots.start, slots.stop), side="right") - 1
        previous = tree.before[states]
        for i, policy in enumerate(policies):
            own[i, slots] = np.where(previous >= 0, own[i, previous], math.log(weights[i])) + policy[slots]
        total[slots] = np.logaddexp.reduce(own[:, slots])
        mixed[slots] = total[slots] - np.where(previous >= 0, total[previous], math.log(sum(weights)))
    return mixed


def k_levels(tree: Tree, temperature: float, count: int) -> list[np.ndarray]:
    """Compute levels 1 to `count` of k-level reasoning.

    Each level is the best response to the level below. Level 0 is uniform.

    Args:
        tree: Game tree.
        temperature: Temperature of the best responses, in points.
        count: Number of levels.
    """
    policies, below = [], operator.uniform(tree)
    for _ in range(count):
        below = _best_responses(tree, below, temperature)
        policies.append(below)
    return policies


def cognitive_hierarchy(tree: Tree, temperature: float, count: int, tau: float) -> list[np.ndarray]:
    """Compute levels 1 to `count` of a cognitive hierarchy.

    Each level is the best response to seats whose levels are drawn from all lower levels, with Poisson weights ("A
    Cognitive Hierarchy Model of Games", Camerer, Ho, Chong 2004).

    Args:
        tree: Game tree.
        temperature: Temperature of the best responses, in points.
        count: Number of levels.
        tau: Mean of the Poisson distribution.
    """
    policies = [operator.uniform(tree)]
    for _ in range(count):
        below = mixture(tree, policies, poisson(len(policies), tau))
        policies.append(_best_responses(tree, below, temperature))
    return policies[1:]


def poisson(count: int, tau: float) -> list[float]:
    """Compute the Poisson probabilities of levels 0 to count - 1, normalized to sum 1.

    Args:
        count: Number of levels.
        tau: Mean of the distribution.
    """
    logs = np.array([i * math.log(tau) - math.lgamma(i + 1) for i in range(count)])
    shares = np.exp(logs - logs.max())
    return (shares / shares.sum()).tolist()


def climb(tree: Tree, policy: np.ndarray, temperature: float, rounds: int) -> np.ndarray:
    """Improve a policy by best responses of one seat after another.

    With a shared payoff this ends in a policy that no seat can improve alone. It need not be the optimum.

    Args:
        tree: Game tree.
        policy: Policy to start from.
        temperature: Temperature of the best responses, in points.
        rounds: Largest number of rounds; a round that gains at most 1e-6 is the last.
    """
    value = operator.value(tree, policy)[0]
    for _ in range(rounds):
        for seat in range(tree.players):
            policy = operator.respond(tree, policy, temperature, policy, seat).policy
        old_value, value = value, operator.value(tree, policy)[0]
        if value - old_value <= 1e-6:
            break
    return policy
