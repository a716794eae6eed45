"""Beliefs that consist of worlds: a particle filter, and rejection.

Each world is the hidden cards of one game. A real move weights it by the policy that made the move. A card that was
really shown must be the world's card. A card that the observer saw drawn weights the world by the number of such cards
in its deck. A card drawn unseen is drawn independently in each world. The filter resamples its worlds by weight if few
of them carry it (Gordon et al. 1993). Rejection keeps or drops each world for good. If no world is left, there is no
belief any more: that is how both fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from trickformer.belief.hanabi import factored
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables, policy_given_hands, revealed_card
from trickformer.belief.samplers import resample


class Particles:
    """Estimator with `n` worlds of each game.

    The belief of a card is its share among the different worlds that are left, with V0 as one more world.
    """

    def __init__(self, process: HanabiProcess, n: int, seed: int, rejection: bool = False):
        """Set the number of worlds.

        Args:
            process: System whose games are followed.
            n: Worlds of each game.
            seed: Seed of all randomness.
            rejection: Whether worlds are dropped at random by their likelihood instead of weighted.
        """
        self._process = process
        self._n = n
        self._rejection = rejection
        self._rng = np.random.default_rng(seed)
        self._steps = self._failed = self._games = self._games_failed = 0

    def begin(self, x: Tables, worlds: Sequence[np.ndarray] | None = None) -> None:
        """Take in the first positions.

        Args:
            x: The G tables.
            worlds: Worlds of each game to begin with, int8 [n, S]; None: drawn at random.
        """
        self._x = x
        self._hidden, self._log_weight = list(worlds or ()), [np.zeros(len(each)) for each in worlds or ()]
        self._games += len(x)
        if worlds is not None:
            return
        for counts in self._process.card_constraints(x)[1].astype(np.int64):
            cards = np.repeat(np.arange(len(counts), dtype=np.int8), counts)
            order = self._rng.random((self._n, len(cards))).argsort(axis=1)[:, : self._process.slots]
            self._hidden.append(cards[order])
            self._log_weight.append(np.zeros(self._n))

    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None:
        self._x = after
        policies = self._process.acting_policy(before, control)
        possible, counts = self._process.card_constraints(after)
        for g, seat in enumerate(before.current()):
            alive = np.isfinite(self._log_weight[g]).any()
            if seat < 0 or not alive:
                self._steps += int(seat >= 0)
                self._failed += int(seat >= 0)
                continue
            self._weigh_by_move(g, before, int(seat), int(policies[g]), int(actions[g]))
            self._replace_card(g, before, after, int(seat), int(actions[g]), counts[g])
            self._drop_impossible(g, possible[g], counts[g])
            self._steps += 1
            if not np.isfinite(self._log_weight[g]).any():
                self._failed += 1
                self._games_failed += 1
            elif not self._rejection:
                self._draw_anew(g)

    def keep(self, rows: np.ndarray) -> None:
        self._x = self._x.take(rows)
        self._hidden = [self._hidden[i] for i in rows]
        self._log_weight = [self._log_weight[i] for i in rows]

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of each kind in each slot.

        Args:
            hidden: Ignored: each card is treated by itself.

        Returns:
            float64 [G, S, K]; NaN if no world is left.
        """
        possible, counts = self._process.card_constraints(self._x)
        belief = factored.v0(torch.from_numpy(counts).double(), torch.from_numpy(possible)).numpy()
        for g, (cards, log_weight) in enumerate(zip(self._hidden, self._log_weight)):
            if not np.isfinite(log_weight).any():
                belief[g] = np.nan
                continue
            cards, weight = _merge_copies(cards, log_weight)
            worlds = 1 / np.square(weight).sum()  # effective sample size
            for s in np.flatnonzero(cards[0] >= 0):
                share = np.bincount(cards[:, s], weight, belief.shape[-1])
                belief[g, s] = (worlds * share + belief[g, s]) / (worlds + 1)
        with np.errstate(divide="ignore"):
            return np.log(belief)

    def worlds(self, g: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the worlds of a game.

        Args:
            g: Index of the game.

        Returns:
            Worlds, int8 [n, S], and their log weights, float64 [n]; -inf for a dropped world.
        """
        return self._hidden[g], self._log_weight[g]

    def notes(self) -> dict[str, Any]:
        """Return the number of steps and games so far, and of those in which no world was left."""
        return {
            "steps": self._steps,
            "steps_without_worlds": self._failed,
            "games": self._games,
            "games_without_worlds": self._games_failed,
        }

    def _weigh_by_move(self, g: int, before: Tables, seat: int, policy: int, action: int) -> None:
        """Weight worlds by the likelihood of the move."""
        process = self._process
        if process.form is Form.POMDP and seat == process.seat:
            return
        probs = policy_given_hands(before, g, process.to_hands(self._hidden[g]), policy)[:, action].astype(np.float64)
        if self._rejection:
            probs = (self._rng.random(self._n) < probs).astype(np.float64)
        with np.errstate(divide="ignore"):
            self._log_weight[g] = self._log_weight[g] + np.log(probs)

    def _replace_card(self, g: int, before: Tables, after: Tables, seat: int, action: int, counts: np.ndarray) -> None:
        """Remove the card that was played or discarded, and draw another."""
        process, size = self._process, self._process.rules.hand
        if action >= 2 * size:
            return
        drew = after[g].deck_size < before[g].deck_size
        if seat not in process.owners:
            if drew:  # the observer sees the card, so `counts` no longer includes it
                drawn = after[g].hand(seat)[-1]
                left = np.maximum(counts[drawn] + 1 - (self._hidden[g] == drawn).sum(axis=1), 0)
                if self._rejection:
                    left = self._rng.random(self._n) * (counts[drawn] + 1) < left
                self._weigh(g, left)
            return
        first, cards = process.owners.index(seat) * size, self._hidden[g]
        self._weigh(g, cards[:, first + action % size] == revealed_card(before, after, g))
        hand = np.delete(cards[:, first : first + size], action % size, axis=1)
        fresh = np.full((self._n, 1), -1, dtype=np.int8)
        held = (hand >= 0).sum(axis=1)
        cards = np.concatenate([cards[:, :first], hand, fresh, cards[:, first + size :]], axis=1)
        if drew:
            left = counts - (cards[:, :, None] == np.arange(len(counts))).sum(axis=1)
            cumulative = np.maximum(left, 0).cumsum(axis=1)
            at = self._rng.random(self._n) * cumulative[:, -1]
            card = np.minimum((cumulative <= at[:, None]).sum(axis=1), len(counts) - 1)
            cards[np.arange(self._n), first + held] = card
        self._hidden[g] = cards

    def _drop_impossible(self, g: int, possible: np.ndarray, counts: np.ndarray) -> None:
        """Drop worlds that hints or counts rule out."""
        cards = self._hidden[g]
        good = ((cards[:, :, None] == np.arange(len(counts))).sum(axis=1) <= counts).all(axis=1)
        for s, column in enumerate(cards.T):
            if possible[s].any():
                good &= possible[s][column]
        self._weigh(g, good)

    def _weigh(self, g: int, factor: np.ndarray) -> None:
        with np.errstate(divide="ignore"):
            self._log_weight[g] = self._log_weight[g] + np.log(factor.astype(np.float64))

    def _draw_anew(self, g: int) -> None:
        weight = np.exp(self._log_weight[g] - self._log_weight[g].max())
        if weight.sum() ** 2 < np.square(weight).sum() * self._n / 2:
            self._hidden[g] = self._hidden[g][resample(self._log_weight[g], self._n, self._rng)]
            self._log_weight[g] = np.zeros(self._n)


def _merge_copies(cards: np.ndarray, log_weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different worlds, int8 [m, S], and their shares of the weight, float64 [m].

    Resampling copies worlds, and copies of one world are no further evidence.
    """
    different, which = np.unique(cards, axis=0, return_inverse=True)
    weight = np.bincount(which.ravel(), np.exp(log_weight - log_weight.max()), len(different))
    return different, weight / weight.sum()
