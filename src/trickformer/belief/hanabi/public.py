"""Exact worlds of the public belief, without listing pairs of hands.

The moves of seat 0 depend on the hand of seat 1 alone (`exact`), so the belief of hands a and b is

    P(a, b | seen)  ~  ways(a, b) L1(a) L0(b).

ways(a, b) is at most ways(a) ways(b), because a card is in one hand only. So a is drawn by ways(a) L1(a), b by ways(b)
L0(b), and the pair is accepted with probability ways(a, b) / (ways(a) ways(b)). If the hands of a seat are too many to
list, some are drawn, slot by slot from the cards left and allowed. The weight of a drawn hand is the product of the
numbers of cards to choose from, which makes it as likely as the deal does, times the likelihood of the others' moves.
"""

from __future__ import annotations

import numpy as np

from trickformer.belief.hanabi.exact import HandFilter, MoveLikelihood, count_kinds, log_ways
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables
from trickformer.belief.samplers import resample

_PIECE = 4_096  # hands, or pairs, processed at once


class PublicWorlds:
    """Worlds of one game of two scripted players, or of decision rules, in the form fosg or hmm.

    It draws worlds like an estimator (`estimators.HandWriter`).
    """

    def __init__(self, process: HanabiProcess, limit: int = 20_000, tries: int = 50_000, enough: int = 500):
        """Set the limits of the lists and samples.

        Args:
            process: System whose game is followed.
            limit: Largest number of hands of a seat that are listed.
            tries: Number of draws of a hand for a sample, if there are more hands.
            enough: Number of consistent hands after which no more are drawn.

        Raises:
            ValueError: The game is not for two players, or its form is pomdp.
        """
        if process.rules.players != 2 or process.form is Form.POMDP:
            raise ValueError("the public belief of two players takes two players and the form fosg or hmm")
        self._process = process
        self._tries = tries
        self._enough = enough
        self._filters = [HandFilter(process, seat, limit) for seat in (0, 1)]

    def begin(self, x: Tables) -> None:
        """Take in the first position.

        Args:
            x: One table. No method of this class reads a hidden card.
        """
        self._x = x
        for each in self._filters:
            each.begin(x)

    def observe(
        self,
        before: Tables,
        control: np.ndarray | None,
        actions: np.ndarray,
        after: Tables,
        move_likelihood: MoveLikelihood | None = None,
    ) -> None:
        """Take in a move.

        Args:
            before: One table before the move.
            control: int64 [1], control of the HanabiProcess; None in the form hmm.
            actions: int64 [1], the move.
            after: The table after the move.
            move_likelihood: Likelihood of the move given the other's hand, if the control's policy did not make it.
        """
        self._x = after
        for each in self._filters:
            each.observe(before, control, int(actions[0]), after, move_likelihood)

    def enumerate_hands(self, seat: int) -> np.ndarray | None:
        """List the hands of a seat that explain what was seen.

        Args:
            seat: The seat.

        Returns:
            int8 [m, hand]; None if they are too many.
        """
        hands = self._filters[seat].hands()
        return None if hands is None else hands.hidden

    def counts(self) -> np.ndarray:
        """Return the number of cards of each kind that nobody has played or discarded, int64 [K]."""
        return self._filters[0].counts(self._x)

    def write(self, n: int, seed: int) -> np.ndarray:
        """Draw worlds.

        Args:
            n: Number of worlds.
            seed: Seed of all randomness.

        Returns:
            int8 [1, k, slots]. k is below n if too few pairs were accepted, and 0 if no drawn hand explains what was
            seen.
        """
        rng = np.random.default_rng(seed)
        counts, kinds = self.counts(), self._process.rules.kinds
        lists = [self.hand_weights(seat, rng) for seat in (0, 1)]
        worlds, size = np.empty((0, self._process.slots), dtype=np.int8), _PIECE
        if not all(len(weight) for _, weight in lists):
            return worlds[None]
        held = [count_kinds(hands, kinds) for hands, _ in lists]
        alone = [log_ways(h, counts) for h in held]
        for _ in range(max(1, self._tries * 16 // size)):
            a, b = (rng.permutation(resample(weight, size, rng)) for _, weight in lists)
            accepted = log_ways(held[0][a] + held[1][b], counts) - alone[0][a] - alone[1][b]
            keep = np.log(rng.random(size)) < accepted
            pairs = np.concatenate([lists[0][0][a[keep]], lists[1][0][b[keep]]], axis=1)
            worlds = np.concatenate([worlds, pairs])
            if len(worlds) >= n:
                break
        return worlds[None, :n]

    def hand_weights(self, seat: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return hands of a seat and their weights, without regard to the other seat's hand.

        Args:
            seat: The seat.
            rng: Source of all randomness; unused if the hands are listed.

        Returns:
            Hands, int8 [m, hand], and the logarithms of their weights, float64 [m], up to a constant.
        """
        own, counts = self._filters[seat], self.counts()
        if (listed := own.hands()) is not None:
            ways = log_ways(count_kinds(listed.hidden, len(counts)), counts)
            good = np.isfinite(ways)
            return listed.hidden[good], (listed.log_likelihood + ways)[good]
        possible = self._x.possible()[0, seat]
        hidden: list[np.ndarray] = []
        weights: list[np.ndarray] = []
        for _ in range(-(-self._tries // _PIECE)):
            hands, weight = _sample_hands(possible, counts, _PIECE, rng)
            hands, which = np.unique(hands, axis=0, return_inverse=True)
            total = np.bincount(which.ravel(), weight, len(hands))
            hands, total = hands[total > 0], total[total > 0]
            consistent = own.filter_hands(hands, np.log(total))
            hidden.append(consistent.hidden)
            weights.append(consistent.log_likelihood)
            if sum(map(len, hidden)) >= self._enough:
                break
        return np.concatenate(hidden), np.concatenate(weights)


def _sample_hands(
    possible: np.ndarray, counts: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw hands slot by slot, int8 [n, hand], and the weights float64 [n] that make them as likely as the deal does.

    A weight is 0 if no card was left for a slot. `possible` is bool [hand, K], `counts` is [K].
    """
    hands, weight = np.full((n, len(possible)), -1, dtype=np.int8), np.ones(n)
    left = np.repeat(counts[None].astype(np.float64), n, axis=0)
    for slot, kinds in enumerate(possible):
        if not kinds.any():
            continue
        cumulative = (left * kinds).cumsum(axis=1)
        total = cumulative[:, -1]
        at = rng.random(n) * total
        card = np.minimum((cumulative <= at[:, None]).sum(axis=1), len(counts) - 1)
        hands[:, slot] = card
        weight *= total
        left[np.arange(n), card] = np.maximum(left[np.arange(n), card] - 1, 0)
    return hands, weight
