"""Hints for a person's decision: the actions that deserve a thought, and the lead of the best one.

A hint follows from a player's decision on the person's view, so it depends on no hidden card.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from trickformer.base import Decision, World

ERRORS = 2.0  # number of standard errors within which an action may be as good as the best
MOST = 3  # largest number of candidates if the player reports no error
MIN_SHARE = 0.1  # smallest share of the visits, or of the policy, of a candidate
Basis = Literal["error", "visits", "policy", "value"]


class TableHint(NamedTuple):
    """Hint for one decision, with values in units of v(o)."""

    best: int  # the player's own action
    candidates: tuple[int, ...]  # actions that deserve a thought, by number; the best is one of them
    basis: Basis | None  # numbers that the candidates follow from; None if the player reports none
    rival: int | None  # action with the highest value apart from the best; None if no value can be compared
    lead: float | None  # value of the best action minus the value of the rival; negative if the rival's is higher
    error: float | None  # standard error of the lead over sampled worlds; None if there are no worlds


def find_hint(decision: Decision, values: Mapping[int, float], legal: Sequence[int]) -> TableHint:
    """Find the actions that deserve a thought.

    If the player values actions in several worlds, the candidates are the actions within ERRORS standard errors of
    the best one. Otherwise they are the most visited actions, or the most likely ones, or the ones of highest value.

    Args:
        decision: A player's decision, with its thought.
        values: The player's value of each action that it examined, in units of v(o).
        legal: Legal actions.
    """
    best, thought = decision.action, decision.thought
    worlds = thought.worlds if thought else ()
    rivals = [action for action in legal if action != best and action in values]
    rival = max(rivals, key=lambda action: values[action]) if best in values and rivals else None
    lead, error = find_loss(decision, values, rival) if rival is not None else (None, None)
    deficits = {action: deficit for action in rivals if (deficit := _deficit(worlds, best, action)) is not None}
    basis, candidates = _candidates(decision, values, legal, deficits)
    return TableHint(best, tuple(sorted({best, *candidates})), basis, rival, lead, error)


def find_loss(decision: Decision, values: Mapping[int, float], action: int) -> tuple[float | None, float | None]:
    """Compute how much less an action is worth than the player's own action.

    Args:
        decision: A player's decision, with its thought.
        values: The player's value of each action that it examined, in units of v(o).
        action: The action.

    Returns:
        The loss in units of v(o), negative if the action is worth more, and its standard error over sampled worlds. The
        loss is None if a value is missing, and the error is None if there are fewer than two worlds.
    """
    if not {decision.action, action} <= values.keys():
        return None, None
    worlds = decision.thought.worlds if decision.thought else ()
    deficit = _deficit(worlds, decision.action, action)
    return values[decision.action] - values[action], None if deficit is None else deficit[1]


def _candidates(
    decision: Decision,
    values: Mapping[int, float],
    legal: Sequence[int],
    deficits: Mapping[int, tuple[float, float]],
) -> tuple[Basis | None, list[int]]:
    if deficits:
        return "error", [action for action, (mean, error) in deficits.items() if mean <= ERRORS * error]
    policy = decision.thought.policy if decision.thought else None
    weights: Sequence[tuple[Basis, Mapping[int, float] | None]] = (("visits", decision.visits), ("policy", policy))
    for basis, weight in weights:
        if weight:
            total = sum(weight.values())
            ranked = sorted(weight, key=lambda action: -weight[action])[:MOST]
            return basis, [action for action in ranked if weight[action] >= MIN_SHARE * total]
    known = sorted((action for action in legal if action in values), key=lambda action: -values[action])
    # A player that values its own action alone compares nothing.
    return ("value", known[:MOST]) if len(known) > 1 else (None, [])


def _deficit(worlds: Sequence[World], best: int, action: int) -> tuple[float, float] | None:
    """Return how much less an action is worth than the best, as the mean over worlds and its standard error.

    Values in one world are compared with each other, because worlds differ more than the actions in them. The result
    is None if fewer than two worlds have both values.
    """
    differences = [w.values[best] - w.values[action] for w in worlds if best in w.values and action in w.values]
    n = len(differences)
    if n < 2:
        return None
    mean = sum(differences) / n
    variance = sum((difference - mean) ** 2 for difference in differences) / (n - 1)
    return mean, math.sqrt(variance / n)
