"""Auxiliary task of self-play ("Simplified Action Decoder", Hu & Foerster 2020): classify the own cards.

The classes are those of the public code of "Off-Belief Learning". A card is playable, or a card of its kind was played
before and it can be discarded, or neither.
"""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy

from trickformer.models.hanabi_observation import Layout, traits
from trickformer.studies.obl.hanabi.learning import Frames

_NEITHER, _NO_CARD = 2, -1  # classes of `answers`


def answers(layout: Layout, seen: torch.Tensor) -> torch.Tensor:
    """Compute the class of every own card.

    Args:
        layout: Layout of an observation.
        seen: float32 [m, P, ...], observations of all P seats.

    Returns:
        int64 [m, P, slots]: 0 playable, 1 played before, 2 neither, -1 no card.
    """
    m, players = seen.shape[:2]
    seen = seen.flatten(0, 1)
    slots, kinds = layout.slots, layout.colors * layout.ranks
    # An observation begins with the hand of the seat to the left. So it gives the classes of that seat's cards, which
    # move one seat on at the end.
    cards = seen[:, : slots * kinds].view(-1, slots, kinds)
    card_traits = cards @ traits(layout, seen)
    classes = torch.where(card_traits.any(2), card_traits.argmax(2), _NEITHER).masked_fill(~cards.any(2), _NO_CARD)
    return classes.view(m, players, slots).roll(1, dims=1)


def loss(logits: torch.Tensor, frames: Frames, layout: Layout, weights: torch.Tensor) -> torch.Tensor:
    """Compute the weighted cross entropy of the classes.

    Args:
        logits: float32 [m, P, slots, 3].
        frames: m moves of k games.
        layout: Layout of an observation.
        weights: float32 [k], weights of the games.

    Returns:
        Mean over moves and seats of the mean over a hand's cards, in nats.
    """
    classes = answers(layout, frames.seen)
    is_card = classes != _NO_CARD
    card_loss = cross_entropy(logits.flatten(0, 2), classes.flatten(), ignore_index=_NO_CARD, reduction="none")
    hand_loss = (card_loss.view(classes.shape) * is_card).sum(2) / is_card.sum(2).clamp(min=1)
    return (hand_loss * weights[frames.games][:, None]).mean()
