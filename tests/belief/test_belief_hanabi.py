"""The own hands of Hanabi: legal, equal views, reproducible, blind to the deal, exactly counted and distributed."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare
from support.hanabi_histories import SMALL, explaining, playout

from trickformer import games
from trickformer.base import PUBLIC
from trickformer.belief import sampler
from trickformer.games.hanabi import VARIANTS

P_MIN = 1e-6  # of a chi-square test; seeds are fixed, so that a test passes always or never


@pytest.mark.parametrize("spec", [*VARIANTS, "hanabi(players=5)", *SMALL])
def test_worlds_replay_legally_and_look_the_same(spec):
    game = games.load(spec)
    belief, rng, checked = sampler(game), random.Random(1), 0
    for index in range(6):
        for state in playout(game, rng, index):
            if rng.random() > 0.2 and not state.is_terminal():
                continue
            viewer = rng.randrange(game.players)
            view = game.view(state, viewer)
            belief.reset(view)
            worlds = belief.sample(3, np.random.default_rng(index))
            assert worlds.hidden.dtype == np.int16 and worlds.hidden.shape == (3, game.rules.hand)
            assert worlds.feasible.all() and not worlds.log_weight.any()
            assert np.isfinite(belief.log_prob(worlds)).all()
            for i in range(3):
                world = game.spiel.new_initial_state()
                for action in worlds.history(i):
                    assert action in world.legal_actions(), f"{spec}, seat {viewer}, history {state.history()}"
                    world.apply_action(action)
                assert game.view(world, viewer) == view, f"{spec}, seat {viewer}, history {state.history()}"
                assert [c for c in worlds.hidden[i].tolist() if c >= 0] == game.hand(world, viewer)
            truth = belief.truth(state)
            assert np.isfinite(belief.log_prob(truth)).all()
            assert truth.state(0).history() == state.history()
            checked += 1
    assert checked > 10


def test_reproducible_and_blind_to_the_true_deal():
    game, rng, several = games.load("hanabi"), random.Random(2), 0
    belief = sampler(game)
    for index in range(8):
        for state in playout(game, rng, index):
            if rng.random() > 0.2 or state.is_terminal():
                continue
            viewer = rng.randrange(2)
            belief.reset(game.view(state, viewer))
            worlds = belief.sample(20, np.random.default_rng(index))
            np.testing.assert_array_equal(belief.sample(20, np.random.default_rng(index)).hidden, worlds.hidden)
            twin = worlds.state(0)
            belief.reset(game.view(twin, viewer))
            np.testing.assert_array_equal(belief.sample(20, np.random.default_rng(index)).hidden, worlds.hidden)
            several += twin.history() != state.history()
    assert several > 20


@pytest.mark.parametrize("spec", SMALL)
def test_distribution_over_all_hands(spec):
    """Against every hand that OpenSpiel can replay with the same view, weighted by the ways to take it."""
    game = games.load(spec)
    belief, rng, tested = sampler(game), random.Random(3), 0
    for index in range(8):
        for state in playout(game, rng, index):
            if rng.random() > 0.25:
                continue
            viewer = rng.randrange(game.players)
            where = f"{spec}, seat {viewer}, history {state.history()}"
            expected = {row: ways for row, ways, _ in explaining(game, state, viewer)}
            belief.reset(game.view(state, viewer))
            total = sum(expected.values())
            assert belief.count() == total, where
            worlds = belief.sample(4000, np.random.default_rng(index))
            found = dict.fromkeys(expected, 0)
            for row in worlds.hidden.tolist():
                assert tuple(row) in found, where
                found[tuple(row)] += 1
            every = replace(worlds, hidden=np.array(list(expected), dtype=np.int16))
            np.testing.assert_allclose(belief.log_prob(every), [math.log(w / total) for w in expected.values()])
            if len(expected) > 1:
                probable = [4000 * w / total for w in expected.values()]
                assert chisquare(list(found.values()), probable).pvalue > P_MIN, where
                tested += 1
    assert tested > 10


@pytest.mark.parametrize("spec", VARIANTS)
def test_counts_by_formula(spec):
    """Before any hint every card that was not seen can be in every slot."""
    game = games.load(spec)
    belief, rules = sampler(game), game.rules
    for viewer in range(2):
        belief.reset(game.view(game.deal(1, viewer), viewer))
        assert belief.count() == math.perm(rules.deck - rules.hand, rules.hand)


def test_hints_restrict_slots_and_unseen_cards_weigh():
    """After a hint of a colour the slots named have cards of it, by how many are left; marginals by sampling."""
    game = games.load("hanabi")
    state = game.deal(3, 1)
    color = game.hand(state, 1)[0] // 5
    state.apply_action(10 + color)
    belief = sampler(game)
    belief.reset(game.view(state, 1))
    worlds = belief.sample(20_000, np.random.default_rng(1))
    named = [i for i, card in enumerate(game.hand(state, 1)) if card // 5 == color]
    for slot in range(5):
        assert ((worlds.hidden[:, slot] // 5 == color) == (slot in named)).all()
    if len(named) == 1:
        others = game.hand(state, 0)
        left = np.array([game.rules.copies(5 * color + rank) - others.count(5 * color + rank) for rank in range(5)])
        found = np.bincount(worlds.hidden[:, named[0]] % 5, minlength=5)
        assert chisquare(found[left > 0], 20_000 * left[left > 0] / left.sum()).pvalue > P_MIN


def test_what_is_no_world_of_a_view_is_refused():
    game = games.load("hanabi")
    belief, state = sampler(game), game.deal(1, 1)
    with pytest.raises(ValueError, match="needs a view first"):
        belief.sample(1, np.random.default_rng(1))
    with pytest.raises(ValueError, match="public"):
        belief.reset(game.view(state, PUBLIC))
    state.apply_action(5)
    belief.reset(game.view(game.deal(1, 1), 0))
    worlds = belief.sample(4, np.random.default_rng(1))
    worlds.hidden[0, 0] = 25
    worlds.hidden[1, 4] = -1
    worlds.hidden[2] = 4  # five red fives
    assert np.isneginf(belief.log_prob(worlds)[:3]).all() and np.isfinite(belief.log_prob(worlds)[3])
    view = game.view(game.deal(1, 1), 0)
    impossible = replace(view, events=(replace(view.events[0], seen=(4, 4, 0, 0, 0)),))  # two red fives
    with pytest.raises(ValueError, match="no deal explains"):
        belief.reset(impossible)
