"""Labels of The Crew's actions, and the noise of its scripted players."""

from __future__ import annotations

import copy
import random
import zlib

import numpy as np
import pytest
from support.play import random_playout

from trickformer import _core, belief, games, tokenizers
from trickformer.games.crew import HAND, NUM_CARDS, PREAMBLE
from trickformer.selfplay.generate import Labels, cast_hands

CORE = _core.crew


@pytest.fixture(scope="module")
def crew():
    return games.load("crew")


@pytest.fixture(scope="module")
def tokenizer(crew):
    return tokenizers.make(crew)


def labels_of(tokenizer, history, seats, playouts=2, share=1.0, seed=5, first=0, worlds=False):
    """By hand: {position: {token: value}}."""
    streams = np.arange(first, first + len(history), dtype=np.uint64)
    count, *columns = tokenizer.codec.labels(
        history, seats.astype(np.uint8), seed, streams, playouts, share, worlds=worlds
    )
    assert count.shape == (len(history),) and all(c.shape == (count.sum(),) for c in columns)
    found, at = [], 0
    for n in count:
        decisions: dict[int, dict[int, float]] = {}
        for position, token, value in zip(*(c[at : at + n].tolist() for c in columns)):
            decisions.setdefault(position, {})[token] = value
        found.append(decisions)
        at += n
    return found


@pytest.mark.parametrize("worlds", [False, True])
@pytest.mark.parametrize("distress", ["off", "left"])
def test_every_choice_is_labelled_at_its_place(distress, worlds):
    game = games.load(f"crew(distress={distress})")
    tokenizer, n = tokenizers.make(game), 60
    history = CORE.mixed_games(tokenizer.codec, 2, 0, n, 0.2, 0.1)[0]
    seats = np.arange(n) % 4
    tokens = tokenizer.codec.encode(history, seats.astype(np.uint8))
    for row, decisions in zip(tokens, labels_of(tokenizer, history, seats, worlds=worlds)):
        tracker, expected = tokenizer.tracker([]), {}
        for at, token in enumerate(row.tolist()):
            if token == tokenizer.eos:
                break
            tracker.push(token)
            legal = np.flatnonzero(tracker.legal()).tolist()
            if len(legal) > 1:
                expected[at] = legal
        assert {at: list(values) for at, values in decisions.items()} == expected
        values = [v for decision in decisions.values() for v in decision.values()]
        assert all(0 <= v <= 1 for v in values)
    assert game.outcomes.values[:, 0].tolist() == [0, 1]  # labels are in the same units


def test_labels_follow_from_seed_and_stream(crew, tokenizer):
    n = 300
    history, seats = CORE.mixed_games(tokenizer.codec, 1, 0, n, 0.1)[0], np.arange(n) % 4
    whole = labels_of(tokenizer, history, seats)
    assert labels_of(tokenizer, history[100:120], seats[100:120], first=100) == whole[100:120]
    assert labels_of(tokenizer, history[:40], seats[:40], seed=6) != whole[:40]
    decisions = sum(map(len, whole))
    half = sum(map(len, labels_of(tokenizer, history, seats, 1, 0.5)))
    assert half == pytest.approx(decisions / 2, abs=4 * (decisions / 4) ** 0.5)
    assert not any(labels_of(tokenizer, history[:20], seats[:20], share=0.0))
    differing = sum(len(set(decision.values())) > 1 for found in whole for decision in found.values())
    assert differing > 0.3 * decisions
    broken = history[:1].copy()
    broken[0, PREAMBLE] = NUM_CARDS  # no action at the beginning of any mission is a seat's number
    for bad in (broken, np.zeros_like(history[:1])):
        with pytest.raises((ValueError, IndexError)):
            labels_of(tokenizer, bad, seats[:1])


def last_labels(tokenizer, histories, seat, playouts, worlds):
    """The values of each history's last decision: float [n, actions]."""
    found = labels_of(tokenizer, histories, np.full(len(histories), seat), playouts, worlds=worlds)
    return np.array([list(list(decisions.values())[-1].values()) for decisions in found])


@pytest.mark.slow
def test_labels_of_worlds_are_those_of_the_deals_that_a_seat_thinks_possible():
    """They do not tell apart what the seat cannot; on average they are the labels of such deals as they are."""
    game, rng, tried = games.load("crew(distress=left)"), random.Random(7), 0
    tokenizer, n = tokenizers.make(game), 150
    for index in range(200):
        states = [s for s in random_playout(game.deal(8, index), rng) if not (s.is_chance_node() or s.is_terminal())]
        state = rng.choice(states)
        seat = state.current_player()
        if len(state.legal_actions()) == 1:
            continue
        thought = belief.sampler(game)
        thought.reset(game.view(state, seat))
        worlds = thought.sample(n, np.random.default_rng(index))
        rows = np.full((n, len(CORE.mixed_games(tokenizer.codec, 2, 0, 1, 0.2)[0][0])), 255, np.uint8)
        for i, row in enumerate(rows):
            so_far = [*worlds.history(i), state.legal_actions()[0]]
            row[: len(so_far)] = so_far
        alike = last_labels(tokenizer, np.repeat(rows[:1], n, axis=0), seat, 1, True)
        assert np.array_equal(alike[:40], last_labels(tokenizer, rows[:40], seat, 1, True))
        true = last_labels(tokenizer, rows, seat, 1, False)
        error = ((alike.var(axis=0) + true.var(axis=0)) / n) ** 0.5
        off = np.abs(alike.mean(axis=0) - true.mean(axis=0))
        assert (off <= 4.5 * error + 1e-9).all(), (index, off, error)
        tried += error.max() > 0
        if tried == 8:
            break
    assert tried == 8


def ends(state):
    """The results that a mission may still have."""
    if state.is_terminal():
        return {max(state.result, 0)}
    found: set[int] = set()
    for action in state.legal_actions():
        after = copy.copy(state)
        after.apply_action(action)
        found |= ends(after)
        if len(found) == 2:
            break
    return found


def test_labels_of_the_last_tricks_are_those_of_all_ways_to_go_on(crew, tokenizer):
    """0 where no way succeeds, 1 where all do, and at least the solver's half where some do."""
    history = CORE.mixed_games(tokenizer.codec, 3, 0, 300, 0.0, 0.05)[0]
    kinds = {frozenset([0]): 0, frozenset([1]): 0, frozenset([0, 1]): 0}
    for row in history:
        state = CORE.State(crew.missions[int(row[0])], row[1 : 1 + 4 * HAND])
        late: list[list[tuple[set[int], ...]]] = [[], [], [], []]  # by seat: of each choice, the results of its actions
        total = [0] * 4
        for action in row[PREAMBLE:][row[PREAMBLE:] != 255].tolist():
            seat, legal = state.current_player(), state.legal_actions()
            if seat >= 0 and len(legal) > 1:
                total[seat] += 1
                if len(state.plays) >= 32:
                    after = [copy.copy(state) for _ in legal]
                    for one, choice in zip(after, legal):
                        one.apply_action(choice)
                    late[seat].append(tuple(ends(one) for one in after))
            state.apply_action(action)
        for seat in range(4):
            if not late[seat]:
                continue
            (decisions,) = labels_of(tokenizer, row[None], np.array([seat]))
            assert len(decisions) == total[seat]
            for results, values in zip(late[seat], list(decisions.values())[-len(late[seat]) :]):
                for result, value in zip(results, values.values()):
                    kinds[frozenset(result)] += 1
                    low, high = {1: 1.0, 0: 0.5}[min(result)] if max(result) else 0.0, float(max(result))
                    assert low <= value <= high, (row.tolist(), seat)
    assert min(kinds.values()) > 30, kinds


def test_histories_of_tables_in_step_encode_to_their_tokens(crew, tokenizer):
    rng, n = np.random.default_rng(3), 40
    tables = tokenizers.fast(crew).tables(4, 0, n)
    while len(live := np.flatnonzero(tables.current() >= 0)):
        legal = tables.legal()[live]
        tables.step(live.astype(np.int32), np.where(legal, rng.random(legal.shape), 0).argmax(axis=1).astype(np.int32))
    for seat in range(4):
        seats = np.full(n, seat, np.uint8)
        assert np.array_equal(tokenizer.codec.encode(tables.history(), seats), tables.tokens[:, seat])
    assert sum(map(len, labels_of(tokenizer, tables.history(), np.zeros(n)))) > n


def test_noise_is_random_moves_of_scripted_seats(crew, tokenizer):
    plain = CORE.mixed_games(tokenizer.codec, 3, 0, 400, 0.2)
    assert zlib.crc32(plain[0].tobytes() + plain[1].tobytes()) == 2127532749  # as before there was noise
    assert all(np.array_equal(a, b) for a, b in zip(plain, CORE.mixed_games(tokenizer.codec, 3, 0, 400, 0.2, 0.0)))
    rates = [CORE.mixed_games(tokenizer.codec, 3, 0, 1000, 0.0, noise)[1].mean() for noise in (0.0, 0.1, 1.0)]
    random = CORE.mixed_games(tokenizer.codec, 3, 0, 1000, 1.0)[1].mean()
    assert rates[0] > rates[1] + 0.03 > rates[2] + 0.1 and rates[2] == pytest.approx(random, abs=0.02)
    quiet, noisy = (cast_hands(crew, ["rules"], 3, 0, 50, noise=noise, labels=Labels(0.5, 1)) for noise in (0.0, 0.3))
    assert not np.array_equal(quiet.tokens, noisy.tokens)
