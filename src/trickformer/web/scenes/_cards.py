"""Shared functions of the scenes with cards."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise, permutations

from trickformer.web.scenes._scene import Card, LogEntry, Sign, TrickCard

FRENCH: dict[str, Sign] = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
_RANKS = {"T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}


def french(name: str, suit: str, rank: str) -> Card:
    """Make a card of the French pack.

    Args:
        name: Name of the card in the game.
        suit: C, D, H or S.
        rank: 2 to 9, T, J, Q, K or A.
    """
    words = f"{_RANKS.get(rank, rank)} of {FRENCH[suit]}"
    return Card(name=name, words=words, rank="10" if rank == "T" else rank, sign=FRENCH[suit])


def name_seats(seats: Sequence[int], you: int | None) -> str:
    """Name seats at the beginning of a sentence: "You", "Seat 2", "You and seat 2", "Seats 1 and 2".

    Args:
        seats: The seats.
        you: Seat that the reader plays, or None.
    """
    if you in seats:
        return " and ".join(["You", *(f"seat {seat}" for seat in seats if seat != you)])
    return f"Seat{'s' if len(seats) > 1 else ''} {' and '.join(map(str, seats))}"


def backs(n: int) -> tuple[Card, ...]:
    """Make cards that lie face down.

    Args:
        n: Number of cards.
    """
    return (Card(),) * n


def alternate_colours(suits: Collection[str], order: str, first: str = "") -> list[str]:
    """Order the suits of a hand so that red and black alternate as far as possible.

    Args:
        suits: Suits in the hand, from C, D, H, S.
        order: All suits in the preferred order, which decides between equally good orders.
        first: Suit that comes first if the hand has it.
    """

    def count_equal_neighbours(suits: tuple[str, ...]) -> tuple[bool, int, list[int]]:
        equal = sum((a in "DH") == (b in "DH") for a, b in pairwise(suits))
        return first in suits and suits[0] != first, equal, [order.index(suit) for suit in suits]

    return list(min(permutations(set(suits)), key=count_equal_neighbours))


def make_clickable(cards: Iterable[tuple[int, Card]], actions: Collection[int]) -> tuple[Card, ...]:
    """Make the cards of some actions clickable.

    Args:
        cards: Cards with the action of each.
        actions: Legal actions.
    """
    return tuple(card.model_copy(update={"action": action}) if action in actions else card for action, card in cards)


def tricks(played: list[TrickCard], players: int) -> tuple[tuple[TrickCard, ...], tuple[TrickCard, ...]]:
    """Return the current trick, which may be empty, and the last complete trick.

    Args:
        played: Cards of the hand in the order played.
        players: Number of players.
    """
    n_complete = len(played) - len(played) % players
    return tuple(played[n_complete:]), tuple(played[max(0, n_complete - players) : n_complete])


def trick_log(played: Sequence[TrickCard], players: int, takers: Sequence[LogEntry]) -> list[LogEntry]:
    """List the cards of a hand, with the number of each trick before it and its taker after it.

    Args:
        played: Cards of the hand in the order played.
        players: Number of players.
        takers: Entry about the taker of each complete trick.
    """
    entries = []
    for i, play in enumerate(played):
        if i % players == 0:
            entries.append(LogEntry(words=f"trick {i // players + 1}"))
        entries.append(LogEntry(seat=play.seat, cards=(play.card,)))
        if i % players == players - 1:
            entries.append(takers[i // players])
    return entries
