"""Tokens and the tracker of Hanabi, against OpenSpiel's states and against every hidden hand of small variants."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import numpy as np
import pytest
from support.hanabi_histories import SMALL, explaining, playout
from support.play import random_playout

from trickformer import _core, games, tokenizers
from trickformer.base import PUBLIC, TrickformerError
from trickformer.games.hanabi import VARIANTS

CORE = _core.hanabi
MORE = ("hanabi(players=3)", "hanabi(players=4)", "hanabi(players=5)", *SMALL)


@pytest.fixture(scope="module")
def hanabi():
    return games.load("hanabi")


@pytest.fixture(scope="module")
def tokenizer(hanabi):
    return tokenizers.make(hanabi)


@pytest.mark.parametrize(("spec", "tokens"), list(zip((*VARIANTS, *MORE), (99, 99, 203, 130, 131, 152))))
def test_sizes(spec, tokens):
    tokenizer = tokenizers.make(games.load(spec))
    assert len(tokenizer.vocab) == tokens
    assert len(np.unique(tokenizer.initial_embeddings()[0], axis=0)) == tokens


def test_rules_that_need_too_many_tokens_are_refused():
    with pytest.raises(TrickformerError, match="need 276 tokens"):
        tokenizers.make(games.load("hanabi(players=5,hand_size=7)"))


# ---------------------------------------------------------------------------------------------- encode, decode, follow


def test_between_a_play_and_its_draw_the_view_has_tokens_too(hanabi, tokenizer):
    """A tool may look at a state while chance is on turn."""
    for state in random_playout(hanabi.deal(1, 1), random.Random(1)):
        for seat in range(2):
            view = hanabi.view(state, seat)
            assert tokenizer.decode(tokenizer.encode(view)) == view.events


def test_tokens_that_no_view_encodes_to_are_refused(hanabi, tokenizer):
    *_, state = playout(hanabi, random.Random(1), 1)
    whole, dealt = (tokenizer.encode(hanabi.view(s, 0)) for s in (state, hanabi.deal(5, 1)))
    shown = next(i for i, t in enumerate(whole) if 5 <= t < 10)  # an own play, whose card is told next
    for bad in (whole[:-1], [*whole, whole[-1]], whole[: shown + 1], dealt[:3], dealt[1:], [*dealt, 0], [], [99], [-1]):
        with pytest.raises(ValueError):
            tokenizer.decode(np.array(bad, dtype=np.int32))
    with pytest.raises(ValueError, match="public"):
        tokenizer.encode(hanabi.view(state, PUBLIC))
    for token in (-1, 20, tokenizer.eos):
        with pytest.raises(ValueError, match="no action"):
            tokenizer.action(token)


# ------------------------------------------------------------------------------------------- bulk, and the longest


@pytest.mark.parametrize("spec", [*VARIANTS, *MORE])
def test_a_history_may_end_before_the_game_does(spec):
    game, n = games.load(spec), 12
    fast = tokenizers.fast(game)
    tables = fast.tables(9, 0, n)
    encoded = fast.encode(tables.history(), np.zeros(n, dtype=np.uint8))
    assert np.array_equal(encoded, tables.tokens[:, 0])


@pytest.mark.parametrize("spec", [*VARIANTS, *MORE])
def test_no_game_is_longer_than_the_longest(spec):
    game = games.load(spec)
    tokenizer, n = tokenizers.make(game), 5_000
    for careful in (False, True):
        decks, actions, _ = CORE.random_games(game.rules, 6, 0, n, careful)
        for seat in (0, game.players - 1):
            tokens = tokenizer.codec.encode(np.concatenate([decks, actions], 1), np.full(n, seat, dtype=np.uint8))
            assert (tokens[:, -1] == tokenizer.eos).all()


def longest_course(rules, seat):
    """The most tokens after the deal, and moves that have them: True for a hint, to `seat` from others; a discard
    otherwise. Dynamic programming over whose turn it is, the deck, the hints and the turns that are left at the end."""
    memo = {}

    def most(turn, deck, hints, last):
        if last == 0:
            return 0, None
        key = turn, deck, hints, last
        if key not in memo:
            then = (turn + 1) % rules.players, last - (deck == 0)
            options = []
            if hints < rules.hints:
                tokens = 2 if turn == seat or deck else 1
                options.append((tokens + most(then[0], max(deck - 1, 0), hints + 1, then[1])[0], False))
            if hints:
                options.append((1 + (turn != seat) + most(then[0], deck, hints - 1, then[1])[0], True))
            memo[key] = max(options)
        return memo[key]

    turn, deck, hints, last = 0, rules.deck - rules.players * rules.hand, rules.hints, rules.players
    moves = []
    while last:
        hint = most(turn, deck, hints, last)[1]
        moves.append(hint)
        turn, last = (turn + 1) % rules.players, last - (deck == 0)
        deck, hints = (deck, hints - 1) if hint else (max(deck - 1, 0), hints + 1)
    return most(0, rules.deck - rules.players * rules.hand, rules.hints, rules.players)[0], moves


@pytest.mark.parametrize("spec", [*VARIANTS, *MORE[:3]])
def test_the_longest_sequence_is_reached(spec):
    """By a game of hints and discards, played out in OpenSpiel."""
    game = games.load(spec)
    rules, tokenizer = game.rules, tokenizers.make(game)
    tokens, seat = max((longest_course(rules, seat)[0], seat) for seat in range(game.players))
    assert tokenizer.n_positions == 1 + (game.players - 1) * rules.hand + tokens + 1
    state = game.deal(1, 1)
    for hint in longest_course(rules, seat)[1]:
        while state.is_chance_node():
            state.apply_action(game.chance(state, 1, 1))
        legal = state.legal_actions()
        if hint:
            offset = (seat - state.current_player()) % game.players or 1
            first = 2 * rules.hand + (offset - 1) * rules.colors
            state.apply_action(next(a for a in legal if first <= a < first + rules.colors))
        else:
            state.apply_action(legal[0])
            assert legal[0] < rules.hand
    assert state.is_terminal()
    assert len(tokenizer.encode(game.view(state, seat))) == tokenizer.n_positions


# ------------------------------------------------------------------------------------------------- what is possible


@pytest.mark.parametrize("spec", SMALL)
def test_possible_is_exactly_what_some_deal_allows(spec):
    """Against every hidden hand and, in each, every move and card drawn: all tokens on the way."""
    game, rng, checked = games.load(spec), random.Random(8), Counter()
    tokenizer = tokenizers.make(game)
    for index in range(10):
        for state in playout(game, rng, index, careful=0.7):
            if state.is_terminal() or rng.random() > 0.3:
                continue
            viewer = rng.randrange(game.players)
            tokens = tuple(tokenizer.encode(game.view(state, viewer)).tolist())
            expected = defaultdict(set)
            for _, _, world in explaining(game, state, viewer):
                for after in moves_and_draws(world, viewer):
                    grown = tuple(tokenizer.encode(game.view(after, viewer)).tolist())
                    for at in range(len(tokens), len(grown)):
                        expected[grown[:at]].add(grown[at])
            for seen, following in expected.items():
                tracker = tokenizer.tracker(np.array(seen))
                where = f"{spec}, seat {viewer}, tokens {seen}, history {state.history()}"
                assert set(np.flatnonzero(tracker.possible()).tolist()) == following, where
                assert tracker.is_legal()
                checked[len(seen) - len(tokens), state.current_player() == viewer, len(following) == 1] += 1
    # After none or one of the new tokens, at the own turn or not; forced or not.
    assert all(sum(n for key, n in checked.items() if key[:2] == kind) > 10 for kind in ((0, True), (0, False)))
    assert all(checked[1, own, forced] > 3 for own in (True, False) for forced in (True, False)), checked


def moves_and_draws(world, viewer):
    """States one move on; where the viewer sees what is drawn, with every card that may be."""
    actor = world.current_player()
    for action in world.legal_actions():
        after = world.child(action)
        draws = after.legal_actions() if after.is_chance_node() else []
        yield from (after.child(card) for card in (draws if actor != viewer else draws[:1])) if draws else [after]


@pytest.mark.parametrize("spec", SMALL)
def test_the_deal_can_be_any(spec):
    """The prefix against counting: the own seat, then each card that is left."""
    game = games.load(spec)
    tokenizer, rules = tokenizers.make(game), game.rules
    tracker = tokenizer.tracker([])
    assert np.flatnonzero(tracker.possible()).tolist() == [tokenizer.codec.seat + p for p in range(game.players)]
    tracker.push(tokenizer.codec.seat)
    left = [rules.copies(kind) for kind in range(rules.kinds)]
    for _ in range((game.players - 1) * rules.hand):
        kinds = [kind for kind in range(rules.kinds) if left[kind]]
        assert np.flatnonzero(tracker.possible()).tolist() == [tokenizer.codec.card + kind for kind in kinds]
        tracker.push(tokenizer.codec.card + kinds[-1])
        left[kinds[-1]] -= 1
    assert tracker.my_turn()


# --------------------------------------------------------------------------------------- histories that cannot be


# ---------------------------------------------------------------------------------------------------- copies, search
