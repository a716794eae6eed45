"""The operator of off-belief learning, exactly, on games that are listed.

A policy is float64 [k], the logarithm of each slot's probability (`tree.Tree`). "Paper" is "Off-Belief Learning"; its
equations are told for a payoff that all seats share. Where payoffs differ, every seat counts its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trickformer.base import TrickformerError
from trickformer.studies.obl.tree import Tree

TIE = 1e-9  # actions whose values differ by less are equally good at temperature 0


class PolicyValue(NamedTuple):
    """What a policy is computed with."""

    policy: np.ndarray  # float64 [k]
    q: np.ndarray  # float64 [k]: what each action is worth to its seat; of slots that were computed
    values: np.ndarray  # float64 [n, p]: what each history is worth to each seat, the past aside


def uniform(tree: Tree) -> np.ndarray:
    """Every legal action is equally likely. Where the number of legal actions depends on what others do not see, as
    that of hints in Hanabi, this says something of what is hidden."""
    return -np.log(np.repeat(tree.counts, tree.counts))


def grounded_weights(tree: Tree) -> np.ndarray:
    """The past of the grounded belief B_G (section 4.3): each history is as likely as chance makes it, for no action
    says anything beyond what it shows. These are weights of one, not probabilities: no policy, only a past."""
    return np.zeros(len(tree.owner))


def beliefs(tree: Tree, past: np.ndarray) -> np.ndarray:
    """B(history | information state of the seat on turn), in logarithms: float64 [n], 0 at other nodes.

    past: a policy, or other weights of actions, in logarithms, by which all seats have played so far. What the seat
    itself did is the same in all histories of its information state and does not count, so that an information state
    is possible if the others and chance allow it. Raises TrickformerError where one is not."""
    reach = np.zeros((len(tree.parent), tree.players))  # of a node: chance x what all but one seat did, for each seat
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
            f"{int(np.isneginf(top).sum())} information states are never reached by the policy of the past, so there "
            "is no belief in them; give a temperature above 0"
        )
    total = np.bincount(state, np.exp(mine - top[state]), len(top))
    found = np.zeros(len(tree.parent))
    found[nodes] = mine - top[state] - np.log(total[state])
    return found


def respond(
    tree: Tree,
    past: np.ndarray,
    temperature: float,
    ahead: np.ndarray | None = None,
    seat: int | None = None,
    anew: bool = False,
) -> PolicyValue:
    """The policy that takes the past to be `past` and the future to be itself: equations 2 and 3 of the paper, by
    decreasing depth. This is the operator of off-belief learning, past = pi0 -> pi1.

    temperature: in points, that of the softmax; 0 shares an information state among its best actions, so that no order
    of the actions matters (those within 1e-9 of the best are). ahead and seat: all but `seat` go on as `ahead` does;
    with past = ahead the answer is a best response to it. anew: a seat counts its next turn for what it will hold it
    for, by a belief of `past` again (equation 4), where equation 2 goes on in the history that was believed: what the
    others did since by pi1 is forgotten, as by a learner of action values. Raises TrickformerError as `beliefs`
    does."""
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
    """Logarithms of the probabilities of whole information states' slots, by what these are worth."""
    inside = (tree.first[:-1] >= slots.start) & (tree.first[:-1] < slots.stop)
    starts, counts = tree.first[:-1][inside] - slots.start, tree.counts[inside]
    x = q[slots] - np.repeat(np.maximum.reduceat(q[slots], starts), counts)
    if temperature:
        x /= temperature
    else:
        x = np.where(x > -TIE, 0.0, -np.inf)
    return x - np.repeat(np.log(np.add.reduceat(np.exp(x), starts)), counts)


def value(tree: Tree, policy: np.ndarray) -> np.ndarray:
    """J(policy): what each seat is paid on the average where all play it, float64 [p]."""
    return reach(tree, policy) @ tree.reward


def reach(tree: Tree, policy: np.ndarray) -> np.ndarray:
    """How likely each history is where all play `policy`, float64 [n]."""
    found = np.ones(len(tree.parent))
    for _, below in tree.downwards():
        slot = tree.slot[below]
        odds = tree.chance[below].copy()
        odds[slot >= 0] = np.exp(policy[slot[slot >= 0]])
        found[below] = found[tree.parent[below]] * odds
    return found


def levels(tree: Tree, past: np.ndarray, temperature: float, count: int, anew: bool = False) -> list[np.ndarray]:
    """The policies of levels 1 to `count`: each takes the one before as its past (section 4.4), the first `past`.
    anew: as of `respond`. Raises TrickformerError as `beliefs` does."""
    found: list[np.ndarray] = []
    for _ in range(count):
        past = respond(tree, past, temperature, anew=anew).policy
        found.append(past)
    return found


def combine_policies(tree: Tree, policies: list[np.ndarray]) -> np.ndarray:
    """The policy of a table at which seat i plays the i-th of `policies`: for cross-play."""
    return np.stack(policies)[tree.owner, np.arange(len(tree.owner))]


def open_cards(tree: Tree) -> np.ndarray:
    """What best play is worth to each seat where everybody sees everything but what chance has yet to do, by backward
    induction, float64 [p]. With a shared payoff, no team can be better without seeing so much."""
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
        # The first child that is as good as the best, of each node.
        good = np.flatnonzero(mine >= np.repeat(best, np.diff(starts, append=len(parent))) - TIE)
        at = good[np.searchsorted(good, starts)]
        values[lo:hi][nodes - lo] = np.where((tree.player[nodes] >= 0)[:, None], worth[at], sums)
    return values[0]
