"""Scenes of Skat: the auction, the values of declarations, and the result."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from trickformer import games, players
from trickformer.games.skat import BASES, CARDS, DECLARATIONS
from trickformer.web import scenes
from trickformer.web.scenes import OPEN
from trickformer.web.scenes.skat import declared_value, value_steps


def test_the_ladder_of_bids():
    game = games.load("skat")
    state = game.deal(1, 0)
    scene = scenes.show(game, state, 1)
    assert [rung.words for rung in scene.ladder[:4]] == ["18", "20", "22", "23"]
    assert all(rung.action is not None and not rung.is_called for rung in scene.ladder)
    state.apply_action(scene.ladder[1].action)
    hold = scenes.show(game, state, 0)
    assert [choice.words for choice in hold.choices] == ["pass", "hold 20"]
    assert [rung.is_called for rung in hold.ladder[:3]] == [True, True, False]
    assert not any(rung.action for rung in hold.ladder)


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


def _skat_after(*words):
    """A deal of Skat after some words, then the first legal actions to the end."""
    game = games.load("skat")
    state = game.deal(1, 0)
    for word in words:
        state.apply_action(next(a for a in state.legal_actions() if game.words(a) == word))
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    return game, state


def test_the_end_of_skat_shows_what_was_picked_up_and_what_was_laid_away():
    game, state = _skat_after("pass", "18", "pass", "pick-up")
    final = scenes.show(game, state, 0).hands[state.soloist]
    piles = {pile.title: [card.name for card in pile.cards] for pile in final.piles}
    assert sorted(piles.pop("dealt")) == sorted(CARDS[c] for c in state.deck[20:30])
    assert piles == {
        "picked up": sorted((CARDS[c] for c in state.deck[30:]), key=CARDS.index),
        "laid away": [CARDS[c] for c in state.skat],
    }
    shown = [[card.name for card in entry.cards] for entry in scenes.log(game, state, state.soloist)]
    assert piles["picked up"] in shown and not any(
        len(entry.cards) == 2 or entry.words == "lay away" for entry in scenes.log(game, state, 0)
    )
    assert scenes.log(game, state, OPEN) == scenes.log(game, state, state.soloist)
    game, state = _skat_after("pass", "18", "pass", "hand")
    assert [pile.title for pile in scenes.show(game, state, 0).piles] == ["Skat"]


def test_the_result_of_skat_adds_up():
    """The value from its steps, the card points from tricks and skat, and the score from the value."""
    game, seed, checked = games.load("skat"), random.randrange(2**31), 0
    draw, rules = random.Random(seed), players.make("rules", game)
    for deal in range(40):
        state, memos = game.deal(seed, deal), [{} for _ in range(3)]
        while not state.is_terminal():
            seat = state.current_player()
            view = game.view(state, seat)
            bold = state.phase != "play" and draw.random() < 0.3
            rng = np.random.default_rng(len(state.history()))
            chosen = draw.choice(view.legal) if bold else rules.act([view], [rng], [memos[seat]])[0].action
            state.apply_action(chosen)
        lines, result = scenes.show(game, state, 0).result, state.result
        name = "You score" if result.soloist == 0 else f"Seat {result.soloist} scores"
        if result.soloist < 0:
            assert lines == ("All seats have passed: nobody scores.",)
            continue
        score = game.scores(state)[result.soloist]
        assert f" {score}" in lines[-1] and name in lines[-1], seed
        if state.contract.game == "null":
            continue
        checked += 1
        levels = value_steps(state)[-1][1]
        value = levels * BASES[DECLARATIONS.index(state.contract.game)]
        assert lines[1].endswith(f"is {value}."), seed
        if not result.overbid:
            assert result.value == (value if result.won else -2 * value), seed
        found = re.search(r"with (\d+) of 120 card points: (\d+) in \d+ tricks? and (\d+) in the skat", lines[0])
        total, *parts = map(int, found.groups())
        assert total == result.points == sum(parts), seed
    assert checked > 10, seed


def test_declarations_below_the_bid_are_marked_and_come_last():
    game = games.load("skat")
    state = game.deal(5, 1)
    for word in ("pass", "59", "pass", "pick-up"):
        state.apply_action(next(a for a in state.legal_actions() if game.words(a) == word))
    while state.phase == "discard":
        state.apply_action(state.legal_actions()[0])
    choices = scenes.show(game, state, state.soloist).choices
    values = [int(choice.words.split(" · ")[1]) for choice in choices]
    marked = [choice.words.endswith(" · below your bid 59") for choice in choices]
    assert marked == [value < 59 for value in values] == sorted(marked) and len(set(marked)) == 2
    assert {choice.action for choice in choices} == set(state.legal_actions())


@pytest.mark.parametrize("first", ["pick-up", "hand"])
def test_declarations_of_skat_show_their_values(first):
    """They agree with the value at the end, less schneider and, in a hand game, with the skat's matadors counted."""
    game, checked = games.load("skat"), 0
    for deal in range(12):
        state = game.deal(5, deal)
        for word in ("pass", "18", "pass", first):
            state.apply_action(next(a for a in state.legal_actions() if game.words(a) == word))
        while state.phase == "discard":
            state.apply_action(state.legal_actions()[deal % 3])
        choices = scenes.show(game, state, state.soloist).choices
        assert len(choices) == len(DECLARATIONS)
        for choice, declaration in zip(choices, DECLARATIONS):
            value = declared_value(state, declaration)
            assert choice.words == f"{declaration.replace('-', ' ')} · {value}"
            end = state.child(choice.action)
            while not end.is_terminal():
                end.apply_action(end.legal_actions()[0])
            if declaration.startswith("null"):
                assert value == abs(end.result.value) // (1 if end.result.won else 2)
                continue
            steps = dict(value_steps(end))
            base = BASES[DECLARATIONS.index(declaration)]
            if first == "pick-up":
                assert value == base * steps["game"], (deal, declaration)
            checked += value == base * steps.get("hand", steps["game"])
    assert checked > 30


def test_announcements_of_skat_show_their_values():
    """Each announced level adds itself and its announcement to the hand game, and ouvert one more."""
    game, added = games.load("skat"), {"plain": 0, "schneider": 2, "schwarz": 4, "ouvert": 5}
    for deal in range(6):
        state = game.deal(5, deal)
        for word in ("pass", "18", "pass", "hand"):
            state.apply_action(next(a for a in state.legal_actions() if game.words(a) == word))
        for choice in scenes.show(game, state, state.soloist).choices:
            declaration, _, value = choice.words.partition(" · ")
            announcing = state.child(choice.action)
            if announcing.phase != "announce":
                assert declaration.startswith("null")
                continue
            base = BASES[DECLARATIONS.index(declaration)]
            shown = [choice.words for choice in scenes.show(game, announcing, state.soloist).choices]
            assert shown == [f"{level} · {int(value) + base * levels}" for level, levels in added.items()]


def test_a_declaration_of_skat_counts_only_cards_that_are_seen():
    """In a hand game the values are the same whichever cards lie in the skat."""
    game, jacks = games.load("skat"), 0
    for deal in range(20):
        order = game.deal(6, deal).history()
        given, shown = order, []
        for _ in range(2):
            state = game.spiel.new_initial_state()
            for action in given:
                state.apply_action(action)
            for word in ("pass", "18", "pass", "hand"):
                state.apply_action(next(a for a in state.legal_actions() if game.words(a) == word))
            shown.append([declared_value(state, declaration) for declaration in DECLARATIONS])
            start = 10 * (state.soloist - 1) % 30  # of a defender, who gets the skat
            given = [*order[:start], *order[30:], *order[start + 2 : 30], *order[start : start + 2]]
        assert shown[0] == shown[1], deal
        jacks += any(CARDS[c][1] == "J" for c in (*order[30:], *given[30:]))
    assert jacks
