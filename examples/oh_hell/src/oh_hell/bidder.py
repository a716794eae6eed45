"""a scripted player of Oh Hell: bids its likely tricks, and plays high while it needs more, low once it has them

A player module is this docstring, whose first line describes the player, `Options` and `make`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from oh_hell.game import BID, OhHell, suit_of, winner
from trickformer.base import CHANCE, Decision, Game, Memo, Player, View

GAMES = ("oh_hell",)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    boldness: float = Field(default=0.0, ge=-2, le=2, description="tricks that it bids beyond those that it expects")


class Bidder(Player):
    """Player that decides by the view alone, without random numbers."""

    batch = 1  # one view after the other

    def __init__(self, game: OhHell, boldness: float):
        self._game, self._boldness = game, boldness

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view."""
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
        wanted = BID + chance.sum() + self._boldness
        return min(view.legal, key=lambda bid: (abs(bid - wanted), bid))

    def _play(self, view: View) -> int:
        """Play the lowest card that takes the trick so far if more tricks are needed, else the highest that does not.

        As leader, it plays its highest card if more tricks are needed.
        """
        trump = suit_of(view.events[1].action or 0)
        acts = [(e.actor, e.action) for e in view.events if e.actor != CHANCE and e.action is not None]
        bids, plays = acts[: self._game.players], acts[self._game.players :]
        taken, begun = 0, len(plays) - len(plays) % self._game.players
        for first in range(0, begun, self._game.players):
            trick = plays[first : first + self._game.players]
            taken += trick[winner([card for _, card in trick], trump)][0] == view.viewer
        trick = [card for _, card in plays[begun:]]
        takes = [card for card in view.legal if winner([*trick, card], trump) == len(trick)]
        fails = [card for card in view.legal if card not in takes]
        if taken < bids[view.viewer][1] - BID:
            return (max if not trick else min)(takes, default=min(view.legal), key=lambda card: card % 13)
        return max(fails, default=min(view.legal, key=lambda card: card % 13), key=lambda card: card % 13)


def make(options: Options, game: Game) -> Bidder:
    assert isinstance(game, OhHell)  # the only one of GAMES
    return Bidder(game, options.boldness)
