"""Beliefs that are represented by sampled worlds: a particle filter, and rejection sampling.

A particle is a world: the hidden cards of one game. Each real move updates the worlds of its game:

- The weight of a world is multiplied by the policy's probability of the move in that world.
- A world is dropped if its card in the slot is not the card that was really played or discarded.
- If the observer saw a card drawn, the weight is multiplied by the number of its copies in the world's deck.
- If a card was drawn unseen, each world draws a card of its own.

The particle filter resamples the worlds by weight if few of them have most of the weight (Gordon et al. 1993).
Rejection drops each world at random by its likelihood instead of weighting it. Both fail for the rest of a game once no
world is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from trickformer.belief.hanabi import factored
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables, revealed_card
from trickformer.belief.samplers import resample


class Particles:
    """Estimator by `n` worlds of each game.

    The probability of a card is its weight among the distinct worlds that are left, smoothed by V0 as one more world.
    """

    def __init__(self, process: HanabiProcess, n: int, seed: int, rejection: bool = False):
        """Store the settings.

        Args:
            process: System whose games are followed.
            n: Number of worlds of each game.
            seed: Seed of all randomness.
            rejection: True: rejection sampling. False: a particle filter.
        """
        self._process = process
        self._n = n
        self._rejection = rejection
        self._rng = np.random.default_rng(seed)
        self._steps = self._failed = self._games = self._games_failed = 0

    def begin(self, x: Tables) -> None:
        """Start at the first positions, with worlds that are dealt at random.

        Args:
            x: The G tables.
        """
        self._x = x
        self._hidden: list[np.ndarray] = []
        self._log_weight: list[np.ndarray] = []
        self._games += len(x)
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
            has_worlds = np.isfinite(self._log_weight[g]).any()
            if seat < 0 or not has_worlds:  # seat < 0: the game was over
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
                self._resample(g)

    def keep(self, rows: np.ndarray) -> None:
        self._x = self._x.take(rows)
        self._hidden = [self._hidden[i] for i in rows]
        self._log_weight = [self._log_weight[i] for i in rows]

    def log_probs(self, hidden: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of each kind in each slot.

        Args:
            hidden: Ignored, because slots are treated separately.

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
            effective_size = 1 / np.square(weight).sum()
            for s in np.flatnonzero(cards[0] >= 0):
                share = np.bincount(cards[:, s], weight, belief.shape[-1])
                belief[g, s] = (effective_size * share + belief[g, s]) / (effective_size + 1)
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
        """Return the numbers of moves and of games so far, and in how many of each no world was left."""
        return {
            "steps": self._steps,
            "steps_without_worlds": self._failed,
            "games": self._games,
            "games_without_worlds": self._games_failed,
        }

    def _weigh_by_move(self, g: int, before: Tables, seat: int, policy: int, action: int) -> None:
        """Weight or reject worlds by the likelihood of the move."""
        process = self._process
        if process.form is Form.POMDP and seat == process.seat:  # the observer's own moves carry no information
            return
        dealt = process.to_hands(self._hidden[g])
        probs = process.policy_given_hands(before, g, dealt, policy)[:, action].astype(np.float64)
        if self._rejection:
            probs = (self._rng.random(self._n) < probs).astype(np.float64)
        with np.errstate(divide="ignore"):
            self._log_weight[g] = self._log_weight[g] + np.log(probs)

    def _replace_card(self, g: int, before: Tables, after: Tables, seat: int, action: int, counts: np.ndarray) -> None:
        """Replace the card that was played or discarded by the card drawn, in all worlds of a game."""
        process, size = self._process, self._process.rules.hand
        if action >= 2 * size:  # a hint
            return
        has_drawn = after[g].deck_size < before[g].deck_size
        if seat not in process.owners:  # the observer sees this hand
            if has_drawn:
                drawn = after[g].hand(seat)[-1]
                # Copies of the card in the world's deck before the draw; `counts`, taken after it, excludes the card.
                in_deck = np.maximum(counts[drawn] + 1 - (self._hidden[g] == drawn).sum(axis=1), 0)
                if self._rejection:
                    in_deck = self._rng.random(self._n) * (counts[drawn] + 1) < in_deck
                self._multiply_weights(g, in_deck)
            return
        first, cards = process.owners.index(seat) * size, self._hidden[g]
        self._multiply_weights(g, cards[:, first + action % size] == revealed_card(before, after, g))
        hand = np.delete(cards[:, first : first + size], action % size, axis=1)
        empty_slot = np.full((self._n, 1), -1, dtype=np.int8)
        hand_size = (hand >= 0).sum(axis=1)
        cards = np.concatenate([cards[:, :first], hand, empty_slot, cards[:, first + size :]], axis=1)
        if has_drawn:
            deck = counts - (cards[:, :, None] == np.arange(len(counts))).sum(axis=1)
            cumulative = np.maximum(deck, 0).cumsum(axis=1)
            point = self._rng.random(self._n) * cumulative[:, -1]
            card = np.minimum((cumulative <= point[:, None]).sum(axis=1), len(counts) - 1)
            cards[np.arange(self._n), first + hand_size] = card
        self._hidden[g] = cards

    def _drop_impossible(self, g: int, possible: np.ndarray, counts: np.ndarray) -> None:
        """Drop worlds that hints or counts rule out."""
        cards = self._hidden[g]
        consistent = ((cards[:, :, None] == np.arange(len(counts))).sum(axis=1) <= counts).all(axis=1)
        for s, column in enumerate(cards.T):
            if possible[s].any():
                consistent &= possible[s][column]
        self._multiply_weights(g, consistent)

    def _multiply_weights(self, g: int, factor: np.ndarray) -> None:
        with np.errstate(divide="ignore"):
            self._log_weight[g] = self._log_weight[g] + np.log(factor.astype(np.float64))

    def _resample(self, g: int) -> None:
        """Resample the worlds of a game if the effective sample size is below n / 2."""
        weight = np.exp(self._log_weight[g] - self._log_weight[g].max())
        if weight.sum() ** 2 < np.square(weight).sum() * self._n / 2:
            self._hidden[g] = self._hidden[g][resample(self._log_weight[g], self._n, self._rng)]
            self._log_weight[g] = np.zeros(self._n)


def _merge_copies(cards: np.ndarray, log_weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct worlds, int8 [m, S], and their shares of the weight, float64 [m].

    Resampling copies worlds. Without merging, copies would raise the effective sample size.
    """
    distinct, which = np.unique(cards, axis=0, return_inverse=True)
    weight = np.bincount(which.ravel(), np.exp(log_weight - log_weight.max()), len(distinct))
    return distinct, weight / weight.sum()
