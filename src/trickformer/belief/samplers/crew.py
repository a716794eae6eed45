"""Exact belief of The Crew: worlds that are consistent with one seat's view, by counting (cpp/crew/worlds.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import CHANCE, LogOdds, View
from trickformer.belief.samplers._cards import CardBelief
from trickformer.belief.samplers._uniform import UniformWorlds
from trickformer.games.crew import HAND, NUM_CARDS, PLAYERS, PREAMBLE, Crew
from trickformer.tokenizers.crew import CrewTokenizer


class CrewWorlds(UniformWorlds):
    """Worlds of a mission. `hidden` is int16 [n, 48].

    Columns 0 to 39 are the seat that each card was dealt to. Columns 40 to 43 are the card that each seat passed in
    distress. Columns 44 to 47 are the card that each seat drew at random after trick 1. -1: the event has not happened,
    or the view does not show whether it has.
    """

    def history(self, i: int) -> list[int]:
        row = self.hidden[i].tolist()
        mission, *actions = mission_and_actions(self.view)
        dealt = np.argsort(self.hidden[i][:NUM_CARDS], kind="stable").tolist()  # by seat, ascending within a hand
        return [mission, *dealt, *(row[~action] if action < 0 else action for action in actions)]


def mission_and_actions(view: View) -> list[int]:
    """List the mission, then the actions of players and chance after the deal.

    Args:
        view: View of a seat.

    Returns:
        Actions. A hidden action is ~j (negative), where j is its column in `CrewWorlds.hidden`.
    """
    actions, events = list[int](), iter(view.events)
    for event in events:
        if event.action is not None:
            actions.append(event.action)
        elif event.actor == CHANCE and len(event.seen) == 1:  # the random draw: the viewer loses a card
            next(events)  # and gains one
            actions += (~(NUM_CARDS + PLAYERS + seat) for seat in range(PLAYERS))
        elif event.actor != CHANCE and not event.seen:  # another seat passes a card
            actions.append(~(NUM_CARDS + event.actor))
    return actions


class CrewBelief(CardBelief[CrewWorlds, _core.crew.SeatView, _core.crew.DealSampler]):
    """Distribution over deals, and over the cards that others have passed and drawn."""

    worlds = CrewWorlds
    sampler_class = _core.crew.DealSampler
    cards = NUM_CARDS

    def __init__(self, game: Crew, log_odds: LogOdds | None = None):
        super().__init__(game, log_odds)
        self._tokenizer = CrewTokenizer(game)

    def seat_view(self, view: View) -> _core.crew.SeatView:
        return _core.crew.SeatView(self._tokenizer.codec, self._tokenizer.encode(view))

    def _hidden_part(self, actions: list[int], sampler: _core.crew.DealSampler) -> np.ndarray:
        state: Any = self._game.spiel.new_initial_state()
        for action in actions:
            state.apply_action(action)
        hidden = np.empty(NUM_CARDS + 2 * PLAYERS, dtype=np.int16)
        hidden[actions[1:PREAMBLE]] = np.arange(NUM_CARDS) // HAND
        hidden[NUM_CARDS:] = state.core.passed_cards + state.core.drawn_cards
        has_not_happened = sampler.sample(0, 1)[0, NUM_CARDS:] < 0  # the same in all worlds of the view
        hidden[NUM_CARDS:][has_not_happened] = -1
        return hidden

    def count(self) -> int:
        """Count exactly the hidden histories that are consistent with the view.

        Raises:
            ValueError: `reset` was not called before.
        """
        sampler, _ = self._require_sampler_and_view()
        return sampler.count

    def histories(self) -> int:
        """Return 1, because an arrangement of the hidden cards includes the passed and drawn cards."""
        return 1


def make(game: Crew, log_odds: LogOdds | None = None) -> CrewBelief:
    """Make the belief, uniform or weighted by odds.

    Args:
        game: The Crew.
        log_odds: Log-odds of where each card lies; None: the belief is uniform.
    """
    return CrewBelief(game, log_odds=log_odds)
