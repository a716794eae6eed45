"""Exact operator of off-belief learning on listed games.

A policy is float64 [k], the log-probability of each slot (`tree.Tree`). Equations and sections are those of "Off-Belief
Learning", for a payoff that all seats share. If payoffs differ, every seat maximizes its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickformer.base import TrickformerError
from trickformer.studies.obl.tree import Tree

TIE = 1e-9  # at temperature 0 actions whose values differ by less are equally good


class PolicyValue(NamedTuple):
    """A policy and the values that it was computed from."""

    policy: np.ndarray  # float64 [k]
    q: np.ndarray  # float64 [k]: value of each action to its seat
    values: np.ndarray  # float64 [n, p]: expected future reward of each seat after each history


def uniform(tree: Tree) -> np.ndarray:
    """Return the uniform policy over legal actions.

    If the number of legal actions depends on hidden cards, as with hints in Hanabi, the policy reveals some of them.

    Args:
        tree: Game tree.
    """
    return -np.log(np.repeat(tree.counts, tree.counts))


def grounded_weights(tree: Tree) -> np.ndarray:
    """Return the action weights of the grounded belief B_G (section 4.3), in which actions carry no information.

    Every action has weight 1, so the belief in a history depends on chance alone. The weights are no policy, because
    they do not sum to 1.

    Args:
        tree: Game tree.

    Returns:
        float64 [k], zeros: logarithms of the weights.
    """
    return np.zeros(len(tree.owner))


def beliefs(tree: Tree, past: np.ndarray) -> np.ndarray:
    """Compute B(history | information state of the seat on turn).

    The seat's own actions do not count, because they are the same in all histories of its information state. An
    information state is therefore possible if chance and the other seats allow it.

    Args:
        tree: Game tree.
        past: float64 [k], a policy, or other log-weights of actions, by which all seats have played so far.

    Returns:
        float64 [n], logarithms; 0 at nodes without a seat on turn.

    Raises:
        TrickformerError: If an information state is impossible.
    """
    # [n, p]: log-probability of a node by chance and by the moves of all seats but one.
    others_reach = np.zeros((len(tree.parent), tree.players))
    seats = np.arange(tree.players)
    for _, children in tree.downwards():
        slot = tree.slot[children]
        is_action = slot >= 0
        log_p = np.log(tree.chance[children])
        log_p[is_action] = past[slot[is_action]]
        own = is_action[:, None] & (tree.owner[slot][:, None] == seats)
        others_reach[children] = others_reach[tree.parent[children]] + np.where(own, 0.0, log_p[:, None])
    nodes = np.flatnonzero(tree.state >= 0)
    state, log_weight = tree.state[nodes], others_reach[nodes, tree.player[nodes]]
    top = np.full(len(tree.before), -np.inf)
    np.maximum.at(top, state, log_weight)
    if np.isneginf(top).any():
        raise TrickformerError(
            f"{int(np.isneginf(top).sum())} information states have no belief, because the past policy never reaches "
            "them; give a temperature above 0"
        )
    total = np.bincount(state, np.exp(log_weight - top[state]), len(top))
    logs = np.zeros(len(tree.parent))
    logs[nodes] = log_weight - top[state] - np.log(total[state])
    return logs


def respond(
    tree: Tree,
    past: np.ndarray,
    temperature: float,
    future: np.ndarray | None = None,
    seat: int | None = None,
    new_belief: bool = False,
) -> PolicyValue:
    """Apply the operator of off-belief learning, pi0 -> pi1: compute the policy that is best if it plays from now on.

    `past` (pi0) has played so far. Equations 2 and 3 are evaluated from the deepest nodes up.

    Args:
        tree: Game tree.
        past: float64 [k], policy or log-weights of the past.
        temperature: Temperature of the softmax, in points. 0 mixes the actions within 1e-9 of the best, so that the
            order of the actions does not matter.
        future: Policy of all seats but `seat` from now on (default: the new policy). The result is a best response if
            it equals the past.
        seat: Seat that responds, if `future` is given.
        new_belief: Whether the value of a seat's next turn is its value under the belief of that turn (equation 4), as
            a learner of action values computes it. By default it is the value in the history itself (equation 2).

    Raises:
        TrickformerError: If an information state is impossible under `past`.
    """
    belief = np.exp(beliefs(tree, past))
    values = np.zeros_like(tree.reward)
    q, policy = np.zeros(len(tree.owner)), np.zeros(len(tree.owner))
    for slots, children in tree.upwards():
        slot, parent = tree.slot[children], tree.parent[children]
        is_action = slot >= 0
        child_values = tree.reward[children] + values[children]  # reward on arrival and after it
        action_slots = slot[is_action]
        count = slots.stop - slots.start
        if count:
            weighted = belief[parent[is_action]] * child_values[is_action, tree.owner[action_slots]]
            q[slots] = np.bincount(action_slots - slots.start, weighted, count)
            policy[slots] = softmax(tree, q, slots, temperature)
            if future is not None:
                policy[slots] = np.where(tree.owner[slots] == seat, policy[slots], future[slots])
            if new_belief:
                child_values[is_action, tree.owner[action_slots]] = q[action_slots]
        odds = tree.chance[children].copy()
        odds[is_action] = np.exp(policy[action_slots])
        lo, hi = parent[0], parent[-1] + 1
        for i in range(tree.players):
            values[lo:hi, i] = np.bincount(parent - lo, odds * child_values[:, i], hi - lo)
    return PolicyValue(policy, q, values)


def softmax(tree: Tree, q: np.ndarray, slots: slice, temperature: float) -> np.ndarray:
    """Compute the softmax of action values in whole information states.

    Args:
        tree: Game tree.
        q: float64 [k], action values in points.
        slots: Slots of one or more information states, all of each.
        temperature: Temperature in points; 0 mixes the best actions.

    Returns:
        Log-probabilities of the slots.
    """
    inside = (tree.first[:-1] >= slots.start) & (tree.first[:-1] < slots.stop)
    starts, counts = tree.first[:-1][inside] - slots.start, tree.counts[inside]
    x = q[slots] - np.repeat(np.maximum.reduceat(q[slots], starts), counts)
    if temperature:
        x /= temperature
    else:
        x = np.where(x > -TIE, 0.0, -np.inf)
    return x - np.repeat(np.log(np.add.reduceat(np.exp(x), starts)), counts)


def value(tree: Tree, policy: np.ndarray) -> np.ndarray:
    """Compute J(policy), the mean payoff of each seat if all play the policy.

    Args:
        tree: Game tree.
        policy: float64 [k].

    Returns:
        float64 [p].
    """
    return reach(tree, policy) @ tree.reward


def reach(tree: Tree, policy: np.ndarray) -> np.ndarray:
    """Compute the probability of each history if all play the policy.

    Args:
        tree: Game tree.
        policy: float64 [k].

    Returns:
        float64 [n].
    """
    probabilities = np.ones(len(tree.parent))
    for _, children in tree.downwards():
        slot = tree.slot[children]
        odds = tree.chance[children].copy()
        odds[slot >= 0] = np.exp(policy[slot[slot >= 0]])
        probabilities[children] = probabilities[tree.parent[children]] * odds
    return probabilities


def levels(tree: Tree, past: np.ndarray, temperature: float, count: int, new_belief: bool = False) -> list[np.ndarray]:
    """Compute the policies of levels 1 to `count`. The past of each level is the level below (section 4.4).

    Args:
        tree: Game tree.
        past: float64 [k], past of level 1.
        temperature: Temperature of the softmax, in points.
        count: Number of levels.
        new_belief: As in `respond`.

    Raises:
        TrickformerError: If an information state is impossible under a past.
    """
    policies: list[np.ndarray] = []
    for _ in range(count):
        past = respond(tree, past, temperature, new_belief=new_belief).policy
        policies.append(past)
    return policies


def combine_policies(tree: Tree, policies: list[np.ndarray]) -> np.ndarray:
    """Combine policies into one in which seat i plays policy i, for cross-play.

    Args:
        tree: Game tree.
        policies: One policy a seat, float64 [k] each.
    """
    return np.stack(policies)[tree.owner, np.arange(len(tree.owner))]


def open_cards(tree: Tree) -> np.ndarray:
    """Compute each seat's value of best play with open cards, by backward induction.

    All seats see everything except future chance events. With a shared payoff the value is an upper bound for teams
    that see less.

    Args:
        tree: Game tree.

    Returns:
        float64 [p].
    """
    values = np.zeros_like(tree.reward)
    for _, children in tree.upwards():
        parent, child_values = tree.parent[children], tree.reward[children] + values[children]
        lo, hi = parent[0], parent[-1] + 1
        starts = np.flatnonzero(np.diff(parent, prepend=-1))  # first child of each node; its children are adjacent
        nodes = parent[starts]
        chance_values = np.add.reduceat(child_values * tree.chance[children][:, None], starts)
        seat = tree.player[parent]
        actor_values = np.where(seat >= 0, child_values[np.arange(len(parent)), np.maximum(seat, 0)], 0.0)
        best = np.maximum.reduceat(actor_values, starts)
        # For each node, the first child that is as good as the best.
        good = np.flatnonzero(actor_values >= np.repeat(best, np.diff(starts, append=len(parent))) - TIE)
        chosen = good[np.searchsorted(good, starts)]
        is_decision = (tree.player[nodes] >= 0)[:, None]
        values[lo:hi][nodes - lo] = np.where(is_decision, child_values[chosen], chance_values)
    return values[0]
