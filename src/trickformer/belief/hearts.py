"""Hearts: worlds that explain one seat's view, exactly uniform by counting.

cpp/hearts_worlds.hpp says how they are counted and why nothing else is hidden."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trickformer import _core
from trickformer.base import CHANCE, PUBLIC, Game, Policy, View
from trickformer.belief._weights import policy_log_likelihood

if TYPE_CHECKING:
    from trickformer.base import State

CARDS, PLAYERS, PASSED = 52, 4, 3
TWO_OF_CLUBS = 0


def seat_view(game: Game, view: View) -> _core.hearts.SeatView:
    """The core's form of a view of Hearts. Raises ValueError where the events are not those of a seat."""
    if view.viewer == PUBLIC:
        raise ValueError("a Hearts belief is that of a seat; the public view has no cards of its own")
    events = view.events
    if len(events) < 2 or any(e.actor != CHANCE for e in events[:2]) or events[0].action is None:
        raise ValueError("a view of Hearts begins with the pass direction and the own cards")
    direction, dealt = events[0].action, events[1].seen
    at = 2
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
    plays = [-1 if e.action is None else e.action for e in events[at:]]
    rules = _core.hearts.Rules(**game.spiel.get_parameters())
    return _core.hearts.SeatView(
        rules, view.viewer, direction, list(dealt), passes, list(received), leader, plays, bool(view.legal)
    )


@dataclass(slots=True)
class HeartsWorlds:
    """Hidden parts of a hand of Hearts.

    hidden: the seat that each of the 52 cards was dealt to, then the cards that seats 0, 1, 2, 3 passed,
    three each in their order; -1 where none is known to have happened."""

    hidden: np.ndarray  # int16 [n, 64]
    log_weight: np.ndarray  # float64 [n], natural logarithm
    feasible: np.ndarray  # bool [n]
    view: View
    game: Game

    def history(self, i: int) -> list[int]:
        """World i as OpenSpiel actions: direction, 52 cards to seats 0, 1, 2, 3, 0, ..., passes, plays."""
        row = self.hidden[i]
        direction = self.view.events[0].action
        assert direction is not None  # `seat_view` has checked it
        order = np.argsort(row[:CARDS], kind="stable").reshape(PLAYERS, -1)  # by seat, cards ascending
        passes = row[CARDS:][row[CARDS:] >= 0]
        events = self.view.events
        shown = next((k for k, e in enumerate(events) if k > 1 and e.seen == (TWO_OF_CLUBS,)), len(events))
        plays = [e.action for e in events[shown + 1 :] if e.action is not None]
        return [direction, *order.T.ravel().tolist(), *passes.tolist(), *plays]

    def state(self, i: int) -> State:
        """World i as a state whose view equals the one sampled from; ValueError if it is infeasible."""
        if not self.feasible[i]:
            raise ValueError(f"world {i} does not explain the view")
        state = self.game.spiel.new_initial_state()
        for action in self.history(i):
            state.apply_action(action)
        return state


class HeartsBelief:
    """Uniform over the hidden histories (deal and passes) that explain a view, or weighted.

    `weight` maps worlds to float64 [n], the logarithm of an unnormalized weight; it fills `log_weight`.
    Drawing stays uniform: `trickformer.belief._weights.resample` turns weights into draws."""

    consistent = True

    def __init__(self, game: Game, weight: Callable[[HeartsWorlds], np.ndarray] | None = None):
        self._game = game
        self._weight = weight
        self._policies: Sequence[Policy] | None = None
        self._view: View | None = None
        self._deals: _core.hearts.DealSampler | None = None

    def reset(self, view: View) -> None:
        """Condition on `view`. Raises ValueError where no deal explains it."""
        self._deals = _core.hearts.DealSampler(seat_view(self._game, view))
        self._view, self._policies = view, None

    def observe(self, view: View, policies: Sequence[Policy] | None = None) -> None:
        """Go on to a later view of the same hand; `policies`, one a seat, weight worlds by the likelihood of
        what the other seats did. Raises ValueError where it is another hand or no deal explains it."""
        old = self._view
        if old is not None and (old.viewer, old.events) != (view.viewer, view.events[: len(old.events)]):
            raise ValueError("the view does not go on from the one observed before; use reset")
        self.reset(view)
        self._policies = policies

    def sample(self, n: int, rng: np.random.Generator) -> HeartsWorlds:
        """n independent worlds; all randomness comes from `rng`. Raises ValueError before any view."""
        deals, view = self._conditioned()
        hidden = deals.sample(int(rng.integers(2**63)), n)
        worlds = HeartsWorlds(hidden, np.zeros(n), np.ones(n, dtype=bool), view, self._game)
        if self._weight is not None:
            worlds.log_weight[:] += self._weight(worlds)
        if self._policies is not None:
            worlds.log_weight[:] += policy_log_likelihood(self._game, worlds, view.viewer, self._policies)
        return worlds

    def log_prob(self, worlds: HeartsWorlds) -> np.ndarray:
        """float64 [n], natural logarithm of the probability with which a world is drawn: minus that of the
        number of worlds, and -inf for what does not explain the view. Weights do not enter."""
        deals, _ = self._conditioned()
        return np.where(deals.explains(worlds.hidden), -math.log(self.count()), -np.inf)

    def truth(self, state: State) -> HeartsWorlds:
        """The hidden part of `state`, as a world of the view last given, for `log_prob`: the one thing here that
        reads a state, and no part of sampling. Passes that the view does not know to have happened are left out."""
        deals, view = self._conditioned()
        actions = state.history()
        hidden = np.full((1, 64), -1, dtype=np.int16)
        hidden[0, actions[1 : 1 + CARDS]] = np.arange(CARDS) % PLAYERS
        known = (deals.sample(0, 1)[0, CARDS:] >= 0).nonzero()[0]
        hidden[0, CARDS + known] = np.asarray(actions[1 + CARDS :], dtype=np.int16)[known]
        return HeartsWorlds(hidden, np.zeros(1), np.ones(1, dtype=bool), view, self._game)

    def count(self) -> int:
        """The exact number of hidden histories that explain the view: ways to lay the unseen cards, times
        ordered passes that the view does not show. Raises ValueError before any view."""
        deals, _ = self._conditioned()
        return deals.assignments * deals.pass_histories

    def _conditioned(self) -> tuple[_core.hearts.DealSampler, View]:
        if self._deals is None or self._view is None:
            raise ValueError("a belief needs a view first; call reset")
        return self._deals, self._view


def make(game: Game) -> HeartsBelief:
    """The uniform belief."""
    return HeartsBelief(game)
