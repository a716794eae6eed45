"""Features of every game with a tokenizer: the same wherever they come from. What they say is in the games' own tests
(test_hearts_features.py and so on), that no hidden card is in them in test_audit.py."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.play import random_playout

from trickformer import _core, games, players, tokenizers
from trickformer.games import skat
from trickformer.games.crew import ACTIONS as CREW_ACTIONS
from trickformer.games.crew import PLAY
from trickformer.selfplay.generate import cast_hands

SPECS = (
    "hearts",
    "hearts(pass_cards=False,can_lead_any_club=True)",
    "skat",
    "crew",
    "crew(distress=left)",
    "hanabi",
    "hanabi(players=4)",
)


def tokens_of(game, n, seed=6):
    """int16 [n, T], of random players, filled up with the end token."""
    return np.asarray(cast_hands(game, ["random"], seed, 0, n).tokens)


def ints(*values):
    return np.array(values, dtype=np.int32)


def advice(game, row):
    """The script's action by the features of Skat or The Crew, or None; a bid stands for its kind."""
    if game.name == "crew":
        (found,) = np.nonzero(row[-len(CREW_ACTIONS) - 41 : -41])
        return int(found[0]) if len(found) else None
    script = row[493:541]
    cards, (bids, limit, take, game_, level) = script[:32], np.split(script[32:], [2, 3, 5, 12])
    parts = ((cards, 0), (take, skat.PASS + 2), (game_, skat.DECLARE), (level, skat.ANNOUNCE))
    found = [first + int(i) for part, first in parts for i in np.flatnonzero(part)]
    found += [("bid", "pass")[int(i)] for i in np.flatnonzero(bids)]
    assert len(found) <= 1 and (not limit or "bid" in found or "pass" in found)
    return found[0] if found else None


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["skat", "skat(scores=value)", "crew", "crew(distress=left)"])
def test_the_script_is_the_scripted_player(spec):
    """At own turns the features give the action of `rules`, at others nothing (Hanabi: test_hanabi_features.py)."""
    game, rng = games.load(spec), random.Random(2)
    tokenizer, rules = tokenizers.make(game), players.make("rules", game)
    said, unlike = set(), 0
    for index in range(60):
        for state in random_playout(game.deal(3, index), rng):
            seat = state.current_player() if rng.random() < 0.8 else rng.randrange(game.players)
            if state.is_chance_node() or state.is_terminal():
                continue
            view = game.view(state, seat)
            found = advice(game, tokenizer.tracker(tokenizer.encode(view)).features())
            if state.current_player() != seat:
                assert found is None
                continue
            action = rules.act([view], [np.random.default_rng(0)], [{}])[0].action
            if game.name == "skat" and state.core.phase == 0:
                action = "pass" if action == skat.PASS else "bid"
            assert found == action, state.history()
            if game.name == "crew":
                behind = tokenizer.tracker(tokenizer.encode(view)).features()[-40:]
                assert behind[behind != 0].max(initial=-1) < 0 and set(np.flatnonzero(behind)) <= set(view.legal)
                assert not behind.any() or (state.core.phase == PLAY and len(view.legal) > 1)
                unlike += behind.any()
            said.add(action)
    assert len(said) > 30 and (unlike > 100) == (game.name == "crew")


@pytest.mark.parametrize("spec", SPECS)
def test_script_features_are_those_that_follow_the_scripted_player(spec):
    """They are 0 unless the seat is on turn, when one of them at least is its action. Hearts has none."""
    game = games.load(spec)
    tokenizer, turns = tokenizers.make(game), 0
    indices = list(tokenizer.script_features)
    assert indices == sorted(set(indices)) and set(indices) <= set(range(tokenizer.n_features))
    for row in tokens_of(game, 8):
        tracker = tokenizer.tracker(row[:0])
        for token in row[: int((row != tokenizer.eos).sum())]:
            tracker.push(int(token))
            values = tracker.features()[indices]
            assert bool(values.any()) == (bool(indices) and tracker.my_turn())
            turns += tracker.my_turn()
    assert turns > 30 and bool(indices) == (game.name != "hearts")


class Python:
    """A tracker that is not the core's, by one that is."""

    def __init__(self, inner):
        self.inner = inner

    def copy(self):
        return Python(self.inner.copy())

    def push(self, token):
        self.inner.push(token)

    def features(self):
        return self.inner.features()

    def possible(self):
        return self.inner.possible()


class PythonTokenizer:
    def __init__(self, inner):
        self.inner, self.eos, self.vocab, self.n_features = inner, inner.eos, inner.vocab, inner.n_features

    def tracker(self, tokens):
        return Python(self.inner.tracker(tokens))


def test_every_tokenizer_is_here():
    assert {spec.partition("(")[0] for spec in SPECS} == set(tokenizers.NAMES)
    versions = {tokenizers.make(games.load(name)).features_version for name in tokenizers.NAMES}
    assert len(versions) == len(tokenizers.NAMES)
    assert all(isinstance(version, str) and version for version in versions)


@pytest.mark.parametrize("spec", SPECS)
def test_all_ways_to_ask_give_the_same(spec):
    """In bulk, step by step, many that grow, and ahead of a token; and nothing beyond a sequence's end."""
    game, rng = games.load(spec), random.Random(3)
    tokenizer = tokenizers.make(game)
    tokens = tokens_of(game, 24)
    n, length = tokens.shape
    features, possible = tokenizers.follow(tokenizer, tokens, True)
    assert (features.shape, features.dtype) == ((n, length, tokenizer.n_features), np.float32)
    assert (possible.shape, possible.dtype) == ((n, length, len(tokenizer.vocab)), bool)
    assert np.isfinite(features).all() and np.abs(features).max() <= 4
    alone, nothing = tokenizers.follow(tokenizer, tokens)
    assert np.array_equal(alone, features) and nothing.shape == (0, length, len(tokenizer.vocab))

    start = tokenizer.tracker([])
    assert start.n_features == tokenizer.n_features == len(start.features())
    seats, trackers, told = _core.Seats(start, n), [tokenizer.tracker([]) for _ in range(n)], [0] * n
    ends = (tokens != tokenizer.eos).sum(axis=1).tolist()
    for i, end in enumerate(ends):
        assert end and (features[i, :end] != 0).any(axis=1).all()
        assert not features[i, end:].any() and not possible[i, end:].any()
    while open_ := [i for i in range(n) if told[i] < ends[i]]:
        rows = rng.sample(open_, rng.randint(1, len(open_)))
        ahead = [rng.randrange(len(tokenizer.vocab)) if rng.random() < 0.5 else int(tokens[i, told[i]]) for i in rows]
        after = seats.after(ints(*rows), ints(*ahead))
        for i, token, row in zip(rows, ahead, after, strict=True):
            copy = trackers[i].copy()
            copy.push(token)
            assert np.array_equal(row, copy.features()), f"seed 3, sequence {i}, {token} after {told[i]} tokens"
        lengths = [rng.randint(0, min(9, ends[i] - told[i])) for i in rows]
        fed = [tokens[i, told[i] : told[i] + k] for i, k in zip(rows, lengths)]
        pushed = iter(seats.push(ints(*rows), np.concatenate(fed).astype(np.int32), ints(*lengths)))
        for i, k in zip(rows, lengths):
            for at in range(told[i], told[i] + k):
                trackers[i].push(int(tokens[i, at]))
                where = f"seed 3, sequence {i}, after {at + 1} tokens"
                assert np.array_equal(next(pushed), features[i, at]), where
                assert np.array_equal(trackers[i].features(), features[i, at]), where
                assert np.array_equal(trackers[i].possible(), possible[i, at]), where
            told[i] += k
        assert next(pushed, None) is None


@pytest.mark.parametrize("spec", SPECS)
def test_a_tracker_in_python_is_followed_alike(spec):
    game = games.load(spec)
    tokenizer, tokens = tokenizers.make(game), tokens_of(game, 10)
    for ask in (False, True):
        ours = tokenizers.follow(tokenizer, tokens, ask)
        theirs = tokenizers.follow(PythonTokenizer(tokenizer), tokens, ask)
        for a, b in zip(ours, theirs, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            assert np.array_equal(a, b)


@pytest.mark.parametrize("spec", SPECS)
def test_features_of_histories_that_no_deal_explains_are_numbers(spec):
    """A search samples such histories and feeds their features. The same tokens have the same features."""
    game = games.load(spec)
    tokenizer = tokenizers.make(game)
    tokens = tokens_of(game, 12).astype(np.int32)
    illegal = 0
    for seed, row in enumerate(tokens):
        rng = random.Random(seed)
        end = int((row != tokenizer.eos).sum())
        one, other = tokenizer.tracker([]), tokenizer.tracker([])
        for t in range(end):
            token = rng.randrange(len(tokenizer.vocab)) if t > 3 and rng.random() < 0.2 else int(row[t])
            for tracker in (one, other):
                if not tracker.terminal():
                    tracker.push(token)
            found = one.features()
            assert np.isfinite(found).all() and np.abs(found).max() <= 8, f"seed {seed}, after {t + 1} tokens"
            assert np.array_equal(found, other.features()), f"seed {seed}, after {t + 1} tokens"
        illegal += not one.is_legal()
    assert illegal > 8


@pytest.mark.parametrize("name", tokenizers.NAMES)
def test_bad_requests_change_nothing(name):
    game = games.load(name)
    tokenizer = tokenizers.make(game)
    row = tokens_of(game, 1)[0]
    start = tokenizer.tracker([])
    seats = _core.Seats(start, 2)
    first = ints(*row[:3].tolist())
    for rows, tokens, lengths, says in (
        ([2], [first[0]], [1], "sequence"),
        ([-1], [first[0]], [1], "sequence"),
        ([0, 2], first[:2], [1, 1], "sequence"),
        ([0], first[:1], [-1], "must not be negative"),
        ([0], first[:2], [1], "must add up"),
        ([0, 1], first[:2], [2], "one length per row"),
    ):
        with pytest.raises((ValueError, IndexError), match=says):
            seats.push(ints(*rows), ints(*tokens), ints(*lengths))
    for rows, tokens in (([2], first[:1]), ([-1], first[:1]), ([0], first[:2])):
        with pytest.raises((ValueError, IndexError)):
            seats.after(ints(*rows), ints(*tokens))
    for lengths in (ints(4), ints(-1), ints(1, 1)):
        with pytest.raises(ValueError, match="length"):
            _core.follow(start, row[None, :3].copy(), lengths, False)
    features = tokenizers.follow(tokenizer, row[None])[0][0]
    assert np.array_equal(seats.push(ints(0), first, ints(3)), features[:3])
    assert np.array_equal(seats.push(ints(1), first, ints(3)), features[:3])
