"""a scripted player of Oh Hell: bids the tricks that it expects, and avoids tricks once it has them

A player module has a docstring, whose first line describes the player, the class `Options` and the function `make`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from oh_hell.game import BID, OhHell, suit_of, winner
from trickformer.base import CHANCE, Decision, Game, Memo, Player, View

GAMES = ("oh_hell",)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    boldness: float = Field(default=0.0, ge=-2, le=2, description="Tricks added to the expected number (default: 0).")


class Bidder(Player):
    """Player that decides without random numbers."""

    batch = 1  # each call has one view

    def __init__(self, game: OhHell, boldness: float):
        self._game, self._boldness = game, boldness

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [Decision(self._bid(v) if v.legal[0] >= BID else self._play(v)) for v in views]

    def _bid(self, view: View) -> int:
        """Return the legal bid nearest to the expected tricks.

        An ace of a side suit counts 0.6 tricks, a king 0.3, and a trump 0.3 to 0.9, the more the higher it is.
        """
        hand, trump = view.events[0].seen, suit_of(view.events[1].action or 0)
        rank = np.array([card % 13 for card in hand])
        chance = np.where(
            [suit_of(card) == trump for card in hand], 0.3 + rank / 20, (rank == 12) * 0.6 + (rank == 11) * 0.3
        )
        target = BID + chance.sum() + self._boldness
        return min(view.legal, key=lambda bid: (abs(bid - target), bid))

    def _play(self, view: View) -> int:
        """Return the card to play.

        If the player needs more tricks, a leader plays its highest card. Any other player plays the lowest card that
        takes the trick so far. A player that needs no more tricks plays the highest card that does not take the trick.
        """
        trump = suit_of(view.events[1].action or 0)
        acts = [(e.actor, e.action) for e in view.events if e.actor != CHANCE and e.action is not None]
        bids, plays = acts[: self._game.players], acts[self._game.players :]
        taken, complete = 0, len(plays) - len(plays) % self._game.players  # complete: plays of complete tricks
        for first in range(0, complete, self._game.players):
            trick = plays[first : first + self._game.players]
            taken += trick[winner([card for _, card in trick], trump)][0] == view.viewer
        trick = [card for _, card in plays[complete:]]
        takes = [card for card in view.legal if winner([*trick, card], trump) == len(trick)]
        fails = [card for card in view.legal if card not in takes]
        if taken < bids[view.viewer][1] - BID:
            return (max if not trick else min)(takes, default=min(view.legal), key=lambda card: card % 13)
        return max(fails, default=min(view.legal, key=lambda card: card % 13), key=lambda card: card % 13)


def make(options: Options, game: Game) -> Bidder:
    assert isinstance(game, OhHell)  # the only one of GAMES
    return Bidder(game, options.boldness)
