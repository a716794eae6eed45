"""Skat: all outcomes there are, games at random, and what a player did, against the plain Python twin."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import numpy as np
import pytest
from support import skat_oracle as oracle
from support.skat_games import core_of, numbers, replay

from trickformer import _core, games
from trickformer.games.skat import ACTIONS

CORE = _core.skat
ACTION = {name: number for number, name in enumerate(ACTIONS)}
FIELDS = ("soloist", "won", "overbid", "schneider", "schwarz", "matadors", "points", "tricks", "value")
SETTINGS = ("seeger", "value")


@cache
def every_end():
    """(won, value) of every end there can be, from the twin's settlement of all contracts with all that can come."""
    ends = [(0, 0), (30, 2), (60, 5), (61, 5), (90, 9), (120, 10)]
    contracts = [(kind, False, "plain") for kind in oracle.BASES]
    contracts += [(kind, True, level) for kind in oracle.BASES for level in oracle.LEVELS]
    found = set()
    for (kind, hand, level), bid, (points, tricks) in product(contracts, oracle.BIDS, ends):
        for mates in range(1, 5 if kind == "grand" else 12):
            won, *_, value = oracle.settle(kind, hand, level, bid, mates, points, tricks)
            found.add((won, value))
    for (kind, hand), value in oracle.NULLS.items():
        for tricks in (0, 1):
            won, *_, value = oracle.settle(kind, hand, "plain", value, 0, 0, tricks)
            found.add((won, value))
    return found


@pytest.mark.parametrize("setting", SETTINGS)
def test_outcomes_are_all_there_is(setting):
    outcomes = games.load(f"skat(scores={setting})").outcomes
    scores = [oracle.Result(soloist=0, won=won, value=v).scores(setting == "seeger") for won, v in every_end()]
    expected = {(0, 0, 0), *(s[k:] + s[:k] for s in scores for k in range(3))}
    assert set(outcomes.labels) == expected
    assert len(set(outcomes.labels)) == len(outcomes.labels) == 412
    assert list(outcomes.labels) == sorted(outcomes.labels)


@pytest.mark.parametrize("setting", SETTINGS)
def test_values_are_those_of_equation_5(setting):
    outcomes = games.load(f"skat(scores={setting})").outcomes
    assert outcomes.values.dtype == np.float32 and outcomes.values.shape == (412, 3)
    for label, value in zip(outcomes.labels, outcomes.values):
        for p in range(3):
            opponents = [label[q] for q in range(3) if q != p]
            assert value[p] == pytest.approx((label[p] - sum(opponents) / 2) / 100, abs=1e-5)
    game = games.load("skat")
    assert game.outcomes.values[game.outcomes.index[(98, 0, 0)]].tolist() == pytest.approx([0.98, -0.49, -0.49])
    assert game.outcomes.values[game.outcomes.index[(40, -146, 40)]].tolist() == pytest.approx([0.93, -1.86, 0.93])


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_random_result_is_an_outcome_within_bounds(setting):
    game = games.load(f"skat(scores={setting})")
    seeger = setting == "seeger"
    history, scores = CORE.random_games(seeger, 1, 0, 40_000)
    table = CORE.Codec(seeger, np.array(game.outcomes.labels, dtype=np.int16))
    for seat in range(3):
        found = table.outcomes(scores, np.full(len(scores), seat, dtype=np.uint8))
        assert np.array_equal(np.array(game.outcomes.labels)[found], np.roll(scores, -seat, axis=1))
    assert game.spiel.min_utility() <= scores.min() and scores.max() <= game.spiel.max_utility()
    assert (game.spiel.min_utility(), game.spiel.max_utility()) == ((-590, 314) if seeger else (-540, 264))
    assert (history != 255).sum(axis=1).max() <= 32 + game.spiel.max_game_length()
    results = set()
    for policy in oracle.POLICIES:
        for seed in range(1000, 1400):
            *_, (twin, _) = oracle.playout(policy, seed)
            results.add(twin.result.scores(seeger))
    assert results <= set(game.outcomes.labels)
    assert len(results) > 60


# ------------------------------------------------------------------------------------------------ random games


def test_random_games_replay_and_depend_on_seed_and_index_alone():
    game = games.load("skat")
    history, scores = CORE.random_games(True, 3, 10, 200)
    for actions, score in zip(history, scores):
        state = replay(game, actions[actions != 255].tolist())
        assert game.scores(state) == tuple(score.tolist())
    part, same = CORE.random_games(True, 3, 150, 20)
    assert np.array_equal(part, history[140:160]) and np.array_equal(same, scores[140:160])
    other, _ = CORE.random_games(True, 4, 10, 200)
    assert not np.array_equal(other, history)


def test_random_deals_and_actions_are_uniform():
    from scipy.stats import chisquare

    history, _ = CORE.random_games(True, 11, 0, 64_000)
    for place in (0, 13, 31):
        assert chisquare(np.bincount(history[:, place], minlength=32)).pvalue > 1e-4
    first = history[:, 32]  # middlehand: 63 calls or pass
    assert chisquare(np.bincount(first, minlength=len(ACTIONS))[32:96]).pvalue > 1e-4
    answered = history[history[:, 32] != ACTION["pass"], 33]
    assert chisquare(np.bincount(answered)[ACTION["pass"] :]).pvalue > 1e-4


def test_states_refuse_what_is_no_deck():
    for deck in ([0] * 32, range(31), [*range(31), 32]):
        with pytest.raises(ValueError, match="deck"):
            CORE.State(np.array(deck, dtype=np.uint8))
    with pytest.raises(ValueError, match="only at its end"):
        core_of(oracle.DECK).result()


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_summary_counts_what_a_player_did(setting):
    game, rng = games.load(f"skat(scores={setting})"), random.Random(8)
    histories, seats, own, points, passed, at = [], [], [], 0, 0, 0
    for seed in range(120):
        steps, deck = [], []
        for twin, action in oracle.playout(oracle.POLICIES[seed % 6], seed):
            deck = deck or [c for hand in twin.hands for c in hand] + twin.skat
            steps += [action] if action else []
        held = rng.sample(range(3), rng.randint(1, 2))
        histories.append(numbers(deck + steps))
        seats.append(held)
        at += len(held)
        points += sum(twin.result.scores(setting == "seeger")[p] for p in held)
        passed += len(held) * (twin.soloist == -1)
        if twin.soloist in held:
            own.append((twin.kind.removesuffix("-ouvert"), twin.hand, twin.result.won))
    found = game.summary(histories, seats)
    expected = {
        "points in 36 games": 36 * points / at,
        "all passed": passed / at,
        "soloist": len(own) / at,
        "won as soloist": sum(won for *_, won in own) / len(own),
    }
    for name in [*oracle.BASES, "null", "hand"]:
        mine = [won for kind, hand, won in own if kind == name or (hand and name == "hand")]
        expected |= {name: len(mine) / len(own), f"{name} won": sum(mine) / len(mine) if mine else None}
    assert found == pytest.approx(expected)


def test_the_game_goes_by_both_its_names():
    for spec in ("skat", "trickformer_skat", "skat(scores=value)", "trickformer_skat(scores=value)"):
        game = games.load(spec)
        assert game.name == "skat" and str(game.spiel).startswith("trickformer_skat(")
        assert game.seeger == ("value" not in spec)
