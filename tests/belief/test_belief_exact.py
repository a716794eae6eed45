"""Exact beliefs of Hanabi by listing hands, against the forward algorithm on OpenSpiel's own game of few cards."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from support.small_hanabi import PAIR, follow, listed, play, process

from trickformer import _core
from trickformer.belief.hanabi.exact import HandListBelief
from trickformer.belief.hanabi.process import Form, HanabiProcess


@pytest.mark.parametrize(("form", "seat"), [(Form.HMM, 0), (Form.POMDP, 0), (Form.POMDP, 1), (Form.FOSG, 0)])
@pytest.mark.parametrize("seed", range(4))
def test_listing_hands_equals_the_forward_algorithm(form, seat, seed):
    exact, steps = HandListBelief(process(form, seat)), 0
    for _, now in follow(exact, play(form, seed, seat)):
        assert logsumexp(exact.distribution()[1]) == pytest.approx(0, abs=1e-9)
        found = listed(exact)
        assert found.keys() == now.belief.keys(), f"seed {seed}, step {steps}"
        for hand, p in now.belief.items():
            assert found[hand] == pytest.approx(p, abs=1e-6), f"seed {seed}, step {steps}, {hand}"
        steps += 1
    assert steps > 3


@pytest.mark.parametrize("form", Form)
def test_lists_made_late_equal_those_kept_up(form, seed=3):
    """With a small limit hands are listed only once they are few; then they are those of a filter that had them all
    along."""
    rules = _core.hanabi.Rules(colors=3, ranks=3, hand=3, hints=5)
    process = HanabiProcess(rules, form, PAIR)
    late = 0
    for game in range(3):
        tables = process.start(seed, game, 1)
        whole, small = HandListBelief(process, limit=10**6, pairs=10**7), HandListBelief(process, limit=60, pairs=10**7)
        whole.begin(tables)
        small.begin(tables)
        known = False
        while tables.current()[0] >= 0:
            before = tables
            control = np.array([0 if form is Form.FOSG else -1])
            own = form is Form.POMDP and before.current()[0] == 0
            control = np.array([before[0].legal_actions()[0]]) if own else control
            tables, actions = process.move(before, control, seed=game)
            whole.observe(before, control, int(actions[0]), tables)
            small.observe(before, control, int(actions[0]), tables)
            reference, ours = whole.distribution(), small.distribution()
            if ours is not None:
                late += not known
                known = True
                np.testing.assert_allclose(np.sort(ours[1]), np.sort(reference[1]), atol=1e-9)
                assert {tuple(r) for r in ours[0].tolist()} == {tuple(r) for r in reference[0].tolist()}
            else:
                known = False
    assert late, "the small limit was never passed"


def test_hidden_cards_are_not_read(seed=11):
    """Other hidden cards that explain the same game give the same belief."""
    rules = _core.hanabi.Rules(colors=3, ranks=3, hand=3, hints=5)
    process = HanabiProcess(rules, Form.HMM, PAIR)
    exact = [HandListBelief(process, limit=10**6, pairs=10**7) for _ in range(2)]
    tables = process.start(seed, 0, 1)
    rng = np.random.default_rng(seed)

    def other(x):
        possible, _ = process.card_constraints(x)
        for _ in range(1000):
            hidden = np.array(
                [[rng.choice(np.flatnonzero(row)) if row.any() else -1 for row in possible[0]]], dtype=np.int8
            )
            worlds, feasible = process.worlds(x, np.zeros(1, dtype=np.int64), hidden, int(rng.integers(2**62)))
            if feasible[0]:
                return worlds
        raise AssertionError(f"seed {seed}: no other hands")

    exact[0].begin(tables)
    exact[1].begin(other(tables))
    for _ in range(6):
        before = tables
        tables, actions = process.move(before, None, seed)
        exact[0].observe(before, None, int(actions[0]), tables)
        exact[1].observe(other(before), None, int(actions[0]), other(tables))
        np.testing.assert_array_equal(exact[0].distribution()[1], exact[1].distribution()[1])
