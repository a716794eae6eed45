"""Oh Hell as tokens, and the tracker that follows them.

A sequence is the own seat, the own cards (ascending), the card turned up, one bid a player, the plays, and the end.
Every whole sequence of a game has the same length. Who bid or played follows from the rules."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from oh_hell.game import BID, CARDS, NUM_CARDS, OhHell, may_not_bid, suit_of, winner
from trickformer.base import CHANCE, PUBLIC, Event, Tokenizer, Tracker, View

_SUITS = range(4)


class OhHellTokenizer(Tokenizer):
    """Tokens of one number of players and cards. Actions are their own tokens."""

    features_version = "oh_hell-1"

    def __init__(self, game: OhHell):
        self.game, self.players, self.cards = game, game.players, game.cards
        self.seat = BID + game.cards + 1  # the first seat token
        bids, seats = (f"bid-{n}" for n in range(game.cards + 1)), (f"seat{p}" for p in range(game.players))
        self.vocab = (*CARDS, *bids, *seats, "eos")
        self.eos = len(self.vocab) - 1
        self.n_positions = 1 + game.cards + 1 + game.players * (1 + game.cards) + 1
        self.n_features = len(self.vocab) + 1 + NUM_CARDS + 4 + 4 * game.players

    def encode(self, view: View) -> np.ndarray:
        """int32 [T]. Raises ValueError for the public view, which no seat sees."""
        if view.viewer == PUBLIC:
            raise ValueError("tokens encode the view of a seat, not the public view")
        tokens = [self.seat + view.viewer]
        for event in view.events:
            tokens += event.seen if event.action is None else (event.action,)
        if len(tokens) == self.n_positions - 1:
            tokens.append(self.eos)
        return np.array(tokens, dtype=np.int32)

    def decode(self, tokens: np.ndarray) -> tuple[Event, ...]:
        """The events of the view. Raises ValueError on tokens that no view encodes to."""
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
        """An action's token is its number."""
        return action

    def action(self, token: int) -> int:
        """The action of an own token. Raises ValueError on a token that is no action."""
        if not 0 <= token < self.seat:
            raise ValueError(f"token {token} is no action of a player")
        return token

    def tracker(self, tokens: Sequence[int] | np.ndarray) -> OhHellTracker:
        """The simulator after these tokens, which may be none."""
        tracker = OhHellTracker(self)
        for token in tokens:
            tracker.push(int(token))
        return tracker


class OhHellTracker(Tracker):
    """Tracker of one seat's knowledge. It is exact: a token is possible if and only if some deal allows it.

    A seat that does not follow suit shows a void. The other seats' cards come from the unseen ones, each seat's from
    the suits in which it has shown no void; the rest stays in the deck. By Hall's theorem there is such a deal if and
    only if, for every group of seats, the suits that the group may hold have at least as many unseen cards as the group
    holds. Cards of a suit do not differ in this respect, so the tracker tests one card of each suit."""

    def __init__(self, tokenizer: OhHellTokenizer):
        self._of = tokenizer
        self._at = 0  # tokens so far
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
        """Another tracker at the same place."""
        twin = copy.copy(self)
        for name in ("hand", "unseen", "bids", "taken", "left", "trick"):
            setattr(twin, name, getattr(self, name).copy())
        twin.voids = [row.copy() for row in self.voids]
        return twin

    def turn(self) -> int | None:
        """The seat that bids or plays next; None while cards are dealt and at the end."""
        of = self._of
        if self._at < of.cards + 2 or self._at >= of.n_positions - 1:
            return None
        if len(self.bids) < of.players:
            return len(self.bids)
        return (self.leader + len(self.trick)) % of.players

    def my_turn(self) -> bool:
        return self.turn() == self.seat

    def terminal(self) -> bool:
        return self._at == self._of.n_positions

    def is_legal(self) -> bool:
        return self._legal

    def legal(self) -> np.ndarray:
        """bool [V]."""
        mask = np.zeros(len(self._of.vocab), bool)
        if self.my_turn():
            mask[self._own() if len(self.bids) == self._of.players else self._may_bid()] = True
        return mask

    def possible(self) -> np.ndarray:
        """bool [V]."""
        mask = np.zeros(len(self._of.vocab), bool)
        mask[self._possible()] = True
        return mask

    def push(self, token: int) -> None:
        """An impossible token marks the history illegal."""
        of = self._of
        self._legal = self._legal and token in self._possible()
        turn, at, self._next = self.turn(), self._at, None
        self._at = min(at + 1, of.n_positions)
        if at == 0:
            self.seat = min(max(token - of.seat, 0), of.players - 1)
        elif turn is None:
            self._deal(token, at)
        elif len(self.bids) < of.players:
            self.bids.append(min(max(token - BID, 0), of.cards))
        else:
            self._play(token, turn)

    def outcome(self) -> int | None:
        """Return the outcome for the own seat; None after an illegal history. Raises ValueError before the end."""
        if not self.terminal():
            raise ValueError("a history has an outcome only at its end")
        if not self._legal:
            return None
        scores = [10 + bid if bid == taken else 0 for bid, taken in zip(self.bids, self.taken)]
        return self._of.game.outcomes.of(scores, self.seat)

    def features(self) -> np.ndarray:
        """float32 [n_features]: the features of every tracker (possible tokens, own turn); the own cards; trump;
        and for each seat, the own first: whether it has bid, its bid and the tricks that it still needs (both as
        shares of the cards in a hand), and whether its card is winning the trick."""
        players, cards = self._of.players, self._of.cards
        own = np.zeros(NUM_CARDS + 4 + 4 * players, np.float32)
        own[self.hand] = 1
        if self._at > cards + 1:
            own[NUM_CARDS + self.trump] = 1
        ahead = (self.leader + winner(self.trick, self.trump)) % players if self.trick else -1
        for seat, bid in enumerate(self.bids):
            at = NUM_CARDS + 4 + 4 * ((seat - self.seat) % players)
            own[at : at + 4] = 1, bid / cards, (bid - self.taken[seat]) / cards, seat == ahead
        return np.concatenate([super().features(), own])

    def _possible(self) -> list[int]:
        """The tokens that some deal allows next."""
        if self._next is None:
            self._next = self._find_possible()
        return self._next

    def _find_possible(self) -> list[int]:
        of, at, turn = self._of, self._at, self.turn()
        if at == 0:
            return list(range(of.seat, of.seat + of.players))
        if at <= of.cards:  # ascending, with room for the cards to come
            low = self.hand[-1] + 1 if self.hand else 0
            return list(range(low, NUM_CARDS - of.cards + at))
        if at == of.cards + 1:
            return self.unseen.copy()
        if turn is None:
            return [of.eos] if at == of.n_positions - 1 else []
        if len(self.bids) < of.players:
            return self._may_bid()
        return self._own() if turn == self.seat else self._others(turn)

    def _may_bid(self) -> list[int]:
        forbidden = may_not_bid(self.bids, self._of.players, self._of.cards)
        return [BID + n for n in range(self._of.cards + 1) if n != forbidden]

    def _own(self) -> list[int]:
        following = [card for card in self.hand if self.trick and suit_of(card) == suit_of(self.trick[0])]
        return following or self.hand.copy()

    def _others(self, seat: int) -> list[int]:
        """The cards that another seat may play in some deal."""
        counts = [0, 0, 0, 0]
        for card in self.unseen:
            counts[suit_of(card)] += 1
        suits = [
            suit for suit in _SUITS if counts[suit] and not self.voids[seat][suit] and self._fits(seat, suit, counts)
        ]
        return [card for card in self.unseen if suit_of(card) in suits]

    def _fits(self, seat: int, suit: int, counts: list[int]) -> bool:
        """Whether there is a deal in which `seat` plays a card of `suit` now."""
        led = suit_of(self.trick[0]) if self.trick else suit
        room = [n - (s == suit) for s, n in enumerate(counts)]
        needs = [(0, frozenset())]  # by group of seats: number of cards, suits that the group may hold
        for p, left in enumerate(self.left):
            if p == self.seat:
                continue
            barred = {s for s in _SUITS if self.voids[p][s]} | ({led} if p == seat and suit != led else set())
            own = left - (p == seat), frozenset(_SUITS) - barred
            needs += [(cards + own[0], suits | own[1]) for cards, suits in needs]
        return all(cards <= sum(room[s] for s in suits) for cards, suits in needs)

    def _deal(self, token: int, at: int) -> None:
        if token in self.unseen:
            self.unseen.remove(token)
            if at <= self._of.cards:
                self.hand.append(token)
            else:
                self.trump = suit_of(token)

    def _play(self, token: int, seat: int) -> None:
        card = token if token < NUM_CARDS else 0  # an illegal history may have any card
        for cards in (self.hand, self.unseen):
            if card in cards:
                cards.remove(card)
        if self.trick and suit_of(card) != suit_of(self.trick[0]):
            self.voids[seat][suit_of(self.trick[0])] = True
        self.left[seat] -= 1
        self.trick.append(card)
        if len(self.trick) == self._of.players:
            self.leader = (self.leader + winner(self.trick, self.trump)) % self._of.players
            self.taken[self.leader] += 1
            self.trick = []
