"""Scenes hold what a seat may know, and a place to click for each thing that it may do."""

from __future__ import annotations

import random

import numpy as np
import pytest

from trickformer import games
from trickformer.web import scenes
from trickformer.web.scenes import OPEN

SPECS = [
    "hearts",
    "hearts(jd_bonus=True)",
    "skat",
    "crew",
    "crew(mission=12)",
    "crew(mission=23)",
    "crew(mission=50)",
    "crew(mission=4,distress=left)",
    "hanabi",
    "hanabi(players=4)",
    "mines",
    "mines(first_move=any)",
    "mines(rows=16,cols=30,mines=99)",
]


def _positions(game, seed, deals=3):
    """States at every decision of random hands, and their ends."""
    draw = random.Random(seed)
    for deal in range(deals):
        state = game.deal(seed, deal)
        while True:
            yield state
            if state.is_terminal():
                break
            state = state.clone()
            state.apply_action(draw.choice(state.legal_actions()))
            while state.is_chance_node():
                state.apply_action(game.chance(state, seed, deal))


def _clicks(scene):
    """What a page can do."""
    cards = [c for seat in scene.seats for c in seat.cards] + [c for pile in scene.piles for c in pile.cards]
    cells = [cell for row in scene.board for cell in row]
    return sorted(x.action for x in (*cards, *cells, *scene.choices) if x.action is not None)


@pytest.mark.parametrize("spec", SPECS)
def test_each_legal_action_has_one_place(spec):
    game, seed = games.load(spec), random.randrange(2**31)
    for state in _positions(game, seed):
        for viewer in (*range(game.players), OPEN):
            mine = not state.is_terminal() and viewer in (state.current_player(), OPEN)
            assert _clicks(scenes.show(game, state, viewer)) == sorted(state.legal_actions() if mine else []), seed


@pytest.mark.parametrize("spec", SPECS)
def test_exchanged_hidden_cards_do_not_change_a_scene(spec):
    """The audit's question, asked of the page."""
    game, seed = games.load(spec), random.randrange(2**31)
    rng, exchanged = np.random.default_rng(seed), 0
    few = spec.startswith("mines")  # whose random games end soon
    for state in list(_positions(game, seed, 20 if few else 1))[: None if few else -1 : 1 if few else 3]:
        if state.is_terminal():
            continue
        for viewer in range(game.players):
            twin = game.exchange(state, game.view(state, viewer), rng)
            if twin is None or game.view(twin, viewer) != game.view(state, viewer):
                continue
            exchanged += 1
            assert scenes.show(game, twin, viewer) == scenes.show(game, state, viewer), (seed, viewer)
    assert exchanged


def test_a_hand_game_does_not_show_the_skat():
    """Neither before it is declared nor after."""
    game = games.load("skat")
    state = game.deal(1, 0)
    for words in ("pass", "18", "pass", "hand"):
        state.apply_action(next(a for a in state.legal_actions() if game.words(a) == words))
    for _ in range(3):  # to declare, to announce, to play
        seen = scenes.show(game, state, state.soloist)
        assert not any(card.name for pile in seen.piles for card in pile.cards)
        state.apply_action(state.legal_actions()[0])


def test_open_scenes_show_every_card(hearts):
    for state in _positions(hearts, 1, 1):
        shown = scenes.show(hearts, state, OPEN)
        assert all(card.name for seat in shown.seats for card in seat.cards)
        own = scenes.show(hearts, state, 2)
        hidden = [card.name for seat in own.seats if seat.seat != 2 for card in seat.cards]
        assert state.is_terminal() or not any(hidden)


def test_hints_are_noted_on_cards():
    """Of three cards that the smart partner has been told of, by reading the moves again."""
    game = games.load("hanabi")
    state = game.deal(4, 0)
    rules = game.rules
    hints = [a for a in state.legal_actions() if a >= 2 * rules.hand]
    state.apply_action(hints[0])  # a colour
    (told,) = [e for e in game.view(state, -1).events if e.action == hints[0]]
    cards = scenes.show(game, state, 1).seats[1].cards
    assert [bool(card.notes and "not" not in card.notes[0]) for card in cards] == [i in told.seen for i in range(5)]
    assert not any(card.name for card in cards)


def test_a_game_without_drawings_is_shown_in_words(installed):
    game = games.load("oh_hell")
    for state in list(_positions(game, 1, 1)):
        viewer = 0
        scene = scenes.show(game, state, viewer)
        assert scene.text
        if state.is_terminal():
            assert scene.text == game.describe(state)
        elif state.current_player() == viewer:
            assert [c.words for c in scene.choices] == [game.words(a) for a in state.legal_actions()]
