"""What an estimator of Hanabi believes, as one seat's belief behind the protocol of all games (base.Belief): its worlds
become OpenSpiel states, so that what searches worlds of other games can search these."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np

from trickformer.base import Belief, Event, View, Worlds
from trickformer.belief.hanabi.estimators import Estimator, HandWriter
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.belief.samplers.hanabi import HanabiBelief, HanabiWorlds
from trickformer.games.hanabi import Hanabi


class EstimatedBelief(Belief):
    """The belief of the seat whose views it is given, in the form pomdp.

    players: the scripted policies of the others, a name of `_core.hanabi.BOTS` a seat; the own one does not matter.
    make: the estimator of a system, as `lambda process: V2(process, 0.01, 16, seed=1)`. It follows the game from its
    first view, and what it draws on the way it draws with randomness of its own. A card is drawn given those before it
    in the hand where the estimator says it so, else for itself: some worlds may be none (`feasible`)."""

    consistent = False

    def __init__(self, game: Hanabi, players: Sequence[str], make: Callable[[HanabiProcess], Estimator]):
        self._game, self._players, self._make = game, players, make
        self._uniform = HanabiBelief(game)
        self._view: View | None = None

    def reset(self, view: View) -> None:
        """Follow the game up to `view`: on from the view before where this is a later one of the same seat and game,
        else from the beginning. Raises ValueError where no deal explains it."""
        before, self._view = self._view, None
        self._uniform.reset(view)
        if before and (before.viewer, before.events) == (view.viewer, view.events[: len(before.events)]):
            self._view = before
        else:
            self._process = HanabiProcess(self._game.rules, Form.POMDP, self._players, view.viewer)
            self._estimator = self._make(self._process)
        self._follow(view)

    def _follow(self, view: View) -> None:
        # No estimator reads a hidden card: any world that explains the view tells it the same.
        tables = self._uniform.tables()
        moves = _moves(view)
        known = 0 if self._view is None else len(_moves(self._view))
        if self._view is None:
            self._estimator.begin(tables[0])
        for at in range(known, len(moves)):
            own = moves[at].actor == view.viewer
            control = np.array([moves[at].action if own else -1], dtype=np.int64)
            self._estimator.observe(tables[at], control, np.array([moves[at].action]), tables[at + 1])
        self._view, self._there = view, self._process.hidden_cards(tables[-1])[0] >= 0

    def sample(self, n: int, rng: np.random.Generator) -> HanabiWorlds:
        """n worlds, weighed alike; those that cards or hints rule out are not feasible and weigh nothing. Raises
        ValueError before any view, and where the estimator has no belief."""
        view = self._require_view()
        if isinstance(self._estimator, HandWriter):
            hidden = self._estimator.write(n, int(rng.integers(2**63)))[0]
        else:
            hidden = self._card_by_card(n, rng)
        worlds = HanabiWorlds(hidden.astype(np.int16), np.zeros(n), np.ones(n, dtype=bool), view, self._game)
        worlds.feasible[:] = np.isfinite(self._uniform.log_prob(worlds))
        worlds.log_weight[~worlds.feasible] = -np.inf
        return worlds

    def _card_by_card(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """int8 [n, hand], from what the estimator says of each slot."""
        hidden = np.full((n, len(self._there)), -1, dtype=np.int8)
        hidden[:, self._there] = 0  # a card is said given those before it: what stands after it does not matter
        for slot in np.flatnonzero(self._there):
            p = np.exp(self._log_probs(hidden)[:, slot])
            if np.isnan(p).any():
                raise ValueError("the estimator has no belief here")
            cumulative = p.cumsum(axis=1)
            at = rng.random(n) * cumulative[:, -1]
            hidden[:, slot] = np.minimum((cumulative <= at[:, None]).sum(axis=1), p.shape[1] - 1)
        return hidden

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        """float64 [n]: the logarithm of the probability with which a world is drawn, feasible or not. Raises
        ValueError before any view."""
        self._require_view()
        hidden = worlds.hidden.astype(np.int8)
        at = np.maximum(hidden, 0)[..., None].astype(np.int64)
        of_these = np.take_along_axis(self._log_probs(hidden), at, axis=-1)[..., 0]
        return np.where(hidden >= 0, of_these, 0.0).sum(axis=1)

    def _log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """float64 [n, S, K], of int8 [n, S]: each hand is asked about once, as if this game were that many."""
        hands, which = np.unique(hidden, axis=0, return_inverse=True)
        copies = copy.copy(self._estimator)
        copies.keep(np.zeros(len(hands), dtype=np.int64))
        return copies.log_probs(hands).astype(np.float64)[which.ravel()]

    def _require_view(self) -> View:
        if self._view is None:
            raise ValueError("a belief needs a view first; call reset")
        return self._view


def _moves(view: View) -> list[Event]:
    return [event for event in view.events if event.actor >= 0]
