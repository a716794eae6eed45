"""The C++ rules of Hearts are held equal to OpenSpiel's; random hands and batched tables follow the rules."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.play import hearts_with

from trickformer import _core, games, tokenizers
from trickformer.audit import differential
from trickformer.audit.differential import DifferenceError, all_options, compare_hand, compare_hands
from trickformer.games.hearts import NUM_CARDS

CORE = _core.hearts
TERMINAL = -4


def replay(game, actions):
    state = game.spiel.new_initial_state()
    for action in actions:
        assert action in state.legal_actions(), (actions, state)
        state.apply_action(int(action))
    return state


@pytest.mark.slow
def test_twin_equals_openspiel_on_hands_of_all_options():
    """30 of each of the 256 games. runs/differential.sh compares more."""
    for i, game in enumerate(all_options()):
        assert compare_hands(game, seed=i, hands=30, strings=0.02) >= NUM_CARDS * 30


def test_the_comparison_sees_a_difference():
    game, other = hearts_with(no_pts_on_first_trick=True), hearts_with(no_pts_on_first_trick=False)
    with pytest.raises(DifferenceError, match="seed 0"):
        for index in range(200):
            compare_hand(game, seed=0, index=index, strings=0.0, rules=_core.hearts.Rules(**other.rules))


def test_the_comparison_as_a_command(monkeypatch, capsys):
    """Two runs of the series give the same count; a difference ends it with its message."""
    monkeypatch.setattr("sys.argv", ["differential", "--hands", "300", "--seed", "5"])
    for _ in range(2):
        differential.main()
    out, _ = capsys.readouterr()
    counts = [line for line in out.splitlines() if line.startswith("decisions")]
    assert len(counts) == 2
    assert counts[0] == counts[1]
    assert out.endswith("no difference\n")
    monkeypatch.setattr(_core.hearts.State, "scores", lambda _: (0, 0, 0, 0))
    with pytest.raises(SystemExit) as end:
        differential.main()
    assert end.value.code == 1
    assert "seed 5, hand 0" in capsys.readouterr().err


@pytest.mark.parametrize("options", [{}, {"pass_cards": False}, {"jd_bonus": True, "avoid_all_tricks_bonus": True}])
def test_random_hands_replay_through_openspiel(options):
    game = hearts_with(**options)
    history, scores = CORE.random_hands(CORE.Rules(**game.rules), seed=3, first=10, n=300)
    for i in range(len(history)):
        actions = [int(a) for a in history[i] if a != 255]
        assert actions[0] == ((10 + i) % 4 if game.rules["pass_cards"] else 0)
        assert game.scores(replay(game, actions)) == tuple(scores[i])


def test_random_hands_depend_on_seed_and_index_alone():
    rules = CORE.Rules()
    whole, _ = CORE.random_hands(rules, 5, 0, 64)
    part, _ = CORE.random_hands(rules, 5, 40, 8)
    other, _ = CORE.random_hands(rules, 6, 40, 8)
    assert np.array_equal(whole[40:48], part)
    assert not np.array_equal(part, other)


def test_random_deals_and_plays_are_uniform():
    """Every card is equally likely in every place of the deck, and as the first card passed of a hand."""
    from scipy.stats import chisquare

    history, _ = CORE.random_hands(CORE.Rules(), 11, 0, 40_000)
    deck = history[:, 1 : 1 + NUM_CARDS]
    for place in (0, 17, 51):
        assert chisquare(np.bincount(deck[:, place], minlength=NUM_CARDS)).pvalue > 1e-4
    passing = history[history[:, 0] > 0]
    hand = np.sort(passing[:, 1 : 1 + NUM_CARDS][:, ::4], axis=1)
    rank_of_pass = (hand < passing[:, [53]]).sum(axis=1)
    assert chisquare(np.bincount(rank_of_pass, minlength=13)).pvalue > 1e-4


def test_moon_is_minus_26_and_differences_agree_with_openspiel(hearts):
    found = 0
    history, scores = CORE.random_hands(CORE.Rules(), 1, 0, 60_000)
    for i in np.flatnonzero((scores == -26).any(axis=1))[:20]:
        state = replay(hearts, [int(a) for a in history[i] if a != 255])
        shooter = int(np.argmin(scores[i]))
        assert [*scores[i]] == [-26 if p == shooter else 0 for p in range(4)]
        points = 26 - np.array(state.returns())
        assert np.array_equal(points - points[shooter], scores[i] - scores[i][shooter])
        found += 1
    assert found == 20


def test_outcomes_of_the_plain_rules_number_2234(hearts):
    assert len(hearts.outcomes.labels) == 2234
    for index, label in enumerate(hearts.outcomes.labels):
        own = np.array(label) - (np.sum(label) - np.array(label)) / 3
        np.testing.assert_allclose(hearts.outcomes.values[index], -own / 26, atol=1e-6)


@pytest.mark.slow
def test_every_random_result_is_an_outcome_under_every_option():
    for i, game in enumerate(all_options()):
        _, scores = CORE.random_hands(CORE.Rules(**game.rules), seed=i, first=0, n=500)
        table = CORE.Codec(CORE.Rules(**game.rules), np.array(game.outcomes.labels, dtype=np.int8))
        for seat in range(4):
            outcomes = table.outcomes(scores, np.full(500, seat, dtype=np.uint8))
            told = np.roll(scores, -seat, axis=1)
            assert [game.outcomes.labels[o] for o in outcomes] == [tuple(s) for s in told.tolist()]


def test_tables_in_step_follow_the_rules(hearts):
    rng = random.Random(7)
    tables = tokenizers.fast(hearts).tables(2, 0, 40)
    assert tables.lengths.min() == 15
    while (turn := tables.current()).max() >= 0:
        legal = tables.legal()
        live = np.flatnonzero(turn >= 0)
        cards = [rng.choice(np.flatnonzero(legal[i])) for i in live]
        tables.step(live.astype(np.int32), np.array(cards, dtype=np.int32))
    assert sorted(np.unique(tables.lengths)) == [69, 75]
    for seat, outcomes in enumerate(tables.outcomes().T):
        told = np.roll(tables.scores(), -seat, axis=1)
        assert [hearts.outcomes.labels[o] for o in outcomes] == [tuple(s) for s in told.tolist()]
    with pytest.raises(ValueError, match="not legal"):
        tables.step(np.array([0], dtype=np.int32), np.array([0], dtype=np.int32))


def test_bad_options_are_refused():
    with pytest.raises(games.UnknownNameError, match="option of hearts 'jack'"):
        games.load("hearts(jack=True)")
    with pytest.raises(games.TrickformerError, match="True or False"):
        games.load("hearts(jd_bonus=3)")
    with pytest.raises(games.TrickformerError, match="hearts\\(jd_bonus=True"):
        games.load("hearts(jd_bonus=True")
    with pytest.raises(games.UnknownNameError, match="unknown game 'bridge'"):
        games.load("bridge")
