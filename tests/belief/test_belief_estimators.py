"""Estimators of Hanabi against the forward algorithm and plain expectations, on a game of few cards."""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np
import pytest
import torch
from support.small_hanabi import SMALL, follow, play, process

from trickformer.belief.hanabi import estimators
from trickformer.belief.hanabi.particles import Particles
from trickformer.belief.hanabi.process import Form

KINDS = SMALL.rules.kinds
FORMS = [(Form.HMM, 0), (Form.POMDP, 0), (Form.POMDP, 1), (Form.FOSG, 0)]
SYSTEMS = pytest.mark.parametrize(("form", "seat"), FORMS, ids=[f"{form}{seat or ''}" for form, seat in FORMS])


def marginals(belief: dict[tuple[int, ...], float]) -> np.ndarray:
    """[S, K]; zeros where there is no card."""
    found = np.zeros((len(next(iter(belief))), KINDS))
    for cards, p in belief.items():
        for slot, card in enumerate(cards):
            if card >= 0:
                found[slot, card] += p
    return found


@SYSTEMS
@pytest.mark.parametrize("seed", range(3))
def test_the_exact_belief_of_a_card_given_those_before_it(form, seat, seed):
    each = estimators.ExactEstimator(process(form, seat), 10**5, 10**6)
    positions = ruled_out = 0
    for _, now in follow(each, play(form, seed, seat)):
        said = np.exp(each.log_probs(now.hidden))[0]
        given = dict(now.belief)
        for slot, card in enumerate(now.hidden[0]):
            if card < 0:
                assert np.isnan(said[slot]).all()
                continue
            np.testing.assert_allclose(said[slot], marginals(given)[slot] / sum(given.values()), atol=1e-6)
            given = {cards: p for cards, p in given.items() if cards[slot] == card}
        other = now.hidden.copy()
        there = np.flatnonzero(other[0] >= 0)
        unlikely = np.flatnonzero(marginals(now.belief)[there[0]] == 0)
        if len(unlikely) and len(there) > 1:  # a hand that cannot be is one, not a list that is too long
            other[0, there[0]] = unlikely[0]
            assert np.isneginf(each.log_probs(other)[0, there[1:]]).all()
            ruled_out += 1
        positions += 1
    assert positions > 3 and ruled_out


@pytest.mark.slow
@SYSTEMS
@pytest.mark.parametrize("rejection", [False, True], ids=["filter", "rejection"])
def test_worlds_approach_the_exact_belief(form, seat, rejection):
    """The share of worlds with each card; of rejection within five standard errors. Where none is left it is told."""
    positions = 0
    for seed in range(2):
        each = Particles(process(form, seat), 100_000, seed, rejection=rejection)
        for _, now in follow(each, play(form, seed, seat)):
            cards, log_weight = each.worlds(0)
            if not np.isfinite(log_weight).any():
                assert rejection and each.notes()["steps_without_worlds"]
                assert np.isnan(each.log_probs(now.hidden)).all()
                continue
            weight = np.exp(log_weight - log_weight.max())
            exact, there = marginals(now.belief), now.hidden[0] >= 0
            error = np.full_like(exact, 0.04)
            if rejection:
                assert set(weight.tolist()) <= {0.0, 1.0}, "a world was weighed, neither kept nor dropped"
                error = 5 * np.sqrt(np.maximum(exact * (1 - exact), 0) / weight.sum()) + 1e-9
            for slot in np.flatnonzero(there):
                share = np.bincount(cards[:, slot], weight, KINDS) / weight.sum()
                assert (np.abs(share - exact[slot]) <= error[slot]).all(), f"seed {seed}, {share} and {exact[slot]}"
            positions += 1
    assert positions > 8


def test_copies_of_a_world_are_no_further_evidence():
    """V0 is one more world beside those that differ, however many copies of them were drawn."""
    each = Particles(process(Form.HMM), 1_000, 1)
    first = next(play(Form.HMM, 1))
    each.begin(first.table)
    v0 = np.exp(each.log_probs(first.hidden)[0])
    a, b = np.array([0, 1, 2, 3]), np.array([1, 1, 2, 3])
    worlds, _ = each.worlds(0)
    worlds[:500], worlds[500:] = a, b
    uniform = estimators.V0(process(Form.HMM))
    uniform.begin(first.table)
    prior = np.exp(uniform.log_probs(first.hidden)[0])
    found = np.exp(each.log_probs(first.hidden)[0])
    np.testing.assert_allclose(v0, prior, atol=0.05)
    np.testing.assert_allclose(found[0], (np.eye(KINDS)[[0, 1]].sum(axis=0) + prior[0]) / 3, atol=1e-9)
    np.testing.assert_allclose(found[3], (2 * np.eye(KINDS)[3] + prior[3]) / 3, atol=1e-9)


def test_no_world_left_is_no_belief():
    """Two worlds explain nothing for long."""
    each = Particles(process(Form.HMM), 2, 1, rejection=True)
    last = None
    for _, now in follow(each, play(Form.HMM, 1)):
        last = each.log_probs(now.hidden)
    assert last is not None and np.isnan(last).all()
    notes = each.notes()
    assert notes["games"] == notes["games_without_worlds"] == 1 and 0 < notes["steps_without_worlds"] <= notes["steps"]


@SYSTEMS
def test_likelihoods_of_bb_are_expectations_over_the_other_slot(form, seat):
    """A hand has two cards: the other one is summed out by its belief before the move, plainly."""
    system, moves, informative = process(form, seat), 0, 0
    for seed in range(2):
        each = estimators.V2(system, 0.0, 4_000, seed)
        asked = None
        for before, now in follow(each, play(form, seed, seat)):
            if before is not None and (before.table.current()[0] != seat or form is not Form.POMDP):
                assert asked is not None
                mover = int(before.table.current()[0])
                told = asked.move_likelihoods(before.table, now.control, np.array([now.action]))[0].numpy()
                expected = plainly(system, asked.belief()[0].numpy(), before, now, mover)
                assert np.abs(told - expected).max() < 0.05, f"seed {seed}"
                moves += 1
                informative += np.ptp(expected) > 0.2
            asked = copy.copy(each)  # with the belief before the next move: observe gives an estimator new tensors
    assert moves > 4 and informative


def plainly(system, belief, before, now, mover) -> np.ndarray:
    """[S, K]: what V2 draws, summed."""
    policy = int(system.acting_policy(before.table, now.control)[0])
    expected = np.ones(belief.shape)
    for block, owner in enumerate(system.owners):
        if owner == mover:
            continue
        slots = [2 * block + i for i in range(2) if belief[2 * block + i].any()]
        for slot in slots:
            for kind in np.flatnonzero(belief[slot]):
                expected[slot, kind] = 0
                others = [s for s in slots if s != slot]
                for other in range(KINDS) if others else [-1]:
                    p = belief[others[0], other] if others else 1.0
                    hands = np.full((1, 2, 2), -1, dtype=np.int8)
                    hands[0, owner, slot % 2] = kind
                    if others:
                        hands[0, owner, others[0] % 2] = other
                    expected[slot, kind] += (
                        p * system.policy_given_hands(before.table, 0, hands, policy)[0, now.action] if p else 0
                    )
    return expected


@pytest.mark.parametrize("form", [Form.HMM, Form.FOSG])
def test_likelihoods_move_with_their_cards(form):
    """A card that was played or discarded takes what is known of it along; of a new one nothing is."""
    shifts = 0
    for seed in range(6):
        marks = {0: [10.0, 11.0], 1: [20.0, 21.0]}
        for before, now in pairwise(play(form, seed)):
            likelihood = torch.tensor([*marks[0], *marks[1]]).repeat(KINDS, 1).T[None].contiguous()
            mover = int(before.table.current()[0])
            moved = estimators.shift_likelihoods(process(form), likelihood, before.table, np.array([now.action]))
            if now.action < 4:
                del marks[mover][now.action % 2]
                marks[mover].append(1.0)
                shifts += 1
            assert moved[0, :, 0].tolist() == [*marks[0], *marks[1]], f"seed {seed}"
            fresh = iter(range(100 * seed, 100 * seed + 100))
            marks = {p: [float(next(fresh)) + 2 for _ in hand] for p, hand in marks.items()}
    assert shifts > 6


def test_v1_says_how_many_fixed_points_it_reached():
    hasty, patient = (estimators.V1(process(Form.HMM), iterations) for iterations in (2, 400))
    for each in (hasty, patient):
        for _, now in follow(each, play(Form.HMM, 4)):
            each.log_probs(now.hidden)
    assert hasty.notes()["fixed_points"] == patient.notes()["fixed_points"] > 3
    assert 0 == patient.notes()["not_reached"] < hasty.notes()["not_reached"]
    assert patient.notes()["last_change"] <= 1e-5 < hasty.notes()["last_change"]
