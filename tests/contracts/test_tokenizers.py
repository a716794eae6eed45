"""Every tokenizer of the package keeps the contract of base.Tokenizer and base.Tracker: found by discovery, on random
hands of its game and of variants of it. What is special to a game is tested in tests/tokenizers."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.gomcts_twin import Twin
from support.hanabi_histories import SMALL
from support.play import random_playout
from support.searches import FakeBackend, own_turns

from trickformer import games, tokenizers
from trickformer.base import PUBLIC
from trickformer.games.hanabi import VARIANTS
from trickformer.gomcts.options import SearchOptions
from trickformer.gomcts.search import search

# Beside a game as its name loads it. Discovery finds the games; these are only what else is looked at.
VARIED = {
    "hearts": ["hearts(pass_cards=False)", "hearts(jd_bonus=True,avoid_all_tricks_bonus=True)"],
    "skat": ["skat(scores=value)"],
    "crew": ["crew(distress=left)", "crew(distress=right)", "crew(mission=2)", "crew(mission=12)"],
    "hanabi": [*VARIANTS, "hanabi(players=3)", "hanabi(players=4)", "hanabi(players=5)", *SMALL],
}
SPECS = [spec for name in tokenizers.NAMES for spec in (name, *VARIED.get(name, []))]


@pytest.fixture(scope="module", params=SPECS)
def game(request):
    return games.load(request.param)


@pytest.fixture(scope="module")
def tokenizer(game):
    return tokenizers.make(game)


def test_tokens_have_one_name_each_and_features(tokenizer):
    assert len(tokenizer.vocab) == len(set(tokenizer.vocab)) == tokenizer.eos + 1
    words, positions = tokenizer.initial_embeddings()
    assert words.shape[0] == len(tokenizer.vocab) and positions.shape[0] == tokenizer.n_positions
    assert words.dtype == positions.dtype == np.float32


def test_seats_follow_hands(game, tokenizer):
    """At every decision and seat: tokens and their inverse, that what came was possible, whose turn it is, what is
    legal, the outcome at the end and none before."""
    for index in range(3):
        trackers, told = [tokenizer.tracker([]) for _ in range(game.players)], [0] * game.players
        for state in random_playout(game.deal(3, index), random.Random(index)):
            where = f"hand {index}, history {state.history()}"
            for seat, tracker in enumerate(trackers):
                view = game.view(state, seat)
                tokens = tokenizer.encode(view)
                assert tokens.dtype == np.int32 and len(tokens) <= tokenizer.n_positions
                assert tokenizer.decode(tokens) == view.events, where
                if state.is_chance_node():
                    continue
                for at in range(told[seat], len(tokens)):
                    assert tracker.possible()[tokens[at]], f"{where}, seat {seat}: {tokens[: at + 1].tolist()}"
                    tracker.push(int(tokens[at]))
                told[seat] = len(tokens)
                assert tracker.is_legal(), where
                # Where a seat acts unseen, as in Hearts' passes, another may be on turn as far as it knows.
                assert tracker.my_turn() or not view.legal, where
                legal = {tokenizer.action(int(t)) for t in np.flatnonzero(tracker.legal())}
                assert legal == set(view.legal) or not view.legal, where
                assert tracker.my_turn() == bool(legal) and (not legal or (tracker.legal() == tracker.possible()).all())
                for action in view.legal:
                    assert tokenizer.action(tokenizer.token(action)) == action
                assert tracker.features().shape == (tokenizer.n_features,) and tracker.features().dtype == np.float32
                assert tracker.terminal() == state.is_terminal(), where
                if state.is_terminal():
                    assert tracker.outcome() == game.outcomes.of(game.scores(state), seat), where
                    assert not tracker.possible().any()
                else:
                    with pytest.raises(ValueError, match="only at its end"):
                        tracker.outcome()


def test_bulk_hands_are_what_seats_see(game, tokenizer):
    """Hands in step are the deals of the game, played by its rules; `encode` and `tokens` are what the tokenizer makes
    of each view, and hands of the core end as the trackers say."""
    rng, n, fast = random.Random(11), 12, tokenizers.fast(game)
    seats = range(game.players)
    tables = fast.tables(7, 5, n)
    assert len(tables) == n and len(fast.tables(7, 5, 0)) == 0
    states = [game.deal(7, 5 + i) for i in range(n)]

    while (turn := tables.current()).max() >= 0:
        actions, legal = np.zeros(n, np.int32), tables.legal()
        for i, state in enumerate(states):
            assert turn[i] == (-1 if state.is_terminal() else state.current_player())
            allowed = [] if state.is_terminal() else state.legal_actions()
            assert np.flatnonzero(legal[i]).tolist() == sorted(map(tokenizer.token, allowed))
            if not state.is_terminal():
                for seat in seats:
                    seen, length = tokenizer.encode(game.view(state, seat)), tables.lengths[i, seat]
                    assert tables.tokens[i, seat, :length].tolist() == seen.tolist()
                    assert (tables.tokens[i, seat, length:] == tokenizer.eos).all()
                action = rng.choice(allowed)
                actions[i] = tokenizer.token(action)
                state.apply_action(action)
                while state.is_chance_node():
                    state.apply_action(game.chance(state, 7, 5 + i))
        live = np.flatnonzero(turn >= 0).astype(np.int32)
        tables.step(live, actions[live])
    scores = tables.scores()
    assert scores.tolist() == [list(game.scores(state)) for state in states]
    for seat in seats:
        whole = fast.encode(tables.history(), np.full(n, seat, np.uint8))
        assert np.array_equal(whole, tables.tokens[:, seat])
        for tokens, state, length in zip(whole, states, tables.lengths[:, seat].tolist()):
            seen = tokenizer.encode(game.view(state, seat))
            assert tokens[:length].tolist() == seen.tolist() and (tokens[length:] == tokenizer.eos).all()
        expected = [game.outcomes.of(game.scores(state), seat) for state in states]
        found = fast.outcomes(scores, np.full(n, seat, np.uint8))
        assert found.tolist() == tables.outcomes()[:, seat].tolist() == expected
    with pytest.raises(ValueError, match="not legal"):
        tables.step(np.array([0], np.int32), np.array([0], np.int32))
    hands = fast.core_hands(["random"], 3, 10, n)
    for row, outcome in zip(*hands.encode_hands(np.arange(n), np.arange(n) % game.players)):
        tracker = tokenizer.tracker(row[: np.flatnonzero(row == tokenizer.eos)[0] + 1])
        assert tracker.is_legal() and tracker.outcome() == outcome
    assert fast.core_hands(["random", "nobody"], 3, 10, n) is None


def test_the_core_refuses_deals_that_are_none():
    for name in ("hearts", "skat", "crew", "hanabi"):
        game = games.load(name)
        tokenizer = tokenizers.make(game)
        tables = type(tokenizers.fast(game).tables(1, 0, 1))
        row = np.array([game.chance_actions(1, 0)], np.uint8)
        more = [np.full((1, 4), 0.5)] if name == "crew" else []
        assert len(tables(tokenizer.codec, row, *more)) == 1
        twice = row.copy()
        twice[0, -1] = twice[0, -2] if name != "hanabi" else 200
        for bad in (row[:, :-1], twice, np.full_like(row, 255)):
            with pytest.raises((ValueError, IndexError)):
                tables(tokenizer.codec, bad, *more)
        for draws in (np.full((1, 4), 1.0), np.full((1, 4), np.nan), np.zeros((2, 4)), np.zeros((1, 3))):
            if more:
                with pytest.raises(ValueError, match="draws"):
                    tables(tokenizer.codec, row, draws)


def test_tokens_that_no_view_encodes_to_are_refused(game, tokenizer):
    *_, state = random_playout(game.deal(1, 1), random.Random(1))
    whole = tokenizer.encode(game.view(state, 0))
    assert whole[-1] == tokenizer.eos
    for bad in (whole[:-1], [*whole, tokenizer.eos], whole[1:], [], [tokenizer.eos], [len(tokenizer.vocab)], [-1]):
        with pytest.raises(ValueError):
            tokenizer.decode(np.array(bad, dtype=np.int32))
    with pytest.raises(ValueError, match="public"):
        tokenizer.encode(game.view(state, PUBLIC))


def test_an_impossible_token_is_marked_and_the_history_goes_on_to_an_end(game, tokenizer):
    """By tokens of any kind, and by those that the tracker then takes for possible."""
    size = len(tokenizer.vocab)
    for trial in range(12):
        rng, tokens = random.Random(trial), np.empty(0, np.int32)
        if trial % 3:
            *_, state = random_playout(game.deal(2, trial), rng)
            whole = tokenizer.encode(game.view(state, trial % game.players))
            tokens = whole[: rng.randrange(len(whole))]
        tracker = tokenizer.tracker(tokens)
        impossible = np.flatnonzero(~tracker.possible())
        tracker.push(int(rng.choice(impossible.tolist())))
        assert not tracker.is_legal()
        length = len(tokens) + 1
        while not tracker.terminal():
            possible = np.flatnonzero(tracker.possible()).tolist()
            tracker.push(rng.choice(possible) if possible and trial % 2 else rng.randrange(size))
            length += 1
            assert length <= tokenizer.n_positions, f"trial {trial}"
        assert not tracker.is_legal() and tracker.outcome() is None


def test_copies_are_independent(game, tokenizer):
    """What is pushed to a copy changes nothing of the tracker that it was made of."""
    for view in own_turns(game, 3, 4):
        tokens = tokenizer.encode(view)
        tracker = tokenizer.tracker(tokens)
        before, copy = (tracker.possible(), tracker.features()), tracker.copy()
        copy.push(tokenizer.token(view.legal[0]))
        assert tracker.my_turn() and np.array_equal(tracker.possible(), before[0])
        assert np.array_equal(tracker.features(), before[1])
        tracker.push(tokenizer.token(view.legal[0]))
        assert np.array_equal(tracker.possible(), copy.possible())


@pytest.mark.parametrize("name", tokenizers.NAMES)
@pytest.mark.parametrize("bias", [0.0, 9.0])
def test_a_search_equals_its_twin(name, bias):
    game = games.load(name)
    tokenizer, options = tokenizers.make(game), SearchOptions(runs=20, steps=3)
    for number, view in enumerate(own_turns(game, 3, 7)):
        tokens = tokenizer.encode(view)
        backend = FakeBackend(tokenizer, bias, seats=game.players)
        root = backend.root(tokens)
        (result,) = search(
            backend, game.outcomes.values, [tokenizer.tracker(tokens)], np.array([root]), [number], options
        )
        assert list(backend.sequences) == [root], "nodes were not given back"
        twin = Twin(tokenizer, backend.model, game.outcomes.values, options, number)
        children = twin.run(tuple(tokens.tolist()))
        assert result.tokens.tolist() == list(children), tokens
        assert result.visits.tolist() == [visits for _, visits in children.values()], tokens
        np.testing.assert_allclose(result.values, [v for v, _ in children.values()], rtol=1e-9, atol=1e-9)
        assert result.illegal == twin.illegal
