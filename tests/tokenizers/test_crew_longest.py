"""The longest sequences of The Crew's missions, reached by games that are arranged."""

from __future__ import annotations

from collections import Counter

import pytest
from support.crew_histories import left_of

from trickformer import games, tokenizers
from trickformer.games.crew import (
    APPOINT,
    ASK,
    COLOUR_CARDS,
    DRAFT,
    DRAW,
    NAME,
    PASS,
    RADIO,
    RADIO_CARD,
    REVEAL,
    SEAT,
    SILENT,
    TILE,
    TILE_FROM,
    TILE_TO,
    YES,
)

DISTRESS = ("off", "left", "right")


class Arranged:
    """A game that nobody loses before the last trick, and in which everybody is silent until before that.

    Each seat's hand is a colour and a rocket. Who leads goes on leading the own colour and winning, until another
    takes a trick with the rocket; the others throw off their own colours. Seats take tricks 3, 5, 7 and 9 in the order
    `takers`, so that all are known beforehand: what falls when, and who wins it."""

    def __init__(self, mission, distress, takers=(1, 2, 3, 0)):
        self.game = games.load(f"crew(mission={mission},distress={distress})")
        self.shift = {"off": 0, "left": 1, "right": 3}[distress]
        self.takers = dict(zip((2, 4, 6, 8), takers))
        (page,) = self.game.pages.values()
        self.page = page
        self.falls = self.course()

    def course(self):
        """By colour card: the trick in which it falls, and who wins that."""
        falls, leader = {}, 0
        for trick in range(10):
            leader = self.takers.get(trick, leader)
            for seat in range(4):
                taken = next(t for t, taker in self.takers.items() if taker == seat)
                if trick == taken:
                    continue
                nth = trick - (trick > taken)
                falls[9 * seat + 8 - nth] = (trick, leader)
        return falls

    def play(self):
        """The state at the end."""
        state = self.game.spiel.new_initial_state()
        for action in [self.page.id, *self.deck()]:
            state.apply_action(action)
        self.tasks = self.task_cards()
        while not state.is_terminal():
            state.apply_action(self.action(state))
        return state

    def deck(self):
        """Rocket 4 to seat 0, and each a card for the pass that makes the colours whole."""
        hands = [[*range(9 * p, 9 * p + 9), 36 + (p + 3) % 4] for p in range(4)]
        if self.shift:
            for p in range(4):
                hands[p][0] = 9 * left_of(p, self.shift)
        return [card for hand in hands for card in hand]

    def task_cards(self):
        """By place: the card of a task and its owner, so that tokens are kept and the last is won in the last trick."""
        n, owners = self.page.tasks, Counter()
        last = self.takers[8]
        for i in range(n):
            owners[last if self.page.allocation == "decision" else i % 4] += 1
        chosen = []
        for owner, many in owners.items():
            own = sorted(c for c, (_, winner) in self.falls.items() if winner == owner)
            own.sort(key=lambda c: (-self.falls[c][0], c))
            chosen += [(self.falls[c][0], c, owner) for c in spread(own, self.falls, many)]
        chosen.sort()  # in the order of their fulfilment
        order = {}
        tiles = self.tiles_at_last()
        numbered = [t for t in range(5) if t in tiles]
        arrows = [t for t in range(5, 9) if t in tiles]
        for t in numbered:
            order[tiles.index(t)] = t
        if 9 in tiles:
            order[tiles.index(9)] = n - 1
        free = [k for k in range(n) if k not in order.values()]
        for t in arrows:
            order[tiles.index(t)] = free.pop(0)
        for place in range(n):
            if place not in order:
                order[place] = free.pop(0)
        return [chosen[order[place]][1:] for place in range(n)]

    def tiles_at_last(self):
        """The tokens by place once one has been moved: the two lowest change places, or the lowest goes to the end."""
        tiles = self.page.tiles()
        if "swap_two_tokens" in self.page.rules:
            tiles[0], tiles[1] = tiles[1], tiles[0]
        if "move_one_token" in self.page.rules:
            tiles[0], tiles[-1] = tiles[-1], tiles[0]
        return tiles

    def action(self, state):
        core, seat = state.core, state.current_player()
        phase, legal = core.phase, state.legal_actions()
        if phase == REVEAL:
            return self.tasks[sum(card >= 0 for card, *_ in core.tasks)][0]
        if phase == DRAW:  # the rockets go round
            return next(c for c in legal if c >= COLOUR_CARDS)
        if phase == TILE_FROM:
            return TILE
        if phase == TILE_TO:
            return legal[0] if legal[0] >= TILE else self.tasks[-1][0]
        if phase == NAME:
            return legal[-1]
        if phase == ASK:
            return YES
        if phase == APPOINT and self.page.allocation == "decision":
            return SEAT + self.takers[8]
        if phase == APPOINT:
            card = [card for card, *_ in core.tasks if card >= 0][-1]
            return SEAT + dict(self.tasks)[card]
        if phase == DRAFT:
            owner = dict(self.tasks)
            return next(c for c in legal if owner[c] == seat)
        if phase == PASS:
            return 9 * left_of(seat, self.shift)
        trick = len(core.plays) // 4
        if phase == RADIO:
            return SILENT if trick < 9 else legal[0]
        if phase == RADIO_CARD:
            return legal[0]
        rocket = [c for c in legal if c >= COLOUR_CARDS]
        if self.takers.get(trick) == seat:
            return rocket[0]
        return next(c for c in legal if c < COLOUR_CARDS and self.falls[c][0] == trick)


def spread(cards, falls, many):
    """Cards of different tricks first, the latest first."""
    seen, first, rest = set(), [], []
    for card in cards:
        (rest if falls[card][0] in seen else first).append(card)
        seen.add(falls[card][0])
    return (first + rest)[:many]


@pytest.mark.parametrize("distress", DISTRESS)
@pytest.mark.parametrize(
    ("mission", "options"),
    [
        (3, {}),
        (9, {}),
        (11, {}),
        (14, {}),
        (18, {}),
        (20, {"takers": (1, 0, 2, 3)}),
        (23, {}),
        (25, {}),
        (26, {}),
        (28, {}),
        (36, {}),
        (40, {}),
        (43, {}),
        (49, {}),
    ],
)
def test_the_longest_sequence_of_a_mission_has_all_its_positions(mission, options, distress):
    arranged = Arranged(mission, distress, **options)
    state, game = arranged.play(), arranged.game
    tokenizer = tokenizers.make(game)
    assert len(state.core.plays) == 40, state.history()
    for seat in range(4):
        view = game.view(state, seat)
        tokens = tokenizer.encode(view)
        assert len(tokens) == state.mission.longest <= tokenizer.n_positions, f"seat {seat}: {state.history()}"
        assert tokenizer.decode(tokens) == view.events
        tracker = tokenizer.tracker(tokens)
        assert tracker.is_legal() and tracker.outcome() == int(state.returns()[0])
    assert state.returns()[0] == (mission != 26), state.history()
