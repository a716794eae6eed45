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
    distress, then the card that each seat drew. -1: it has not happened, or the view does not show whether it has.
    """

    def history(self, i: int) -> list[int]:
        row = self.hidden[i].tolist()
        mission, *after = course(self.view)
        dealt = deal_order(self.hidden[i][:NUM_CARDS])
        return [mission, *dealt, *(row[~action] if action < 0 else action for action in after)]


def course(view: View) -> list[int]:
    """List the mission, then the actions of players and chance after the deal.

    Args:
        view: View of a seat.

    Returns:
        Actions; ~j stands for a hidden one, number j of a row of `CrewWorlds.hidden`.
    """
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
    """Distribution over deals, and over the cards that others have passed and drawn."""

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
        """Count exactly the hidden histories that explain the view.

        Raises:
            ValueError: `reset` was not called before.
        """
        deals, _ = self._require_deals_and_view()
        return deals.count

    def histories(self) -> int:
        """Return 1: passed and drawn cards are part of the arrangement."""
        return 1


def make(game: Crew, log_odds: LogOdds | None = None) -> CrewBelief:
    """Return the uniform belief, or the belief by odds if they are given.

    Args:
        game: The Crew.
        log_odds: Odds of where each card lies; None: all equal.
    """
    return CrewBelief(game, log_odds=log_odds)
