"""Beliefs of Skat: worlds that are consistent with one seat's view.

Worlds are uniform by exact counting (cpp/skat/worlds.hpp), or weighted by odds of where each card lies, or weighted by
the likelihood of the others' bids, discards and declarations (cpp/skat/inference.hpp).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trickformer import _core, tokenizers
from trickformer.base import Game, LogOdds, View, Worlds
from trickformer.belief.samplers._cards import CardBelief
from trickformer.belief.samplers._uniform import UniformWorlds, draw_one_of_each_row
from trickformer.games.skat import NUM_CARDS, PICK_UP, evaluation

POOL = 128  # number of uniform worlds from which each weighted world is drawn


def actions_after_deal(view: View) -> list[int]:
    """List the actions after the deal.

    Args:
        view: View of a seat.

    Returns:
        Actions. If another seat picks up the skat, -1 stands for each of its two discards, made already or not.
    """
    actions = list[int]()
    for event in view.events:
        if event.action is not None:
            actions.append(event.action)
            if event.action == PICK_UP and event.actor != view.viewer:
                actions += [-1, -1]
    return actions


class SkatWorlds(UniformWorlds):
    """Worlds of a game of Skat. `hidden` is int16 [n, 34].

    Columns 0 to 31 are the seat that each card was dealt to, where 3 is the skat. Columns 32 and 33 are the cards that
    the soloist discarded, in order. -1: there is no such discard yet. This includes the time after another seat has
    picked up the skat and before it declares, because the view does not show whether it has discarded.
    """

    def history(self, i: int) -> list[int]:
        row = self.hidden[i]
        discards = iter(row[NUM_CARDS:].tolist())
        actions = [next(discards) if action < 0 else action for action in actions_after_deal(self.view)]
        dealt = np.argsort(row[:NUM_CARDS], kind="stable").tolist()  # by holder, ascending within a hand
        return dealt + [action for action in actions if action >= 0]


class SkatBelief(CardBelief[SkatWorlds, _core.skat.SeatView, _core.skat.DealSampler]):
    """Distribution over deals, and over the hidden discards if the soloist is not the viewer."""

    worlds = SkatWorlds
    sampler_class = _core.skat.DealSampler
    cards = NUM_CARDS

    def __init__(self, game: Game, log_odds: LogOdds | None = None):
        super().__init__(game, log_odds)
        self._tokenizer = tokenizers.make(game)

    def seat_view(self, view: View) -> _core.skat.SeatView:
        return _core.skat.SeatView(self._tokenizer.encode(view))

    def _hidden_part(self, actions: list[int], sampler: _core.skat.DealSampler) -> np.ndarray:
        hidden = np.full(NUM_CARDS + 2, -1, dtype=np.int16)
        hidden[actions[:NUM_CARDS]] = np.minimum(np.arange(NUM_CARDS) // 10, 3)
        n_discards = int((sampler.sample(0, 1)[0, NUM_CARDS:] >= 0).sum())  # the same in all worlds of the view
        if n_discards:
            first = actions.index(PICK_UP, NUM_CARDS) + 1
            hidden[NUM_CARDS : NUM_CARDS + n_discards] = actions[first : first + n_discards]
        return hidden

    def count(self) -> int:
        """Count exactly the hidden histories that are consistent with the view.

        The count is the number of arrangements of the unseen cards, times `histories`.

        Raises:
            ValueError: `reset` was not called before.
        """
        sampler, _ = self._require_sampler_and_view()
        return sampler.assignments * sampler.histories

    def histories(self) -> int:
        """Count the ways to pick up and discard that lead to one present arrangement of the cards.

        After a soloist other than the viewer has picked up the skat and declared, there are 66 * 2: any two of the
        soloist's twelve cards may come from the skat, and the two discards have an order. Else there is 1.
        """
        return self._require_sampler_and_view()[0].histories


class WeightedSkatBelief(SkatBelief):
    """Belief that weights worlds by the likelihood of the others' bids, discards and declarations.

    This is Kermit's inference (Buro et al. 2009, section 4). `sample` draws each world from POOL uniform ones by weight
    (importance resampling), so samples follow the weights only approximately. `log_prob` is exact up to a constant of
    the view.
    """

    def __init__(self, game: Game):
        super().__init__(game)
        self._seeger = bool(getattr(game, "seeger", True))  # whether scores are tournament points (Seeger-Fabian)
        self._evaluation, self._model = evaluation(), _core.skat_search.BidModel()

    def sample(self, n: int, rng: np.random.Generator) -> SkatWorlds:
        pool = super().sample(n * POOL, rng)
        chosen = draw_one_of_each_row(self._log_weight(pool).reshape(n, POOL), rng)
        hidden = pool.hidden[np.arange(n) * POOL + chosen]
        return replace(pool, hidden=hidden, log_weight=np.zeros(n), feasible=np.ones(n, dtype=bool))

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        return self._log_weight(worlds)

    def _log_weight(self, worlds: Worlds) -> np.ndarray:
        sampler = self._require_sampler_and_view()[0]
        return _core.skat_search.log_weight(sampler, self._evaluation, self._model, self._seeger, worlds.hidden)


def weighted_belief(game: Game) -> WeightedSkatBelief:
    """Return the belief that weights worlds by the others' bids, discards and declarations.

    Args:
        game: Skat.
    """
    return WeightedSkatBelief(game)


def make(game: Game, log_odds: LogOdds | None = None) -> SkatBelief:
    """Make the belief, uniform or weighted by odds.

    Args:
        game: Skat.
        log_odds: Log-odds of where each card lies; None: the belief is uniform.
    """
    return SkatBelief(game, log_odds=log_odds)
