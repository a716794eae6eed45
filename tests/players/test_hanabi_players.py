"""Hanabi's scripted players: legal, blind to their own cards, strong enough, equal to their slow twins."""

import pickle

import numpy as np
import pytest
from support import hanabi_oracle as oracle

from trickformer import _core

CORE = _core.hanabi
BOTS = CORE.BOTS
RULES = {
    "standard": {},
    "two hints": {"hints": 2},
    "seven cards": {"hand": 7, "hints": 4},
    "three": {"players": 3},
    "four": {"players": 4, "hand": 4},
    "five": {"players": 5, "hand": 4},
    "small": {"players": 2, "colors": 2, "ranks": 3, "hand": 3, "hints": 2, "lives": 2},
    "one life": {"players": 3, "colors": 3, "ranks": 4, "hand": 2, "hints": 1, "lives": 1},
    "tiny": {"players": 2, "colors": 1, "ranks": 1, "hand": 1, "hints": 1, "lives": 1},
    "all dealt": {"players": 2, "colors": 1, "ranks": 5, "hand": 5, "hints": 3},
}
variants = pytest.mark.parametrize("name", RULES)


def bot(name):
    return BOTS.index(name)


def moves(rules, seed, n):
    """Tables before each move of n games in which every seat changes its bot at random, with that move's actions."""
    rng, tables = np.random.default_rng(seed), CORE.Tables(rules, seed, 0, n)
    while not tables.over().all():
        before = tables.take(np.arange(n))
        # Half of the moves are a strong player's: `flawed` would end most games in a few turns.
        bots = np.where(rng.random(n) < 0.5, bot("smart"), rng.integers(len(BOTS), size=n)).astype(np.int8)
        actions = tables.choose(bots, seed)
        tables.step(actions)
        yield before, actions, tables
    assert (tables.choose(np.zeros(n, np.int8), seed) == -1).all()


def policies(tables):
    """float32 [bots, n, actions]"""
    return np.stack([tables.policy(np.full(len(tables), b, np.int8)) for b in range(len(BOTS))])


def dealt_anew(tables, rng):
    """Own hands of the seats on turn drawn from the cards that they do not see, int8 [n, players, hand]; a hand for
    which none is found in 20 tries stays."""
    rules, possible, seats = tables.rules, tables.possible(), tables.current()
    hidden = np.full((len(tables), rules.players, rules.hand), -1, np.int8)
    for i in np.flatnonzero(seats >= 0):
        state, fits = tables[int(i)], possible[i, seats[i]]
        slots = sorted(range(len(state.hand(seats[i]))), key=lambda slot: fits[slot].sum())
        for _ in range(20):
            pool, hand = list(rng.permutation(state.hand(seats[i]) + state.deck)), {}
            for slot in slots:
                if card := [k for k in pool if fits[slot, k]][:1]:
                    hand[slot] = card[0]
                    pool.remove(card[0])
            if len(hand) == len(slots):
                hidden[i, seats[i], slots] = [hand[slot] for slot in slots]
                break
    return hidden


@variants
def test_probabilities_are_of_legal_actions(name, seed=1):
    for tables, actions, _ in moves(CORE.Rules(**RULES[name]), seed, 30):
        legal, probs = tables.legal(), policies(tables)
        assert (probs[:, ~legal] == 0).all(), seed
        live = ~tables.over()
        assert np.allclose(probs.sum(2), live, atol=1e-6), seed
        assert legal[live, actions[live]].all(), seed
        assert (actions[~live] == -1).all(), seed


@variants
def test_nobody_looks_at_its_own_cards(name, seed=2):
    rng, changed, positions = np.random.default_rng(seed), 0, 0
    for tables, _, _ in moves(CORE.Rules(**RULES[name]), seed, 6):
        twins = tables.take(np.arange(len(tables)))
        twins.redeal(dealt_anew(tables, rng), seed)
        positions += len(tables)
        changed += int((twins.hands() != tables.hands()).any((1, 2)).sum())
        assert np.array_equal(policies(twins), policies(tables)), seed
        assert np.array_equal(twins.marks(), tables.marks()), seed
    assert changed > positions / 3 or name == "tiny", seed


@variants
def test_marks_are_what_the_convention_says(name, seed=3):
    rules = CORE.Rules(**RULES[name])
    expected = None
    for before, actions, after in moves(rules, seed, 5):
        if expected is None:
            expected = [[[set(oracle.kinds(rules))] * rules.hand] * rules.players for _ in range(len(before))]
        marks = after.marks()
        for i in np.flatnonzero(actions >= 0):
            expected[i] = oracle.meaning(expected[i], before[int(i)], int(actions[i]), after[int(i)])
            for seat, hand in enumerate(expected[i]):
                found = [{k for k in oracle.kinds(rules) if m >> k & 1} for m in map(int, marks[i, seat])]
                assert found[: len(hand)] == hand, (seed, i, before[int(i)].moves)
                assert not any(found[len(hand) :]), seed


@variants
def test_lists_of_rules_are_their_slow_twins(name, seed=4):
    for tables, _, _ in moves(CORE.Rules(**RULES[name]), seed, 6):
        probs = policies(tables)
        for i in np.flatnonzero(~tables.over()):
            state = tables[int(i)]
            for listed in ("iggi", "piers", "flawed"):
                chosen = oracle.listed(listed, state)
                wanted = np.zeros(tables.rules.actions, np.float32)
                wanted[chosen] = np.float32(1) / np.float32(len(chosen))
                assert np.array_equal(probs[bot(listed), i], wanted), (seed, i, listed, state.moves)


@variants
def test_games_in_bulk_are_those_played_step_by_step(name, seed=5, first=7, n=20):
    rules = CORE.Rules(**RULES[name])
    seats = np.random.default_rng(seed).integers(len(BOTS), size=rules.players).astype(np.int8)
    decks, actions, scores = CORE.scripted_games(rules, seats, seed, first, n)
    played, replayed = CORE.Tables(rules, seed, first, n), CORE.Tables(rules, seed, first, n)
    assert np.array_equal(decks, CORE.random_games(rules, seed, first, n)[0])
    for step in range(rules.longest):
        taken = played.choose(seats[np.maximum(played.current(), 0)], seed, first)
        played.step(taken)
        replayed.step(actions[:, step].astype(np.int64))
        assert np.array_equal(np.where(taken < 0, 255, taken), actions[:, step]), seed
        assert np.array_equal(played.marks(), replayed.marks()), seed
    assert played.over().all()
    assert np.array_equal(played.scores(), scores), seed
    alone = CORE.scripted_games(rules, seats, seed, first + 3, 1)
    assert np.array_equal(alone[1][0], actions[3]), seed


@pytest.mark.parametrize(
    ("name", "floor"), [("simple", 15.5), ("holmes", 19.5), ("smart", 22), ("iggi", 15.5), ("piers", 15.5)]
)
def test_strength(name, floor, seed=6, n=300):
    scores = CORE.scripted_games(CORE.Rules(**RULES["standard"]), np.full(2, bot(name), np.int8), seed, 0, n)[2]
    assert scores.mean() > floor, seed


def test_draws_follow_the_probabilities(seed=8, n=20_000):
    """`flawed` with a hint to give: every action it draws is as frequent as its probability."""
    rules = CORE.Rules(colors=4, ranks=4)
    several = 0
    for tables, _, _ in moves(rules, seed, 1):
        copies = tables.take(np.zeros(n, np.int64))
        flawed = np.full(n, bot("flawed"), np.int8)
        p = copies.policy(flawed)[0]
        counts = np.bincount(copies.choose(flawed, seed), minlength=rules.actions)
        assert (np.abs(counts - n * p) <= 5 * np.sqrt(n * p * (1 - p)) + n * 1e-6).all(), seed
        several += np.count_nonzero(p) > 1
    assert several > 3


def test_a_state_that_is_put_at_a_table_brings_no_meaning():
    tables = CORE.Tables(CORE.Rules(), 1, 0, 1)
    while not (tables.marks() != np.uint32(2**25 - 1)).any():
        tables.step(tables.choose(np.zeros(1, np.int8), 1))
    fresh = tables.take(np.zeros(1, np.int64))
    assert np.array_equal(fresh.marks(), tables.marks())
    fresh[0] = tables[0]
    possible = fresh.possible()[0] @ (1 << np.arange(25))
    assert np.array_equal(fresh.marks()[0], possible)
    fresh.deal(np.zeros(1, np.int64), 1, 0)
    assert (fresh.marks() == 2**25 - 1).all()


def test_refusals():
    tables = CORE.Tables(CORE.Rules(), 1, 0, 2)
    for call in (tables.policy, lambda bots: tables.choose(bots, 1)):
        with pytest.raises(ValueError, match="one bot a table"):
            call(np.zeros(3, np.int8))
        with pytest.raises(IndexError, match="bot"):
            call(np.array([0, len(BOTS)], np.int8))
    with pytest.raises(ValueError, match="one bot a seat"):
        CORE.scripted_games(CORE.Rules(players=3), np.zeros(2, np.int8), 1, 0, 1)


def test_tables_under_way_can_be_pickled():
    """Games, what hints meant, and what scripted players then do."""
    rules = _core.hanabi.Rules(hand=4, hints=5)
    tables, smart = _core.hanabi.Tables(rules, 3, 0, 6), np.full(6, _core.hanabi.BOTS.index("smart"), dtype=np.int8)
    for _ in range(12):
        tables.step(tables.choose(smart, 1))
    again = pickle.loads(pickle.dumps(tables))
    for read in (again.rules, pickle.loads(pickle.dumps(rules))):
        assert (read.players, read.hand, read.hints, read.deck) == (2, 4, 5, 50)
    for _ in range(10):
        np.testing.assert_array_equal(again.policy(smart), tables.policy(smart))
        actions = tables.choose(smart, 1)
        tables.step(actions)
        again.step(actions)
    table = pickle.loads(pickle.dumps(CORE.Codec(rules)))
    assert (table.length, table.end) == (CORE.Codec(rules).length, CORE.Codec(rules).end)
    with pytest.raises(ValueError, match="not pickled Tables"):
        CORE.Tables.__new__(CORE.Tables).__setstate__((rules, b"1", b""))
