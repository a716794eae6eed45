"""What a seat of Hanabi can count from its observation: how likely cards fit the fireworks.

A network would have to multiply what it sees of the fireworks by what hints say of each card; that is done for it."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch

from trickformer import _core

TRAITS = 2  # of a card: it can be played now, it was played before


class Layout(NamedTuple):
    """Where an observation says what (cpp/hanabi/observation.hpp)."""

    players: int
    slots: int
    colors: int
    ranks: int
    fireworks: int  # numbers before those of the fireworks
    discards: int  # numbers before those of the discards
    copies: tuple[int, ...]  # of a card of each rank

    @classmethod
    def of(cls, rules: _core.hanabi.Rules) -> Layout:
        """In games of these rules."""
        hands = (rules.players - 1) * rules.hand * rules.kinds + rules.players
        fireworks = hands + rules.deck - rules.players * rules.hand
        discards = fireworks + rules.kinds + rules.hints + rules.lives
        copies = tuple(rules.copies(rank) for rank in range(rules.ranks))
        return cls(rules.players, rules.hand, rules.colors, rules.ranks, fireworks, discards, copies)

    @property
    def last(self) -> slice:
        """What it says of the last move."""
        begin = self.discards + self.colors * sum(self.copies)
        size = 2 * self.players + 4 + self.colors + self.ranks + 2 * self.slots + self.colors * self.ranks + 2
        return slice(begin, begin + size)

    @property
    def odds(self) -> int:
        """Numbers of `odds`."""
        return TRAITS * self.slots * (2 * self.players - 1)


def traits(layout: Layout, seen: torch.Tensor) -> torch.Tensor:
    """float32 [n, kinds, TRAITS], 0 or 1: what holds of a card of each kind, by observations, float32 [n, ...]."""
    colors, ranks = layout.colors, layout.ranks
    fireworks = seen[:, layout.fireworks : layout.fireworks + colors * ranks]
    tops = fireworks.view(-1, colors, ranks)  # 1 at the highest card
    played = tops.flip(2).cumsum(2).flip(2).flatten(1)
    playable = torch.cat([1 - tops.sum(2, keepdim=True), tops[:, :, :-1]], 2).flatten(1)
    return torch.stack([playable, played], 2)


def odds(layout: Layout, seen: torch.Tensor) -> torch.Tensor:
    """float32 [n, layout.odds] of observations, float32 [n, observation], whatever stands after them: for each own card
    how likely it can be played and was played, by counting all that the seat sees, slot by slot; the same of the
    others' cards as everybody sees them, and as they are."""
    players, slots, colors, ranks = layout[:4]
    n, kinds = len(seen), colors * ranks
    deck = colors * sum(layout.copies)
    hands = seen[:, : (players - 1) * slots * kinds].view(n, (players - 1) * slots, kinds)
    fits = traits(layout, seen)
    copies = _copies(colors, layout.copies).to(seen)  # [deck, kinds]
    discarded = seen[:, layout.discards : layout.discards + deck] @ copies
    hidden = copies.sum(0) - discarded - fits[:, :, 1] - hands.sum(1)
    size = kinds + colors + ranks
    begin = layout.last.stop
    told = seen[:, begin : begin + players * slots * size].view(n, players * slots, size)[:, :, :kinds]
    of_own = (told[:, :slots] > 0) * hidden[:, None].clamp(min=0)
    of_others = told[:, slots:]
    believed = [x / x.sum(2, keepdim=True).clamp(min=1e-6) for x in (of_own, of_others)]
    return torch.cat([(x @ fits).flatten(1) for x in (*believed, hands)], 1)


@cache
def _copies(colors: int, copies: tuple[int, ...]) -> torch.Tensor:
    """float32 [deck, kinds]: which kind each card of the deck is, in order of kinds."""
    return torch.eye(colors * len(copies)).repeat_interleave(torch.tensor(copies * colors), 0)
