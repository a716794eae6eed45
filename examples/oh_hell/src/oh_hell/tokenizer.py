"""Tokenizer of Oh Hell, and the tracker that follows its tokens.

A sequence is the own seat, the own cards in ascending order, the card turned up, one bid for each player, the plays,
and the end token. All complete sequences of a game have the same length. The rules determine who bids and plays, so no
token names the player.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from oh_hell.game import BID, CARDS, NUM_CARDS, OhHell, forbidden_bid, suit_of, winner
from trickformer.base import CHANCE, PUBLIC, Event, Tokenizer, Tracker, View

_SUITS = range(4)


class OhHellTokenizer(Tokenizer):
    """Tokens of one number of players and cards. Actions are their own tokens."""

    features_version = "oh_hell-1"

    def __init__(self, game: OhHell):
        self.game = game
        self.players, self.cards = game.players, game.cards
        self.seat = BID + game.cards + 1  # the first seat token
        bids = [f"bid-{n}" for n in range(game.cards + 1)]
        seats = [f"seat{p}" for p in range(game.players)]
        self.vocab = (*CARDS, *bids, *seats, "eos")
        self.eos = len(self.vocab) - 1
        self.n_positions = 1 + game.cards + 1 + game.players * (1 + game.cards) + 1
        self.n_features = len(self.vocab) + 1 + NUM_CARDS + 4 + 4 * game.players

    def encode(self, view: View) -> np.ndarray:
        if view.viewer == PUBLIC:
            raise ValueError("tokens encode the view of a seat, not the public view")
        tokens = [self.seat + view.viewer]
        for event in view.events:
            tokens += event.seen if event.action is None else (event.action,)
        if len(tokens) == self.n_positions - 1:
            tokens.append(self.eos)
        return np.array(tokens, dtype=np.int32)

    def decode(self, tokens: np.ndarray) -> tuple[Event, ...]:
        tracker, actors = OhHellTracker(self), []
        for token in np.asarray(tokens).tolist():
            actors.append(tracker.turn())
            tracker.push(token)
        if not tracker.is_legal() or tracker.terminal() != (len(tokens) >= self.n_positions - 1):
            raise ValueError("no deal explains these tokens")
        start = 1 + self.cards
        if len(tokens) <= start:
            raise ValueError("a view begins when all cards are dealt")
        own, turned = tuple(int(t) for t in tokens[1:start]), int(tokens[start])
        acts = [(p, int(t)) for p, t in zip(actors, tokens) if p is not None]
        return (Event(CHANCE, None, own), Event(CHANCE, turned), *(Event(p, action) for p, action in acts))

    def token(self, action: int) -> int:
        return action  # the token of an action is its number

    def action(self, token: int) -> int:
        if not 0 <= token < self.seat:
            raise ValueError(f"token {token} is no action of a player")
        return token

    def tracker(self, tokens: Sequence[int] | np.ndarray) -> OhHellTracker:
        tracker = OhHellTracker(self)
        for token in tokens:
            tracker.push(int(token))
        return tracker


class OhHellTracker(Tracker):
    """Tracker of one seat's knowledge. It is exact: a token is possible if and only if some deal allows it.

    A seat that does not follow suit shows a void. The other seats hold unseen cards, each seat only of suits in which
    it has shown no void. The remaining unseen cards stay in the deck. By Hall's theorem, a consistent deal exists if
    and only if the following holds for every group of seats: the suits that the group may hold have at least as many
    unseen cards as the group holds. The condition depends only on the suits of the cards, so the tracker tests one card
    of each suit.
    """

    def __init__(self, tokenizer: OhHellTokenizer):
        self._tokenizer = tokenizer
        self._at = 0  # number of tokens so far
        self._legal = True
        self._next: list[int] | None = None  # tokens that are possible next; None until they are computed
        self.seat = 0
        self.hand: list[int] = []
        self.unseen = list(range(NUM_CARDS))
        self.trump = 0
        self.bids: list[int] = []
        self.taken = [0] * tokenizer.players
        self.left = [tokenizer.cards] * tokenizer.players  # cards in each hand
        self.voids = [[False] * 4 for _ in range(tokenizer.players)]
        self.leader = 0
        self.trick: list[int] = []

    def copy(self) -> OhHellTracker:
        twin = copy.copy(self)
        for name in ("hand", "unseen", "bids", "taken", "left", "trick"):
            setattr(twin, name, getattr(self, name).copy())
        twin.voids = [row.copy() for row in self.voids]
        return twin

    def turn(self) -> int | None:
        """Return the seat that bids or plays next; None while cards are dealt and at the end."""
        tokenizer = self._tokenizer
        if self._at < tokenizer.cards + 2 or self._at >= tokenizer.n_positions - 1:
            return None
        if len(self.bids) < tokenizer.players:
            return len(self.bids)
        return (self.leader + len(self.trick)) % tokenizer.players

    def my_turn(self) -> bool:
        return self.turn() == self.seat

    def terminal(self) -> bool:
        return self._at == self._tokenizer.n_positions

    def is_legal(self) -> bool:
        return self._legal

    def legal(self) -> np.ndarray:
        mask = np.zeros(len(self._tokenizer.vocab), bool)
        if self.my_turn():
            mask[self._possible()] = True  # all possible tokens of the own turn are legal
        return mask

    def possible(self) -> np.ndarray:
        mask = np.zeros(len(self._tokenizer.vocab), bool)
        mask[self._possible()] = True
        return mask

    def push(self, token: int) -> None:
        tokenizer = self._tokenizer
        self._legal = self._legal and token in self._possible()  # an impossible token makes the history illegal
        turn, at = self.turn(), self._at
        self._next = None
        self._at = min(at + 1, tokenizer.n_positions)
        if at == 0:
            self.seat = min(max(token - tokenizer.seat, 0), tokenizer.players - 1)
        elif turn is None:
            self._deal(token, at)
        elif len(self.bids) < tokenizer.players:
            self.bids.append(min(max(token - BID, 0), tokenizer.cards))
        else:
            self._play(token, turn)

    def outcome(self) -> int | None:
        if not self.terminal():
            raise ValueError("a history has an outcome only at its end")
        if not self._legal:
            return None
        scores = [10 + bid if bid == taken else 0 for bid, taken in zip(self.bids, self.taken)]
        return self._tokenizer.game.outcomes.of(scores, self.seat)

    def features(self) -> np.ndarray:
        """Return the features, float32 [n_features].

        They are the features of every tracker (the possible tokens and the own turn), the own cards, the trump suit,
        and four numbers for each seat, the own first: whether it has bid, its bid, the tricks that it still needs, and
        whether its card is winning the trick. Bids and tricks are shares of the cards in a hand.
        """
        players, cards = self._tokenizer.players, self._tokenizer.cards
        own = np.zeros(NUM_CARDS + 4 + 4 * players, np.float32)
        own[self.hand] = 1
        if self._at > cards + 1:
            own[NUM_CARDS + self.trump] = 1
        winning = (self.leader + winner(self.trick, self.trump)) % players if self.trick else -1
        for seat, bid in enumerate(self.bids):
            at = NUM_CARDS + 4 + 4 * ((seat - self.seat) % players)
            own[at : at + 4] = 1, bid / cards, (bid - self.taken[seat]) / cards, seat == winning
        return np.concatenate([super().features(), own])

    def _possible(self) -> list[int]:
        """Return the tokens that some deal allows next."""
        if self._next is None:
            self._next = self._find_possible()
        return self._next

    def _find_possible(self) -> list[int]:
        tokenizer, at = self._tokenizer, self._at
        turn = self.turn()
        if at == 0:
            return list(range(tokenizer.seat, tokenizer.seat + tokenizer.players))
        if at <= tokenizer.cards:  # own cards ascend, so higher cards must remain for the rest of the hand
            low = self.hand[-1] + 1 if self.hand else 0
            return list(range(low, NUM_CARDS - tokenizer.cards + at))
        if at == tokenizer.cards + 1:
            return self.unseen.copy()
        if turn is None:
            return [tokenizer.eos] if at == tokenizer.n_positions - 1 else []
        if len(self.bids) < tokenizer.players:
            return self._legal_bids()
        return self._legal_cards() if turn == self.seat else self._possible_cards(turn)

    def _legal_bids(self) -> list[int]:
        cards = self._tokenizer.cards
        forbidden = forbidden_bid(self.bids, self._tokenizer.players, cards)
        return [BID + n for n in range(cards + 1) if n != forbidden]

    def _legal_cards(self) -> list[int]:
        """Return the own cards that the rules allow."""
        following = [card for card in self.hand if self.trick and suit_of(card) == suit_of(self.trick[0])]
        return following or self.hand.copy()

    def _possible_cards(self, seat: int) -> list[int]:
        """Return the cards that another seat may play in some deal."""
        counts = [0, 0, 0, 0]
        for card in self.unseen:
            counts[suit_of(card)] += 1
        suits = [
            suit
            for suit in _SUITS
            if counts[suit] and not self.voids[seat][suit] and self._is_consistent(seat, suit, counts)
        ]
        return [card for card in self.unseen if suit_of(card) in suits]

    def _is_consistent(self, seat: int, suit: int, counts: list[int]) -> bool:
        """Return whether `seat` plays a card of `suit` now in some deal. `counts` has the unseen cards by suit."""
        led = suit_of(self.trick[0]) if self.trick else suit
        room = [n - (s == suit) for s, n in enumerate(counts)]
        needs = [(0, frozenset())]  # by group of seats: number of cards, suits that the group may hold
        for p, left in enumerate(self.left):
            if p == self.seat:
                continue
            voids = {s for s in _SUITS if self.voids[p][s]}
            if p == seat and suit != led:
                voids.add(led)
            held, allowed = left - (p == seat), frozenset(_SUITS) - voids
            needs += [(cards + held, suits | allowed) for cards, suits in needs]
        return all(cards <= sum(room[s] for s in suits) for cards, suits in needs)

    def _deal(self, token: int, at: int) -> None:
        if token in self.unseen:
            self.unseen.remove(token)
            if at <= self._tokenizer.cards:
                self.hand.append(token)
            else:
                self.trump = suit_of(token)

    def _play(self, token: int, seat: int) -> None:
        card = token if token < NUM_CARDS else 0  # any card will do, because the history is illegal
        for cards in (self.hand, self.unseen):
            if card in cards:
                cards.remove(card)
        if self.trick and suit_of(card) != suit_of(self.trick[0]):
            self.voids[seat][suit_of(self.trick[0])] = True
        self.left[seat] -= 1
        self.trick.append(card)
        if len(self.trick) == self._tokenizer.players:
            self.leader = (self.leader + winner(self.trick, self.trump)) % self._tokenizer.players
            self.taken[self.leader] += 1
            self.trick = []
