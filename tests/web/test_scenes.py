"""Scenes hold what a seat may know, and a place to click for each thing that it may do."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from support.play import decisions

from trickformer import games, players
from trickformer.base import PUBLIC
from trickformer.games import missions
from trickformer.games.hanabi import hint
from trickformer.records.show import in_words
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
    "mines(rows=5,cols=5,mines=3,cascade=True)",
    "mines(rows=16,cols=30,mines=99)",
]


def _positions(game, seed, deals=3):
    """States at every decision of random hands, and their ends."""
    draw = random.Random(seed)
    for deal in range(deals):
        yield from _game(game, seed, deal, draw)


def _game(game, seed, deal, draw):
    """States at every decision of a random hand, and its end."""
    for state, view in decisions(game, seed, deal):
        yield state.clone()
        state.apply_action(draw.choice(view.legal))
    yield state


def _clicks(scene):
    """What a page can do."""
    cards = [c for seat in scene.seats for c in seat.cards] + [c for pile in scene.piles for c in pile.cards]
    cells = [cell for row in scene.board for cell in row]
    offered = {option.actions[0] for card in cards for option in card.options}
    return sorted(
        [*(x.action for x in (*cards, *cells, *scene.choices, *scene.ladder) if x.action is not None), *offered]
    )


@pytest.mark.parametrize(("name", "size"), [("hearts", 52), ("skat", 32), ("crew", 40), ("hanabi", 0), ("mines", 0)])
def test_a_pack_has_each_card_once(name, size):
    """Hanabi has copies of its cards, so the panels take no pack from it."""
    assert len({card.name for card in scenes.pack(games.load(name))}) == size == len(scenes.pack(games.load(name)))


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
            assert scenes.log(game, twin, viewer) == scenes.log(game, state, viewer), (seed, viewer)
    assert exchanged


@pytest.mark.parametrize("spec", ["hearts", "skat", "crew(mission=9)", "crew(mission=4,distress=left)"])
def test_the_end_shows_all_hands_as_they_were_dealt(spec):
    game, seed = games.load(spec), random.randrange(2**31)
    ends = [state for state in _positions(game, seed) if state.is_terminal()]
    for state in ends:
        hands = scenes.show(game, state, 0).hands
        dealt = [card.name for hand in hands for card in hand.piles[0].cards]
        assert [hand.piles[0].title for hand in hands] == ["dealt"] * game.players, seed
        assert len(dealt) == len(set(dealt)) == {"hearts": 52, "skat": 30, "crew": 40}[game.name], seed
        given, received = (
            sorted(card.name for hand in hands for pile in hand.piles if pile.title == title for card in pile.cards)
            for title in ("passed", "received")
        )
        assert received == (given if game.name == "hearts" else []), seed
        assert len(given) == (4 if "distress" in spec else len(given)), seed
    before = [state for state in _positions(game, seed, 1) if not state.is_terminal()]
    assert not any(scenes.show(game, state, OPEN).hands for state in before)


@pytest.mark.parametrize("mission", [9, 16, 26, 33])
def test_a_failed_rule_has_the_words_of_the_logbook(mission):
    """The page, the terminal and `records show` name the rule as the page does at the start, and not by its key."""
    game = games.load(f"crew(mission={mission})")
    (rule,) = game.pages[mission].rules
    start, *_, end = _positions(game, 5, 1)
    features, (result,) = scenes.show(game, start, 0).features, scenes.show(game, end, 0).result
    assert missions.RULES[rule] in features
    *_, outcome, _ = in_words(game, end).splitlines()
    for text, first in ((result, "Mission failed in trick "), (outcome, "lost in trick ")):
        assert text.startswith(first) and f'rule "{missions.RULES[rule]}": ' in text and rule not in text


def test_the_result_calls_the_readers_seat_you(hearts):
    *_, state = _positions(hearts, 4, 1)
    scores = hearts.scores(state)
    (winner,) = [seat for seat in range(4) if scores[seat] == min(scores)]
    assert scenes.show(hearts, state, winner).result == (f"You have the fewest points: {min(scores)}.",)
    others = (f"Seat {winner} has the fewest points: {min(scores)}.",)
    assert scenes.show(hearts, state, (winner + 1) % 4).result == others
    assert scenes.show(hearts, state, winner, reader_plays=False).result == others


def test_the_prompt_of_hearts_says_whether_a_suit_must_be_followed(hearts):
    seen = set()
    for state in _positions(hearts, 4, 1):
        seat = state.current_player()
        scene = scenes.show(hearts, state, seat) if seat >= 0 else None
        if scene is None or not scene.trick:
            continue
        held = {card.sign for card in scene.seats[seat].cards}
        can_follow = scene.trick[0].card.sign in held
        assert scene.ask == ("follow suit" if can_follow else "play any card: you cannot follow suit")
        seen.add(can_follow)
    assert seen == {False, True}


def test_the_crew_explains_its_tokens_and_its_result():
    """Tokens on tasks and on shown cards, the dead zone, the receiver of a passed card, and the outcome."""
    game = games.load("crew(mission=4,distress=left)")
    state = next(
        state for state in _positions(game, 3, 1) if scenes.show(game, state, state.current_player()).pick == 0
    )
    asks = set()
    for state in _positions(game, 3, 1):
        scene = scenes.show(game, state, max(state.current_player(), 0))
        asks.add(scene.ask)
        tasks = [card for pile in scene.piles if pile.title == "tasks" for card in pile.cards]
        assert all(bool(card.notes) == bool(card.about) for card in tasks)
        assert not scene.seats[0].cards or scene.outcome in ("", "Mission accomplished", "Mission failed")
    assert "distress signal: pass a card to your left neighbour" in asks
    assert scene.outcome == ("Mission accomplished" if game.scores(state)[0] else "Mission failed")
    for spec, words in (("crew(mission=6)", ">"), ("crew(mission=8)", "1"), ("crew(mission=12)", "omega")):
        game = games.load(spec)
        piles = scenes.show(game, game.deal(0, 0), 0).piles
        abouts = [card.about for pile in piles for card in pile.cards]
        assert any(about.startswith(f"{words}: ") for about in abouts), (spec, abouts)


def test_the_prompt_of_hanabi_names_what_is_legal():
    game, seen = games.load("hanabi"), set()
    for state in _positions(game, 2, 3):
        seat = state.current_player()
        if seat < 0:
            continue
        scene = scenes.show(game, state, seat)
        uses = {option.words for card in scene.seats[seat].cards for option in card.options}
        hints = any(card.options for other in scene.seats if other.seat != seat for card in other.cards)
        assert ("discard" in scene.ask) == ("discard" in uses) and ("another's to hint" in scene.ask) == hints
        seen.add((hints, "discard" in uses))
        words = [card.words for card in scene.seats[seat].cards]
        assert words[0] == "your first card (oldest)" and words[1] == "your second card"
        assert words[-1].endswith("card (newest)")
    assert seen == {(True, False), (True, True), (False, True)}


def test_the_log_names_the_taker_of_each_trick(hearts):
    *_, state = _positions(hearts, 4, 1)
    entries = scenes.log(hearts, state, 1)
    assert [entry.words for entry in entries if entry.seat == entry.taker] == [f"trick {n}" for n in range(1, 14)]
    points = [0] * 4
    for entry in entries:
        if entry.taker is not None:
            assert entry.seat is None and re.fullmatch(r"1 point|\d+ points", entry.words)
            points[entry.taker] += int(entry.words.split()[0])
    assert 26 in points or tuple(points) == hearts.scores(state)


def test_the_trick_of_a_mission_that_ended_early():
    """The page names the last trick that was played, not the next one."""
    game, early = games.load("crew(mission=9)"), 0
    for state in _positions(game, 7, 4):
        if state.is_terminal():
            features = scenes.show(game, state, OPEN).features
            assert features[0] == f"trick {len(state.core.winners)} of 10"
            early += len(state.core.winners) < 10
    assert early


@pytest.mark.parametrize(("spec", "passed"), [("hearts", 12), ("crew(mission=4,distress=left)", 4)])
def test_an_open_log_has_all_passed_cards(spec, passed):
    game = games.load(spec)
    *_, state = _positions(game, 4, 2)
    entries = [entry for entry in scenes.log(game, state, OPEN) if entry.words.startswith("pass")]
    assert len(entries) == passed and all(len(entry.cards) == 1 for entry in entries)
    assert {entry.seat for entry in entries} == set(range(4))


def test_open_scenes_show_every_card(hearts):
    for state in _positions(hearts, 1, 1):
        shown = scenes.show(hearts, state, OPEN)
        assert all(card.name for seat in shown.seats for card in seat.cards)
        own = scenes.show(hearts, state, 2)
        hidden = [card.name for seat in own.seats if seat.seat != 2 for card in seat.cards]
        assert state.is_terminal() or not any(hidden)


@pytest.mark.parametrize("spec", ["hanabi", "hanabi(players=4)"])
def test_a_hint_lights_the_cards_that_it_names(spec):
    game, checked = games.load(spec), 0
    for state in _positions(game, 7, 2):
        for seat in scenes.show(game, state, state.current_player()).seats if not state.is_terminal() else ():
            for option in (option for card in seat.cards for option in card.options if option.lights):
                event = game.view(state.child(option.actions[0]), -1).events[-1]
                assert option.lights == event.seen
                named, count = option.words.split(", ")  # "1, 3 cards" would read as a list of numbers
                first = seat.cards[option.lights[0]]
                assert named in (first.sign, f"rank {first.rank}")
                assert count == f"{len(option.lights)} card{'s' if len(option.lights) > 1 else ''}"
                entry = scenes.log(game, state.child(option.actions[0]), -1)[-1]
                assert entry.words.endswith(f": {option.words}")
                checked += 1
    assert checked > 50


@pytest.mark.parametrize("spec", ["hanabi", "hanabi(players=4)"])
def test_the_effect_of_an_action_in_hanabi(spec):
    """A card leaves its place in the hand for its place in a pile, and another one comes from the deck."""
    game, kinds = games.load(spec), set()
    states = list(_positions(game, 7, 2))
    for before, after in pairwise(states):
        if before.is_terminal():
            assert scenes.show(game, after, OPEN).effect is None
            continue
        old, new = scenes.show(game, before, OPEN), scenes.show(game, after, OPEN)
        effect, event = new.effect, game.view(after, -1).events[-1]
        assert scenes.show(game, after, 0).effect == effect
        if event.action >= 2 * game.rules.hand:
            assert effect.places == event.seen and effect.pile is None and effect.source is None
            kinds.add("hint")
            continue
        hand = old.seats[effect.seat].cards
        assert effect.seat == before.current_player() and len(effect.places) == 1
        assert hand[effect.places[0]].name == new.piles[effect.pile].cards[effect.at].name
        decks = [len(next(pile.cards for pile in scene.piles if pile.title == "Deck")) for scene in (old, new)]
        assert decks[1] == decks[0] - (effect.source is not None)
        assert len(new.seats[effect.seat].cards) == len(hand) - (effect.source is None)
        assert effect.source is None or new.piles[effect.source].title == "Deck"
        kinds.add(new.piles[effect.pile].title)
    assert kinds == {"hint", "Fireworks", "Discards"}


def _smart_game(game, seed, deal):
    """Yield the states of a game by `smart`, which acts at random in every eighth turn."""
    rng, smart = random.Random(deal), players.make("partner:style=smart", game)
    memos: list = [{} for _ in range(game.players)]
    for state, view in decisions(game, seed, deal):
        yield state
        decision = smart.act([view], [np.random.default_rng(0)], [memos[state.current_player()]])[0]
        state.apply_action(rng.choice(view.legal) if rng.random() < 1 / 8 else decision.action)
    yield state


@pytest.mark.parametrize(("spec", "pace"), [("hanabi", 17), ("hanabi(players=3)", 13), ("hanabi(players=5)", 10)])
def test_pace_and_efficiency_in_hanabi(spec, pace):
    """Against a count that follows each card from hand to hand, with the hints that it has got."""
    game = games.load(spec)
    rules = game.rules
    kinds = Counter(
        {(c, r): rules.copies(c * rules.ranks + r) for c in range(rules.colors) for r in range(rules.ranks)}
    )
    values = set()
    for index in range(4):
        for state in _smart_game(game, 8, index):
            moves = game.view(state, PUBLIC).events
            hands = [[{"hints": set()} for _ in range(rules.hand)] for _ in range(game.players)]
            piles, gone, spent, hints, drawn = Counter(), Counter(), 0, rules.hints, rules.hand * game.players
            for event in moves:
                hand = hands[event.actor]
                if event.action >= 2 * rules.hand:
                    content = hint(rules, event.action)
                    other = hands[(event.actor + content.offset) % game.players]
                    for place, card in enumerate(other):
                        card["hints"].add((content.color, content.rank, place in event.seen))
                    hints, spent = hints - 1, spent + 1
                    continue
                color, rank = divmod(event.seen[0], rules.ranks)
                del hand[event.action % rules.hand]
                if drawn < sum(kinds.values()) and not (state.is_terminal() and event is moves[-1]):
                    hand.append({"hints": set()})
                    drawn += 1
                is_play = event.action >= rules.hand
                if is_play and piles[color] == rank:
                    piles[color] += 1
                    if piles[color] == rules.ranks:
                        spent, hints = spent + (hints == rules.hints), min(hints + 1, rules.hints)
                    continue
                gone[color, rank] += 1
                spent, hints = (spent + 1, hints) if is_play else (spent, hints + 1)
            lost = [{r for r in range(rules.ranks) if gone[c, r] == kinds[c, r]} for c in range(rules.colors)]
            useful = {(c, r) for c, r in kinds if r >= piles[c] and not any(r >= x for x in lost[c])}

            def fits(card, kind):
                return all((kind[0] == c if c is not None else kind[1] == r) == named for c, r, named in card["hints"])

            gotten = piles.total() + sum(
                any(named for _, _, named in card["hints"]) and any(fits(card, kind) for kind in useful)
                for hand in hands
                for card in hand
            )
            left = sum(kinds.values()) - drawn
            shown = scenes.show(game, state, OPEN).features
            assert (f"pace {left + game.players - len(useful)}" in shown) == (left > 0), shown
            assert (f"efficiency {gotten / max(spent, 1):.2f}" in shown) == (spent > 0), shown
            values.update(shown)
    assert f"pace {pace}" in values
    assert len([value for value in values if value.startswith("efficiency")]) > 20


def test_three_cards_are_chosen_to_pass_and_two_to_lay_away(hearts):
    state = hearts.deal(3, 1)
    picks = []
    while state.current_player() == 0:
        scene = scenes.show(hearts, state, 0)
        picks.append(scene.pick)
        assert scene.confirm and not scenes.show(hearts, state, OPEN).pick
        state.apply_action(state.legal_actions()[0])
    assert picks == [3, 2, 1]
    skat = games.load("skat")
    state, picks = skat.deal(1, 0), []
    for word in ("pass", "18", "pass", "pick-up"):
        state.apply_action(next(a for a in state.legal_actions() if skat.words(a) == word))
    while state.phase == "discard":
        picks.append(scenes.show(skat, state, state.soloist).pick)
        assert not scenes.show(skat, state, (state.soloist + 1) % 3).pick
        state.apply_action(state.legal_actions()[0])
    assert picks == [2, 1]


def test_a_communication_is_a_card_and_a_place():
    """Each option of a card is a label and then this card, both legal; each legal label is an option of a card."""
    game, checked = games.load("crew(mission=9)"), 0
    for state in _positions(game, 5, 2):
        if state.is_terminal() or "silent" not in map(game.words, state.legal_actions()):
            continue
        seat = state.current_player()
        scene, labels = scenes.show(game, state, seat), set()
        for card in scene.seats[seat].cards:
            for option in card.options:
                label, shown = option.actions
                after = state.child(label)
                assert shown in after.legal_actions() and game.words(shown) == card.name
                assert game.words(label) in {"highest", "only", "lowest"}
                labels.add(label)
                checked += 1
        assert labels | {choice.action for choice in scene.choices} == set(state.legal_actions())
        assert not any(card.options for other in range(4) if other != seat for card in scene.seats[other].cards)
    assert checked > 20


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


@pytest.mark.parametrize("spec", ["hanabi", "hanabi(players=4)"])
def test_a_card_of_hanabi_keeps_its_place_in_the_order_of_drawing(spec):
    """Against the deck, whose cards the deal lists in this order."""
    game, moved = games.load(spec), 0
    for deal in range(3):
        places = {}
        deck = [scenes.card(game, kind).name for kind in game.chance_actions(5, deal)]
        for state in _game(game, 5, deal, random.Random(deal)):
            shown = scenes.show(game, state, OPEN)
            for seat in shown.seats:
                for place, card in enumerate(seat.cards):
                    assert card.name == deck[card.order]
                    moved += places.setdefault(card.order, (seat.seat, place)) != (seat.seat, place)
            assert len({card.order for seat in shown.seats for card in seat.cards}) == sum(
                len(seat.cards) for seat in shown.seats
            )
            for viewer in range(game.players):
                seats = scenes.show(game, state, viewer).seats
                assert [[card.order for card in seat.cards] for seat in seats] == [
                    [card.order for card in seat.cards] for seat in shown.seats
                ]
    assert moved > 50


def test_the_mine_that_ended_a_game_differs_from_the_others():
    game = games.load("mines(rows=4,cols=4,mines=5)")
    ends = [state for state in _positions(game, 1) if state.is_terminal()]
    for state in ends:
        kinds = [cell.kind for row in scenes.show(game, state, OPEN, None).board for cell in row]
        assert {number for number, kind in enumerate(kinds) if kind in ("hit", "mine")} == set(state.laying)
        assert [number for number, kind in enumerate(kinds) if kind == "hit"] == [state.history()[-1]]
    assert len(ends) == 3


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
