"""Tokens and the tracker of Hearts, against OpenSpiel's states."""

from __future__ import annotations

import json
import random
from itertools import combinations

import numpy as np
import pytest
from support.play import hearts_with, random_playout

from trickformer import _core, tokenizers
from trickformer.audit.differential import all_options
from trickformer.base import PUBLIC
from trickformer.games.hearts import NUM_CARDS


@pytest.fixture(scope="module")
def tokenizer(hearts):
    return tokenizers.make(hearts)


def test_sizes_are_those_of_the_paper(tokenizer):
    assert (len(tokenizer.vocab), tokenizer.eos, tokenizer.n_positions) == (61, 60, 75)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"pass_cards": False}])
def test_the_longest_sequence_has_all_positions(options):
    game = hearts_with(**options)
    tokenizer = tokenizers.make(game)
    longest = 0
    for index in range(60):
        for state in random_playout(game.deal(1, index), random.Random(index)):
            for seat in range(4):
                longest = max(longest, len(tokenizer.encode(game.view(state, seat))))
    assert longest == (75 if game.rules["pass_cards"] else 69)


def test_tokens_that_no_view_encodes_to_are_refused(hearts, tokenizer):
    tokens = tokenizer.encode(hearts.view(hearts.deal(1, 1), 0))
    for bad in (tokens[:7], [*tokens, tokens[1], tokens[1]], [*tokens, *tokens[1:4], 3], [60], []):
        with pytest.raises(ValueError):
            tokenizer.decode(np.array(bad, dtype=np.int32))
    with pytest.raises(ValueError, match="public"):
        tokenizer.encode(hearts.view(hearts.deal(1, 1), PUBLIC))


def test_bulk_encoding_equals_the_tokenizer(hearts, tokenizer):
    history, _ = _core.hearts.random_hands(_core.hearts.Rules(), 9, 0, 60)
    for seat in range(4):
        bulk = tokenizer.codec.encode(history, np.full(60, seat, dtype=np.uint8))
        for i in range(60):
            state = hearts.spiel.new_initial_state()
            for action in history[i][history[i] != 255]:
                state.apply_action(int(action))
            tokens = tokenizer.encode(hearts.view(state, seat))
            assert np.array_equal(bulk[i][: len(tokens)], tokens)
            assert (bulk[i][len(tokens) :] == tokenizer.eos).all()


@pytest.mark.slow
def test_tracker_follows_openspiel_under_every_option():
    """Whose turn it is, what is legal, that what happens was possible, and the outcome. Every third of the settings,
    so that each pair of options has all its values."""
    for number, game in list(enumerate(all_options()))[::3]:
        tokenizer = tokenizers.make(game)
        trackers, pushed = [tokenizer.tracker([]) for _ in range(4)], [0] * 4
        for state in random_playout(game.deal(number, number % 4), random.Random(number)):
            for seat, tracker in enumerate(trackers):
                view = game.view(state, seat)
                tokens = tokenizer.encode(view)
                for token in tokens[pushed[seat] :]:
                    assert tracker.possible()[token], f"option set {number}, seat {seat}: {tokens} {token}"
                    tracker.push(int(token))
                pushed[seat] = len(tokens)
                assert tracker.is_legal()
                assert tracker.terminal() == state.is_terminal()
                if view.legal:
                    assert tracker.my_turn()
                    assert tuple(np.flatnonzero(tracker.legal())) == view.legal
                if state.is_terminal():
                    scores = game.scores(state)
                    assert game.outcomes.labels[tracker.outcome()] == scores[seat:] + scores[:seat]
                else:
                    with pytest.raises(ValueError, match="only at its end"):
                        tracker.outcome()


def assignments(view, state):
    """Every way to give the cards that the viewer does not see to the other seats, rules aside."""
    holder = {card: seat for seat in range(4) for card in cards_held(state, seat)}
    hidden = sorted(c for c, s in holder.items() if s != view.viewer)
    sizes = {s: sum(1 for c in hidden if holder[c] == s) for s in range(4) if s != view.viewer}
    a, b, c = sizes
    for first in combinations(hidden, sizes[a]):
        rest = [x for x in hidden if x not in first]
        for second in combinations(rest, sizes[b]):
            third = tuple(x for x in rest if x not in second)
            yield {a: first, b: second, c: third}


def cards_held(state, seat):
    ranks, suits = "23456789TJQKA", "CDHS"
    return {ranks.index(c[0]) * 4 + suits.index(c[1]) for c in json.loads(state.to_struct().to_json())["hands"][seat]}


def replays(game, view, held_now):
    """The state after a deal without passes in which the other seats hold `held_now` besides what they have
    played; None where OpenSpiel refuses a play or the view differs."""
    hands = {s: list(cards) for s, cards in held_now.items()}
    turn_events = [e for e in view.events[2:] if e.action is not None]
    for event in turn_events:
        if event.actor != view.viewer:
            hands[event.actor].append(event.action)
    hands[view.viewer] = list(view.events[1].seen)
    state = game.spiel.new_initial_state()
    state.apply_action(0)
    for i in range(NUM_CARDS):
        state.apply_action(hands[i % 4][i // 4])
    for event in turn_events:
        if state.current_player() != event.actor or event.action not in state.legal_actions():
            return None
        state.apply_action(event.action)
    return state if game.view(state, view.viewer) == view else None


@pytest.mark.slow
@pytest.mark.parametrize("option", [{}, {"can_lead_hearts_instead_of_qs": True, "qs_breaks_hearts": False}])
def test_possible_is_exactly_what_some_deal_allows(option):
    """On endings with at most seven hidden cards, against every deal there is, replayed through OpenSpiel."""
    game = hearts_with(pass_cards=False, **option)
    tokenizer = tokenizers.make(game)
    checked = forced = 0
    for index in range(40):
        rng = random.Random(index)
        for state in random_playout(game.deal(5, index), rng):
            played = len(state.history()) - 53
            if played < 41 or state.is_terminal() or rng.random() < 0.6:
                continue
            turn = state.current_player()
            viewer = rng.choice([s for s in range(4) if s != turn])
            view = game.view(state, viewer)
            expected, deals = set(), 0
            for held in assignments(view, state):
                world = replays(game, view, held)
                if world is not None:
                    deals += 1
                    expected |= set(world.legal_actions())
            tracker = tokenizer.tracker(tokenizer.encode(view))
            assert set(np.flatnonzero(tracker.possible())) == expected, f"hand {index} after {played} plays"
            assert deals >= 1
            checked += 1
            forced += len(expected) == 1
    assert checked > 100
    assert forced > 5


def test_histories_that_no_deal_explains_are_refused(hearts, tokenizer):
    """Every single play of a legal history is replaced by every other card: the tracker refuses at the end
    exactly those that OpenSpiel, given all four hands that the history shows, refuses too."""
    rng = random.Random(4)
    refused = accepted = 0
    for index in (0, 1, 2, 3):
        *_, final = random_playout(hearts.deal(8, index), rng)
        seat = index
        tokens = tokenizer.encode(hearts.view(final, seat))
        start = len(tokens) - 53
        for _ in range(60):
            i, j = rng.sample(range(start, start + 52), 2)
            changed = tokens.copy()
            changed[i], changed[j] = changed[j], changed[i]
            tracker = tokenizer.tracker(changed)
            assert tracker.terminal()
            explained = explain(hearts, tokenizer, changed, seat)
            assert (tracker.outcome() is not None) == explained, f"hand {index}: {list(changed)}"
            refused += not explained
            accepted += explained
    assert refused > 50
    assert accepted > 5


def explain(game, tokenizer, tokens, seat):
    """Whether the hands shown by a complete history, dealt in OpenSpiel, replay to it."""
    direction = int(tokens[14]) - 56
    rest = [int(t) for t in tokens[15:]]
    passed, received = (rest[:3], rest[3:6]) if direction else ([], [])
    leader, plays = rest[6 if direction else 0] - 52, rest[7 if direction else 1 : -1]
    turn, hands = leader, {s: [] for s in range(4)}
    for n in range(0, NUM_CARDS, 4):
        trick = plays[n : n + 4]
        for k, card in enumerate(trick):
            hands[(turn + k) % 4].append(card)
        turn = (turn + max(range(4), key=lambda k: (trick[k] % 4 == trick[0] % 4, trick[k]))) % 4
    if any(len(set(h)) != 13 for h in hands.values()) or len(set(plays)) != NUM_CARDS:
        return False
    own = {int(t) for t in tokens[1:14]}
    if set(hands[seat]) != (own - set(passed)) | set(received):
        return False
    if direction and not set(passed) <= set(hands[(seat + direction) % 4]):
        return False
    # Without loss of generality the hands after the pass were dealt: only the play can still be illegal.
    state = game.spiel.new_initial_state()
    state.apply_action(0)
    for i in range(NUM_CARDS):
        state.apply_action(hands[i % 4][i // 4])
    if state.current_player() != leader:
        return False
    for card in plays:
        if card not in state.legal_actions():
            return False
        state.apply_action(card)
    return True


def test_the_leader_is_known_from_own_cards(hearts, tokenizer):
    for index in range(40):
        state = hearts.deal(6, 4 * index)  # no passes
        for seat in range(4):
            view = hearts.view(state, seat)
            tracker = tokenizer.tracker(tokenizer.encode(view)[:15])
            leads = set(np.flatnonzero(tracker.possible()) - 52)
            assert leads == ({seat} if 0 in view.events[1].seen else {0, 1, 2, 3} - {seat})
