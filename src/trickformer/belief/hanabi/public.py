"""Sampler of the exact public belief over both hands of two-player Hanabi, without a list of all pairs of hands.

The belief of hands a and b, up to a constant factor (see `exact`), is

    P(a, b | public events)  ~  ways(a, b) L1(a) L0(b)

ways(a, b) is at most ways(a) ways(b), because a card is in one hand only. So the sampler draws a by ways(a) L1(a) and b
by ways(b) L0(b), and accepts the pair with probability ways(a, b) / (ways(a) ways(b)). If a seat has too many possible
hands to list, it draws a sample of them slot by slot, from the remaining cards that hints allow. The weight of such a
hand is its likelihood times the product of the number of cards to choose from in each slot, which makes the weights
proportional to ways(a) (importance sampling).
"""

from __future__ import annotations

import numpy as np

from trickformer.belief.hanabi.exact import CHUNK, HandFilter, MoveLikelihood, count_kinds, log_ways
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables
from trickformer.belief.samplers import resample

_ENOUGH = 500  # number of consistent hands after which drawing stops


class PublicWorlds:
    """Exact public belief of one game, in the form fosg or hmm.

    It samples worlds like an estimator (`estimators.WholeHandEstimator`).
    """

    def __init__(self, process: HanabiProcess, limit: int = 20_000, tries: int = 50_000):
        """Set the limits of the lists and samples.

        Args:
            process: System whose game is followed.
            limit: Largest number of hands of a seat that are listed. If there are more, hands are drawn.
            tries: Largest number of draws of a hand, of which many may be inconsistent.

        Raises:
            ValueError: The game is not for two players, or its form is pomdp.
        """
        if process.rules.players != 2 or process.form is Form.POMDP:
            raise ValueError("the public belief takes two players and the form fosg or hmm")
        self._process = process
        self._tries = tries
        self._filters = [HandFilter(process, seat, limit) for seat in (0, 1)]

    def begin(self, x: Tables) -> None:
        """Start at the first position.

        Args:
            x: One table. No method of this class reads a hidden card.
        """
        self._x = x
        for hand_filter in self._filters:
            hand_filter.begin(x)

    def observe(
        self,
        before: Tables,
        control: np.ndarray | None,
        actions: np.ndarray,
        after: Tables,
        move_likelihood: MoveLikelihood | None = None,
    ) -> None:
        """Update the belief by a move.

        Args:
            before: One table before the move.
            control: int64 [1], control of the HanabiProcess; None in the form hmm.
            actions: int64 [1], the move.
            after: The table after the move.
            move_likelihood: Likelihood of the move given the waiting seat's hand; None: the acting policy's.
        """
        self._x = after
        for hand_filter in self._filters:
            hand_filter.observe(before, control, int(actions[0]), after, move_likelihood)

    def enumerate_hands(self, seat: int) -> np.ndarray | None:
        """List the hands of a seat that are consistent with the public events.

        Args:
            seat: The seat.

        Returns:
            int8 [m, hand]; None if there are too many to list.
        """
        hands = self._filters[seat].hands()
        return None if hands is None else hands.hidden

    def counts(self) -> np.ndarray:
        """Return the number of cards of each kind that nobody has played or discarded, int64 [K]."""
        return self._filters[0].counts(self._x)

    def sample_hands(self, n: int, seed: int) -> np.ndarray:
        """Sample worlds.

        Args:
            n: Number of worlds.
            seed: Seed of all randomness.

        Returns:
            Cards of both hands, int8 [1, k, slots]. k is less than n if too few pairs were accepted, and 0 if no drawn
            hand is consistent.
        """
        rng = np.random.default_rng(seed)
        counts, kinds = self.counts(), self._process.rules.kinds
        lists = [self.hand_weights(seat, rng) for seat in (0, 1)]
        worlds, size = np.empty((0, self._process.slots), dtype=np.int8), CHUNK
        if not all(len(weight) for _, weight in lists):
            return worlds[None]
        hand_counts = [count_kinds(hands, kinds) for hands, _ in lists]
        log_ways_alone = [log_ways(c, counts) for c in hand_counts]
        for _ in range(max(1, self._tries * 16 // size)):  # give up after 16 pairs per draw of a hand
            a, b = (rng.permutation(resample(weight, size, rng)) for _, weight in lists)
            log_ways_pair = log_ways(hand_counts[0][a] + hand_counts[1][b], counts)
            log_acceptance = log_ways_pair - log_ways_alone[0][a] - log_ways_alone[1][b]
            keep = np.log(rng.random(size)) < log_acceptance
            pairs = np.concatenate([lists[0][0][a[keep]], lists[1][0][b[keep]]], axis=1)
            worlds = np.concatenate([worlds, pairs])
            if len(worlds) >= n:
                break
        return worlds[None, :n]

    def hand_weights(self, seat: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return hands of a seat, weighted by ways(hand) times the likelihood of the other seat's moves.

        Args:
            seat: The seat.
            rng: Source of all randomness; unused if the hands are listed.

        Returns:
            Hands, int8 [m, hand], and the logarithms of their weights, float64 [m], up to a constant.
        """
        return self._filters[seat].draw(self._x, rng, self._tries, _ENOUGH)
