"""Search on beliefs in Hanabi: held to enumeration, to games played on OpenSpiel, and to the blueprint."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from support.hanabi_turns import decision_of, listed, slow_chance, slow_score, turns, worlds_of
from support.play import decisions

from trickformer import _core, games, players, tokenizers
from trickformer.base import TrickformerError
from trickformer.belief import sampler
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

CORE = _core.hanabi
BOTS = CORE.BOTS
TINY = "hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)"
VARIANTS = [TINY, "hanabi", "hanabi(players=3,colors=3,ranks=3,hand_size=3,max_information_tokens=3)"]


@pytest.mark.slow
@pytest.mark.parametrize("style", BOTS)
@pytest.mark.parametrize("spec", VARIANTS)
def test_chances_are_those_of_what_the_others_saw(spec, style):
    game, seed, possible = games.load(spec), 11, 0
    belief = sampler(game)
    for number, (_, view) in enumerate(turns(game, style, seed)):
        if spec == "hanabi" and number % 4:
            continue
        belief.reset(view)
        worlds = belief.sample(3, np.random.default_rng([seed, number]))
        expected = [slow_chance(game, style, worlds.state(i), view.viewer) for i in range(3)]
        found = decision_of(game, view, style).chances(worlds.hidden)
        np.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=f"seed {seed}, position {number}")
        possible += sum(x > 0 for x in expected)
    assert possible > 3


@pytest.mark.parametrize("style", ["smart", "piers"])
def test_all_hands_are_those_of_enumeration(style):
    game = games.load(TINY)
    for number, (_, view) in enumerate(turns(game, style, 5, deals=8)):
        decision, every = decision_of(game, view, style), listed(game, view)
        chances = decision.chances(np.array(list(every), dtype=np.int16))
        expected = {hand: w * c for (hand, w), c in zip(every.items(), chances) if c > 0}
        hands, weights, all_ = decision.consistent_hands(10_000, 1, 1, 0)
        assert all_, number
        found = dict(zip(map(tuple, hands.tolist()), weights))
        assert found.keys() == expected.keys(), number
        scale = sum(expected.values()) / sum(found.values())
        assert all(found[hand] * scale == pytest.approx(expected[hand]) for hand in found), number


def test_drawn_hands_have_the_weights_of_listed_ones():
    game, tried = games.load("hanabi(colors=3,ranks=3,hand_size=3,max_information_tokens=4)"), 0
    for number, (_, view) in enumerate(turns(game, "smart", 6, deals=4)):
        decision = decision_of(game, view, "smart")
        hands, weights, _ = decision.consistent_hands(100_000, 1, 1, 0)
        if not 2 <= len(weights) <= 12:
            continue
        drawn, equal, all_ = decision.consistent_hands(0, 3_000, 10_000_000, number)
        assert not all_ and len(drawn) == 3_000 and (equal == 1).all()
        counts, share = Counter(map(tuple, drawn.tolist())), weights / weights.sum()
        for hand, p in zip(map(tuple, hands.tolist()), share):
            assert abs(counts[hand] / 3_000 - p) < 5 * (p * (1 - p) / 3_000) ** 0.5 + 1e-9, (number, hand)
        tried += 1
    assert tried > 5


@pytest.mark.parametrize("style", ["smart", "simple"])  # who draw nothing
@pytest.mark.parametrize("spec", VARIANTS)
def test_games_played_on_are_those_of_openspiel(spec, style):
    game, belief, rng = games.load(spec), None, np.random.default_rng(3)
    for number, (_, view) in enumerate(turns(game, style, 9, deals=1 if spec == "hanabi" else 2)):
        if number % (12 if spec == "hanabi" else 4):
            continue
        belief = sampler(game)
        belief.reset(view)
        worlds = belief.sample(2, rng)
        decision = decision_of(game, view, style)
        decks, actions = decision.decks(worlds.hidden, number), rng.permutation(view.legal)[:4]
        found = decision.play(worlds.hidden, decks, actions, 0)
        for i in range(2):
            slow = [slow_score(game, worlds.state(i), decks[i], int(a), style) for a in actions]
            assert found[i].tolist() == slow, (spec, style, number, i)
    assert belief is not None


@pytest.mark.parametrize("style", BOTS)
def test_tables_play_out_as_step_by_step(style):
    """Those of bots that draw nothing; and of the others scores that follow from the seed. What is over stays."""
    game, bot = games.load(VARIANTS[2]), BOTS.index(style)
    table = CORE.Tables(game.rules, 7, 0, 40)
    bots = np.full(40, bot, dtype=np.int8)
    for step in range(30):
        first = np.array([int(np.flatnonzero(row)[-1]) if row.any() else 0 for row in table.legal()])
        found = table.play_out(first, bot, 3)
        np.testing.assert_array_equal(found, table.play_out(first, bot, 3))
        over = table.over()
        np.testing.assert_array_equal(found[over], table.scores()[over])
        slow = table.take(np.arange(40))
        slow.step(first)
        while not slow.over().all():
            slow.step(slow.choose(bots, 3))
        if style in ("simple", "holmes", "smart"):
            np.testing.assert_array_equal(found, slow.scores(), err_msg=f"step {step}")
        table.step(table.choose(bots, 11))
    assert table.over().any()
    illegal = np.full(40, game.rules.actions)
    with pytest.raises(ValueError, match="is not legal"):
        CORE.Tables(game.rules, 7, 0, 40).play_out(illegal, bot, 3)


def test_values_over_all_worlds_are_those_of_brute_force():
    """The searched seat's values, over every hand and every order of the deck, against OpenSpiel."""
    game = games.load(TINY)
    sparta = players.make("sparta:worlds=4000,threshold=0,ucb=false", game)
    looked = 0
    for number, (_, view) in enumerate(turns(game, "smart", 21, deals=12)):
        decision = decision_of(game, view, "smart")
        if view.viewer or not 1 <= decision.deck_size <= 3 or len(view.legal) < 2:
            continue
        total, weight = np.zeros(len(view.legal)), 0.0
        for hand, prior in listed(game, view).items():
            own = np.array([hand], dtype=np.int16)
            world = worlds_of(game, view, own).state(0)
            likely = prior * slow_chance(game, "smart", world, view.viewer)
            if likely == 0:
                continue
            orders = np.array(sorted(set(itertools.permutations(decision.decks(own, 0)[0].tolist()))), dtype=np.uint8)
            slow = np.array([[slow_score(game, world, deck, a, "smart") for a in view.legal] for deck in orders])
            fast = decision.play(own.repeat(len(orders), 0), orders, np.array(view.legal), 0)
            assert (fast == slow).all(), number
            total += likely * slow.mean(axis=0)
            weight += likely
        exact = total / weight
        chosen = sparta.act([view], [np.random.default_rng(number)], [{}])[0]
        found = exact[view.legal.index(chosen.action)]
        assert found >= exact.max() - 0.1, (number, exact, chosen)
        assert chosen.value * game.rules.kinds == pytest.approx(found, abs=0.1), number
        looked += 1
    assert looked > 8


def scores(spec, game, deals, seed=4):
    records = play(game, [players.make(spec, game)], [Hand(d, (0,) * game.players) for d in range(deals)], seed, 8)
    return np.array([r.scores[0] for r in sorted(records, key=lambda r: r.deal)])


@pytest.mark.slow
def test_search_is_not_below_the_blueprint():
    game = games.load("hanabi(colors=3,ranks=3,hand_size=3,max_information_tokens=3,max_life_tokens=2)")
    searched = scores("sparta:worlds=300", game, 150)
    gain = searched - scores("partner:style=smart", game, 150)
    assert gain.mean() > 2 * gain.std() / 150**0.5, gain.mean()


def test_threads_and_a_second_look_at_gains_change_no_decision():
    """Exact samples that a decision was not chosen by agree with brute force over all hands; decks are drawn."""
    game, deviated = games.load(TINY), 0
    plain, looking = (
        players.make(f"sparta:worlds=300,threshold=0{more}", game) for more in ("", ",assess=2000,threads=3")
    )
    for number, (_, view) in enumerate(turns(game, "smart", 31, deals=30)):
        (one,), (two,) = (p.act([view], [np.random.default_rng(number)], [{}]) for p in (plain, looking))
        assert replace(two, exact_gain=None) == one and one.exact_gain is None, number
        if view.viewer or one.gain is None:
            assert two.gain is None and two.exact_gain is None
            continue
        decision = decision_of(game, view, "smart")
        blueprint = decision.blueprint(0)
        if one.action == blueprint:
            assert (two.gain, two.exact_gain) == (0.0, 0.0)
            continue
        hands, weights, _ = decision.consistent_hands(10_000, 1, 1, 0)
        many = hands.repeat(400, 0)
        scores = decision.play(many, decision.decks(many, 5), np.array([blueprint, one.action]), 0).astype(float)
        gain = np.average((scores[:, 1] - scores[:, 0]).reshape(-1, 400).mean(axis=1), weights=weights)
        assert one.gain > 0 and two.exact_gain == pytest.approx(gain, abs=0.15), number
        deviated += 1
    assert deviated > 5


def test_other_seats_and_unexplained_moves_are_left_to_the_blueprint():
    game = games.load(TINY)
    sparta, blueprint = players.make("sparta:seat=1,worlds=50", game), players.make("partner:style=smart", game)
    state = game.deal(1, 0)
    view = game.view(state, 0)
    assert sparta.act([view], [np.random.default_rng(0)], [{}]) == blueprint.act(
        [view], [np.random.default_rng(0)], [{}]
    )
    unexplained = 0
    for deal in range(20):
        rng = np.random.default_rng(deal)
        for state, view in decisions(game, 2, deal):
            if view.viewer == 1:
                hands, _, all_ = decision_of(game, view, "smart").consistent_hands(10_000, 1, 1, 0)
                assert all_
                decided = sparta.act([view], [np.random.default_rng(0)], [{}])[0]
                if len(hands) == 0 and len(view.legal) > 1:
                    unexplained += 1
                    assert decided == blueprint.act([view], [np.random.default_rng(0)], [{}])[0]
            state.apply_action(int(rng.choice(view.legal)))
    assert unexplained > 10


@pytest.mark.slow
@pytest.mark.parametrize("given", ["tries=2000", "belief=counting"])
def test_hidden_cards_change_nothing(given):
    game, exchanged, searched = games.load("hanabi"), 0, 0
    sparta = players.make(f"sparta:worlds=60,{given}", game)
    for number, (state, view) in enumerate(turns(game, "smart", 8, deals=1)):
        twin = game.exchange(state, view, np.random.default_rng(number))
        if twin is None:
            continue
        answers = [sparta.act([game.view(s, 0)], [np.random.default_rng(number)], [{}]) for s in (state, twin)]
        assert answers[0] == answers[1], number
        exchanged += 1
        searched += answers[0][0].gain is not None
    assert exchanged > 10 and searched > 10


@pytest.mark.parametrize(
    ("spec", "game", "says"),
    [
        ("sparta", "hearts", "plays hanabi, crew only, not hearts"),
        ("sparta:multi=true", "hanabi(players=3)", "multi=true needs two players, not 3"),
        ("sparta:range_max=9", "hanabi", "range_max=9 is for multi=true"),
        ("sparta:multi=true,belief=counting", "hanabi", "multi=true needs belief=exact"),
        ("sparta:multi=true,seat=1", "hanabi", "seat=1 is for multi=false"),
        ("sparta:seat=2", "hanabi", "there is no seat 2: seats are 0 to 1"),
        ("sparta:blueprint=random", "hanabi", "its blueprint is a scripted player"),
        ("sparta:steps=5", "hanabi", "steps=5 is for belief=bft"),
        ("sparta:belief=counting,tries=9", "hanabi", "tries=9 is for belief=exact or assess > 0"),
        ("sparta:belief=counting,listed=9", "hanabi", "listed=9 is for belief=exact or assess > 0"),
        ("sparta:belief=counting,device=cuda", "hanabi", "device=cuda is for belief=seq2seq"),
        ("sparta:belief=seq2seq,clip=1", "hanabi", "clip=1.0 is for belief=bft"),
        ("sparta:multi=true,bf16=true", "hanabi", "bf16=true is for belief=bft"),
        ("sparta:blueprint=partner:style=nobody", "hanabi", "style=nobody"),
        ("sparta:blueprint=nobody", "hanabi", "unknown player 'nobody'"),
        ("sparta:blueprint=", "hanabi", "blueprint= must not be empty"),
    ],
)
def test_options_of_another_game_are_refused(spec, game, says):
    with pytest.raises(TrickformerError, match=says) as caught:
        players.make(spec, games.load(game))
    assert "\n" not in str(caught.value)


def test_the_core_refuses_worlds_that_are_none():
    game = games.load(TINY)
    _, view = next(turns(game, "smart", 1))
    decision = decision_of(game, view, "smart")
    hands, _, _ = decision.consistent_hands(0, 1, 10_000, 0)
    decks = decision.decks(hands, 0)
    with pytest.raises(ValueError, match="hand 0 does not explain the view"):
        decision.chances(np.full_like(hands, 77))
    with pytest.raises(ValueError, match="deck 0 does not hold the cards that its hand leaves"):
        decision.play(hands, np.zeros_like(decks), np.array([view.legal[0]]), 0)
    with pytest.raises(ValueError, match="action 99 is not legal in its position"):
        decision.play(hands, decks, np.array([99]), 0)
    with pytest.raises(ValueError, match="a card or -1 for each slot"):
        decision.decks(hands[:, :1], 0)
    with pytest.raises(ValueError, match="does not end at an own turn"):
        CORE.Decision(tokenizers.make(game).codec, tokenizers.make(game).encode(game.view(game.deal(1, 0), 1)), 0)
