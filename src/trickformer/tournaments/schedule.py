"""The hands of a plan, numbered in order and stored in a few bytes each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import numpy as np

from trickformer.tournaments.deals import DealName
from trickformer.tournaments.plan import Hand


class Schedule:
    """The hands of a plan, numbered from 0 in its order.

    Attributes:
        seatings: Every seating that occurs, in the order of the plan.
        grid: Number of the hand of each deal and seating, int32 [deals, seatings]; -1 if the plan has none.
    """

    def __init__(self, hands: Iterable[Hand]) -> None:
        """Number hands, no two of which are equal."""
        # Name of each deal by row, and the inverse. While row i is DealName(i), as in most plans, neither is stored.
        self._names: list[DealName] | None = None
        self._row_of_deal: dict[DealName, int] = {}
        self._deals = 0
        self._column_of_seating: dict[tuple[int, ...], int] = {}
        rows, columns = array("i"), array("i")
        for hand in hands:
            rows.append(self._add_deal(hand.deal, hand.seed))
            columns.append(self._column_of_seating.setdefault(hand.seating, len(self._column_of_seating)))
        self.seatings = list(self._column_of_seating)
        self._numbers = array("i", [-1]) * (self._deals * len(self.seatings))
        self.grid = np.frombuffer(self._numbers, dtype=np.int32).reshape(self._deals, len(self.seatings))
        places = np.frombuffer(rows, dtype=np.int32), np.frombuffer(columns, dtype=np.int32)
        self.grid[places] = np.arange(len(rows), dtype=np.int32)
        self._hand_rows, self._hand_columns = rows, columns  # place of each hand in `grid`

    def __len__(self) -> int:
        return len(self._hand_rows)

    def __iter__(self) -> Iterator[Hand]:
        return map(self.hand, range(len(self)))

    def hand(self, number: int) -> Hand:
        """Return the hand of a number.

        Args:
            number: Number of the hand, from 0.
        """
        deal = self.deal(self._hand_rows[number])
        return Hand(deal.number, self.seatings[self._hand_columns[number]], deal.seed)

    def deal(self, row: int) -> DealName:
        """Return the name of a deal.

        Args:
            row: Row of the deal in `grid`.
        """
        return DealName(row) if self._names is None else self._names[row]

    def find(self, deal: int, seating: tuple[int, ...], seed: int | None) -> int:
        """Find a hand.

        Args:
            deal: Number of the deal.
            seating: Index of the player in each seat.
            seed: Seed of the deal's series; None if it is the plan's.

        Returns:
            The number of the hand, or -1 if the plan does not have it.
        """
        column = self._column_of_seating.get(seating)
        if column is None:
            return -1
        if self._names is not None:
            row = self._row_of_deal.get(DealName(deal, seed))
            if row is None:
                return -1
        elif seed is None and 0 <= deal < self._deals:
            row = deal
        else:
            return -1
        return self._numbers[row * len(self.seatings) + column]

    def seating(self, numbers: np.ndarray) -> np.ndarray:
        """Return the seatings of hands.

        Args:
            numbers: Numbers of the hands, int [n].

        Returns:
            Indices of the seatings in `seatings`, int32 [n].
        """
        return np.frombuffer(self._hand_columns, dtype=np.int32)[numbers]

    def deal_rows(self, numbers: np.ndarray) -> np.ndarray:
        """Return the rows in `grid` of the deals of hands.

        Args:
            numbers: Numbers of the hands, int [n].

        Returns:
            The rows, int32 [n].
        """
        return np.frombuffer(self._hand_rows, dtype=np.int32)[numbers]

    def _add_deal(self, deal: int, seed: int | None) -> int:
        """Return the row of a deal in `grid`; a new row for a new deal."""
        if self._names is None:
            if seed is None and 0 <= deal <= self._deals:
                self._deals = max(self._deals, deal + 1)
                return deal
            self._names = [DealName(row) for row in range(self._deals)]
            self._row_of_deal = {name: row for row, name in enumerate(self._names)}
        name = DealName(deal, seed)
        row = self._row_of_deal.setdefault(name, self._deals)
        if row == self._deals:
            self._names.append(name)
            self._deals += 1
        return row
