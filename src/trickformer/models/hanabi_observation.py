"""Layout of OpenSpiel's observation of Hanabi, and probabilities that are computed from an observation.

An observation is the vector of all that a seat sees before one move. For each card, `card_probabilities` returns the
probability that it is playable now, and the probability that its kind already lies on a firework, so that it cannot be
played any more (option `--odds` of `trickformer obl train`). A network then need not multiply the entries about the
fireworks with those about each card.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch

from trickformer import _core

TRAITS = 2  # traits of a kind of card: playable now; already on a firework


class Layout(NamedTuple):
    """Layout of an observation (cpp/hanabi/observation.hpp).

    All entries are 0 or 1, but with `--v0` the entries about the kinds of each card are the V0 belief.
    """

    players: int
    slots: int  # cards of a hand
    colors: int
    ranks: int
    fireworks: int  # index of the first entry about fireworks
    discards: int  # index of the first entry about discards
    copies: tuple[int, ...]  # number of copies of a card, by rank

    @classmethod
    def for_rules(cls, rules: _core.hanabi.Rules) -> Layout:
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
        """Entries about the last move."""
        begin = self.discards + self.colors * sum(self.copies)
        # Actor and target, type of move, hinted colour, hinted rank, touched slots and slot of the card, kind of card,
        # whether it scored and whether a hint came back.
        size = 2 * self.players + 4 + self.colors + self.ranks + 2 * self.slots + self.colors * self.ranks + 2
        return slice(begin, begin + size)

    @property
    def n_probabilities(self) -> int:
        """Number of results of the function `card_probabilities`."""
        return TRAITS * self.slots * (2 * self.players - 1)


def traits(layout: Layout, observations: torch.Tensor) -> torch.Tensor:
    """Compute the traits of a card of each kind.

    Args:
        layout: Layout of the observations.
        observations: Observations, float32 [n, ...].

    Returns:
        float32 [n, kinds, TRAITS], 0 or 1.
    """
    colors, ranks = layout.colors, layout.ranks
    fireworks = observations[:, layout.fireworks : layout.fireworks + colors * ranks]
    tops = fireworks.view(-1, colors, ranks)  # 1 at the highest card of each firework
    played = (tops @ tops.new_ones(ranks, ranks).tril()).flatten(1)  # at the highest card and below
    playable = torch.cat([1 - tops.sum(2, keepdim=True), tops[:, :, :-1]], 2).flatten(1)
    return torch.stack([playable, played], 2)


def card_probabilities(layout: Layout, observations: torch.Tensor) -> torch.Tensor:
    """Compute for each card the probabilities that it is playable now, and that its kind already lies on a firework.

    Args:
        layout: Layout of the observations.
        observations: Observations, float32 [n, observation]; entries after them are ignored.

    Returns:
        float32 [n, layout.n_probabilities] in three parts, each slot by slot: (1) own cards, by the number of unseen
        copies of the kinds that hints allow; (2) the others' cards, by the public knowledge in the observation, which
        is the V0 belief or else uniform over the kinds that hints allow; (3) the others' cards as the seat sees them,
        with probabilities 0 and 1.
    """
    players, slots = layout.players, layout.slots
    colors, ranks = layout.colors, layout.ranks
    n, kinds = len(observations), colors * ranks
    deck = colors * sum(layout.copies)
    hands = observations[:, : (players - 1) * slots * kinds].view(n, (players - 1) * slots, kinds)
    kind_traits = traits(layout, observations)
    copies = _copies(colors, layout.copies).to(observations)  # [deck, kinds]
    discarded = observations[:, layout.discards : layout.discards + deck] @ copies
    hidden = copies.sum(0) - discarded - kind_traits[:, :, 1] - hands.sum(1)  # [n, kinds]: number of unseen cards
    size = kinds + colors + ranks
    begin = layout.last.stop
    knowledge = observations[:, begin : begin + players * slots * size].view(n, players * slots, size)[:, :, :kinds]
    own = (knowledge[:, :slots] > 0) * hidden[:, None].clamp(min=0)
    # One product sums the weights of the kinds with each trait, and of all kinds. The weights are copied into one
    # tensor first, because a product of slices of the observations takes twice as long.
    weights = torch.cat([own, knowledge[:, slots:], hands], 1)
    columns = torch.cat([kind_traits, torch.ones_like(kind_traits[:, :, :1])], 2)
    sums = weights @ columns
    return (sums[:, :, :TRAITS] / sums[:, :, TRAITS:].clamp(min=1e-6)).flatten(1)


@cache
def _copies(colors: int, copies: tuple[int, ...]) -> torch.Tensor:
    """Return the kind of each card of the deck as one-hot rows, float32 [deck, kinds], in order of kinds."""
    return torch.eye(colors * len(copies)).repeat_interleave(torch.tensor(copies * colors), 0)
