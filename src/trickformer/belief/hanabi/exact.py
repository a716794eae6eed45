"""Exact beliefs of Hanabi for players without a memory, by listing hands. They are the reference for the estimates.

The players are scripts or networks without an LSTM. A move depends on public information and on the hands that the
mover sees, never on its own hand. With two players, the moves of seat 0 depend on the hand of seat 1 only, and the
reverse. For hands a of seat 0 and b of seat 1 the belief, up to a constant factor, is

    P(a, b | observations)  ~  ways(a, b) L1(a) L0(b)

Here ways(a, b) is the number of deals of these cards from the unseen ones, and L_p is the product of the probabilities
of all moves of seat p. In the form pomdp the observer sees the other hand, and P(a | observations) ~ ways(a) L1(a).
K is the number of kinds of card.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import gammaln, logsumexp

from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables, at_seat, revealed_card

# Maps possible hands of a seat, int8 [m, hand], to the log-likelihood of another seat's move, float64 [m]. It is -inf
# for a hand that the seat cannot hold.
MoveLikelihood: TypeAlias = Callable[[np.ndarray], np.ndarray]

CHUNK = 4_096  # number of hands or pairs of hands that are processed at once


@dataclass(frozen=True, slots=True)
class HandList:
    """All hands that a seat may hold."""

    hidden: np.ndarray  # int8 [m, hand]; -1 for a missing card of a smaller hand
    log_likelihood: np.ndarray  # float64 [m], log-likelihood of the other seat's moves given each hand


class Survival:
    """Number of hands that each recorded move was tested on, and number that passed.

    The move that rules out the largest share of hands is tested first, so later moves are tested on fewer hands.
    """

    def __init__(self, moves: int):
        """Start without counts.

        Args:
            moves: Number of recorded moves.
        """
        self._n_tested, self._n_passed = np.zeros(moves), np.zeros(moves)

    def order(self) -> list[int]:
        """Return the moves by the share of hands that passed, smallest first; without counts in the record's order."""
        return np.argsort((self._n_passed + 1) / (self._n_tested + 2), kind="stable").tolist()

    def count(self, move: int, consistent: np.ndarray) -> None:
        """Add the hands that a move was tested on.

        Args:
            move: Number of the move in the record.
            consistent: bool [m], whether each hand passed.
        """
        self._n_tested[move] += len(consistent)
        self._n_passed[move] += consistent.sum()


class HandFilter:
    """The hands of one seat that are consistent with a two-player game, with the likelihoods of the other's moves.

    While there are at most `limit` hands, the list is updated after each move. While there are more, moves are only
    recorded, and the list is made from the whole record once few enough hands remain.
    """

    def __init__(self, process: HanabiProcess, seat: int, limit: int = 100_000):
        self._process = process
        self._seat = seat
        self._limit = limit
        # Moves of the other seat, each as its likelihood, or as the table before it, the policy and the action.
        self._record: list[MoveLikelihood | tuple[Tables, int, int]] = []
        # Cards of this seat are numbered in the order of drawing.
        self._slots: list[list[int]] = []  # for each recorded move, the numbers of the cards in this seat's hand then
        self._held: list[int] = []  # numbers of the cards in the hand now
        self._shown: dict[int, int] = {}  # kinds of the cards that have left the hand, by number
        self._hands: HandList | None = None  # None: too many to list

    def begin(self, table: Tables) -> None:
        """Start at the first position.

        Args:
            table: One table. No method of this class reads a card of the seat's hand.
        """
        self._record, self._slots = [], []
        self._shown = {}
        self._held = list(range(self._size(table)))
        self._hands = self._enumerate_hands(table)

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
            move_likelihood: Likelihood of the other seat's move; None: the likelihood under the acting policy.
        """
        hands = self._hands
        if before[0].current_player() == self._seat:
            hands = self._observe_own_move(before, action, after, hands)
        else:
            policy = int(self._process.acting_policy(before, control)[0])
            move = move_likelihood or (before.take(np.zeros(1, dtype=np.int64)), policy, action)
            self._record.append(move)
            self._slots.append(list(self._held))
            if hands is not None:
                hands = HandList(hands.hidden, hands.log_likelihood + self._likelihood(move, hands.hidden))
        self._hands = self._drop_impossible(after, hands) if hands is not None else self._enumerate_hands(after)

    def hands(self) -> HandList | None:
        """Return the hands that the seat may hold now; None if they are too many."""
        return self._hands

    def _observe_own_move(self, before: Tables, action: int, after: Tables, hands: HandList | None) -> HandList | None:
        """Remove the card that this seat played or discarded, and append every kind that it may have drawn."""
        size = self._process.rules.hand
        if action >= 2 * size:  # a hint
            return hands
        slot = action % size
        card = revealed_card(before, after, 0)
        self._shown[self._held.pop(slot)] = card
        has_drawn = self._size(after) > len(self._held)
        if has_drawn:
            self._held.append(1 + max([*self._held, *self._shown]))
        if hands is None:
            return None
        keep = hands.hidden[:, slot] == card
        hidden = np.delete(hands.hidden[keep], slot, axis=1)
        hidden = np.concatenate([hidden, np.full((len(hidden), 1), -1, dtype=np.int8)], axis=1)
        log_likelihood = hands.log_likelihood[keep]
        if has_drawn:
            kinds = self._process.rules.kinds
            hidden, log_likelihood = np.repeat(hidden, kinds, axis=0), np.repeat(log_likelihood, kinds)
            hidden[:, len(self._held) - 1] = np.tile(np.arange(kinds), len(hidden) // kinds)
        return HandList(hidden, log_likelihood)

    def _drop_impossible(self, table: Tables, hands: HandList) -> HandList | None:
        """Drop hands that cards, hints or the other's moves rule out; None if more than `limit` hands remain."""
        possible, counts = _possible_kinds(table, self._seat), self.counts(table)
        consistent = np.isfinite(hands.log_likelihood)
        hand_counts = np.zeros((len(consistent), len(counts)), dtype=np.int8)
        for slot, column in enumerate(hands.hidden.T[: len(self._held)]):
            consistent &= possible[slot][column]
            hand_counts[np.arange(len(consistent)), column] += 1
        consistent &= (hand_counts <= counts).all(axis=1)
        if consistent.sum() > self._limit:
            return None
        return HandList(hands.hidden[consistent], hands.log_likelihood[consistent])

    def _enumerate_hands(self, table: Tables) -> HandList | None:
        """List the hands from the whole record; None if more than `limit` remain after some slot."""
        possible, counts = _possible_kinds(table, self._seat), self.counts(table)
        size = self._process.rules.hand
        hidden = np.full((1, size), -1, dtype=np.int8)
        left = counts[None].astype(np.int8)
        for slot in range(len(self._held)):
            rows, kinds = np.nonzero(possible[slot][None] & (left > 0))
            if len(rows) > self._limit:
                return None
            hidden, left = hidden[rows], left[rows]
            hidden[:, slot] = kinds
            left[np.arange(len(rows)), kinds] -= 1
        return self.filter_hands(hidden, np.zeros(len(hidden)))

    def filter_hands(self, hidden: np.ndarray, log_weight: np.ndarray, survival: Survival | None = None) -> HandList:
        """Weight hands by all moves of the other seat so far, and drop those that the moves rule out.

        Args:
            hidden: Present hands, int8 [m, hand].
            log_weight: float64 [m], initial log weights, to which the log-likelihoods are added.
            survival: Counts of earlier calls on the same record, which set the order of evaluation; updated.

        Returns:
            The remaining hands, with the sums as their log-likelihoods.
        """
        size = self._process.rules.hand
        survival = survival or Survival(len(self._record))
        log_likelihood = np.zeros((len(self._record), len(hidden)))
        for i in survival.order():
            # The hand at the time of the move follows from the present hand and the cards that have left it since.
            past_hand = np.full((len(hidden), size), -1, dtype=np.int8)
            for slot, number in enumerate(self._slots[i]):
                was_shown = number in self._shown
                past_hand[:, slot] = self._shown[number] if was_shown else hidden[:, self._held.index(number)]
            log_likelihood[i] = self._likelihood(self._record[i], past_hand)
            consistent = np.isfinite(log_likelihood[i])
            survival.count(i, consistent)
            hidden, log_weight = hidden[consistent], log_weight[consistent]
            log_likelihood = log_likelihood[:, consistent]
        for move in log_likelihood:  # in the order of the record, whatever the order of evaluation
            log_weight = log_weight + move
        return HandList(hidden, log_weight)

    def _likelihood(self, move: MoveLikelihood | tuple[Tables, int, int], hidden: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of a recorded move given each hand, float64 [m]; -inf for an impossible hand."""
        if callable(move):
            return move(hidden)
        before, policy = move[:2]
        action = move[2]
        dealt = at_seat(hidden, self._seat, self._process.rules.players)
        with np.errstate(divide="ignore"):
            probs = self._process.policy_given_hands(before, 0, dealt, policy)
            return np.log(probs[:, action].astype(np.float64))

    def counts(self, table: Tables) -> np.ndarray:
        """Return the number of cards of each kind that may be in the hand, int64 [K].

        Args:
            table: The present table.
        """
        return self._process.card_constraints(table)[1][0].astype(np.int64)

    def draw(self, table: Tables, rng: np.random.Generator, tries: int, enough: int) -> tuple[np.ndarray, np.ndarray]:
        """Return hands, weighted by ways(hand) times the likelihood of the other seat's moves.

        Args:
            table: The present table.
            rng: Source of all randomness; unused if the hands are listed.
            tries: Largest number of draws of a hand, of which many may be inconsistent, if there are too many to list.
                It is rounded up to a multiple of CHUNK.
            enough: Number of consistent hands after which drawing stops.

        Returns:
            Hands, int8 [m, hand], and the logarithms of their weights, float64 [m], up to a constant.
        """
        counts = self.counts(table)
        if (listed := self.hands()) is not None:
            ways = log_ways(count_kinds(listed.hidden, len(counts)), counts)
            possible_hands = np.isfinite(ways)
            return listed.hidden[possible_hands], (listed.log_likelihood + ways)[possible_hands]
        possible = _possible_kinds(table, self._seat)
        hidden: list[np.ndarray] = []
        log_weights: list[np.ndarray] = []
        survival = Survival(len(self._record))  # of this draw alone: hands do not depend on earlier draws
        for _ in range(-(-tries // CHUNK)):
            hands, weight = _sample_hands(possible, counts, CHUNK, rng)
            hands, which = np.unique(hands, axis=0, return_inverse=True)
            total = np.bincount(which.ravel(), weight, len(hands))  # sum over equal hands
            hands, total = hands[total > 0], total[total > 0]
            consistent = self.filter_hands(hands, np.log(total), survival)
            hidden.append(consistent.hidden)
            log_weights.append(consistent.log_likelihood)
            if sum(map(len, hidden)) >= enough:
                break
        return np.concatenate(hidden), np.concatenate(log_weights)

    def _size(self, table: Tables) -> int:
        """Return the number of cards in the seat's hand."""
        return len(table[0].hand(self._seat))


class HandListBelief:
    """Exact belief of a two-player game in any form of HanabiProcess, while hands are few enough to list."""

    def __init__(self, process: HanabiProcess, limit: int = 100_000, pairs: int = 4_000_000):
        """Set the limits of the lists.

        Args:
            process: System whose game is followed.
            limit: Largest number of listed hands of one seat.
            pairs: Largest number of listed pairs of hands.

        Raises:
            ValueError: The game is not for two players.
        """
        if process.rules.players != 2:
            raise ValueError(f"the exact belief is for two players, not {process.rules.players}")
        seats = [process.seat] if process.form is Form.POMDP else [0, 1]
        self._filters = [HandFilter(process, seat, limit) for seat in seats]
        self._pairs = pairs
        self._table: Tables | None = None

    def begin(self, table: Tables) -> None:
        """Start at the first position.

        Args:
            table: One table. No method of this class reads a hidden card.
        """
        self._table = table
        for hand_filter in self._filters:
            hand_filter.begin(table)

    def observe(self, before: Tables, control: np.ndarray | None, action: int, after: Tables) -> None:
        """Update the belief by a move.

        Args:
            before: One table before the move.
            control: int64 [1], control of the HanabiProcess; None in the form hmm.
            action: The move.
            after: The table after the move.
        """
        self._table = after
        for hand_filter in self._filters:
            hand_filter.observe(before, control, action, after)

    def draw(self, rng: np.random.Generator, tries: int, enough: int) -> tuple[np.ndarray, np.ndarray]:
        """Return weighted hands of the observing seat in the form pomdp, as `HandFilter.draw` does.

        Args:
            rng: Source of all randomness.
            tries: Largest number of draws of a hand.
            enough: Number of consistent hands after which drawing stops.
        """
        assert self._table is not None
        (hand_filter,) = self._filters
        return hand_filter.draw(self._table, rng, tries, enough)

    def distribution(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the distribution over the hidden cards.

        Returns:
            Hidden cards, int8 [m, slots], and the logarithms of their probabilities, float64 [m]; None if there are
            too many to list.
        """
        assert self._table is not None
        lists = [hands for hand_filter in self._filters if (hands := hand_filter.hands()) is not None]
        if len(lists) < len(self._filters):
            return None
        counts = self._filters[0].counts(self._table)
        kinds = len(counts)
        if len(lists) == 1:
            hidden = lists[0].hidden
            log_p = lists[0].log_likelihood + log_ways(count_kinds(hidden, kinds), counts)
        else:
            a, b = lists
            if len(a.hidden) * len(b.hidden) > self._pairs:
                return None
            i, j = (np.indices((len(a.hidden), len(b.hidden)))).reshape(2, -1)  # all pairs of hands
            pair_counts = count_kinds(a.hidden, kinds)[i] + count_kinds(b.hidden, kinds)[j]
            log_p = a.log_likelihood[i] + b.log_likelihood[j] + log_ways(pair_counts, counts)
            keep = np.isfinite(log_p)
            hidden, log_p = np.concatenate([a.hidden[i[keep]], b.hidden[j[keep]]], axis=1), log_p[keep]
        return hidden, log_p - logsumexp(log_p)


def _possible_kinds(table: Tables, seat: int) -> np.ndarray:
    """Return the kinds that hints allow in each slot of a seat's hand, bool [hand, K]."""
    return table.possible()[0, seat]


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


def count_kinds(hidden: np.ndarray, kinds: int) -> np.ndarray:
    """Count the cards of each kind in each hand.

    Args:
        hidden: int8 [m, hand]; -1 for no card.
        kinds: Number of kinds.

    Returns:
        int64 [m, kinds].
    """
    return (hidden[:, :, None] == np.arange(kinds, dtype=np.int8)).sum(axis=1)


def log_ways(drawn: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the logarithm of the number of ordered ways to draw some cards from the unseen ones.

    Args:
        drawn: int64 [m, kinds], number of cards of each kind to draw.
        counts: int64 [kinds], number of unseen cards of each kind.

    Returns:
        float64 [m]; -inf if a kind has too few cards.
    """
    too_few = (drawn > counts).any(axis=1)
    ways = gammaln(counts + 1).sum() - gammaln(np.maximum(counts - drawn, 0) + 1).sum(axis=1)
    return np.where(too_few, -np.inf, ways)
