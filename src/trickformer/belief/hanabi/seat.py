"""Adapter that turns an estimator of Hanabi into the belief of one seat (`base.Belief`), which searches can use."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np

from trickformer.base import Belief, Event, View, Worlds
from trickformer.belief.hanabi.estimators import ExactHandEstimator, WholeHandEstimator
from trickformer.belief.hanabi.policies import NetworkPolicy
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.belief.samplers.hanabi import HanabiBelief, HanabiWorlds
from trickformer.games.hanabi import Hanabi


class EstimatedBelief(Belief):
    """Belief of the seat whose views it receives, by an estimator in the form pomdp.

    If `reset` receives a later view of the same seat and game, the estimator continues. Otherwise a new estimator
    follows the game from its beginning. Worlds that cards or hints rule out are infeasible, with weight zero.
    """

    consistent = False

    def __init__(
        self, game: Hanabi, players: Sequence[str | NetworkPolicy], make: Callable[[HanabiProcess], WholeHandEstimator]
    ):
        """Store the settings.

        Args:
            game: Hanabi.
            players: Policy of each seat, as `HanabiProcess` takes it; the viewer's entry is ignored.
            make: Makes an estimator for a system, such as `lambda process: Recurrent(process, model)`.
        """
        self._game = game
        self._players = players
        self._make = make
        self._uniform = HanabiBelief(game)
        self._view: View | None = None

    def reset(self, view: View) -> None:
        before, self._view = self._view, None
        self._uniform.reset(view)
        if before and (before.viewer, before.events) == (view.viewer, view.events[: len(before.events)]):
            self._view = before
        else:
            self._process = HanabiProcess(self._game.rules, Form.POMDP, self._players, view.viewer)
            self._estimator = self._make(self._process)
        self._follow(view)

    def _follow(self, view: View) -> None:
        """Update the estimator by the moves that it has not observed yet."""
        # No estimator reads a hidden card, so the tables of any consistent world can be used.
        tables = self._uniform.tables()
        moves = _moves(view)
        n_observed = 0 if self._view is None else len(_moves(self._view))
        if self._view is None:
            self._estimator.begin(tables[0])
        for i in range(n_observed, len(moves)):
            is_own = moves[i].actor == view.viewer
            control = np.array([moves[i].action if is_own else -1], dtype=np.int64)
            self._estimator.observe(tables[i], control, np.array([moves[i].action]), tables[i + 1])
        self._view = view

    def sample(self, n: int, rng: np.random.Generator) -> HanabiWorlds:
        view = self._require_view()
        hidden = self._estimator.sample_hands(n, int(rng.integers(2**63)))[0]
        worlds = HanabiWorlds(hidden.astype(np.int16), np.zeros(n), np.ones(n, dtype=bool), view, self._game)
        worlds.feasible[:] = np.isfinite(self._uniform.log_prob(worlds))
        worlds.log_weight[~worlds.feasible] = -np.inf
        return worlds

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        self._require_view()
        hidden = worlds.hidden.astype(np.int8)
        cards = np.maximum(hidden, 0)[..., None].astype(np.int64)
        card_log_probs = np.take_along_axis(self._log_probs(hidden), cards, axis=-1)[..., 0]
        return np.where(hidden >= 0, card_log_probs, 0.0).sum(axis=1)

    def _log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """Return the estimator's log-probabilities, float64 [n, S, K], given hands int8 [n, S]."""
        hands, which = np.unique(hidden, axis=0, return_inverse=True)  # evaluate each distinct hand once
        repeated = copy.copy(self._estimator)
        repeated.keep(np.zeros(len(hands), dtype=np.int64))  # one copy of the game for each hand
        return repeated.log_probs(hands).astype(np.float64)[which.ravel()]

    def _require_view(self) -> View:
        if self._view is None:
            raise ValueError("a belief needs a view first; call reset")
        return self._view


class ExactSeatBelief(EstimatedBelief):
    """Exact belief of one seat in a game of two, whose partner is a script or a network without an LSTM.

    `sample` raises NoConsistentHandError if no hand, or no drawn hand, explains the partner's moves. Probabilities of
    hands are NaN if there are too many hands to list.
    """

    consistent = True

    def __init__(self, game: Hanabi, policy: str | NetworkPolicy, listed: int = 20_000, tries: int = 50_000):
        """Store the settings.

        Args:
            game: Hanabi of two players.
            policy: Policy of the partner, as `HanabiProcess` takes it.
            listed: Largest number of hands that are listed. If there are more, hands are drawn.
            tries: Largest number of draws of a hand for one sample.
        """
        super().__init__(game, [policy, policy], lambda process: ExactHandEstimator(process, listed, tries))


def _moves(view: View) -> list[Event]:
    """Return the events that players caused."""
    return [event for event in view.events if event.actor >= 0]
