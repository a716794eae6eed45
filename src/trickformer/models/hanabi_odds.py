"""Odds of a seat's cards in Hanabi, counted from its observation: the probability that a card fits the fireworks.

Without them a network would have to multiply the fireworks by the hints about each card.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch

from trickformer import _core

TRAITS = 2  # traits of a card: it can be played now, it was played before


class Layout(NamedTuple):
    """Layout of an observation (cpp/hanabi/observation.hpp)."""

    players: int
    slots: int
    colors: int
    ranks: int
    fireworks: int  # index of the fireworks' first number
    discards: int  # index of the discards' first number
    copies: tuple[int, ...]  # copies of a card of each rank

    @classmethod
    def of(cls, rules: _core.hanabi.Rules) -> Layout:
        """Compute the layout for a game's rules.

        Args:
            rules: The rules.
        """
        hands = (rules.players - 1) * rules.hand * rules.kinds + rules.players
        fireworks = hands + rules.deck - rules.players * rules.hand
        discards = fireworks + rules.kinds + rules.hints + rules.lives
        copies = tuple(rules.copies(rank) for rank in range(rules.ranks))
        return cls(rules.players, rules.hand, rules.colors, rules.ranks, fireworks, discards, copies)

    @property
    def last(self) -> slice:
        """Numbers of the last move."""
        begin = self.discards + self.colors * sum(self.copies)
        size = 2 * self.players + 4 + self.colors + self.ranks + 2 * self.slots + self.colors * self.ranks + 2
        return slice(begin, begin + size)

    @property
    def odds(self) -> int:
        """Number of odds, see `odds`."""
        return TRAITS * self.slots * (2 * self.players - 1)


def traits(layout: Layout, seen: torch.Tensor) -> torch.Tensor:
    """Compute the traits of a card of each kind.

    Args:
        layout: Layout of the observations.
        seen: Observations, float32 [n, ...].

    Returns:
        float32 [n, kinds, TRAITS], 0 or 1.
    """
    colors, ranks = layout.colors, layout.ranks
    fireworks = seen[:, layout.fireworks : layout.fireworks + colors * ranks]
    tops = fireworks.view(-1, colors, ranks)  # 1 at the highest card
    played = tops.flip(2).cumsum(2).flip(2).flatten(1)
    playable = torch.cat([1 - tops.sum(2, keepdim=True), tops[:, :, :-1]], 2).flatten(1)
    return torch.stack([playable, played], 2)


def odds(layout: Layout, seen: torch.Tensor) -> torch.Tensor:
    """Count the odds of cards, the probabilities that a card can be played and that it was played.

    Args:
        layout: Layout of the observations.
        seen: Observations, float32 [n, observation]; numbers after them are ignored.

    Returns:
        float32 [n, layout.odds], slot by slot: own cards by counting all cards that the seat sees; the others' cards
        by the public knowledge in the observation; the others' cards as they are.
    """
    players, slots = layout.players, layout.slots
    colors, ranks = layout.colors, layout.ranks
    n, kinds = len(seen), colors * ranks
    deck = colors * sum(layout.copies)
    hands = seen[:, : (players - 1) * slots * kinds].view(n, (players - 1) * slots, kinds)
    fits = traits(layout, seen)
    copies = _copies(colors, layout.copies).to(seen)  # [deck, kinds]
    discarded = seen[:, layout.discards : layout.discards + deck] @ copies
    hidden = copies.sum(0) - discarded - fits[:, :, 1] - hands.sum(1)
    size = kinds + colors + ranks
    begin = layout.last.stop
    hints = seen[:, begin : begin + players * slots * size].view(n, players * slots, size)[:, :, :kinds]
    of_own = (hints[:, :slots] > 0) * hidden[:, None].clamp(min=0)
    of_others = hints[:, slots:]
    believed = [x / x.sum(2, keepdim=True).clamp(min=1e-6) for x in (of_own, of_others)]
    return torch.cat([(x @ fits).flatten(1) for x in (*believed, hands)], 1)


@cache
def _copies(colors: int, copies: tuple[int, ...]) -> torch.Tensor:
    """Return the kind of each card of the deck as one-hot rows, float32 [deck, kinds], in order of kinds."""
    return torch.eye(colors * len(copies)).repeat_interleave(torch.tensor(copies * colors), 0)
