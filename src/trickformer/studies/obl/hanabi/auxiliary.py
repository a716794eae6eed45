"""The auxiliary task of self-play ("Simplified Action Decoder", Hu & Foerster 2020): what is each own card good for?

The answers are those of the public code of "Off-Belief Learning": a card can be played, or was played before, so that
another is to be discarded, or neither."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy

from trickformer.models.hanabi_odds import Layout, traits
from trickformer.studies.obl.hanabi.learning import Frames

_NEITHER, _NO_CARD = 2, -1


def answers(layout: Layout, seen: torch.Tensor) -> torch.Tensor:
    """int64 [m, P, slots] by what all P seats saw, float32 [m, P, ...]: 0 where the own card can be played, 1 where it
    was played before, 2 where neither holds, -1 where there is no card."""
    m, players = seen.shape[:2]
    seen = seen.flatten(0, 1)
    slots, kinds = layout.slots, layout.colors * layout.ranks
    cards = seen[:, : slots * kinds].view(-1, slots, kinds)  # those of the seat to the left come first
    fits = cards @ traits(layout, seen)
    found = torch.where(fits.any(2), fits.argmax(2), _NEITHER).masked_fill(~cards.any(2), _NO_CARD)
    return found.view(m, players, slots).roll(1, dims=1)


def loss(said: torch.Tensor, given: Frames, layout: Layout, weights: torch.Tensor) -> torch.Tensor:
    """The cross-entropy of answers, [m, P, slots, 3] logits, weighted by game, [k]: the mean over moves, seats and the
    cards of a hand."""
    known = answers(layout, given.seen)
    there = known != _NO_CARD
    of_card = cross_entropy(said.flatten(0, 2), known.flatten(), ignore_index=_NO_CARD, reduction="none")
    of_hand = (of_card.view(known.shape) * there).sum(2) / there.sum(2).clamp(min=1)
    return (of_hand * weights[given.games][:, None]).mean()
