"""Hearts as tokens: Tables 1 and 5 of the GO-MCTS paper.

A sequence consists of the own seat, the 13 dealt cards (ascending), the pass direction, 3 passed cards (in the order
chosen), 3 received cards (ascending), the seat that leads the first trick, 52 plays and the end. Without passing it is
six tokens shorter. Others' passes have no tokens. The seat that plays a card has no token either, because it follows
from the rules.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer import _core
from trickformer.base import CHANCE, PUBLIC, BulkHands, Event, View
from trickformer.games.hearts import (
    CARDS,
    DIRECTIONS,
    HEARTS,
    NUM_CARDS,
    PASSED,
    PLAYERS,
    QUEEN_OF_SPADES,
    TWO_OF_CLUBS,
    Hearts,
)
from trickformer.tokenizers._bulk import CoreGame, deals
from trickformer.tokenizers._by_number import ByNumber

HAND = NUM_CARDS // PLAYERS
POSITION = NUM_CARDS  # the first position token
DIRECTION = POSITION + PLAYERS  # the first pass direction token


class HeartsTokenizer(ByNumber):
    """Tokens of `hearts` under the rules of one game: 61 in all, at most 75 in a sequence."""

    vocab = (*CARDS, *(f"seat{p}" for p in range(PLAYERS)), *(f"pass-{d}" for d in DIRECTIONS), "eos")
    eos = len(vocab) - 1
    n_actions = NUM_CARDS  # passing or playing a card
    n_positions = 1 + HAND + 1 + 2 * PASSED + 1 + NUM_CARDS + 1

    def __init__(self, game: Hearts):
        self._game = game
        self.rules = _core.hearts.Rules(**game.rules)
        self.codec = _core.hearts.Codec(self.rules, np.array(game.outcomes.labels, dtype=np.int8))

    def encode(self, view: View) -> np.ndarray:
        if view.viewer == PUBLIC:
            raise ValueError("tokens encode the view of a seat, not the public view")
        direction, hand = view.events[:2]
        assert direction.action is not None  # a pass direction is public
        tokens = [POSITION + view.viewer, *hand.seen, DIRECTION + direction.action]
        plays = -1  # number of plays; -1 before the event that shows the first leader
        for event in view.events[2:]:
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
        sequence = [int(t) for t in tokens]
        tracker = self.tracker(tokens)
        if not tracker.is_legal() or tracker.terminal() != (sequence[-1:] == [self.eos]):
            raise ValueError("no deal explains these tokens")
        if len(sequence) < HAND + 2:
            raise ValueError("a view begins when all cards are dealt")
        seat, direction = sequence[0] - POSITION, sequence[HAND + 1] - DIRECTION
        hand, rest = tuple(sequence[1 : HAND + 1]), sequence[HAND + 2 :]
        exchange = 2 * PASSED if direction else 0
        before_lead = len(rest) <= exchange
        if before_lead and (len(rest) > PASSED or not direction):
            raise ValueError(
                "the tokens stop before the leader of the first trick; append the tokens up to the leader's"
            )
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
                turn, _ = self._game.trick_result(
                    [(e.actor, card) for e, card in zip(events[-PLAYERS:], plays[i + 1 - PLAYERS : i + 1])]
                )
        return tuple(events)

    def initial_embeddings(self) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors of tokens and of positions, from which embeddings start.

        A token has the suit, rank and points of its card, and its kind. A position has the place in the trick, the
        number of the trick and the part of the sequence.

        Returns:
            float32 [V, 23] and float32 [n_positions, 22].
        """
        tokens = np.zeros((len(self.vocab), 23), dtype=np.float32)
        card = np.arange(NUM_CARDS)
        rank, suit = card // 4, card % 4
        tokens[card, suit] = 1  # columns 0 to 3
        tokens[card, 4 + rank] = 1  # columns 4 to 16
        tokens[card, 17] = rank / 6 - 1  # height of the card, -1 to 1
        tokens[card, 18] = suit == HEARTS  # a card of one point
        tokens[card, 19] = card == QUEEN_OF_SPADES
        for first, column in ((POSITION, 20), (DIRECTION, 21), (self.eos, 22)):  # four seats, four directions, the end
            tokens[first : first + PLAYERS, column] = 1
        positions = np.zeros((self.n_positions, 22), dtype=np.float32)
        play = np.arange(NUM_CARDS)
        first_play = self.n_positions - 1 - NUM_CARDS
        positions[first_play + play, play % PLAYERS] = 1  # columns 0 to 3: place in the trick
        positions[first_play + play, 4 + play // PLAYERS] = 1  # columns 4 to 16: number of the trick
        positions[first_play + play, 17] = play / (NUM_CARDS / 2) - 1  # progress of the hand, from -1 towards 1
        # Parts of the sequence: the own seat; the cards dealt; the pass and the first leader; the plays and the end.
        for start, end, column in ((0, 1, 18), (1, 1 + HAND, 19), (1 + HAND, first_play, 20), (first_play, None, 21)):
            positions[start:end, column] = 1
        return tokens, positions

    features_version = "hearts-1"  # raised when a feature in cpp/hearts/features.hpp changes its meaning
    n_features = 440  # kFeatures in cpp/hearts/features.hpp


class FastHearts(CoreGame):
    """Fast form of Hearts."""

    labels_by_network = labels_in_worlds = True

    def __init__(self, game: Hearts, tokenizer: HeartsTokenizer):
        super().__init__(tokenizer.codec)
        self._game, self._rules = game, tokenizer.rules

    def tables(self, seed: int, first: int, n: int) -> _core.hearts.Tables:
        return _core.hearts.Tables(self._codec, deals(self._game.chance_actions, seed, first, n))

    def core_hands(
        self, cast: Sequence[str], seed: int, first: int, n: int, tries: int = 1, noise: float = 0.0
    ) -> BulkHands | None:
        if not set(cast) <= {"random", "rules"}:
            return None
        if set(cast) == {"random"}:
            return BulkHands(self, *_core.hearts.random_hands(self._rules, seed, first, n))
        random_share = cast.count("random") / len(cast)
        history, scores = _core.hearts.mixed_hands(self._rules, seed, first, n, random_share, noise)[:2]
        return BulkHands(self, history, scores)


def make(game: Hearts) -> HeartsTokenizer:
    return HeartsTokenizer(game)


def fast(game: Hearts) -> FastHearts:
    return FastHearts(game, make(game))
