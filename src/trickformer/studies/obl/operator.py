"""Exact operator of off-belief learning on listed games.

A policy is float64 [k], the log-probability of each slot (`tree.Tree`). "Paper" is "Off-Belief Learning". Its equations
are for a payoff that all seats share. If payoffs differ, every seat maximizes its own.
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

    The number of legal actions may depend on hidden information, as that of hints in Hanabi does. The policy then
    reveals some of it.

    Args:
        tree: Game tree.
    """
    return -np.log(np.repeat(tree.counts, tree.counts))


def grounded_weights(tree: Tree) -> np.ndarray:
    """Return the past of the grounded belief B_G (section 4.3), in which actions carry no information.

    Each history is as likely as chance makes it. The weights are one for every action: a past, but no policy.

    Args:
        tree: Game tree.

    Returns:
        float64 [k], zeros: logarithms of the weights.
    """
    return np.zeros(len(tree.owner))


def beliefs(tree: Tree, past: np.ndarray) -> np.ndarray:
    """Compute B(history | information state of the seat on turn).

    The seat's own actions are the same in all histories of its information state and do not count. An information state
    is therefore possible if chance and the others allow it.

    Args:
        tree: Game tree.
        past: float64 [k], a policy, or other log-weights of actions, by which all seats have played so far.

    Returns:
        float64 [n], logarithms; 0 at nodes without a seat on turn.

    Raises:
        TrickformerError: If an information state is impossible.
    """
    # By seat, the log-probability of a node by chance and the moves of all other seats.
    reach = np.zeros((len(tree.parent), tree.players))
    seats = np.arange(tree.players)
    for _, below in tree.downwards():
        slot = tree.slot[below]
        acted = slot >= 0
        step = np.log(tree.chance[below])
        step[acted] = past[slot[acted]]
        own = acted[:, None] & (tree.owner[slot][:, None] == seats)
        reach[below] = reach[tree.parent[below]] + np.where(own, 0.0, step[:, None])
    nodes = np.flatnonzero(tree.state >= 0)
    state, mine = tree.state[nodes], reach[nodes, tree.player[nodes]]
    top = np.full(len(tree.before), -np.inf)
    np.maximum.at(top, state, mine)
    if np.isneginf(top).any():
        raise TrickformerError(
            f"{int(np.isneginf(top).sum())} information states have no belief, because the past policy never reaches "
            "them; give a temperature above 0"
        )
    total = np.bincount(state, np.exp(mine - top[state]), len(top))
    logs = np.zeros(len(tree.parent))
    logs[nodes] = mine - top[state] - np.log(total[state])
    return logs


def respond(
    tree: Tree,
    past: np.ndarray,
    temperature: float,
    ahead: np.ndarray | None = None,
    seat: int | None = None,
    anew: bool = False,
) -> PolicyValue:
    """Apply the operator of off-belief learning, pi0 -> pi1: the past is `past`, the future is the new policy itself.

    Equations 2 and 3 of the paper, by decreasing depth.

    Args:
        tree: Game tree.
        past: float64 [k], policy or log-weights of the past.
        temperature: Temperature of the softmax, in points. 0 mixes the actions within 1e-9 of the best, so that the
            order of the actions does not matter.
        ahead: Policy that all seats but `seat` continue with; with past = ahead the result is a best response.
        seat: Seat that responds, if `ahead` is given.
        anew: Whether a seat values its next turn by a new belief from `past` (equation 4), as a learner of action
            values does. Equation 2 continues in the history believed now instead.

    Raises:
        TrickformerError: If an information state is impossible under `past`.
    """
    weight = np.exp(beliefs(tree, past))
    values = np.zeros_like(tree.reward)
    q, policy = np.zeros(len(tree.owner)), np.zeros(len(tree.owner))
    for slots, below in tree.upwards():
        slot, parent = tree.slot[below], tree.parent[below]
        acted = slot >= 0
        worth = tree.reward[below] + values[below]
        chosen, above = slot[acted], parent[acted]
        count = slots.stop - slots.start
        if count:
            mine = weight[above] * worth[acted, tree.owner[chosen]]
            q[slots] = np.bincount(chosen - slots.start, mine, count)
            policy[slots] = softmax(tree, q, slots, temperature)
            if ahead is not None:
                policy[slots] = np.where(tree.owner[slots] == seat, policy[slots], ahead[slots])
            if anew:
                worth[acted, tree.owner[chosen]] = q[chosen]
        odds = tree.chance[below].copy()
        odds[acted] = np.exp(policy[chosen])
        lo, hi = parent[0], parent[-1] + 1
        for i in range(tree.players):
            values[lo:hi, i] = np.bincount(parent - lo, odds * worth[:, i], hi - lo)
    return PolicyValue(policy, q, values)


def softmax(tree: Tree, q: np.ndarray, slots: slice, temperature: float) -> np.ndarray:
    """Compute the softmax of action values in whole information states.

    Args:
        tree: Game tree.
        q: float64 [k], action values in points.
        slots: Slots of the information states.
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
    chances = np.ones(len(tree.parent))
    for _, below in tree.downwards():
        slot = tree.slot[below]
        odds = tree.chance[below].copy()
        odds[slot >= 0] = np.exp(policy[slot[slot >= 0]])
        chances[below] = chances[tree.parent[below]] * odds
    return chances


def levels(tree: Tree, past: np.ndarray, temperature: float, count: int, anew: bool = False) -> list[np.ndarray]:
    """Compute the policies of levels 1 to `count`; each takes the level below as its past (section 4.4).

    Args:
        tree: Game tree.
        past: float64 [k], past of level 1.
        temperature: Temperature of the softmax, in points.
        count: Number of levels.
        anew: As in `respond`.

    Raises:
        TrickformerError: If an information state is impossible under a past.
    """
    policies: list[np.ndarray] = []
    for _ in range(count):
        past = respond(tree, past, temperature, anew=anew).policy
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
    """Compute the value of best play to each seat if all see everything but future chance, by backward induction.

    With a shared payoff this bounds every team that sees less.

    Args:
        tree: Game tree.

    Returns:
        float64 [p].
    """
    values = np.zeros_like(tree.reward)
    for _, below in tree.upwards():
        parent, worth = tree.parent[below], tree.reward[below] + values[below]
        lo, hi = parent[0], parent[-1] + 1
        starts = np.flatnonzero(np.diff(parent, prepend=-1))  # children of a node stand together
        nodes = parent[starts]
        sums = np.add.reduceat(worth * tree.chance[below][:, None], starts)
        seat = tree.player[parent]
        mine = np.where(seat >= 0, worth[np.arange(len(parent)), np.maximum(seat, 0)], 0.0)
        best = np.maximum.reduceat(mine, starts)
        # Of each node, the first child that is as good as the best.
        good = np.flatnonzero(mine >= np.repeat(best, np.diff(starts, append=len(parent))) - TIE)
        at = good[np.searchsorted(good, starts)]
        values[lo:hi][nodes - lo] = np.where((tree.player[nodes] >= 0)[:, None], worth[at], sums)
    return values[0]
