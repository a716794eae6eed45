"""An estimator of Hanabi as the belief of one seat (base.Belief).

Its worlds become OpenSpiel states, so the searches over worlds of other games can use them.
"""

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
    """Belief of the seat whose views it receives, in the form pomdp.

    It follows the game from its first view, with its own randomness. If `reset` receives a later view of the same seat
    and game, the estimator continues, else it begins anew. If the estimator conditions each card on the cards before it
    in the hand, cards are drawn that way, else independently. Worlds that cards or hints rule out are infeasible, with
    weight zero. `sample` raises ValueError if the estimator has no belief at this position.
    """

    consistent = False

    def __init__(self, game: Hanabi, players: Sequence[str], make: Callable[[HanabiProcess], Estimator]):
        """Choose the estimator.

        Args:
            game: Hanabi.
            players: Scripted players of the others, a name of `_core.hanabi.BOTS` for each seat; the own is ignored.
            make: Makes the estimator of a system, such as `lambda process: V2(process, 0.01, 16, seed=1)`.
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
        # No estimator reads a hidden card, so any world that explains the view will do.
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
        """Draw hands slot by slot from the estimator's probabilities, int8 [n, hand]."""
        hidden = np.full((n, len(self._there)), -1, dtype=np.int8)
        hidden[:, self._there] = 0  # a placeholder: the probability of a card does not depend on later cards
        for slot in np.flatnonzero(self._there):
            p = np.exp(self._log_probs(hidden)[:, slot])
            if np.isnan(p).any():
                raise ValueError("the estimator has no belief at this position")
            cumulative = p.cumsum(axis=1)
            at = rng.random(n) * cumulative[:, -1]
            hidden[:, slot] = np.minimum((cumulative <= at[:, None]).sum(axis=1), p.shape[1] - 1)
        return hidden

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        self._require_view()
        hidden = worlds.hidden.astype(np.int8)
        at = np.maximum(hidden, 0)[..., None].astype(np.int64)
        of_these = np.take_along_axis(self._log_probs(hidden), at, axis=-1)[..., 0]
        return np.where(hidden >= 0, of_these, 0.0).sum(axis=1)

    def _log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """Return float64 [n, S, K] for hands int8 [n, S]; each different hand is evaluated once."""
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
