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

from trickformer.belief.hanabi.exact import HandFilter, HandList, MoveLikelihood, count_kinds, log_ways
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables
from trickformer.belief.samplers import resample

_CHUNK = 4_096  # number of hands or pairs that are processed at once


class SeatHands:
    """Hands of one seat that explain the other seat's moves, as a list, or as a sample if there are too many to list.

    In the form pomdp the seat is the observing one, and its weighted hands are the exact belief.
    """

    def __init__(self, process: HanabiProcess, seat: int, limit: int, tries: int):
        """Set the limits of the list and the sample.

        Args:
            process: System of two players whose game is followed.
            seat: The seat.
            limit: Largest number of hands that are listed. If there are more, hands are drawn.
            tries: Largest number of draws of a hand, of which many may be inconsistent.
        """
        self._seat, self._filter = seat, HandFilter(process, seat, limit)
        self._tries = tries

    def begin(self, x: Tables) -> None:
        """Start at the first position.

        Args:
            x: One table. No method of this class reads a card of the seat's hand.
        """
        self._x = x
        self._filter.begin(x)

    def observe(
        self,
        before: Tables,
        control: np.ndarray | None,
        action: int,
        after: Tables,
        move_likelihood: MoveLikelihood | None = None,
    ) -> None:
        """Update the hands by a move.

        Args:
            before: One table before the move.
            control: int64 [1], control of the HanabiProcess; None in the form hmm.
            action: The move.
            after: The table after the move.
            move_likelihood: Likelihood of the other seat's move; None: the acting policy's.
        """
        self._x = after
        self._filter.observe(before, control, action, after, move_likelihood)

    def counts(self) -> np.ndarray:
        """Return the number of cards of each kind that may be in the hand, int64 [K]."""
        return self._filter.counts(self._x)

    def hands(self) -> HandList | None:
        """Return the hands that explain the moves; None if there are too many to list."""
        return self._filter.hands()

    def distribution(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the distribution over the hands in the form pomdp.

        Returns:
            Hands, int8 [m, hand], and the logarithms of their probabilities, float64 [m]; None if there are too many
            to list.
        """
        listed = self.hands()
        return None if listed is None else listed.distribution(self.counts())

    def draw(self, rng: np.random.Generator, enough: int) -> tuple[np.ndarray, np.ndarray]:
        """Return hands, weighted by ways(hand) times the likelihood of the other seat's moves.

        Args:
            rng: Source of all randomness; unused if the hands are listed.
            enough: Number of consistent hands after which drawing stops, if there are too many to list.

        Returns:
            Hands, int8 [m, hand], and the logarithms of their weights, float64 [m], up to a constant.
        """
        counts = self.counts()
        if (listed := self.hands()) is not None:
            ways = log_ways(count_kinds(listed.hidden, len(counts)), counts)
            possible_hands = np.isfinite(ways)
            return listed.hidden[possible_hands], (listed.log_likelihood + ways)[possible_hands]
        possible = self._x.possible()[0, self._seat]
        hidden: list[np.ndarray] = []
        log_weights: list[np.ndarray] = []
        for _ in range(-(-self._tries // _CHUNK)):
            hands, weight = _sample_hands(possible, counts, _CHUNK, rng)
            hands, which = np.unique(hands, axis=0, return_inverse=True)
            total = np.bincount(which.ravel(), weight, len(hands))  # sum over equal hands
            hands, total = hands[total > 0], total[total > 0]
            consistent = self._filter.filter_hands(hands, np.log(total))
            hidden.append(consistent.hidden)
            log_weights.append(consistent.log_likelihood)
            if sum(map(len, hidden)) >= enough:
                break
        return np.concatenate(hidden), np.concatenate(log_weights)


class PublicWorlds:
    """Exact public belief of one game, in the form fosg or hmm.

    It samples worlds like an estimator (`estimators.WholeHandEstimator`).
    """

    def __init__(self, process: HanabiProcess, limit: int = 20_000, tries: int = 50_000, enough: int = 500):
        """Set the limits of the lists and samples.

        Args:
            process: System whose game is followed.
            limit: Largest number of hands of a seat that are listed. If there are more, hands are drawn.
            tries: Largest number of draws of a hand, of which many may be inconsistent.
            enough: Number of consistent hands after which drawing stops.

        Raises:
            ValueError: The game is not for two players, or its form is pomdp.
        """
        if process.rules.players != 2 or process.form is Form.POMDP:
            raise ValueError("the public belief takes two players and the form fosg or hmm")
        self._process = process
        self._tries, self._enough = tries, enough
        self._hands = [SeatHands(process, seat, limit, tries) for seat in (0, 1)]

    def begin(self, x: Tables) -> None:
        """Start at the first position.

        Args:
            x: One table. No method of this class reads a hidden card.
        """
        for hands in self._hands:
            hands.begin(x)

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
        for hands in self._hands:
            hands.observe(before, control, int(actions[0]), after, move_likelihood)

    def enumerate_hands(self, seat: int) -> np.ndarray | None:
        """List the hands of a seat that are consistent with the public events.

        Args:
            seat: The seat.

        Returns:
            int8 [m, hand]; None if there are too many to list.
        """
        listed = self._hands[seat].hands()
        return None if listed is None else listed.hidden

    def counts(self) -> np.ndarray:
        """Return the number of cards of each kind that nobody has played or discarded, int64 [K]."""
        return self._hands[0].counts()

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
        worlds, size = np.empty((0, self._process.slots), dtype=np.int8), _CHUNK
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
        return self._hands[seat].draw(rng, self._enough)


def _sample_hands(
    possible: np.ndarray, counts: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw hands slot by slot from the remaining cards that hints allow, and return them with importance weights.

    `possible` is bool [hand, K], `counts` is [K]. Hands are int8 [n, hand]. Weights are float64 [n]: the product of the
    number of cards to choose from in each slot, 0 if no card was left for a slot.
    """
    hands, weight = np.full((n, len(possible)), -1, dtype=np.int8), np.ones(n)
    left = np.repeat(counts[None].astype(np.float64), n, axis=0)
    for slot, kinds in enumerate(possible):
        if not kinds.any():
            continue
        cumulative = (left * kinds).cumsum(axis=1)
        total = cumulative[:, -1]
        point = rng.random(n) * total
        card = np.minimum((cumulative <= point[:, None]).sum(axis=1), len(counts) - 1)
        hands[:, slot] = card
        weight *= total
        left[np.arange(n), card] = np.maximum(left[np.arange(n), card] - 1, 0)
    return hands, weight
