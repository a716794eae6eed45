"""V0, V1, BB and V2 against exact enumeration of hands."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch

from trickformer.belief.hanabi import factored


def case(rng, slots: int, kinds: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts and possibilities that at least one hand satisfies, the last slot sometimes empty."""
    counts = rng.integers(0, 4, kinds)
    counts[rng.integers(kinds)] += slots
    hand = rng.permutation(np.repeat(np.arange(kinds), counts))[:slots]
    possible = rng.random((slots, kinds)) < 0.6
    possible[np.arange(slots), hand] = True
    if rng.random() < 0.3:
        possible[-1] = False
    return counts, possible


def enumerated(counts, possible, likelihood=None) -> np.ndarray:
    """[S, K]: exact marginals, every hand weighted by the ordered draws that give it and the likelihood of its
    slots."""
    there = [s for s in range(len(possible)) if possible[s].any()]
    found = np.zeros(possible.shape)
    for hand in product(*(np.flatnonzero(possible[s]) for s in there)):
        weight, left = 1.0, counts.astype(float)
        for slot, kind in zip(there, hand):
            weight *= max(left[kind], 0) * (1 if likelihood is None else likelihood[slot, kind])
            left[kind] -= 1
        found[there, hand] += weight
    return found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300)


def tensors(*arrays):
    return [torch.tensor(np.asarray(a, dtype=np.float64))[None] for a in arrays]


def divergence(truth: np.ndarray, belief: np.ndarray) -> float:
    """Mean KL divergence of the slots that hold a card."""
    there = truth.sum(axis=1) > 0
    p, q = truth[there], np.maximum(belief[there], 1e-12)
    return float((np.where(p > 0, p * np.log(np.maximum(p, 1e-300) / q), 0)).sum(axis=1).mean())


def test_one_slot_is_exact():
    """A single card leaves nothing to be consistent with: V0, and V1 with it, are the exact belief."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        counts, possible = case(rng, 1, 6)
        exact = enumerated(counts, possible)
        c, m = tensors(counts, possible)
        np.testing.assert_allclose(factored.v0(c, m)[0], exact, atol=1e-12)
        np.testing.assert_allclose(factored.self_consistent(c, m).belief[0], exact, atol=1e-12)


def test_slots_that_are_alike_are_exact():
    """Where hints have said nothing, every slot has the same belief by symmetry: the counts, in V0, V1 and exactly."""
    counts = np.array([3, 2, 2, 1])
    possible = np.ones((3, 4), dtype=bool)
    exact = enumerated(counts, possible)
    c, m = tensors(counts, possible)
    np.testing.assert_allclose(factored.v0(c, m)[0], exact, atol=1e-12)
    np.testing.assert_allclose(factored.self_consistent(c, m, tolerance=1e-12).belief[0], exact, atol=1e-9)


def test_a_known_card_is_taken_from_the_others():
    """One slot is known to hold the only card of kind 0: V1 finds that no other slot can, V0 does not."""
    counts = np.array([1, 2, 2])
    possible = np.array([[True, False, False], [True, True, True]])
    exact = enumerated(counts, possible)
    c, m = tensors(counts, possible)
    assert factored.v0(c, m)[0, 1, 0] == pytest.approx(1 / 5)
    np.testing.assert_allclose(factored.self_consistent(c, m).belief[0], exact, atol=1e-9)
    assert exact[1, 0] == 0


@pytest.mark.parametrize("seed", range(3))
def test_v1_is_nearer_to_the_exact_belief_than_v0(seed):
    """On average over random hands of small variants; and it converges."""
    rng = np.random.default_rng(seed)
    gaps, iterations = [], []
    for _ in range(150):
        counts, possible = case(rng, int(rng.integers(2, 5)), int(rng.integers(3, 7)))
        exact = enumerated(counts, possible)
        c, m = tensors(counts, possible)
        fixed = factored.self_consistent(c, m, iterations=500, tolerance=1e-8, damping=0.5)
        assert fixed.change[-1] <= 1e-8, f"seed {seed}: no fixed point for {counts} {possible.tolist()}"
        iterations.append(len(fixed.change))
        gaps.append((divergence(exact, factored.v0(c, m)[0].numpy()), divergence(exact, fixed.belief[0].numpy())))
        sums = fixed.belief[0].sum(dim=-1).numpy()
        np.testing.assert_allclose(sums, possible.any(axis=1), atol=1e-9)
    v0, v1 = np.mean(gaps, axis=0)
    assert v1 < 0.6 * v0, f"seed {seed}: KL {v0:.4f} of V0, {v1:.4f} of V1"


def test_bb_takes_likelihoods_and_v2_keeps_what_is_possible():
    rng = np.random.default_rng(5)
    gaps = []
    for _ in range(150):
        counts, possible = case(rng, 3, 5)
        likelihood = rng.random(possible.shape) * (rng.random(possible.shape) < 0.8)
        exact = enumerated(counts, possible, likelihood)
        if not np.allclose(exact.sum(axis=1), possible.any(axis=1)):
            continue  # the likelihoods rule every hand out
        c, m, lik = tensors(counts, possible, likelihood)
        v1, bb = factored.self_consistent(c, m).belief, factored.self_consistent(c, m, lik).belief
        v2 = factored.v2(bb, v1, 0.1)
        assert (v2[0].numpy()[v1[0].numpy() > 0] > 0).all()
        assert (bb[0].numpy()[likelihood == 0] == 0).all()
        gaps.append((divergence(exact, v1[0].numpy()), divergence(exact, bb[0].numpy())))
    assert np.mean(gaps, axis=0)[1] < 0.2 * np.mean(gaps, axis=0)[0]


def test_without_damping_a_belief_may_swing():
    """The source's iteration: here it goes to and fro for ever, and says so."""
    possible = np.array([[False, True, True]] * 3 + [[False, False, True]])
    c, m = tensors(np.array([0, 1, 4]), possible)
    swinging = factored.self_consistent(c, m, iterations=200)
    assert len(swinging.change) == 200 and swinging.change[-1] > 0.05
    assert factored.self_consistent(c, m, damping=0.5).change[-1] <= 1e-5


def test_tables_of_a_batch_do_not_meet():
    rng = np.random.default_rng(9)
    cases = [case(rng, 3, 5) for _ in range(20)]
    c = torch.tensor(np.array([c for c, _ in cases], dtype=np.float64))
    m = torch.tensor(np.array([m for _, m in cases], dtype=np.float64))
    together = factored.self_consistent(c, m, iterations=60, tolerance=0).belief
    for i in range(len(cases)):
        alone = factored.self_consistent(c[i : i + 1], m[i : i + 1], iterations=60, tolerance=0).belief
        torch.testing.assert_close(together[i : i + 1], alone, atol=1e-12, rtol=0)
