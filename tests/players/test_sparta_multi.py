"""SPARTA for both seats of Hanabi: what moves say of hands is held to the player, asked in each world, values to brute
force. Both seats follow the same game, hidden cards change nothing, and it is not below the blueprint."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.hanabi_turns import decided, decision_of, explained, listed, slow_score, turns_by, worlds_of
from support.play import decisions

from trickformer import games, players
from trickformer.search.sparta import search
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

pytestmark = pytest.mark.slow

TINY = games.load("hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)")
SMALL = games.load("hanabi(colors=3,ranks=2,hand_size=2,max_information_tokens=3,max_life_tokens=2)")


@pytest.mark.parametrize("range_max", [6, 10_000])
def test_moves_say_what_the_player_would_do_in_each_world(range_max):
    """Those by search and those by the blueprint, for the hands of either seat."""
    spec, checked, dropped = f"sparta:worlds=30,threshold=0,multi=true,range_max={range_max}", 0, 0
    player = players.make(spec, TINY)
    for deal in range(3):
        for number, (state, view) in enumerate(turns_by(TINY, player, deal)):
            if number % 3 != 2:
                continue
            followed, _ = player.positions.games.follow(view)
            for seat in (0, 1):
                alone = players.make(spec, TINY)
                possible, slow = listed(TINY, TINY.view(state, seat)), explained(TINY, alone, state, seat)
                held = {tuple(hand) for hand in followed.belief.enumerate_hands(seat).tolist()}
                assert held & possible.keys() == slow.keys(), (deal, number, seat)
                assert tuple([*TINY.hand(state, seat), -1, -1][:2]) in held
                checked += 1
                dropped += len(slow) < len(possible)
    assert checked > 10 and dropped > 4, (checked, dropped)


def test_values_over_all_worlds_are_those_of_brute_force():
    """Over every hand that the other's moves leave, and every order of the deck, played on as states of OpenSpiel."""
    player, looked = players.make("sparta:worlds=1000,threshold=0,multi=true", TINY), 0
    for deal in range(6):
        for number, (state, view) in enumerate(turns_by(TINY, player, deal)):
            core = decision_of(TINY, view, "smart")
            if len(view.legal) < 2 or not 1 <= core.deck_size <= 3 or number % 2 or looked > 4:
                continue
            total, weight = np.zeros(len(view.legal)), 0.0
            for hand, ways in explained(TINY, player, state, view.viewer).items():
                own = np.array([hand], dtype=np.int16)
                world = worlds_of(TINY, view, own).state(0)
                orders = np.array(sorted(set(itertools.permutations(core.decks(own, 0)[0].tolist()))))
                slow = [[slow_score(TINY, world, deck, a, "smart") for a in view.legal] for deck in orders]
                total, weight = total + ways * np.mean(slow, axis=0), weight + ways
            exact, decision = total / weight, decided(player, view)
            found = exact[view.legal.index(decision.action)]
            assert found >= exact.max() - 0.12, (deal, number, exact, decision)
            assert decision.value * TINY.rules.kinds == pytest.approx(found, abs=0.12), (deal, number)
            looked += 1
    assert looked == 5


def test_both_seats_follow_the_same_game():
    """Each by itself, from nothing but its own views."""
    spec = "sparta:worlds=30,threshold=0,multi=true,range_max=12,listed=20"
    player, searched = players.make(spec, SMALL), [0, 0]
    alone = [players.make(spec + ",threads=2", SMALL) for _ in (0, 1)]
    for deal in range(3):
        for state, view in turns_by(SMALL, player, deal):
            one, two = (p.positions.games.follow(SMALL.view(state, seat))[0] for seat, p in enumerate(alone))
            assert one.digest == two.digest
            for seat in (0, 1):
                hands = [g.belief.enumerate_hands(seat) for g in (one, two)]
                assert (hands[0] is None) == (hands[1] is None) and (hands[0] is None or (hands[0] == hands[1]).all())
            listed_now = one.hands()
            searched[listed_now is not None] += 1
            if listed_now is not None:
                found = [search(g.position(listed_now[0]), 30, player.options) for g in (one, two)]
                assert found[0] == found[1], deal
            assert decided(alone[view.viewer], view) == decided(player, view), deal
    assert min(searched) > 5, searched


def test_hands_up_to_the_range_are_searched_whatever_the_limit_of_listed_hands():
    deals, spec = 3, "sparta:worlds=10,threshold=0,multi=true,range_max=40"
    assert (scores(spec + ",listed=1", deals) == scores(spec, deals)).all()


def scores(spec, deals):
    records = play(TINY, [players.make(spec, TINY)], [Hand(d, (0, 0)) for d in range(deals)], 4, 1)
    return np.array([r.scores[0] for r in sorted(records, key=lambda r: r.deal)])


def test_search_is_not_below_the_blueprint():
    """And where no hand may be searched, it is the blueprint."""
    deals, spec = 60, "sparta:worlds=60,multi=true"
    blueprint = scores("partner:style=smart", deals)
    gain = scores(spec + ",range_max=100", deals) - blueprint
    assert gain.mean() > 2 * gain.std() / deals**0.5, gain.mean()
    assert (scores(spec + ",range_max=0", deals) == blueprint).all()


@pytest.mark.parametrize("game", [SMALL, games.load("hanabi")])
def test_hidden_cards_change_nothing(game):
    spec, exchanged, searched = "sparta:worlds=5,multi=true,range_max=60,threads=2,assess=10", 0, 0
    player = players.make(spec, game)
    for number, (state, view) in enumerate(turns_by(game, player, 1)):
        if number > 18 or (game is not SMALL and number % 6):
            continue
        rng = np.random.default_rng(number)
        if (twin := game.exchange(state, view, rng)) is None:
            continue
        decision = decided(player, view)
        assert decided(players.make(spec, game), game.view(twin, view.viewer)) == decision, number
        exchanged += 1
        searched += decision.gain is not None
    assert exchanged > 3 and (searched > 0 or game is not SMALL), (exchanged, searched)


def test_a_partner_that_does_something_else_leaves_the_blueprint():
    """Its moves rule out every hand, the true one too; then nothing is known of what it will do."""
    player, blueprint, lost = players.make("sparta:worlds=20,multi=true", TINY), players.make("partner", TINY), 0
    for deal in range(8):
        rng = np.random.default_rng(deal)
        for state, view in decisions(TINY, 5, deal):
            decision = decided(player, view)
            if decision.gain is None and len(view.legal) > 1:
                assert decision.action == decided(blueprint, view).action
                lost += 1
            state.apply_action(int(rng.choice(view.legal)))
    assert lost > 10, lost
