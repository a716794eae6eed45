"""What a state of Skat tells bots and their authors."""

import random

import pytest

from trickformer import games
from trickformer.games import skat


class Course:
    """A game that is followed action by action: what a state ought to tell at each decision."""

    def __init__(self, deck):
        self.held = [set(deck[:10]), set(deck[10:20]), set(deck[20:30])]
        self.skat = set(deck[30:])
        self.auction, self.plays, self.phases = [], [], []
        self.declared = ""

    def check(self, state, where):
        """Holds a state, at a decision, to the course so far."""
        assert [set(state.hand(p)) for p in range(3)] == self.held, where
        assert set(state.skat) == self.skat, where
        assert state.auction == self.auction, where
        assert state.plays == self.plays, where
        assert state.trick == self.plays[len(self.plays) // 3 * 3 :], where
        bids = [skat.CALLS[action - skat.CALL] for _, action in self.auction if action < skat.PASS]
        assert state.bid == max(bids, default=0), where
        assert (state.soloist is None) == (state.phase == "auction"), where
        assert (state.contract is None) == (state.phase not in ("announce", "play")), where
        if state.phase == "play" and not state.trick:
            assert state.leader == state.current_player(), where

    def note(self, phase, seat, action):
        """Follows an action of a seat in a phase."""
        self.phases.append(phase)
        if phase == "auction":
            self.auction.append((seat, action))
        elif phase == "pick-up" and action == skat.PICK_UP:
            self.held[seat] |= self.skat
            self.skat = set()
        elif phase == "discard":
            self.held[seat].remove(action)
            self.skat.add(action)
        elif phase == "play":
            self.held[seat].remove(action)
            self.plays.append((seat, action))

    def contract(self, phase, action):
        """Game, by hand or not, and level, after a declaration or an announcement."""
        hand, level = "discard" not in self.phases, skat.ACTIONS[action]
        if phase == "declare":
            self.declared, _, ouvert = skat.ACTIONS[action].partition("-")
            level = ouvert or "plain"
        return self.declared, hand, level


def deal(state, deck, where):
    """Deals, and looks at the state before each card."""
    for n, card in enumerate(deck):
        assert state.phase == "deal", where
        assert state.bid == 0, where
        assert state.soloist is None and state.contract is None and state.leader is None, where
        hands = [sorted(deck[at : min(n, at + 10)]) for at in (0, 10, 20)]
        assert [state.hand(p) for p in range(3)] == hands, where
        assert sorted(state.skat) == sorted(deck[30:n]), where
        state.apply_action(card)


def test_a_state_tells_bots_what_they_need():
    """Random games: each property against the history, action by action."""
    game, contracts = games.load("skat"), set()
    for seed in range(60):
        rng, state, where = random.Random(seed), game.spiel.new_initial_state(), f"seed {seed}"
        deck = rng.sample(range(32), 32)
        deal(state, deck, where)
        course = Course(deck)
        while not state.is_terminal():
            course.check(state, where)
            phase, seat, legal = state.phase, state.current_player(), state.legal_actions()
            # A random game is soon out of hand: bids stay low, and hands are played ouvert now and then.
            action = skat.PASS if phase == "auction" and state.bid > 30 and skat.PASS in legal else rng.choice(legal)
            course.note(phase, seat, action)
            state.apply_action(action)
            if phase in ("declare", "announce"):
                assert state.contract == course.contract(phase, action), where
                contracts.add(state.contract)
        assert state.phase == "over"
        if state.soloist is None:
            assert not state.plays and state.leader is None and state.contract is None, where
            continue
        result = state.result
        assert (state.soloist, state.soloists_tricks) == (result.soloist, result.tricks), where
        skats = sum(skat.POINTS[skat.CARDS[c][1]] for c in state.skat)
        assert state.contract.game == "null" or state.soloists_points + skats == result.points, where
    assert {c.game for c in contracts} == {"diamonds", "hearts", "spades", "clubs", "grand", "null"}
    assert {c.level for c in contracts} == set(skat.LEVELS) and {c.hand for c in contracts} == {True, False}
    with pytest.raises(ValueError, match="seats of Skat are 0, 1 and 2, not 3"):
        state.hand(3)
