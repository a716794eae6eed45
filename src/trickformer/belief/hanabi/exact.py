"""Exact beliefs of Hanabi for scripted players, by listing hands. They are the reference for the estimates.

A scripted player's move depends on public information and on the hands that it sees, never on its own hand. So the
moves of seat 0 depend on the hand of seat 1 alone. For hands a of seat 0 and b of seat 1 the belief is

    P(a, b | seen)  ~  ways(a, b) L1(a) L0(b)

where ways counts the deals of these cards from the unseen ones, and L_p is the product of the probabilities of the
moves of seat p. In a pomdp the other hand is seen, and P(a | seen) ~ ways(a) L1(a).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import gammaln, logsumexp

from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables, at_seat, policy_given_hands, revealed_card

# Log-likelihood of a move by another seat, float64 [m], given the own hands, int8 [m, hand]. It is -inf for a hand that
# the own seat cannot hold.
MoveLikelihood: TypeAlias = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True)
class HandList:
    """Every hand that a seat may hold."""

    hidden: np.ndarray  # int8 [m, hand]; -1 for a missing card of a smaller hand
    log_likelihood: np.ndarray  # float64 [m], of the others' moves


class HandFilter:
    """The hands of one seat that explain a game of two, with their likelihoods.

    As long as there are at most `limit` hands, the list is updated after each move. If there are more, it is made from
    the whole record as soon as they have become few enough.
    """

    def __init__(self, process: HanabiProcess, seat: int, limit: int = 100_000):
        self._process = process
        self._seat = seat
        self._limit = limit
        # Each move of another seat: its likelihood, or the table before it, the policy, and the action.
        self._record: list[MoveLikelihood | tuple[Tables, int, int]] = []
        self._slots: list[list[int]] = []  # for each of these moves, the cards held, numbered in the order of drawing
        self._held: list[int] = []
        self._shown: dict[int, int] = {}  # cards of the seat that have left its hand
        self._hands: HandList | None = None

    def begin(self, table: Tables) -> None:
        """Take in the first position.

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
        """Take in a move.

        Args:
            before: One table before the move.
            control: int64 [1], control of the HanabiProcess; None in the form hmm.
            action: The move.
            after: The table after the move.
            move_likelihood: Likelihood of a move of another seat, if it was not made by the control's policy.
        """
        hands = self._hands
        if before[0].current_player() == self._seat:
            hands = self._own(before, action, after, hands)
        else:
            policy = int(self._process.acting_policy(before, control)[0])
            move = move_likelihood or (before.take(np.zeros(1, dtype=np.int64)), policy, action)
            self._record.append(move)
            self._slots.append(list(self._held))
            if hands is not None:
                hands = HandList(hands.hidden, hands.log_likelihood + self._likelihood(move, hands.hidden))
        self._hands = self._possible(after, hands) if hands is not None else self._enumerate_hands(after)

    def hands(self) -> HandList | None:
        """Return the hands that the seat may hold now; None if they are too many."""
        return self._hands

    def _own(self, before: Tables, action: int, after: Tables, hands: HandList | None) -> HandList | None:
        size = self._process.rules.hand
        if action >= 2 * size:
            return hands
        slot = action % size
        card = revealed_card(before, after, 0)
        self._shown[self._held.pop(slot)] = card
        drawn = self._size(after) > len(self._held)
        if drawn:
            self._held.append(1 + max([*self._held, *self._shown]))
        if hands is None:
            return None
        keep = hands.hidden[:, slot] == card
        hidden = np.delete(hands.hidden[keep], slot, axis=1)
        hidden = np.concatenate([hidden, np.full((len(hidden), 1), -1, dtype=np.int8)], axis=1)
        likelihood = hands.log_likelihood[keep]
        if drawn:
            kinds = self._process.rules.kinds
            hidden, likelihood = np.repeat(hidden, kinds, axis=0), np.repeat(likelihood, kinds)
            hidden[:, len(self._held) - 1] = np.tile(np.arange(kinds), len(hidden) // kinds)
        return HandList(hidden, likelihood)

    def _possible(self, table: Tables, hands: HandList) -> HandList | None:
        """Keep the hands that cards and hints allow and whose likelihood is positive; None if they are too many."""
        possible, counts = _slots(table, self._seat), self.counts(table)
        good = np.isfinite(hands.log_likelihood)
        held = np.zeros((len(good), len(counts)), dtype=np.int8)
        for slot, column in enumerate(hands.hidden.T[: len(self._held)]):
            good &= possible[slot][column]
            held[np.arange(len(good)), column] += 1
        good &= (held <= counts).all(axis=1)
        if good.sum() > self._limit:
            return None
        return HandList(hands.hidden[good], hands.log_likelihood[good])

    def _enumerate_hands(self, table: Tables) -> HandList | None:
        """List the hands from the whole record; None if they, or their beginnings, are too many."""
        possible, counts = _slots(table, self._seat), self.counts(table)
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

    def filter_hands(self, hidden: np.ndarray, likelihood: np.ndarray) -> HandList:
        """Weight hands by the whole record of the others' moves, and drop the impossible ones.

        Args:
            hidden: int8 [m, hand].
            likelihood: float64 [m], log weights that the log likelihoods are added to.

        Returns:
            The hands under which the others could make their moves.
        """
        size = self._process.rules.hand
        for move, held in zip(self._record, self._slots):
            then = np.full((len(hidden), size), -1, dtype=np.int8)
            for slot, card in enumerate(held):
                then[:, slot] = self._shown[card] if card in self._shown else hidden[:, self._held.index(card)]
            likelihood = likelihood + self._likelihood(move, then)
            good = np.isfinite(likelihood)
            hidden, likelihood = hidden[good], likelihood[good]
        return HandList(hidden, likelihood)

    def _likelihood(self, move: MoveLikelihood | tuple[Tables, int, int], hidden: np.ndarray) -> np.ndarray:
        """Return the log likelihood of the move given each hand, float64 [m]; -inf for a hand that cannot be held."""
        if callable(move):
            return move(hidden)
        before, policy = move[:2]
        action = move[2]
        dealt = at_seat(hidden, self._seat, self._process.rules.players)
        with np.errstate(divide="ignore"):
            return np.log(policy_given_hands(before, 0, dealt, policy)[:, action].astype(np.float64))

    def counts(self, table: Tables) -> np.ndarray:
        """Return the number of cards of each kind that may be in the hand, int64 [K].

        Args:
            table: One table, the present one.
        """
        return self._process.card_constraints(table)[1][0].astype(np.int64)

    def _size(self, table: Tables) -> int:
        return len(table[0].hand(self._seat))


class HandListBelief:
    """Exact belief of a game of two scripted players in any of the three forms, while hands are few enough to list."""

    def __init__(self, process: HanabiProcess, limit: int = 100_000, pairs: int = 4_000_000):
        """Set the limits of the lists.

        Args:
            process: System whose game is followed.
            limit: Largest number of hands of a seat.
            pairs: Largest number of pairs of hands.

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
        """Take in the first position.

        Args:
            table: One table. No method of this class reads a hidden card.
        """
        self._table = table
        for each in self._filters:
            each.begin(table)

    def observe(self, before: Tables, control: np.ndarray | None, action: int, after: Tables) -> None:
        """Take in a move.

        Args:
            before: One table before the move.
            control: int64 [1], control of the HanabiProcess; None in the form hmm.
            action: The move.
            after: The table after the move.
        """
        self._table = after
        for each in self._filters:
            each.observe(before, control, action, after)

    def distribution(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the distribution over the hidden cards.

        Returns:
            Hidden cards, int8 [m, slots], and the logarithms of their probabilities, float64 [m]; None if they are too
            many.
        """
        assert self._table is not None
        lists = [hands for each in self._filters if (hands := each.hands()) is not None]
        if len(lists) < len(self._filters):
            return None
        counts = self._filters[0].counts(self._table)
        kinds = len(counts)
        if len(lists) == 1:
            hidden, log_p = (
                lists[0].hidden,
                lists[0].log_likelihood + log_ways(count_kinds(lists[0].hidden, kinds), counts),
            )
        else:
            a, b = lists
            if len(a.hidden) * len(b.hidden) > self._pairs:
                return None
            left, right = (np.indices((len(a.hidden), len(b.hidden)))).reshape(2, -1)
            held = count_kinds(a.hidden, kinds)[left] + count_kinds(b.hidden, kinds)[right]
            log_p = a.log_likelihood[left] + b.log_likelihood[right] + log_ways(held, counts)
            keep = np.isfinite(log_p)
            hidden, log_p = np.concatenate([a.hidden[left[keep]], b.hidden[right[keep]]], axis=1), log_p[keep]
        return hidden, log_p - logsumexp(log_p)


def _slots(table: Tables, seat: int) -> np.ndarray:
    return table.possible()[0, seat]


def count_kinds(hidden: np.ndarray, kinds: int) -> np.ndarray:
    """Count the cards of each kind in each hand.

    Args:
        hidden: int8 [m, hand]; -1 for no card.
        kinds: Number of kinds.

    Returns:
        int64 [m, kinds].
    """
    return (hidden[:, :, None] == np.arange(kinds, dtype=np.int8)).sum(axis=1)


def log_ways(held: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the logarithm of the number of ordered draws of some cards from the unseen ones.

    Args:
        held: int64 [m, kinds], cards of each kind to draw.
        counts: int64 [kinds], unseen cards of each kind.

    Returns:
        float64 [m]; -inf if a kind has too few cards.
    """
    short = (held > counts).any(axis=1)
    ways = gammaln(counts + 1).sum() - gammaln(np.maximum(counts - held, 0) + 1).sum(axis=1)
    return np.where(short, -np.inf, ways)
