"""Hanabi: own hands drawn anew by exact counting, against a list of all of them, and games on record as frames."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from trickformer import _core, games

CORE = _core.hanabi
SPECS = (
    "hanabi(colors=2,ranks=3,hand_size=3,max_information_tokens=4,max_life_tokens=3)",
    "hanabi(players=3,colors=2,ranks=4,hand_size=2,max_information_tokens=6,max_life_tokens=3)",
)


def after(rules, seed, moves):
    """One table after so many random moves, or the last before the end."""
    rng = np.random.default_rng(seed)
    table = CORE.Tables(rules, seed, 0, 1)
    for _ in range(moves):
        ahead = table.take(np.arange(1))
        ahead.step(np.array([rng.choice(np.flatnonzero(table.legal()[0]))]))
        if ahead.over()[0]:
            break
        table = ahead
    return table


def listed(state, seat):
    """Own hands by how many ways there are to take them from the cards that a seat does not see, copies told apart."""
    unseen, knowledge, ranks = state.deck + state.hand(seat), state.knowledge(seat), state.rules.ranks
    found = Counter()
    for cards in permutations(range(len(unseen)), len(knowledge)):
        hand = tuple(unseen[i] for i in cards)
        if all(c >> k // ranks & r >> k % ranks & 1 for k, (c, r, _) in zip(hand, knowledge)):
            found[hand] += 1
    return found


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("moves", [0, 5, 9, 14])
def test_a_hand_is_redrawn_as_often_as_deals_have_it(spec, moves):
    rules = games.load(spec).rules
    for seed in range(3):
        table = after(rules, seed, moves)
        for seat in range(rules.players):
            ways = listed(table[0], seat)
            n = 20_000
            many = table.take(np.zeros(n, dtype=np.int64))
            many.redraw(np.full(n, seat, dtype=np.int8), seed)
            size = len(table[0].hand(seat))
            drawn = Counter(map(tuple, many.hands()[:, seat, :size].tolist()))
            assert drawn.keys() <= ways.keys(), (seed, seat)
            # What is rare is one class.
            shares = np.array([ways[hand] for hand in ways]) / ways.total()
            counts = np.array([drawn[hand] for hand in ways])
            rare = shares * n < 10
            expected = np.append(shares[~rare], shares[rare].sum())
            observed = np.append(counts[~rare], counts[rare].sum())
            expected, observed = expected[expected > 0], observed[expected > 0]
            if len(expected) > 1:
                assert stats.chisquare(observed, expected * n).pvalue > 1e-5, (seed, seat)


@pytest.mark.parametrize("spec", [*SPECS, "hanabi", "hanabi(players=5)"])
def test_a_redrawn_seat_sees_what_it_saw(spec):
    """And every card is still there; another seed draws another hand, the same one the same."""
    rules = games.load(spec).rules
    tables = CORE.Tables(rules, 3, 0, 40)
    for step in range(12):
        for seat in range(rules.players):
            seats = np.full(40, seat, dtype=np.int8)
            worlds, again, other = (tables.take(np.arange(40)) for _ in range(3))
            worlds.redraw(seats, 5)
            again.redraw(seats, 5)
            other.redraw(seats, 6)
            assert (worlds.observe(seats, True) == tables.observe(seats, True)).all()
            assert (worlds.hands() == again.hands()).all() and (worlds.hands() != other.hands()).any()
            assert all(worlds[i].deck == again[i].deck for i in range(40))
            for i in range(40):
                assert sorted(worlds[i].deck + worlds[i].hand(seat)) == sorted(tables[i].deck + tables[i].hand(seat))
        tables.random_step(1, step)


def test_a_seat_on_turn_without_cards_is_refused():
    """Without a hint to give it would have no legal action, and the core would read beyond its tables."""
    rules = CORE.Rules(colors=2, ranks=2, hand=2)
    held, states, marks = CORE.Tables(rules, 0, 0, 1).__getstate__()
    sizes = 24 + 5 * 7 * 4  # behind the rules and the slots of all hands
    assert states[sizes : sizes + 5] == bytes([2, 2, 0, 0, 0])
    for seat, cards in ((0, 0), (0, 1), (1, 1)):
        broken = bytearray(states)
        broken[sizes + seat] = cards
        with pytest.raises(ValueError, match="not pickled Tables"):
            CORE.Tables.__new__(CORE.Tables).__setstate__((held, bytes(broken), marks))


def test_every_position_of_a_game_is_a_pickle():
    """Those of the last round too, in which hands are one card short, and those of games that are over."""
    for players in (2, 3):
        rules = CORE.Rules(players=players, colors=2, ranks=3, hand=2)
        tables = CORE.Tables(rules, 5, 0, 40)
        short, rng = 0, np.random.default_rng(players)
        while not tables.over().all():
            copy = pickle.loads(pickle.dumps(tables))
            np.testing.assert_array_equal(copy.hands(), tables.hands())
            sizes = [len(tables[i].hand(seat)) for i in np.flatnonzero(~tables.over()) for seat in range(players)]
            short += min(sizes) < rules.hand
            tables.step((tables.legal() * rng.random(tables.legal().shape)).argmax(axis=1))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(tables)).scores(), tables.scores())
        assert short


def test_a_redraw_of_other_seats_is_refused():
    rules = CORE.Rules(colors=2, ranks=2, hand=2)
    table = CORE.Tables(rules, 0, 0, 1)
    with pytest.raises(IndexError, match="seat"):
        table.redraw(np.array([2], dtype=np.int8), 1)
    with pytest.raises(ValueError, match="one seat per table"):
        table.redraw(np.array([0, 1], dtype=np.int8), 1)


def test_a_slot_whose_hints_rule_out_its_card_is_refused():
    """An observation would write beyond its array for a hinted card that may have no colour or no rank."""
    rules = CORE.Rules(colors=2, ranks=2, hand=2)
    table = CORE.Tables(rules, 0, 0, 1)
    held, states, marks = table.__getstate__()
    card, colors, ranks, hint_bits = range(24, 28)  # of the oldest card of seat 0, behind the rules
    kind = states[card]
    color, rank = 1 << kind // 2, 1 << kind % 2
    assert (kind, states[colors], states[ranks], states[hint_bits]) == (table[0].hand(0)[0], 3, 3, 0)

    def read(changes):
        broken = bytearray(states)
        for place, value in changes.items():
            broken[place] = value
        other = CORE.Tables.__new__(CORE.Tables)
        other.__setstate__((held, bytes(broken), marks))
        return other

    faults = [{colors: 0}, {ranks: 0}, {colors: 3 - color}, {ranks: 3 - rank}, {hint_bits: 1}, {hint_bits: 2}]
    faults += [{colors: 0, hint_bits: 1}, {ranks: 0, hint_bits: 2}, {colors: color, hint_bits: 3}]
    for changes in faults:
        with pytest.raises(ValueError, match="not pickled Tables"):
            read(changes)
    hinted = read({colors: color, ranks: rank, hint_bits: 3})
    assert hinted[0].knowledge(0)[0] == [color, rank, 3]
    for seat in range(2):
        assert np.isfinite(hinted.observe(np.array([seat], dtype=np.int8))).all()


def test_a_deck_of_one_kind_can_be_redrawn():
    """A file's deck may hold any number of copies of a card."""
    rules = CORE.Rules()
    held, states, marks = CORE.Tables(rules, 0, 0, 1).__getstate__()
    deck = 24 + 5 * 7 * 4 + 5  # behind the rules, the slots and the sizes of all hands
    broken = bytearray(states)
    broken[deck : deck + rules.deck] = bytes(rules.deck)
    for slot in range(rules.hand):
        broken[24 + 4 * slot] = 0
    tables = CORE.Tables.__new__(CORE.Tables)
    tables.__setstate__((held, bytes(broken) * 200, marks * 200))
    tables.redraw(np.zeros(200, dtype=np.int8), 1)
    assert (tables.hands()[:, 0] == 0).all()


@pytest.mark.parametrize("spec", [*SPECS, "hanabi"])
@pytest.mark.parametrize("v0", [False, True])
def test_frames_are_what_tables_show(spec, v0):
    rules, seed = games.load(spec).rules, 4
    _, actions, scores = CORE.random_games(rules, seed, 0, 9)
    numbers = np.array([7, 0, 8, 3, 3], dtype=np.uint64)
    seen, legal, seats, rewards = CORE.frames(rules, seed, numbers, actions[numbers], v0)
    at = 0
    for number in numbers.astype(int):
        table, total = CORE.Tables(rules, seed, number, 1), 0
        for action in actions[number][actions[number] != 255]:
            for seat in range(rules.players):
                assert (seen[at, seat] == table.observe(np.array([seat], dtype=np.int8), v0)[0]).all()
            assert (legal[at] == table.legal()[0]).all() and seats[at] == table.current()[0]
            before = int(table.scores()[0])
            table.step(np.array([action], dtype=np.int64))
            assert rewards[at] == table.scores()[0] - before
            total, at = total + int(rewards[at]), at + 1
        assert table.over()[0] and total == scores[number]
    assert at == len(seen) == len(legal) == len(seats) == len(rewards)


def test_frames_of_other_games_are_refused():
    rules = CORE.Rules()
    _, actions, _ = CORE.random_games(rules, 1, 0, 2)
    with pytest.raises(ValueError, match="one row of actions per game"):
        CORE.frames(rules, 1, np.arange(3, dtype=np.uint64), actions)
    wrong = actions.copy()
    wrong[1, 0] = 0  # no discard while all hints are there
    with pytest.raises(ValueError, match="illegal action"):
        CORE.frames(rules, 1, np.arange(2, dtype=np.uint64), wrong)
