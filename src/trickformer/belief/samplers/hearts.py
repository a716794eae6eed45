"""Exact belief of Hearts: worlds that are consistent with one seat's view, by counting (cpp/hearts/worlds.hpp)."""

from __future__ import annotations

import numpy as np

from trickformer import _core
from trickformer.base import CHANCE, PUBLIC, Game, LogOdds, View
from trickformer.belief.samplers._cards import CardBelief
from trickformer.belief.samplers._uniform import UniformWorlds

CARDS = 52
PLAYERS = 4
PASSED = 3  # number of cards that a seat passes
TWO_OF_CLUBS = 0


def _seat_view(game: Game, view: View) -> _core.hearts.SeatView:
    """Return the core's form of a view of Hearts; raise ValueError if the events are not those of a seat."""
    if view.viewer == PUBLIC:
        raise ValueError("a belief of Hearts needs the view of a seat, not the public view")
    events = view.events
    if len(events) < 2 or any(event.actor != CHANCE for event in events[:2]) or events[0].action is None:
        raise ValueError("a view of Hearts begins with the pass direction and the own cards")
    direction, dealt = events[0].action, events[1].seen  # direction: seats from giver to receiver; 0: no pass
    at = 2  # index of the next event to read
    passes: list[int] = []
    while at < len(events) and len(passes) < PASSED and direction and events[at].actor == view.viewer:
        card = events[at].action
        if card is None:
            break
        passes.append(card)
        at += 1
    received: tuple[int, ...] = ()
    if direction and at < len(events):
        giver = (view.viewer - direction) % PLAYERS
        if events[at].actor != giver or events[at].action is not None:
            raise ValueError(f"event {at} is not the receipt of three cards from seat {giver}: {events[at]}")
        received = events[at].seen
        at += 1
    leader = -1
    if at < len(events):
        if events[at].action is not None or events[at].seen != (TWO_OF_CLUBS,):
            raise ValueError(f"event {at} does not show who leads the first trick: {events[at]}")
        leader = events[at].actor
        at += 1
    plays = [-1 if event.action is None else event.action for event in events[at:]]
    rules = _core.hearts.Rules(**game.spiel.get_parameters())
    return _core.hearts.SeatView(
        rules, view.viewer, direction, list(dealt), passes, list(received), leader, plays, bool(view.legal)
    )


class HeartsWorlds(UniformWorlds):
    """Worlds of a hand of Hearts. `hidden` is int16 [n, 64].

    Columns 0 to 51 are the seat that each card was dealt to. Columns 52 to 63 are the cards that seats 0 to 3 passed,
    three for each seat in order of passing. -1: the pass has not happened, or the view does not show whether it has.
    """

    def history(self, i: int) -> list[int]:
        row = self.hidden[i]
        direction = self.view.events[0].action
        assert direction is not None  # `seat_view` has checked it
        order = np.argsort(row[:CARDS], kind="stable").reshape(PLAYERS, -1)  # by seat, cards ascending
        passes = row[CARDS:][row[CARDS:] >= 0]
        events = self.view.events
        # Plays follow the event that names the first leader, the holder of the two of clubs.
        start = next((k for k, event in enumerate(events) if k > 1 and event.seen == (TWO_OF_CLUBS,)), len(events))
        plays = [event.action for event in events[start + 1 :] if event.action is not None]
        return [direction, *order.T.ravel().tolist(), *passes.tolist(), *plays]


class HeartsBelief(CardBelief[HeartsWorlds, _core.hearts.SeatView, _core.hearts.DealSampler]):
    """Distribution over deals and passes."""

    worlds = HeartsWorlds
    sampler_class = _core.hearts.DealSampler
    cards = CARDS

    def seat_view(self, view: View) -> _core.hearts.SeatView:
        return _seat_view(self._game, view)

    def _hidden_part(self, actions: list[int], sampler: _core.hearts.DealSampler) -> np.ndarray:
        hidden = np.full(64, -1, dtype=np.int16)
        hidden[actions[1 : 1 + CARDS]] = np.arange(CARDS) % PLAYERS
        known = (sampler.sample(0, 1)[0, CARDS:] >= 0).nonzero()[0]
        hidden[CARDS + known] = np.asarray(actions[1 + CARDS :], dtype=np.int16)[known]
        return hidden

    def count(self) -> int:
        """Count exactly the hidden histories that are consistent with the view.

        The count is the number of arrangements of the unseen cards times the number of ordered hidden passes.

        Raises:
            ValueError: `reset` was not called before.
        """
        sampler, _ = self._require_sampler_and_view()
        return sampler.assignments * sampler.pass_histories

    def histories(self) -> int:
        """Count the ordered passes of other seats that the view does not show."""
        return self._require_sampler_and_view()[0].pass_histories


def make(game: Game, log_odds: LogOdds | None = None) -> HeartsBelief:
    """Make the belief, uniform or weighted by odds.

    Args:
        game: Hearts.
        log_odds: Log-odds of where each card lies; None: the belief is uniform.
    """
    return HeartsBelief(game, log_odds=log_odds)
