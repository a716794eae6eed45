"""The Crew: worlds that explain one seat's view, exactly uniform by counting (cpp/crew/worlds.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import CHANCE, LogOdds, View
from trickformer.belief.samplers._cards import CardBelief
from trickformer.belief.samplers._uniform import UniformWorlds
from trickformer.games.crew import HAND, NUM_CARDS, PLAYERS, PREAMBLE, Crew, deal_order
from trickformer.tokenizers.crew import CrewTokenizer


class CrewWorlds(UniformWorlds):
    """Hidden parts of a mission.

    hidden int16 [n, 48]: the seat that each of the 40 cards was dealt to, then the card that each seat passed in
    distress and the card that each drew; -1 where that has not happened, or is not known to have."""

    def history(self, i: int) -> list[int]:
        """World i as actions: the mission, 40 cards, then those of the players and of chance."""
        row = self.hidden[i].tolist()
        (mission, *after), dealt = course(self.view), deal_order(self.hidden[i][:NUM_CARDS])
        return [mission, *dealt, *(row[~action] if action < 0 else action for action in after)]


def course(view: View) -> list[int]:
    """The mission, then what players and chance did after the deal, as actions. What the view does not show is ~j,
    where number j of a row of `CrewWorlds.hidden` says it."""
    actions, events = list[int](), iter(view.events)
    for event in events:
        if event.action is not None:
            actions.append(event.action)
        elif event.actor == CHANCE and len(event.seen) == 1:  # the card lost; the card gained is the next event
            next(events)
            actions += (~(NUM_CARDS + PLAYERS + seat) for seat in range(PLAYERS))
        elif event.actor != CHANCE and not event.seen:
            actions.append(~(NUM_CARDS + event.actor))
    return actions


class CrewBelief(CardBelief[CrewWorlds, _core.crew.SeatView, _core.crew.DealSampler]):
    """Over deals, and over what others have passed and drawn."""

    worlds = CrewWorlds
    deals = _core.crew.DealSampler
    cards = NUM_CARDS

    def __init__(self, game: Crew, log_odds: LogOdds | None = None):
        super().__init__(game, log_odds)
        self._tokenizer = CrewTokenizer(game)

    def seat_view(self, view: View) -> _core.crew.SeatView:
        return _core.crew.SeatView(self._tokenizer.codec, self._tokenizer.encode(view))

    def _hidden_part(self, actions: list[int], deals: _core.crew.DealSampler) -> np.ndarray:
        state: Any = self._game.spiel.new_initial_state()
        for action in actions:
            state.apply_action(action)
        hidden = np.empty(NUM_CARDS + 2 * PLAYERS, dtype=np.int16)
        hidden[actions[1:PREAMBLE]] = np.arange(NUM_CARDS) // HAND
        hidden[NUM_CARDS:] = state.core.passed_cards + state.core.drawn_cards
        unknown = deals.sample(0, 1)[0, NUM_CARDS:] < 0
        hidden[NUM_CARDS:][unknown] = -1
        return hidden

    def count(self) -> int:
        """The exact number of hidden histories that explain the view. Raises ValueError before any view."""
        deals, _ = self._require_deals_and_view()
        return deals.count

    def histories(self) -> int:
        """1: how cards were passed and drawn is counted with where they lie."""
        return 1


def make(game: Crew, log_odds: LogOdds | None = None) -> CrewBelief:
    """The uniform belief, or that of these odds."""
    return CrewBelief(game, log_odds=log_odds)
