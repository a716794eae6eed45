"""Skat: worlds that explain one seat's view.

They are uniform, drawn by exact counting (cpp/skat/worlds.hpp), or drawn by given odds of the place of each card, or
weighted by the others' bids, discards and declarations (cpp/skat/inference.hpp).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trickformer import _core, tokenizers
from trickformer.base import Game, LogOdds, View, Worlds
from trickformer.belief.samplers._cards import CardBelief
from trickformer.belief.samplers._uniform import UniformWorlds, draw_one_of_each_row
from trickformer.games.skat import NUM_CARDS, PICK_UP, deal_order, evaluation

POOL = 128  # uniform worlds for each weighted world


def course(view: View) -> list[int]:
    """List the actions after the deal.

    Args:
        view: View of a seat.

    Returns:
        Actions; -1 for each card that another soloist has discarded.
    """
    actions = list[int]()
    for event in view.events:
        if event.action is not None:
            actions.append(event.action)
            if event.action == PICK_UP and event.actor != view.viewer:
                actions += [-1, -1]
    return actions


class SkatWorlds(UniformWorlds):
    """Hidden parts of a game of Skat.

    hidden int16 [n, 34]: the seat that each of the 32 cards was dealt to, 3 being the skat, then the two cards that the
    soloist discarded, in their order. -1: there was no discard, or the view does not show whether there was.
    """

    def history(self, i: int) -> list[int]:
        row = self.hidden[i]
        discards = iter(row[NUM_CARDS:].tolist())
        done = [next(discards) if action < 0 else action for action in course(self.view)]
        return deal_order(row[:NUM_CARDS]) + [action for action in done if action >= 0]


class SkatBelief(CardBelief[SkatWorlds, _core.skat.SeatView, _core.skat.DealSampler]):
    """Distribution over deals, and over the cards that another soloist has picked up and discarded."""

    worlds = SkatWorlds
    deals = _core.skat.DealSampler
    cards = NUM_CARDS

    def __init__(self, game: Game, log_odds: LogOdds | None = None):
        super().__init__(game, log_odds)
        self._tokenizer = tokenizers.make(game)

    def seat_view(self, view: View) -> _core.skat.SeatView:
        return _core.skat.SeatView(self._tokenizer.encode(view))

    def _hidden_part(self, actions: list[int], deals: _core.skat.DealSampler) -> np.ndarray:
        hidden = np.full(NUM_CARDS + 2, -1, dtype=np.int16)
        hidden[actions[:NUM_CARDS]] = np.minimum(np.arange(NUM_CARDS) // 10, 3)
        known = int((deals.sample(0, 1)[0, NUM_CARDS:] >= 0).sum())
        if known:
            at = actions.index(PICK_UP, NUM_CARDS) + 1
            hidden[NUM_CARDS : NUM_CARDS + known] = actions[at : at + known]
        return hidden

    def count(self) -> int:
        """Count exactly the hidden histories that explain the view.

        It is the number of arrangements of the unseen cards, times the number of ways in which another soloist can have
        picked up and discarded among twelve cards.

        Raises:
            ValueError: `reset` was not called before.
        """
        deals, _ = self._require_deals_and_view()
        return deals.assignments * deals.histories

    def histories(self) -> int:
        """Count the ways in which another soloist can have picked up and discarded."""
        return self._require_deals_and_view()[0].histories


class WeightedSkatBelief(SkatBelief):
    """Worlds weighted by the likelihood of the others' bids, discards and declarations.

    This is Kermit's inference (Buro et al. 2009, section 4). `sample` draws each world from POOL uniform ones
    (importance resampling), so worlds follow the weights only as closely as a pool of this size allows. `log_prob` is
    exact up to a constant of the view.
    """

    def __init__(self, game: Game):
        super().__init__(game)
        self._seeger = bool(getattr(game, "seeger", True))
        self._evaluation, self._model = evaluation(), _core.skat_search.BidModel()

    def sample(self, n: int, rng: np.random.Generator) -> SkatWorlds:
        drawn = super().sample(n * POOL, rng)
        chosen = draw_one_of_each_row(self._log_weight(drawn).reshape(n, POOL), rng)
        hidden = drawn.hidden[np.arange(n) * POOL + chosen]
        return replace(drawn, hidden=hidden, log_weight=np.zeros(n), feasible=np.ones(n, dtype=bool))

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        return self._log_weight(worlds)

    def _log_weight(self, worlds: Worlds) -> np.ndarray:
        deals = self._require_deals_and_view()[0]
        return _core.skat_search.log_weight(deals, self._evaluation, self._model, self._seeger, worlds.hidden)


def weighted_belief(game: Game) -> WeightedSkatBelief:
    """Return the belief that weights worlds by the others' bids, discards and declarations.

    Args:
        game: Skat.
    """
    return WeightedSkatBelief(game)


def make(game: Game, log_odds: LogOdds | None = None) -> SkatBelief:
    """Return the uniform belief, or the belief by odds if they are given.

    Args:
        game: Skat.
        log_odds: Odds of where each card lies; None: all equal.
    """
    return SkatBelief(game, log_odds=log_odds)
