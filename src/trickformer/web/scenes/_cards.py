"""What games with cards share in showing them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from trickformer.web.scenes._scene import Card, Sign, TrickCard

FRENCH: dict[str, Sign] = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
_RANKS = {"T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}


def french(suit: str, rank: str) -> tuple[str, str, Sign]:
    """In words, the rank as it is printed, and the sign."""
    return f"{_RANKS.get(rank, rank)} of {FRENCH[suit]}", "10" if rank == "T" else rank, FRENCH[suit]


def backs(n: int) -> tuple[Card, ...]:
    """n cards face down."""
    return (Card(),) * n


def some(n: int, what: str) -> str:
    """`1 trick`, `2 tricks`."""
    return f"{n} {what}" + "s" * (n != 1)


def legal(cards: Iterable[tuple[int, Card]], actions: Collection[int]) -> tuple[Card, ...]:
    """Cards with their actions; those of `actions` can be clicked."""
    return tuple(card.model_copy(update={"action": action}) if action in actions else card for action, card in cards)


def tricks(played: list[TrickCard], players: int) -> tuple[tuple[TrickCard, ...], tuple[TrickCard, ...]]:
    """The trick under way, or none, and the last whole one."""
    whole = len(played) - len(played) % players
    return tuple(played[whole:]), tuple(played[max(0, whole - players) : whole])
