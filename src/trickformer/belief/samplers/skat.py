"""Skat: worlds that explain one seat's view, exactly uniform by counting (cpp/skat/worlds.hpp), or weighted by what the
others have said (cpp/skat/inference.hpp)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trickformer import _core, tokenizers
from trickformer.base import Game, LogOdds, View, Worlds
from trickformer.belief.samplers._cards import CardBelief
from trickformer.belief.samplers._uniform import UniformWorlds, one_of_each
from trickformer.games.skat import NUM_CARDS, PICK_UP, deal_order, evaluation

POOL = 128  # uniform worlds that a weighted one is drawn from


def course(view: View) -> list[int]:
    """What was done after the deal, as actions; -1 for the cards that another soloist has laid away."""
    actions = list[int]()
    for event in view.events:
        if event.action is not None:
            actions.append(event.action)
            if event.action == PICK_UP and event.actor != view.viewer:
                actions += [-1, -1]
    return actions


class SkatWorlds(UniformWorlds):
    """Hidden parts of a game of Skat.

    hidden int16 [n, 34]: the seat that each of the 32 cards was dealt to, 3 being the skat, then the two cards that
    the soloist laid away, in their order; -1 where none is known to have been."""

    def history(self, i: int) -> list[int]:
        """World i as actions: 32 cards to seats 0, 1, 2 and the skat, then those of the players."""
        row = self.hidden[i]
        discards = iter(row[NUM_CARDS:].tolist())
        done = [next(discards) if action < 0 else action for action in course(self.view)]
        return deal_order(row[:NUM_CARDS]) + [action for action in done if action >= 0]


class SkatBelief(CardBelief[SkatWorlds, _core.skat.SeatView, _core.skat.DealSampler]):
    """Over deals, and over what another soloist has picked up and laid away."""

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
        """The exact number of hidden histories that explain the view: ways to lay the unseen cards, times the ways
        another soloist's twelve cards can have been picked up and laid away. Raises ValueError before any view."""
        deals, _ = self._require_deals_and_view()
        return deals.assignments * deals.histories

    def histories(self) -> int:
        """Of what another soloist has picked up and laid away."""
        return self._require_deals_and_view()[0].histories


class WeightedSkatBelief(SkatBelief):
    """Worlds weighted by how likely they make what the others have bid, laid away and declared: Kermit's inference
    (Buro et al. 2009, section 4)."""

    def __init__(self, game: Game):
        super().__init__(game)
        self._seeger = bool(getattr(game, "seeger", True))
        self._evaluation, self._model = evaluation(), _core.skat_search.BidModel()

    def sample(self, n: int, rng: np.random.Generator) -> SkatWorlds:
        """n independent worlds, each drawn by its weight from POOL uniform ones (importance resampling): weights hold
        as far as so few worlds allow."""
        drawn = super().sample(n * POOL, rng)
        chosen = one_of_each(self._log_weight(drawn).reshape(n, POOL), rng)
        hidden = drawn.hidden[np.arange(n) * POOL + chosen]
        return replace(drawn, hidden=hidden, log_weight=np.zeros(n), feasible=np.ones(n, dtype=bool))

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        """float64 [n], natural logarithm of the probability that the weights give a world, up to a constant of the
        view; -inf for what does not explain the view."""
        return self._log_weight(worlds)

    def _log_weight(self, worlds: Worlds) -> np.ndarray:
        deals = self._require_deals_and_view()[0]
        return _core.skat_search.log_weight(deals, self._evaluation, self._model, self._seeger, worlds.hidden)


def weighted_belief(game: Game) -> WeightedSkatBelief:
    """The belief that counts what the others have said."""
    return WeightedSkatBelief(game)


def make(game: Game, log_odds: LogOdds | None = None) -> SkatBelief:
    """The uniform belief, or that of these odds."""
    return SkatBelief(game, log_odds=log_odds)
