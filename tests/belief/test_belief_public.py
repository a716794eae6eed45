"""Exact worlds of the public belief, without pairs, against the forward algorithm; policies are scripted players and
decision rules."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from support.small_hanabi import follow, play, process

from trickformer.belief.hanabi.exact import HandFilter, HandListBelief, Survival
from trickformer.belief.hanabi.process import Form
from trickformer.belief.hanabi.public import PublicWorlds

WORLDS = 3_000


@pytest.mark.slow
@pytest.mark.parametrize("form", [Form.HMM, Form.FOSG])
@pytest.mark.parametrize("limit", [10_000, 0], ids=["listed", "drawn"])
def test_worlds_are_those_of_the_forward_algorithm(form, limit):
    """Listed hands within five standard errors; drawn ones, which are weighted, a little wider."""
    positions = 0
    for seed in range(3):
        each = PublicWorlds(process(form), limit, tries=8_192)
        for _, now in follow(each, play(form, seed)):
            (worlds,) = each.sample_hands(WORLDS, seed)
            np.testing.assert_array_equal(worlds, each.sample_hands(WORLDS, seed)[0])
            assert len(worlds) == WORLDS and worlds.dtype == np.int8
            counts = Counter(map(tuple, worlds.tolist()))
            assert counts.keys() <= now.belief.keys(), f"seed {seed}"
            for hands, p in now.belief.items():
                error = 5 * np.sqrt(p * (1 - p) / WORLDS) + (0.01 if limit else 0.04)
                assert abs(counts[hands] / WORLDS - p) < error, f"seed {seed}, position {positions}, {hands}"
            positions += 1
    assert positions > 20


class RecordedHands(HandFilter):
    """The filter of seat 0, with the number of moves that it has recorded."""

    def begin(self, table):
        self.moves = 0
        super().begin(table)

    def observe(self, before, control, actions, after):
        self.moves += before[0].current_player() != 0
        super().observe(before, control, int(actions[0]), after)


def test_the_order_in_which_moves_are_evaluated_does_not_change_the_weights():
    each, reordered = RecordedHands(process(Form.FOSG), 0), 0
    hands = np.array(list(np.ndindex(2, 2)), dtype=np.int8)
    weight = np.linspace(-1, 0, len(hands))
    for _ in follow(each, play(Form.FOSG, 1)):
        survival = Survival(each.moves)
        for move in range(each.moves):
            survival.count(move, np.arange(each.moves) > move)  # later moves have left fewer hands
        assert survival.order() == list(range(each.moves))[::-1]
        expected, found = each.filter_hands(hands, weight), each.filter_hands(hands, weight, survival)
        np.testing.assert_array_equal(found.hidden, expected.hidden)
        np.testing.assert_array_equal(found.log_likelihood, expected.log_likelihood)
        reordered += each.moves > 1 and len(found.hidden) > 0
    assert reordered > 2


def test_rules_are_controls_of_the_exact_belief():
    """What the estimator lists, with its probabilities, in games played by decision rules."""
    positions = 0
    for seed in range(4):
        each = HandListBelief(process(Form.FOSG))
        for _, now in follow(each, play(Form.FOSG, seed)):
            found = each.distribution()
            assert found is not None
            listed = {tuple(hands): p for hands, p in zip(found[0].tolist(), np.exp(found[1])) if p > 0}
            assert listed.keys() == now.belief.keys(), f"seed {seed}"
            assert all(p == pytest.approx(now.belief[hands], rel=1e-4) for hands, p in listed.items()), f"seed {seed}"
            positions += 1
    assert positions > 25


def test_a_seat_that_sees_a_hand_has_no_public_belief():
    with pytest.raises(ValueError, match="public belief takes two players"):
        PublicWorlds(process(Form.POMDP))
