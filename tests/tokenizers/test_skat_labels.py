"""What Skat's training starts from: labels of action values, against every way to play on; noise; games in step."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from trickformer import _core, games, tokenizers
from trickformer.belief import sampler
from trickformer.games.skat import NUM_CARDS, PASS, PICK_UP
from trickformer.selfplay.generate import Labels, cast_hands

CORE = _core.skat


@pytest.fixture(scope="module")
def skat():
    return games.load("skat")


@pytest.fixture(scope="module")
def tokenizer(skat):
    return tokenizers.make(skat)


def best_play(state, game, seat):
    """v(o) of `seat` when all cards are open: the soloist raises its score, the others lower it."""
    scores = []

    def search(state):
        if state.is_terminal():
            return state.returns()
        turn, solo = state.current_player(), state.core.soloist
        pick = max if turn == solo else min
        return pick((search(state.child(a)) for a in state.legal_actions()), key=lambda s: s[solo])

    scores = np.roll(np.array(search(state), int), -seat)
    return game.outcomes.values[game.outcomes.index[tuple(scores.tolist())], 0]


def decisions(game, tokenizer, row, seat):
    """{position: state} where `seat` had a choice."""
    state, found = game.spiel.new_initial_state(), {}
    for action in row[row != 255].tolist():
        if len(state.history()) >= NUM_CARDS and state.current_player() == seat and len(state.legal_actions()) > 1:
            found[len(tokenizer.encode(game.view(state, seat))) - 1] = state.clone(), action
        state.apply_action(action)
    return found


def labels(table, history, seats, seed=1, playouts=8, share=1.0, first=0, worlds=False):
    streams = np.arange(first, first + len(history), dtype=np.uint64)
    return table.labels(history, np.asarray(seats, np.uint8), seed, streams, playouts, share, worlds=worlds)


@pytest.mark.parametrize("setting", ["seeger", "value"])
def test_labels_are_of_the_decisions_and_at_the_end_those_of_best_play(setting):
    game = games.load(f"skat(scores={setting})")
    tokenizer = tokenizers.make(game)
    history = np.concatenate([CORE.random_games(setting == "seeger", 5, 0, 24)[0],
                              CORE.mixed_games(setting == "seeger", 5, 24, 24, 0.2, 0.1)[0]])  # fmt: skip
    seats = np.arange(48) // 2 % 3
    count, position, token, value = labels(tokenizer.codec, history, seats)
    starts, solved, phases = np.cumsum(count) - count, 0, set()
    assert count.sum() == len(position) == len(token) == len(value)
    for i, row in enumerate(history):
        span = slice(starts[i], starts[i] + count[i])
        found = decisions(game, tokenizer, row, seats[i])
        assert sorted(found) == np.unique(position[span]).tolist()
        for at, (state, taken) in found.items():
            here = position[span] == at
            worth = dict(zip(token[span][here].tolist(), value[span][here].tolist()))
            legal, phase = state.legal_actions(), state.core.phase
            assert list(worth) == sorted(worth) and taken in worth
            assert set(worth) == set(legal) if phase == 5 or len(legal) < 8 else set(worth) <= set(legal)
            assert len(worth) <= 10
            assert (
                game.outcomes.values.min() <= min(worth.values()) <= max(worth.values()) <= game.outcomes.values.max()
            )
            phases.add(phase)
            if legal == [32, PASS]:
                assert worth[PASS] == 0  # nobody plays
            if phase == 5 and all(len(state.core.hand(p)) <= 3 for p in range(3)):
                for action in legal:
                    assert worth[action] == pytest.approx(best_play(state.child(action), game, seats[i]), abs=1e-6)
                solved += 1
    assert solved > 40 and phases == {0, 1, 2, 3, 4, 5}


def test_labels_follow_from_seed_and_stream(skat, tokenizer):
    history, _, _ = CORE.mixed_games(True, 7, 0, 30, 0.1)
    seats = np.arange(30) % 3
    whole = labels(tokenizer.codec, history, seats)
    parts = [labels(tokenizer.codec, history[i : i + 10], seats[i : i + 10], first=i) for i in (0, 10, 20)]
    for column, *pieces in zip(whole, *parts):
        assert np.array_equal(column, np.concatenate(pieces))
    other = labels(tokenizer.codec, history, seats, seed=2)
    assert len(other[3]) != len(whole[3]) or not np.array_equal(other[3], whole[3])
    # Of few playouts a label is a mean of few results, and all are of one scale.
    single = labels(tokenizer.codec, history, seats, playouts=1)[3]
    worth = np.unique(skat.outcomes.values[:, 0])
    assert np.abs(single[:, None] - worth).min(axis=1).max() < 1e-6
    hands = {(i, p) for i, p in zip(np.repeat(np.arange(30), whole[0]).tolist(), whole[1].tolist())}
    half = labels(tokenizer.codec, history, seats, share=0.5)
    some = {(i, p) for i, p in zip(np.repeat(np.arange(30), half[0]).tolist(), half[1].tolist())}
    assert some < hands and 0.4 < len(some) / len(hands) < 0.6
    assert len(labels(tokenizer.codec, history, seats, share=0.0)[1]) == 0
    with pytest.raises(ValueError):
        labels(tokenizer.codec, np.roll(history, 1, axis=1), seats)


def explaining(game, state, seat, n=30):
    """Sampled states that `seat` cannot tell from this one."""
    view = game.view(state, seat)
    belief = sampler(game)
    belief.reset(view)
    worlds = belief.sample(n, np.random.default_rng(0))
    return [worlds.state(i) for i in range(n) if worlds.feasible[i]]


def finished(state, rng):
    """The actions of a game that ends at random from here on, as the core has them."""
    state = state.clone()
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
    actions = state.history()
    return np.array([[*actions, *[255] * (CORE.MAX_ACTIONS + NUM_CARDS - len(actions))]], np.uint8)


def test_labels_of_worlds_do_not_depend_on_hidden_cards(skat, tokenizer):
    """Deals that a seat cannot tell apart: labels made of the deal as it was do, labels of worlds do not."""
    rng, phases, apart = np.random.default_rng(2), set(), 0
    for number, row in enumerate(CORE.mixed_games(True, 9, 0, 6, 0.1)[0]):
        seat = number % 3
        for at, (state, _) in list(decisions(skat, tokenizer, row, seat).items())[::3]:
            told = {True: set(), False: set()}
            for world in explaining(skat, state, seat, 4):
                history = finished(world, rng)
                for worlds, found in told.items():
                    _, position, token, value = labels(tokenizer.codec, history, [seat], playouts=3, worlds=worlds)
                    early = position < at  # what is played there is another card each time
                    found.add((*token[early].tolist(), *value[early].tolist()))
            assert len(told[True]) == 1
            apart += len(told[False]) > 1
            phases.add(state.core.phase)
    assert phases >= {0, 2, 5} and apart > 10, (phases, apart)


@pytest.mark.slow
def test_labels_of_worlds_are_means_of_best_play(skat, tokenizer):
    """With three cards left or fewer: no more and no less than what best play brings in some deal that explains the
    view, but for the card points that break ties."""
    history, ties = CORE.mixed_games(True, 3, 0, 12, 0.2, 0.1)[0], 0.1 * 61 / 100
    checked = spread = 0
    for number, row in enumerate(history):
        seat = number % 3
        _, position, token, value = labels(tokenizer.codec, row[None], [seat], playouts=40, worlds=True)
        for at, (state, _) in decisions(skat, tokenizer, row, seat).items():
            if state.core.phase != 5 or any(len(state.core.hand(p)) > 3 for p in range(3)):
                continue
            ends = [
                {a: best_play(w.child(a), skat, seat) for a in state.legal_actions()}
                for w in explaining(skat, state, seat, 60)
            ]
            for action, worth in zip(token[position == at].tolist(), value[position == at].tolist()):
                low, high = (pick(end[action] for end in ends) for pick in (min, max))
                assert low - ties <= worth <= high + ties
                spread += low < high
                checked += 1
    assert checked > 20 and spread > 3, (checked, spread)


def test_sequences_carry_labels(skat):
    found = cast_hands(skat, ["rules"] * 3 + ["random"], 1, 0, 12, 2, noise=0.2, labels=Labels(0.5, 2))
    assert len(found.starts) == len(found.tokens) + 1 == 25
    assert found.starts[-1] == len(found.labels) > 100


# ------------------------------------------------------------------------------------------------ noise, history


def test_noise_strays_from_the_script(tokenizer):
    quiet, _, _ = CORE.mixed_games(True, 23, 0, 200, 0.3)
    assert hashlib.sha256(quiet.tobytes()).hexdigest()[:16] == "18b758a7ff77f73b"  # as before there was noise
    assert np.array_equal(CORE.mixed_games(True, 23, 0, 200, 0.3, 0.0)[0], quiet)
    plain, noisy = (CORE.mixed_games(True, 29, 0, 2000, 0.0, noise)[0] for noise in (0.0, 0.1))
    tokenizer.codec.encode(noisy, np.zeros(2000, np.uint8))  # legal
    auctions = [[tuple(a for a in row[NUM_CARDS:] if NUM_CARDS <= a < PICK_UP) for row in h] for h in (plain, noisy)]
    same = np.mean([a == b for a, b in zip(*auctions)])
    assert 0.9 < same < 1 and (plain == noisy).all(axis=1).mean() < 0.3


def test_tables_tell_the_game_so_far(tokenizer):
    history, _ = CORE.random_games(True, 9, 0, 20)
    tables = CORE.Tables(tokenizer.codec, history[:, :NUM_CARDS].copy())
    for step in range(CORE.MAX_ACTIONS + 1):
        so_far = history.copy()
        so_far[:, NUM_CARDS + step :] = 255
        assert np.array_equal(tables.history(), so_far)
        live = np.flatnonzero(tables.current() >= 0).astype(np.int32)
        tables.step(live, history[live, min(NUM_CARDS + step, history.shape[1] - 1)].astype(np.int32))
    assert np.array_equal(tables.history(), history)
