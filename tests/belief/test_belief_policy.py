"""Worlds by a policy's likelihood: against its own thoughts, decision by decision, and a distribution worked out
by hand."""

import numpy as np
import pytest
from scipy.stats import binom
from support.play import decisions

from trickformer import games, players
from trickformer.belief import sampler
from trickformer.belief.policy import POOL, PolicyBelief

SEED = 12


@pytest.mark.parametrize("kind", ["argmax", "imitation"])
@pytest.mark.parametrize("name", ["hearts", "skat", "crew(mission=9)"])
def test_the_likelihood_is_that_of_each_decision(name, kind, tiny_features_checkpoint_of):
    game, rng, slip = games.load(name), np.random.default_rng(SEED), 0.3
    checkpoint = tiny_features_checkpoint_of(game.name)
    policy, argmax = (players.make(f"{of}:checkpoint={checkpoint}", game) for of in (kind, "argmax"))
    expected, chosen = np.zeros(game.players), 0
    for number, (state, view) in enumerate(decisions(game, SEED, 0)):
        action = int(rng.choice(view.legal))
        if len(view.legal) > 1:
            (decision,) = argmax.act([view], [rng], [{"explain": True}])
            likely = float(decision.action == action) if kind == "argmax" else decision.thought.policy[action]
            expected[view.viewer] += np.log((1 - slip) * likely + slip / len(view.legal))
            chosen += 1
        state.apply_action(action)
        if number % 9 == 0 or state.is_terminal():
            found = policy.log_likelihood([game.view(state, seat) for seat in range(game.players)], slip)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=f"seed {SEED}, decision {number}")
    assert chosen > 20


class Holding:
    """Holds it for nine times as likely that seat 1 does what it did with the ace of spades in its hand."""

    def __init__(self, view):
        self.viewer, self.card = view.viewer, 51 if 51 not in view.legal else 50

    def log_likelihood(self, views, slip):
        return np.array([np.log(9.0) * (v.viewer == 1 and self.card in v.events[1].seen) for v in views])


@pytest.mark.slow
def test_worlds_are_drawn_by_their_likelihood():
    """One of POOL uniform worlds, K of which weigh nine times as much: K is binomial."""
    game = games.load("hearts(pass_cards=false)")
    state = game.deal(SEED, 0)
    view = game.view(state, state.current_player())
    own = next(event.seen for event in view.events if len(event.seen) == 13)
    player = Holding(view)
    assert view.viewer != 1, "choose another seed"
    assert player.card not in own, "choose another seed"
    belief, rng, n = PolicyBelief(game, sampler(game), player, 0), np.random.default_rng(SEED), 600
    belief.reset(view)
    worlds = belief.sample(n, rng)
    held = np.array([player.card in game.view(worlds.state(i), 1).events[1].seen for i in range(n)])
    k = np.arange(POOL + 1)
    expected = float((binom.pmf(k, POOL, 1 / 3) * 9 * k / (9 * k + POOL - k)).sum())
    assert abs(held.mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / n), (SEED, held.mean(), expected)
    assert worlds.feasible.all()
    uniform = sampler(game)
    uniform.reset(view)
    weight = belief.log_prob(worlds) - uniform.log_prob(worlds)
    np.testing.assert_allclose(weight, np.log(9.0) * held)


def test_where_no_world_is_likely_any_is_drawn():
    class Never:
        def log_likelihood(self, views, slip):
            return np.full(len(views), -np.inf)

    game = games.load("skat")
    state = game.deal(SEED, 0)
    belief = PolicyBelief(game, sampler(game), Never(), 0)
    with pytest.raises(ValueError, match="reset"):
        belief.sample(1, np.random.default_rng(0))
    belief.reset(game.view(state, state.current_player()))
    worlds = belief.sample(3, np.random.default_rng(0))
    assert len({worlds.hidden[i].tobytes() for i in range(3)}) == 3


def test_the_true_world_is_likelier_than_others(tiny_features_checkpoint_of):
    """Where a policy of random weights, which is far from uniform, has played."""
    game, above = games.load("crew(mission=9)"), []
    policy = players.make(f"imitation:checkpoint={tiny_features_checkpoint_of('crew')}", game)
    for index in range(3):
        memos = [{} for _ in range(game.players)]
        for number, (state, view) in enumerate(decisions(game, SEED, index)):
            if number == 24:
                belief = PolicyBelief(game, sampler(game), policy, 0.05)
                belief.reset(view)
                uniform = sampler(game)
                uniform.reset(view)
                others = belief.log_prob(uniform.sample(60, np.random.default_rng(index)))
                above.append(float(np.mean(belief.log_prob(uniform.truth(state)) > others)))
                break
            rng = np.random.default_rng([index, number])
            (decision,) = policy.act([view], [rng], [memos[view.viewer]])
            state.apply_action(decision.action)
    assert len(above) == 3
    assert np.mean(above) > 0.5, (SEED, above)
