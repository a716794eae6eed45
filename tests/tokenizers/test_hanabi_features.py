"""What the tracker of Hanabi tells a model, against a count by hand; what an action would have come to; stray moves."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support import hanabi_features
from support.hanabi_oracle import playable, said

from trickformer import _core, belief, games, players, tokenizers
from trickformer.audit import views as audit
from trickformer.selfplay import generate

CORE = _core.hanabi
ODD = "hanabi(colors=3,ranks=4,hand_size=3,max_information_tokens=5,max_life_tokens=2)"
SPECS = ("hanabi", "hanabi(players=3)", "hanabi(players=5)", ODD, "hanabi(colors=2,ranks=1,hand_size=2)")
SMART = CORE.BOTS.index("smart")


def sample(game, n=3, seed=4):
    """(deck, actions) of games of random players, of careful ones and of scripted ones."""
    smart = np.full(game.players, SMART, np.int8)
    for decks, actions, _ in (
        CORE.random_games(game.rules, seed, 0, n),
        CORE.random_games(game.rules, seed, 0, n, careful=True),
        CORE.scripted_games(game.rules, smart, seed, 0, n),
        CORE.scripted_games(game.rules, smart, seed, 0, n, 0.3, 0.1),
    ):
        for deck, moves in zip(decks, actions):
            yield deck, moves[moves != 255].tolist()


def states(game, deck, actions):
    """OpenSpiel's states after each move, the first before any."""
    state, cards = game.spiel.new_initial_state(), iter(deck.tolist())
    for action in (None, *actions):
        if action is not None:
            state.apply_action(action)
        while state.is_chance_node():
            state.apply_action(next(cards))
        yield state


def rows_of(game, deck, actions, seat):
    """Tokens of a game int16 [1, T] as `seat` saw it."""
    history = np.full((1, game.rules.deck + game.rules.longest), 255, np.uint8)
    history[0, : len(deck)] = deck
    history[0, len(deck) : len(deck) + len(actions)] = actions
    return tokenizers.make(game).codec.encode(history, np.array([seat], np.uint8))


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_features_are_those_counted_by_hand(spec):
    game = games.load(spec)
    tokenizer, checked = tokenizers.make(game), 0
    smart = players.make("partner:style=smart", game)
    for deck, actions in sample(game, 2):
        seen = [tokenizers.follow(tokenizer, rows_of(game, deck, actions, p))[0][0] for p in range(game.players)]
        course = hanabi_features.Course.of(game.rules, deck)
        for number, state in enumerate(states(game, deck, actions)):
            if number:
                course.step(actions[number - 1])
            for seat in range(game.players):
                view, script = game.view(state, seat), None
                at = len(tokenizer.encode(view)) - 1 - state.is_terminal()
                if state.current_player() == seat:
                    script = smart.act([view], [np.random.default_rng(0)], [{}])[0].action
                expected = np.array(hanabi_features.expected(course, seat, script))
                assert expected.shape == (tokenizer.n_features,)
                wrong = np.flatnonzero(~np.isclose(seen[seat][at], expected, atol=1e-6))
                assert not len(wrong), f"features {wrong.tolist()}, seat {seat} of {state.history()}"
                checked += 1
    assert checked > 60


@pytest.mark.parametrize("spec", SPECS[:4])
def test_features_amid_what_is_seen_at_once(spec):
    """A move that waits for what it brings changes but the newest move, what comes next and what the script says."""
    game = games.load(spec)
    tokenizer, r = tokenizers.make(game), game.rules
    stage = r.colors * (r.ranks + 1) + 2 * r.deck + 3 * r.kinds + r.hints + r.lives + 2 + r.players + 1 + 4
    moved = stage + 6 + r.players + hanabi_features.newest_size(r)
    met = set()
    for deck, actions in sample(game, 1):
        for seat in range(game.players):
            row = rows_of(game, deck, actions, seat)
            features, length = tokenizers.follow(tokenizer, row)[0][0], int((row != tokenizer.eos).sum())
            dealt = (game.players - 1) * r.hand
            for at in range(1, length):
                name = hanabi_features.STAGES[int(np.argmax(features[at, stage : stage + 6]))]
                assert features[at, stage : stage + 6].sum() == 1 and (name == "deal") == (at < dealt)
                met.add(name)
                before, same = features[at - 1], np.r_[0:stage, moved + r.actions : tokenizer.n_features]
                if name in ("card", "slots"):
                    fresh = (before != features[at])[same].sum()
                    assert fresh == 0, f"{name}: {np.flatnonzero(before != features[at])}"
                    action = int(row[0, at]) if name == "card" else None
                    mover = 0 if name == "card" else int(np.argmax(before[stage + 6 : stage + 6 + r.players]))
                    newest = features[at, stage + 6 + r.players : moved]
                    assert newest[mover] == 1 and newest[: r.players].sum() == 1
                    if action is not None:
                        waits = hanabi_features.newest_move(r, 0, 0, action, [], None, False, False, False)
                        assert newest.tolist() == waits
                assert not (name in ("card", "draw", "slots") and features[at, stage + 6 : stage + 6 + r.players].any())
    assert met == set(hanabi_features.STAGES)


@pytest.mark.parametrize("spec", SPECS)
def test_features_are_the_same_however_they_are_asked_for(spec):
    """And what may come next is what would be taken for possible."""
    game = games.load(spec)
    tokenizer, rng = tokenizers.make(game), random.Random(1)
    for deck, actions in sample(game, 1):
        row = rows_of(game, deck, actions, rng.randrange(game.players))
        length = int((row != tokenizer.eos).sum())
        features, possible = tokenizers.follow(tokenizer, row, True)
        assert np.isfinite(features).all() and features.min() >= -1 and features.max() <= 1
        assert not features[0, length:].any() and not possible[0, length:].any()
        tracker, seats = tokenizer.tracker([]), _core.Seats(tokenizer.tracker([]), 2)
        half = length // 2
        parts = [
            seats.push(np.array([1], np.int32), part.astype(np.int32), np.array([len(part)], np.int32))
            for part in (row[0, :half], row[0, half:length])
        ]
        assert np.array_equal(np.concatenate(parts), features[0, :length])
        for at in range(length):
            tracker.push(int(row[0, at]))
            assert np.array_equal(tracker.features(), features[0, at])
            assert np.array_equal(tracker.possible(), possible[0, at])
            if rng.random() < 0.2:
                for token in range(len(tokenizer.vocab)):
                    other = tracker.copy()
                    other.push(token)
                    assert other.is_legal() == possible[0, at, token], f"token {token} after {row[0, : at + 1]}"


@pytest.mark.parametrize("spec", SPECS)
def test_features_of_a_history_that_cannot_be_are_numbers_too(spec):
    tokenizer, rng = tokenizers.make(games.load(spec)), random.Random(2)
    for _ in range(20):
        tracker = tokenizer.tracker([])
        while not tracker.terminal():
            tracker.push(rng.randrange(-1, len(tokenizer.vocab) + 1))
            features = tracker.features()
            assert np.isfinite(features).all() and np.abs(features).max() <= 1
        assert not tracker.is_legal()


def test_before_any_token_no_stage_is_told():
    features = tokenizers.make(games.load("hanabi")).tracker([]).features()
    stage = 5 * 6 + 50 + 50 + 3 * 25 + 9 + 4 + 3 + 4
    assert not features[stage : stage + 6].any()
    assert features[stage - 1] == np.float32(27 / 50), "cards that may be drawn in vain"


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["hanabi", "hanabi(players=4,max_life_tokens=9)"])
def test_features_do_not_depend_on_hidden_cards(spec):
    game = games.load(spec)
    tokenizer = tokenizers.make(game)

    def features(state, viewer):
        return tokenizer.tracker(tokenizer.encode(game.view(state, viewer))).features().tolist()

    sampler = belief.sampler(game)
    report = audit.audit(game, sampler, 4, 1, observers={"features": features}, worlds=1, stops=40)
    check = report.checks["features: blind to exchanged cards"]
    assert check.cases > 8 and not check.faults, str(report)


# ------------------------------------------------------------------------------------------------------------ labels


def labels(game, histories, seats, playouts=4, share=1.0, seed=3):
    """(hand, position, token, value) of each label, arrays."""
    streams = np.arange(len(histories), dtype=np.uint64)
    count, *rest = tokenizers.make(game).codec.labels(histories, seats, seed, streams, playouts, share)
    return np.repeat(np.arange(len(histories)), count), *rest


def replay(game, seed, index, moves):
    table = CORE.Tables(game.rules, seed, index, 1)
    for action in moves:
        table.step(np.array([action], np.int64))
    return table


@pytest.mark.parametrize("spec", ["hanabi", "hanabi(players=3)", ODD])
def test_a_label_is_what_smart_players_make_of_an_action(spec):
    game, n, worth = games.load(spec), 4, {}
    table = tokenizers.make(game).codec
    hands = tokenizers.fast(game).core_hands(["partner", "random"], 6, 0, n)
    rng, seats = np.random.default_rng(1), np.arange(n, dtype=np.uint8) % game.players
    for hand, position, token, value in zip(*labels(game, hands.history, seats, playouts=1)):
        worth.setdefault((hand, position), {})[token] = value
    decisions = 0
    for index, seat in enumerate(seats):
        actions = hands.history[index, game.rules.deck :]
        tables = CORE.TokenTables(table, hands.history[index : index + 1, : game.rules.deck].copy())
        for number, action in enumerate(actions[actions != 255].tolist()):
            legal = np.flatnonzero(tables.legal()[0])
            if tables.current()[0] == seat:
                found = worth.pop((index, int(tables.lengths[0, seat]) - 1))
                assert sorted(found) == legal.tolist()
                assert np.isin(np.float32(list(found.values())), game.outcomes.values[:, 0]).all()
                decisions += 1
                for first in rng.permutation(legal)[:3].tolist():
                    other = replay(game, 6, index, [*actions[:number].tolist(), first])
                    while not other.over()[0]:
                        other.step(other.choose(np.array([SMART], np.int8), 0))
                    assert found[first] == game.outcomes.values[other.scores()[0], 0]
            tables.step(np.array([0], np.int32), np.array([action], np.int32))
        whole = tables.history()
        assert np.array_equal(whole[0], hands.history[index])
    assert not worth and decisions > 10


def test_labels_follow_from_seed_and_stream():
    game = games.load("hanabi")
    hands = tokenizers.fast(game).core_hands(["partner"], 6, 0, 6)
    seats = np.array([0, 1] * 3, np.uint8)
    every, again = (labels(game, hands.history, seats, playouts=3) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(every, again))
    other = labels(game, hands.history, seats, playouts=3, seed=4)
    assert np.array_equal(other[2], every[2]) and not np.array_equal(other[3], every[3])
    alone = tokenizers.make(game).codec.labels(hands.history[4:5], seats[4:5], 3, np.array([4], np.uint64), 3, 1.0)
    assert np.array_equal(alone[3], every[3][every[0] == 4])
    assert np.allclose(every[3] * 75, np.round(every[3] * 75), atol=1e-4), "means of three scores"
    half = labels(game, np.repeat(hands.history, 8, axis=0), np.repeat(seats, 8), playouts=1, share=0.5)
    share = len(set(zip(half[0], half[1]))) / (8 * len(set(zip(every[0], every[1]))))
    assert 0.45 < share < 0.55
    assert len(labels(game, hands.history, seats, share=0.0)[0]) == 0
    bad = hands.history.copy()
    bad[0, game.rules.deck] = 0  # no hint has been given, so that nothing may be discarded
    with pytest.raises(ValueError, match="action 0 is not legal in its position"):
        labels(game, bad, seats)
    bad[0, 0] += 1
    with pytest.raises(ValueError, match="every card"):
        labels(game, bad, seats)


def test_what_training_asks_for():
    game = games.load("hanabi")
    found = generate.cast_hands(
        game, ["partner"], 1, 0, 6, seats=2, noise=0.1, labels=generate.Labels(share=0.3, playouts=2)
    )
    assert len(found.labels) > 50
    assert found.labels["value"].min() >= 0 and found.labels["value"].max() <= 1


# -------------------------------------------------------------------------------------------------------- stray moves


def test_stray_moves():
    game, n = games.load("hanabi"), 60
    smart = np.full(2, SMART, np.int8)
    plain, none = CORE.scripted_games(game.rules, smart, 9, 0, n), CORE.scripted_games(game.rules, smart, 9, 0, n, 0, 0)
    assert all(np.array_equal(a, b) for a, b in zip(plain, none))
    decks, actions, _ = CORE.scripted_games(game.rules, smart, 9, 0, n, 0.0, 0.2)
    assert np.array_equal(decks, plain[0]) and not np.array_equal(actions, plain[1])
    strayed = moves = last_lives = 0
    for index in range(n):
        table, state = CORE.Tables(game.rules, 9, index, 1), CORE.State(game.rules, decks[index])
        for action in actions[index][actions[index] != 255].tolist():
            moves += 1
            strayed += action != table.choose(smart[:1], 0)[0]
            if state.lives == 1 and 5 <= action < 10:
                last_lives += 1
                assert said(state, state.current_player(), action - 5) & playable(state), "a play that surely loses"
            state.apply_action(action)
            table.step(np.array([action], np.int64))
    assert 0.16 < strayed / moves < 0.22, "one in five, some of them what smart would do as well"
    assert last_lives > 20
