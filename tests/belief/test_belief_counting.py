"""Exact counting of hidden hands in Hanabi, against a list of all and against the core's sampler."""

from __future__ import annotations

from itertools import product
from math import perm, prod

import numpy as np
import pytest

from trickformer import games
from trickformer.belief import sampler
from trickformer.belief.hanabi.counting import counting
from trickformer.belief.hanabi.estimators import CountingEstimator
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.belief.samplers.hanabi import replay


def listed(counts: np.ndarray, possible: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """The same of one table, by a list of all hands."""
    slots, kinds = possible.shape
    there = [s for s in range(slots) if possible[s].any()]
    belief = np.zeros((slots, kinds))
    for hand in product(range(kinds), repeat=len(there)):
        if not all(possible[s, k] for s, k in zip(there, hand)):
            continue
        ways = prod(perm(int(counts[k]), hand.count(k)) for k in range(kinds))
        for i, s in enumerate(there):
            if all(hidden[earlier] == k for earlier, k in zip(there[:i], hand)):
                belief[s, hand[i]] += ways
    total = belief.sum(axis=1, keepdims=True)
    return np.divide(belief, total, out=np.zeros_like(belief), where=total > 0)


@pytest.mark.parametrize("seed", range(6))
def test_counting_is_a_list_of_all_hands(seed):
    rng = np.random.default_rng(seed)
    n, slots, kinds = 5, 4, 5
    counts = rng.integers(0, 4, (n, kinds)).astype(np.float32)
    possible = rng.random((n, slots, kinds)) < 0.7
    hidden = rng.integers(0, kinds, (n, slots)).astype(np.int8)
    for g, s in product(range(n), range(slots)):  # some deal has these cards
        possible[g, s, hidden[g, s]] = True
        counts[g] = np.maximum(counts[g], np.bincount(hidden[g], minlength=kinds))
    empty = rng.random((n, slots)) < 0.2
    possible[empty], hidden[empty] = False, -1
    expected = np.stack([listed(*table) for table in zip(counts, possible, hidden)])
    np.testing.assert_allclose(counting(counts, possible, hidden), expected, atol=1e-12, err_msg=f"seed {seed}")


@pytest.mark.slow
def test_the_core_counts_the_same_in_full_games():
    """A hand's probability is the product of its cards', each given those before it."""
    game = games.load("hanabi")
    rng, compared = np.random.default_rng(5), 0
    process = HanabiProcess(game.rules, Form.POMDP, ("smart", "smart"), 0)
    for index in range(6):
        state = game.deal(9, index)
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(int(rng.choice([a for a, p in state.chance_outcomes() if p])))
                continue
            if state.current_player() in process.owners and rng.random() < 0.7:
                belief = sampler(game)
                belief.reset(game.view(state, state.current_player()))
                worlds = belief.sample(4, rng)
                estimator = CountingEstimator(process)
                estimator.begin(replay(game, state.history()))
                for row, expected in zip(worlds.hidden, belief.log_prob(worlds)):
                    hidden = np.full((1, process.slots), -1, dtype=np.int8)
                    hidden[0, : len(row)] = row
                    told = estimator.log_probs(hidden)[0]
                    found = sum(told[s, k] for s, k in enumerate(row) if k >= 0)
                    assert found == pytest.approx(expected), f"deal {index} of seed 9"
                    compared += 1
            state.apply_action(int(rng.choice(state.legal_actions())))
    assert compared > 20
