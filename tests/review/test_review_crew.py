"""The Crew with open hands: against a search that tries every card, and why missions failed."""

from __future__ import annotations

import random

import pytest
from support.crew_scripts import PAGES, Script

from trickformer import _core, games
from trickformer.games.crew import CARDS, DRAW, PLAY, PREAMBLE
from trickformer.review import analyst, crew
from trickformer.review.hand import ReviewHand, of_state

pytestmark = pytest.mark.slow

PLAIN = 300_000  # cards that the plain search tries


def ended(game, index, seed=5, policy=None):
    """A game by scripted players until the tricks begin, and random ones from then on, at its end."""
    state, rng = game.deal(seed, index), random.Random(index)
    while not state.is_terminal():
        chance = state.is_chance_node()
        state.apply_action(game.chance(state, seed, index) if chance else rng.choice(state.legal_actions()))
    return state


def hand_of(game, state, source=None):
    return ReviewHand(game, ("a", "b", "c", "d"), tuple(state.history()), source=source)


@pytest.mark.parametrize("mission", [4, 9, 13, 16, 20, 26, 29, 33, 44, 46])
def test_cards_are_rated_as_by_a_search_of_every_card(mission):
    """The last tricks of random games: what the plain search says, where it says it."""
    game, compared = games.load(f"crew(mission={mission})"), 0
    for index in range(6):
        state = ended(game, index)
        hand = hand_of(game, state)
        found = crew.solve_open_hand(hand, lambda: None)
        assert found.verdict is not None
        course = {point.number: point.winnable for point in found.verdict.course}
        for turn, before in hand.turns():
            if turn.trick is None or turn.trick < len(state.core.winners) - 2 or turn.trick < 3:
                continue
            told, _ = _core.crew.plain_can_succeed(before.core, PLAIN)
            if told is None:
                continue
            assert course[turn.number] == told, f"mission {mission}, deal {index}, decision {turn.number}"
            for card, value in found.values[turn.number].items():
                after = before.child(card).core
                can = after.result > 0 if after.is_terminal() else _core.crew.plain_can_succeed(after, PLAIN)[0]
                if can is None:  # more than the plain search tries
                    continue
                assert value == can, f"mission {mission}, deal {index}, decision {turn.number}, {CARDS[card]}"
                compared += 1
    assert compared


@pytest.mark.parametrize("mission", [1, 2, 4, 6, 12, 13, 20, 30, 44, 50])
def test_the_decision_that_lost_a_mission(mission):
    """Before it there is a line, which is played out here; after it the solver finds none."""
    game, named = games.load(f"crew(mission={mission})"), 0
    for index in range(8):
        state = ended(game, index)
        hand = hand_of(game, state, (5, index))
        (answer,) = analyst.review(hand, "solver").answers or (None,)
        if answer is None or answer.won:
            continue
        assert answer.why == tuple(game.failures(state)) and answer.failed_in == len(state.core.winners)
        assert "; ".join(answer.why) in game.describe(state)
        if answer.losing_step is None:
            continue
        named += 1
        turn, before = hand.at(answer.losing_step.number)
        after, draws = before.child(turn.action).core, game.draws(5, index)
        assert after.result < 0 or _core.crew.Solver().can_succeed(after, 50 * crew.NODES, draws) is False
        assert answer.turning_points == (answer.losing_step,) and answer.losing_step.words == CARDS[turn.action]
        plays = [p for line in answer.line for p in line.split(": ")[1].split(", ")[0].split(" ")]
        assert follow(game, before, plays[len(before.core.plays) % 4 :], index).core.result > 0
    assert named


def follow(game, state, plays, index):
    """The state after these plays, and silence."""
    state = state.clone()
    for play in plays:
        while state.core.phase != PLAY:
            chance = state.is_chance_node()
            quiet = "silent" if "silent" in map(game.words, state.legal_actions()) else None
            if chance:
                state.apply_action(game.chance(state, 5, index))
            elif quiet:
                state.apply_action(next(a for a in state.legal_actions() if game.words(a) == quiet))
            else:
                state.apply_action(state.legal_actions()[0])
        seat, card = play.split(":")
        assert int(seat) == state.current_player()
        state.apply_action(CARDS.index(card))
    return state


def test_what_was_drawn_is_read_off_the_record():
    """Mission 12 from a record that does not name its series: as if it did, once something was drawn."""
    game, compared = games.load("crew(mission=12)"), 0
    for index in range(12):
        state = ended(game, index)
        drawn = any(s.core is not None and s.core.phase == DRAW for s in hand_of(game, state).states())
        with_series = crew.solve_open_hand(hand_of(game, state, (5, index)), lambda: None)
        alone = crew.solve_open_hand(hand_of(game, state), lambda: None)
        if drawn:
            assert alone == with_series, f"deal {index}"
            compared += 1
        elif alone.verdict is not None:
            first = alone.verdict.course[0]
            assert first.winnable is None and alone.values[first.number] == {}
    assert compared > 3


def test_why_and_where_by_hand():
    """Mission 4: the task B9 of seat 2 goes to seat 1 in trick 2, by the card that led to it."""
    ladder = "P9 P1 P2 P3 / B1 B9 B2 B3 / G1 G9 G2 G3"
    script = Script(PAGES[4], ladder, "P9:0 B9:2 G9:1")
    game = games.load("crew(mission=4)")
    state = game.spiel.new_initial_state()
    deck = [card for seat in range(4) for card in script.state.hand(seat)]
    for action in (4, *deck):
        state.apply_action(action)
    while script.state.result == 0:
        action = script.state.legal_actions() and script.action()
        number = next(a for a in range(200) if game_words(a) == action)
        script.state.apply_action(number)
        state.apply_action(number)
    hand = of_state(game, state)
    assert len(hand.history) > PREAMBLE
    (answer,) = analyst.review(hand, "solver").answers
    assert answer.why == ("task B9 of seat 2 went to seat 1",) and answer.failed_in == 2
    # Seat 0 leads B1; had seat 1 another blue card, its B9 would be the mistake, else what made it fall there.
    assert answer.losing_step is not None and answer.losing_step.trick <= 2


def game_words(action):
    from trickformer.games.crew import ACTIONS

    return ACTIONS[action] if action < len(ACTIONS) else None
