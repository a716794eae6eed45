"""Oh Hell by the letter of its README, independent of the example package. Cards are words."""

from __future__ import annotations

from collections.abc import Iterable

ORDER = list("23456789TJQKA")
DECK = [rank + suit for suit in "CDHS" for rank in ORDER]


class Twin:
    """One deal. hands: words, by seat; turned: the card turned up."""

    def __init__(self, hands: list[list[str]], turned: str):
        self.hands = [list(hand) for hand in hands]
        self.size, self.players, self.trump = len(hands[0]), len(hands), turned[1]
        self.bids: dict[int, int] = {}
        self.tricks: list[list[tuple[int, str]]] = [[]]  # each a list of (seat, card)
        self.won: list[int] = []  # the winners of the tricks that are over

    def turn(self) -> int | None:
        if len(self.bids) < self.players:
            return len(self.bids)
        if len(self.won) == self.size:
            return None
        trick = self.tricks[-1]
        if trick:
            return (trick[-1][0] + 1) % self.players
        return self.won[-1] if self.won else 0

    def choices(self) -> set[int | str]:
        seat = self.turn()
        if seat is None:
            return set()
        if len(self.bids) < self.players:
            every = range(self.size + 1)
            if seat == self.players - 1:
                return {bid for bid in every if sum(self.bids.values()) + bid != self.size}
            return set(every)
        hand, trick = self.hands[seat], self.tricks[-1]
        if trick:
            same = {card for card in hand if card[1] == trick[0][1][1]}
            if same:
                return set(same)
        return set(hand)

    def do(self, choice: int | str) -> None:
        seat = self.turn()
        assert seat is not None and choice in self.choices()
        if isinstance(choice, int):
            self.bids[seat] = choice
            return
        self.hands[seat].remove(choice)
        self.tricks[-1].append((seat, choice))
        if len(self.tricks[-1]) == self.players:
            self.won.append(taker(self.tricks[-1], self.trump))
            self.tricks.append([])

    def scores(self) -> tuple[int, ...]:
        found = []
        for seat in range(self.players):
            tricks = len([winner for winner in self.won if winner == seat])
            found.append(10 + tricks if tricks == self.bids[seat] else 0)
        return tuple(found)


def taker(trick: list[tuple[int, str]], trump: str) -> int:
    """The seat of the highest trump, or else of the highest card of the suit led."""
    trumps = [(ORDER.index(card[0]), seat) for seat, card in trick if card[1] == trump]
    followed = [(ORDER.index(card[0]), seat) for seat, card in trick if card[1] == trick[0][1][1]]
    return max(trumps or followed)[1]


def can_be_dealt(needs: Iterable[tuple[int, set[str]]], unseen: set[str]) -> bool:
    """Return whether each seat can get its number of different unseen cards from its suits.

    The algorithm matches one card at a time by augmenting paths (Kuhn 1955).
    """
    places = [suits for count, suits in needs for _ in range(count)]
    holds: dict[str, int] = {}

    def place(i: int, tried: set[str]) -> bool:
        for card in unseen - tried:
            if card[1] not in places[i]:
                continue
            tried.add(card)
            if card not in holds or place(holds[card], tried):
                holds[card] = i
                return True
        return False

    return all(place(i, set()) for i in range(len(places)))
