"""An estimator of Hanabi behind the protocol of all games."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.markov import GameProcess
from support.small_hanabi import PAIR, SMALL, play

from trickformer.belief.hanabi import estimators
from trickformer.belief.hanabi.finetune import Finetuning
from trickformer.belief.hanabi.learned import Seq2Seq, Seq2SeqSizes
from trickformer.belief.hanabi.process import Form
from trickformer.belief.hanabi.seat import EstimatedBelief
from trickformer.search.hanabi.scripted import ScriptedPolicy


def exact(system):
    return estimators.ExactHandEstimator(system, 10**5, 10**5)


def network(system):
    torch.manual_seed(1)
    kinds, slots = system.rules.kinds, system.slots
    return Seq2Seq(
        Seq2SeqSizes(system.features, system.controls, slots, kinds, system.traits, system.hint_bits, hidden=8)
    )


MAKERS = {
    "seq2seq": lambda s: estimators.Recurrent(s, network(s)),
    "bft": lambda s: estimators.BFT(s, network(s), Finetuning(steps=2, batch=4, worlds=8), 1),
    "exact": exact,
}


def views(seed: int, seat: int):
    """A game of the pair in which the seat plays at random; its views, each with the exact belief."""
    rng = np.random.default_rng(seed)
    slow = GameProcess(SMALL, Form.POMDP, [ScriptedPolicy(SMALL, name) for name in PAIR], seat)
    x = slow.deal(seed, 0)
    yield SMALL.view(x, seat)
    while not x.is_terminal():
        x = slow.sample(x, int(rng.choice(x.legal_actions())) if x.current_player() == seat else None, rng)
        yield SMALL.view(x, seat)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_the_exact_estimator_draws_the_exact_belief(seed, seat):
    """The forward algorithm's probabilities of whole hands; and nothing that cannot be is drawn."""
    belief = EstimatedBelief(SMALL, PAIR, exact)
    positions = 0
    for now, view in zip(play(Form.POMDP, seed, seat), views(seed, seat), strict=True):
        belief.reset(view)
        worlds = belief.sample(400, np.random.default_rng(seed))
        assert worlds.feasible.all() and not worlds.log_weight.any()
        drawn = {tuple(row) for row in worlds.hidden.tolist()}
        assert drawn <= set(now.belief)
        expected = [now.belief[tuple(row)] for row in worlds.hidden.tolist()]
        np.testing.assert_allclose(np.exp(belief.log_prob(worlds)), expected, atol=1e-6)
        for hand, p in now.belief.items():
            share = (worlds.hidden == hand).all(axis=1).mean()
            assert abs(share - p) <= 5 * np.sqrt(p * (1 - p) / 400) + 1e-9, f"seed {seed}, {hand}"
        positions += 1
    assert positions > 3


@pytest.mark.parametrize("name", MAKERS)
def test_an_estimator_of_whole_hands_is_a_belief(name):
    """Draws follow what it says, feasible worlds look the same, and going on is beginning anew."""
    belief, feasible, positions = EstimatedBelief(SMALL, PAIR, MAKERS[name]), 0, 0
    for view in views(2, 0):
        belief.reset(view)
        worlds = belief.sample(300, np.random.default_rng(4))
        for i in np.flatnonzero(worlds.feasible)[:3]:
            assert SMALL.view(worlds.state(int(i)), 0) == view
        for i in np.flatnonzero(~worlds.feasible)[:1]:
            assert worlds.log_weight[i] == -np.inf
            with pytest.raises(ValueError, match="does not explain the view"):
                worlds.state(int(i))
        rows, counts = np.unique(worlds.hidden, axis=0, return_counts=True)
        kept = worlds.hidden.copy()
        worlds.hidden[: len(rows)] = rows
        p = np.exp(belief.log_prob(worlds))[: len(rows)]
        worlds.hidden[:] = kept
        assert p.sum() <= 1 + 1e-5
        assert (np.abs(counts / 300 - p) <= 5 * np.sqrt(np.maximum(p * (1 - p), 0) / 300) + 0.01).all()
        if name in ("exact", "seq2seq"):  # those without randomness of their own
            again = EstimatedBelief(SMALL, PAIR, MAKERS[name])
            again.reset(view)
            np.testing.assert_allclose(again.log_prob(worlds), belief.log_prob(worlds), atol=1e-6)
        feasible += worlds.feasible.mean()
        positions += 1
    assert positions > 3 and feasible > 0.2 * positions


def test_bad_use_is_said():
    belief = EstimatedBelief(SMALL, PAIR, exact)
    with pytest.raises(ValueError, match="needs a view first"):
        belief.sample(1, np.random.default_rng(1))
