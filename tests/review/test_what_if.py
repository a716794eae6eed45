"""The rest of a hand played anew: against every course of a random one, with the cards as they were dealt."""

from __future__ import annotations

import numpy as np
import pytest
from support.review import dealt

from trickformer import players
from trickformer.base import CHANCE, TrickformerError
from trickformer.review.result import WhatIf
from trickformer.review.what_if import ContinuedGame, what_if
from trickformer.tournaments.plan import Hand as Place
from trickformer.tournaments.play import play


def mean_of_every_course(game, state):
    """Mean scores by seat if all play at random, by enumeration."""
    if state.is_terminal():
        return np.array(game.scores(state), dtype=np.float64)
    return np.mean([mean_of_every_course(game, state.child(a)) for a in state.legal_actions()], axis=0)


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "back"), [("hearts", 11), ("skat", 8)])
def test_means_are_those_of_every_course(spec, back):
    hand = dealt(spec, "rules" if spec == "skat" else "random", seed=6, deal=4)
    last = sum(1 for _ in hand.turns())
    number = last - back
    _, state = hand.at(number)
    expected = mean_of_every_course(hand.game, state)
    found = what_if(hand, number, ["random"], n=600, seed=3)
    table = np.array(found.scores)
    error = table.std(axis=0, ddof=1) / np.sqrt(len(table))
    assert np.all(np.abs(table.mean(axis=0) - expected) <= 4.5 * error + 1e-9), (expected, table.mean(axis=0), error)
    assert found.means == pytest.approx(table.mean(axis=0))
    assert found.came == hand.game.scores(hand.end())
    for ci95, mean, spread in zip(found.ci95, found.means, error):
        assert (ci95 is None) == (spread == 0)
        low, high = ci95 or (mean, mean)
        assert low <= mean <= high and (high - low) == pytest.approx(2 * 1.96 * spread, rel=0.25, abs=1e-9)


@pytest.mark.slow
def test_an_action_that_is_given_is_done_first():
    hand = dealt("hearts", seed=6)
    last = sum(1 for _ in hand.turns())
    turn, state = next((t, s) for t, s in hand.turns() if t.number > last - 11 and len(t.legal) > 1)
    for action in turn.legal:
        expected = mean_of_every_course(hand.game, state.child(action))
        found = what_if(hand, turn.number, ["random"], n=400, seed=1, action=hand.game.words(action))
        error = np.std(found.scores, axis=0, ddof=1) / 20
        assert np.all(np.abs(np.array(found.means) - expected) <= 4.5 * error + 1e-9)
    with pytest.raises(TrickformerError, match="'XX' is not legal there; the legal actions are "):
        what_if(hand, turn.number, ["random"], action="XX")


def test_players_that_draw_nothing_do_the_same_each_time():
    """And, from the beginning of a hand of theirs, what they did."""
    hand = dealt("skat", "rules", seed=8, deal=2)
    found = what_if(hand, 1, ["rules"], n=5)
    assert set(found.scores) == {hand.game.scores(hand.end())} and found.came == found.scores[0]
    assert found.ci95 == what_if(hand, 1, ["rules"], n=1).ci95 == (None,) * 3


def test_who_sits_where():
    hand = dealt("hearts", seed=2)
    mixed = what_if(hand, 5, ["rules", "random", "rules", "random"], n=40, seed=7)
    assert mixed.players == ("rules", "random", "rules", "random")
    assert mixed == what_if(hand, 5, ["rules", "random", "rules", "random"], n=40, seed=7)
    assert mixed.scores != what_if(hand, 5, ["random", "rules", "random", "rules"], n=40, seed=7).scores
    assert WhatIf.model_validate_json(mixed.model_dump_json()) == mixed
    for given, number, says in ((["rules"] * 3, 5, "3 players for 4 seats"), (["rules"], 99, "no decision 99")):
        with pytest.raises(TrickformerError, match=says):
            what_if(hand, number, given)


@pytest.mark.parametrize("spec", ["hanabi", "crew(mission=12)", "mines(rows=3,cols=4,mines=2)"])
@pytest.mark.parametrize("source", [True, False])
def test_chance_does_what_it_did(spec, source):
    """Along the hand itself each chance node does what is on record; elsewhere the deck is that of the deal, or, where
    the series is not known, what is on record in its order, as long as it can be."""
    cast = "partner:style=smart" if spec == "hanabi" else "random"
    for deal in range(4):
        hand = dealt(spec, cast, seed=3, deal=deal, source=source)
        _, first = hand.at(1)
        rest = ContinuedGame(hand, first)
        assert str(rest.deal(0, 0)) == str(first) and rest.deal(0, 0) is not first
        for state, action in zip(hand.states(), hand.history):
            if state.current_player() == CHANCE and len(state.full_history()) >= len(first.full_history()):
                assert rest.chance(state, 99, 99) == action
        found = what_if(hand, 1, ["random"], n=6, seed=5)
        assert len(found.scores) == 6
    if spec == "hanabi":
        drawn = [step.action for step in hand.end().full_history() if step.player == CHANCE]
        for record in play(rest, [players.make("random", hand.game)], [Place(i, (0, 0)) for i in range(4)], 5):
            state = hand.game.spiel.new_initial_state()
            again = []
            for action in record.history:
                if state.is_chance_node():
                    again.append(action)
                state.apply_action(action)
            n = min(len(drawn), len(again))
            assert again[:n] == drawn[:n]
