"""Hearts as tokens: Tables 1 and 5 of the GO-MCTS paper.

A sequence is the own seat, the 13 cards dealt (ascending), the pass direction, 3 cards passed (in the order
chosen), 3 received (ascending), the seat that leads the first trick, 52 plays and the end. Without passes it is
six tokens shorter. Others' passes have no token, and who played a card follows from the rules.
"""

from __future__ import annotations

import numpy as np

from trickformer import _core
from trickformer.base import CHANCE, PUBLIC, Event, Tracker, View
from trickformer.games.hearts import DIRECTIONS, NUM_CARDS, PASSED, PLAYERS, TWO_OF_CLUBS, Hearts

HAND = NUM_CARDS // PLAYERS
POSITION = NUM_CARDS  # the first position token
DIRECTION = POSITION + PLAYERS  # the first pass direction token
CARDS = tuple(rank + suit for rank in "23456789TJQKA" for suit in "CDHS")


class HeartsTokenizer:
    """Tokens of `hearts` under the rules of one game; 61 in all, at most 75 in a sequence."""

    vocab = (*CARDS, *(f"seat{p}" for p in range(PLAYERS)), *(f"pass-{d}" for d in DIRECTIONS), "eos")
    eos = len(vocab) - 1
    n_positions = 1 + HAND + 1 + 2 * PASSED + 1 + NUM_CARDS + 1

    def __init__(self, game: Hearts):
        self.table = _core.hearts.Table(_core.hearts.Rules(**game.rules), np.array(game.outcomes.labels, dtype=np.int8))

    def encode(self, view: View) -> np.ndarray:
        """int32 [T]. Raises ValueError for the public view, which no seat sees."""
        if view.viewer == PUBLIC:
            raise ValueError("a sequence of tokens belongs to a seat, and the public has none")
        direction, hand, *rest = view.events
        tokens = [POSITION + view.viewer, *hand.seen, DIRECTION + direction.action]
        plays = -1  # until the first lead is announced
        for event in rest:
            if event.seen == (TWO_OF_CLUBS,):
                tokens.append(POSITION + event.actor)
                plays = 0
            elif event.action is None:
                tokens += event.seen
            else:
                tokens.append(event.action)
                plays += plays >= 0
        if plays == NUM_CARDS:
            tokens.append(self.eos)
        return np.array(tokens, dtype=np.int32)

    def decode(self, tokens: np.ndarray) -> tuple[Event, ...]:
        """The events of the view. Raises ValueError on tokens that no view encodes to."""
        sequence = [int(t) for t in tokens]
        tracker = self.tracker(tokens)
        if not tracker.is_legal() or tracker.terminal() != (sequence[-1:] == [self.eos]):
            raise ValueError("no deal explains these tokens")
        if len(sequence) < HAND + 2:
            raise ValueError("a view begins when all cards are dealt")
        seat, hand, rest = sequence[0] - POSITION, tuple(sequence[1 : HAND + 1]), sequence[HAND + 2 :]
        direction = sequence[HAND + 1] - DIRECTION
        exchange = 2 * PASSED if direction else 0
        before_lead = len(rest) <= exchange
        if before_lead and (len(rest) > PASSED or not direction):
            raise ValueError("these tokens end where nobody has a view")
        events = [Event(CHANCE, direction), Event(CHANCE, None, hand)]
        events += [Event(seat, card) for card in rest[: min(PASSED, exchange)]]
        if before_lead:
            return tuple(events)
        if direction:
            events.append(Event((seat - direction) % PLAYERS, None, tuple(rest[PASSED:exchange])))
        turn = rest[exchange] - POSITION
        events.append(Event(turn, None, (TWO_OF_CLUBS,)))
        plays = rest[exchange + 1 : exchange + 1 + NUM_CARDS]
        for i, card in enumerate(plays):
            events.append(Event(turn, card))
            turn = (turn + 1) % PLAYERS
            if i % PLAYERS == PLAYERS - 1:
                trick = plays[i - 3 : i + 1]
                turn = (turn + _winner(trick)) % PLAYERS
        return tuple(events)

    def token(self, action: int) -> int:
        """Passing or playing a card is that card's token."""
        return action

    def action(self, token: int) -> int:
        """The OpenSpiel action of an own token. Raises ValueError on a token that is no action."""
        if not 0 <= token < NUM_CARDS:
            raise ValueError(f"token {token} is no action of a player")
        return token

    def tracker(self, tokens: np.ndarray) -> Tracker:
        """The simulator after these tokens, which may be none."""
        tracker = self.table.tracker()
        for token in tokens:
            tracker.push(int(token))
        return tracker


def _winner(trick: list[int]) -> int:
    """Place in the trick of the highest card of the suit led; cards of a suit compare like their ranks."""
    return max(range(PLAYERS), key=lambda k: (trick[k] % 4 == trick[0] % 4, trick[k]))


def make(game: Hearts) -> HeartsTokenizer:
    return HeartsTokenizer(game)
