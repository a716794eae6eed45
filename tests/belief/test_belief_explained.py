"""The exact belief of a seat whose partners play one scripted player, against enumeration."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from support.hanabi_turns import listed, slow_chance, turns, worlds_of
from support.play import decisions

from trickformer import games
from trickformer.belief import sampler
from trickformer.belief.samplers.hanabi import ExplainedBelief, NoConsistentHandError

TINY = games.load("hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)")


def enumerated(view, style, slip=0.0):
    """Every hand that explains a view, with its probability: each asked on OpenSpiel, move by move."""
    found = {}
    for hand, prior in listed(TINY, view).items():
        world = worlds_of(TINY, view, np.array([hand], dtype=np.int16)).state(0)
        found[hand] = prior * slow_chance(TINY, style, world, view.viewer, slip)
    total = sum(found.values())
    return {hand: p / total for hand, p in found.items()}


@pytest.mark.parametrize("style", ["smart", "piers"])
@pytest.mark.parametrize("listing", [10_000, 0])
def test_worlds_are_those_of_enumeration(style, listing):
    belief, more = ExplainedBelief(TINY, style, listed=listing), 0
    for number, (_, view) in enumerate(turns(TINY, style, 41, deals=6)):
        belief.reset(view)
        worlds, expected = belief.sample(600, np.random.default_rng(number)), enumerated(view, style)
        assert worlds.feasible.all() and not worlds.log_weight.any()
        counts = Counter(map(tuple, worlds.hidden.tolist()))
        assert counts.keys() <= {hand for hand, p in expected.items() if p > 0}, number
        error = 1 / 600 if listing else 5 * np.sqrt(0.25 / 600)  # resampled by system, or drawn
        assert all(abs(counts[hand] / 600 - p) <= error + 1e-9 for hand, p in expected.items()), number
        log_p = belief.log_prob(worlds_of(TINY, view, np.array(list(expected), dtype=np.int16)))
        p = np.exp(log_p) if listing else np.exp(log_p) / np.exp(log_p).sum()
        np.testing.assert_allclose(p, list(expected.values()), rtol=1e-4, atol=1e-9, err_msg=str(number))
        for i in range(2):
            assert TINY.view(worlds.state(i), view.viewer) == view
        again = belief.sample(600, np.random.default_rng(number))
        np.testing.assert_array_equal(again.hidden, worlds.hidden)
        more += len(expected) > 1
    assert more > 10


def test_what_nobody_would_do_is_unexplained():
    """Partners who move at random: no hand is left; what cannot be at all has no probability."""
    unexplained, rng = 0, np.random.default_rng(5)
    for deal in range(12):
        for state, view in decisions(TINY, 3, deal):
            likely = listed(TINY, view)
            worlds = worlds_of(TINY, view, np.array(list(likely), dtype=np.int16))
            chances = [slow_chance(TINY, "smart", worlds.state(i), view.viewer) for i in range(len(likely))]
            belief, drawing = (ExplainedBelief(TINY, "smart", listed=n, tries=500) for n in (1_000, 0))
            drawing.reset(view)
            if any(chances):
                belief.reset(view)
                assert np.isneginf(belief.log_prob(worlds)[np.array(chances) == 0]).all()
            else:
                with pytest.raises(NoConsistentHandError):
                    belief.reset(view)
                with pytest.raises(NoConsistentHandError, match="none of 500 hands"):
                    drawing.sample(10, rng)
                with pytest.raises(ValueError, match="needs a view first"):
                    belief.sample(1, rng)
                unexplained += 1
            state.apply_action(int(rng.choice(view.legal)))
    assert unexplained > 5


def test_partners_who_slip_rule_no_hand_out():
    """Partners who move at random: each hand is as likely as enumeration has it, and those that it has to weigh come as
    often as they should, as far as so many draws allow."""
    rng, surprised = np.random.default_rng(7), 0
    for deal in range(6):
        for state, view in decisions(TINY, 5, deal):
            expected, strict = enumerated(view, "smart", slip=0.2), ExplainedBelief(TINY, "smart")
            worlds = worlds_of(TINY, view, np.array(list(expected), dtype=np.int16))
            for n in (1_000, 0):
                belief = ExplainedBelief(TINY, "smart", listed=n, tries=3_000, slip=0.2)
                belief.reset(view)
                p = np.exp(belief.log_prob(worlds))
                p = p if n else p / p.sum()
                np.testing.assert_allclose(p, list(expected.values()), rtol=1e-4, atol=1e-9)
                counts = Counter(map(tuple, belief.sample(600, rng).hidden.tolist()))
                error = 1 / 600 if n else 0.08
                assert all(abs(counts[hand] / 600 - p) <= error + 1e-9 for hand, p in expected.items()), (deal, n)
            try:
                strict.reset(view)
            except NoConsistentHandError:
                surprised += 1
            state.apply_action(int(rng.choice(view.legal)))
    assert surprised > 5


def test_log_probs_of_impossible_hands_are_nothing():
    (_, view), *_ = turns(TINY, "smart", 2, deals=1)
    belief, uniform = ExplainedBelief(TINY, "smart"), sampler(TINY)
    belief.reset(view)
    uniform.reset(view)
    worlds = worlds_of(TINY, view, np.full((1, 2), 3, dtype=np.int16))  # two of a kind of which there is one
    assert np.isneginf(uniform.log_prob(worlds)).all() and np.isneginf(belief.log_prob(worlds)).all()
