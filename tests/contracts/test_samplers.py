"""Every sampler of the package keeps the contract of base.Belief: found by discovery, on random hands of its game. That
draws are as likely as they say is tested by game in tests/belief."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.play import random_playout

from trickformer import games
from trickformer.base import PUBLIC
from trickformer.belief import NAMES, sampler


@pytest.fixture(scope="module", params=NAMES)
def game(request):
    return games.load(request.param)


def decisions(game, n):
    """(state, view) of the seat on turn at `n` decisions of random hands."""
    rng, found = random.Random(2), []
    while len(found) < n:
        states = [s for s in random_playout(game.deal(6, len(found)), rng) if s.current_player() >= 0]
        state = rng.choice(states)
        found.append((state, game.view(state, state.current_player())))
    return found


def test_worlds_look_the_same_and_follow_from_the_generator(game):
    belief = sampler(game)
    assert belief.consistent
    for state, view in decisions(game, 6):
        belief.reset(view)
        worlds, again = (belief.sample(5, np.random.default_rng(3)) for _ in range(2))
        assert np.array_equal(worlds.hidden, again.hidden) and worlds.hidden.dtype == np.int16
        assert worlds.feasible.all() and not worlds.log_weight.any()
        for i in range(5):
            world = worlds.state(i)  # replayed: every action in it is legal
            assert game.view(world, view.viewer) == view, state.history()
        assert np.isfinite(belief.log_prob(worlds)).all()
        assert np.isfinite(belief.log_prob(belief.truth(state))).all()


def test_worlds_do_not_depend_on_what_is_hidden(game):
    """A belief of one of the worlds, seen as the viewer sees it, draws the same."""
    belief, other = sampler(game), sampler(game)
    for _, view in decisions(game, 3):
        belief.reset(view)
        twin = belief.sample(1, np.random.default_rng(8)).state(0)
        other.reset(game.view(twin, view.viewer))
        drawn = [b.sample(4, np.random.default_rng(9)).hidden for b in (belief, other)]
        assert np.array_equal(*drawn)


def test_bad_use_is_said(game):
    belief = sampler(game)
    with pytest.raises(ValueError, match="needs a view first"):
        belief.sample(1, np.random.default_rng(1))
    if game.players > 1:
        with pytest.raises(ValueError):
            belief.reset(game.view(game.deal(1, 1), PUBLIC))
