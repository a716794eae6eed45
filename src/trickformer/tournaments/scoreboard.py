"""The score of a tournament in progress: finished deals, the progress line, and the decision to stop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trickformer.base import Game
from trickformer.tournaments import plan
from trickformer.tournaments.columns import RecordColumns
from trickformer.tournaments.deals import DealName
from trickformer.tournaments.intervals import FEWEST_SEQUENTIAL, interval, sequential_half_width
from trickformer.tournaments.names import short_names
from trickformer.tournaments.plan import Tournament
from trickformer.tournaments.ratings import rate
from trickformer.tournaments.statistics import deal_differences


class Scoreboard:
    """Differences of the finished deals of a tournament, updated with each record.

    Attributes:
        finished: Number of finished deals.
        decision: Number of deals, in the order of the series, after which a sequential tournament with a bound stops;
            None before its end.
    """

    def __init__(self, config: Tournament, game: Game, specs: Sequence[str] = ()) -> None:
        """Start without a deal.

        Args:
            config: The tournament.
            game: Its game.
            specs: Specs as they were typed, which name the players in the line; by default those of the config.
        """
        self._config, self._game = config, game
        self._names = short_names(specs or config.specs)
        self._sets = {pair: plan.seatings(game, pair) for pair in config.pairs}
        self._seatings = plan.seating_order(game, len(config.specs), config.mixed, config.pairs)
        self._unfinished: dict[DealName, dict[tuple[int, ...], Sequence[float]]] = {}
        self._differences: dict[DealName, list[float]] = {}  # by finished deal: the difference of each pair
        self._order = config.deal_names
        # Differences, float64 [pairs, deals], in the order of the series, of which the first `_looks` deals are filled.
        # Deals finish in any order, but the test looks at them in this order, so that its result can be repeated.
        self._in_order = np.empty((len(self._sets), len(self._order) if config.bound is not None else 0))
        self._looks = 0
        self._means = np.zeros(len(self._sets))  # of the deals that were looked at, and sums of squares about them
        self._squares = np.zeros(len(self._sets))
        self.finished = 0
        self.decision: int | None = None

    def add(self, deal: DealName, seating: tuple[int, ...], scores: Sequence[float]) -> None:
        """Add a hand.

        Args:
            deal: Name of the hand's deal.
            seating: Index of the player in each seat.
            scores: Score of each seat.
        """
        tables = self._unfinished.setdefault(deal, {})
        tables[seating] = scores
        if len(tables) < len(self._seatings):
            return
        del self._unfinished[deal]
        self._differences[deal] = [self._difference(tables, pair) for pair in self._sets]
        self.finished += 1
        if self._config.bound is not None:
            self._look()

    def replay(self, columns: RecordColumns) -> int | None:
        """Add recorded hands, and return the decision.

        Args:
            columns: The hands.
        """
        for deal, seating, scores in columns.hands():
            self.add(deal, seating, scores)
        return self.decision

    def line(self) -> str:
        """Return the score so far in one line; empty before the first deal is finished."""
        if not self.finished:
            return ""
        differences = np.array(list(self._differences.values()))
        deals = f"{self.finished:,} of {self._config.deals:,} deals"
        if self._config.players is None:
            mean, error = differences.mean(), ""
            if self.finished > 1:
                error = f" ± {differences.std(ddof=1) / self.finished**0.5:.2f} (standard error)"
            better = "higher" if self._game.higher_is_better else "lower"
            return f"{deals}: {' − '.join(self._names)} {mean:+.2f}{error}; {better} is better"
        ratings = rate(dict(zip(self._sets, differences.T)), len(self._names), self._game.higher_is_better)
        sign = 1 if self._game.higher_is_better else -1
        return f"{deals}, best first: " + ", ".join(f"{self._names[r.player]} {sign * r.rating:+.2f}" for r in ratings)

    def _difference(self, scores: dict[tuple[int, ...], Sequence[float]], pair: tuple[int, int]) -> float:
        seatings = self._sets[pair]
        kinds = (np.array(seatings) == pair[1]).astype(int)
        pair_scores = np.array([[scores[seating] for seating in seatings]], dtype=np.float64)
        return float(deal_differences(pair_scores, kinds)[0])

    def _look(self) -> None:
        """Test whether to stop after each further deal for which it and all earlier deals are finished."""
        while self.decision is None and self._looks < len(self._order):
            differences = self._differences.get(self._order[self._looks])
            if differences is None:
                return
            self._in_order[:, self._looks] = differences
            self._looks += 1
            newest = self._in_order[:, self._looks - 1]
            before = newest - self._means  # Welford's update
            self._means += before / self._looks
            self._squares += before * (newest - self._means)
            # The test itself takes time in proportion to the deals, and most looks need no more than the sums.
            if self._may_be_decided() and all(self._is_decided(row[: self._looks]) for row in self._in_order):
                self.decision = self._looks

    def _may_be_decided(self) -> bool:
        """Return False if not even Student's interval, which lies within `interval`, decides for every pair."""
        bound = self._config.bound
        if self._looks < FEWEST_SEQUENTIAL or bound is None:
            return False
        deviations = np.sqrt(self._squares / (self._looks - 1))
        half_widths = sequential_half_width(deviations, self._looks)
        sizes, rounding = np.abs(self._means), 1e-6  # far more than that of the sums
        possible = (sizes > half_widths * (1 - rounding)) | (sizes + half_widths <= bound * (1 + rounding))
        return bool(np.all(possible & (deviations > 0)))

    def _is_decided(self, differences: np.ndarray) -> bool:
        """Return whether the interval excludes 0 or lies within the bound."""
        ends, bound = interval(differences, sequential=True), self._config.bound
        if ends is None or bound is None:
            return False
        return ends[0] > 0 or ends[1] < 0 or -bound <= ends[0] <= ends[1] <= bound
