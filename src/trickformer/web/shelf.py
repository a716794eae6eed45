"""List of a tournament's hands: its columns, filters and orders, computed from the numeric fields of the records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from trickformer.plumbing.tables import format_difference
from trickformer.tournaments.conclusion import label_players
from trickformer.tournaments.results import TournamentResults
from trickformer.tournaments.run import TournamentRun

PAGE = 100  # hands on a page of the list
NOBODY = -1  # loser of a hand without one

SortKey = Literal["number", "deal", "seats", "scores", "lead", "difference", "loser"]


@dataclass(frozen=True, slots=True)
class HandQuery:
    """Order and filters of a list of hands.

    Attributes:
        sort: Column that orders the hands; None for the default of the list.
        descending: Whether the largest values come first.
        seating: Place of the only seating in the list of seatings; None for all.
        player: Number of a player that has a seat; None for all.
        loser: Number of the player that lost; None for all.
    """

    sort: SortKey | None = None
    descending: bool = False
    seating: int | None = None
    player: int | None = None
    loser: int | None = None


class Shelf:
    """The hands of a tournament that are played so far.

    Attributes:
        count: Number of hands.
        is_match: Whether two players meet, A and B.
    """

    def __init__(self, run: TournamentRun, results: TournamentResults | None):
        """Compute the columns.

        Args:
            run: The tournament.
            results: Its results; None if no deal is finished.
        """
        self._columns, self._specs = run.columns(), run.typed
        game = run.game
        self._higher_is_better = game.higher_is_better
        self.is_match = run.config.players is None
        self._shared = all(len(set(seating)) == 1 for seating in game.seatings(2))  # no table seats two players
        self._won_or_lost = results is not None and results.result()["unit"] == "games won"
        self._seatings = self._columns.schedule.seatings
        by_players = sorted(range(len(self._seatings)), key=self._seatings.__getitem__)
        self._rank_of_seating = np.argsort(by_players)  # place of each seating in the order of its players
        self.count = len(self._columns)
        records = np.arange(self.count)
        self._seating = self._columns.seatings(records)  # index of the seating of each record, int [records]
        self._deal = self._columns.deal_rows(records)  # row of the deal in the schedule, int [records]
        self._lead = np.full(self.count, np.nan)  # see `_find_leads`
        self._difference = np.full(self.count, np.nan)  # A - B in the deal; NaN if the deal is not finished
        self._loser = np.full(self.count, NOBODY, dtype=np.int16)
        if self.count:
            self._find_leads()
            self._find_losers()
        if results is not None:
            self._find_differences(results)
        self._ranked: tuple[HandQuery, np.ndarray] | None = None  # the last query and its records in order

    def _find_leads(self) -> None:
        """Compute the lead of each hand: the mean score of the lower-numbered player's seats minus the other's.

        If one player has all seats, or they share their score, the lead is the mean score.
        """
        scores = self._columns.take_packed("scores", np.arange(self.count))
        for place, seating in enumerate(self._seatings):
            rows = np.flatnonzero(self._seating == place)
            first = np.array(seating) == min(seating)
            lead = scores[rows][:, first].mean(axis=1)
            if not first.all() and not self._shared:
                lead = lead - scores[rows][:, ~first].mean(axis=1)
            self._lead[rows] = lead

    def _find_losers(self) -> None:
        sign = 1 if self._higher_is_better else -1
        ends = np.array([(min(seating), max(seating)) for seating in self._seatings], dtype=np.int16)
        first, second = ends[self._seating].T
        alone = first == second  # whether one player has all seats
        if not self._shared:
            worse = np.sign(self._lead) * sign
            self._loser = np.where(worse < 0, first, np.where(worse > 0, second, NOBODY)).astype(np.int16)
        elif self._won_or_lost:
            self._loser = np.where(alone & (self._lead == 0), first, NOBODY).astype(np.int16)
        else:
            rows = np.flatnonzero(alone)
            deals = self._deal[rows]
            number = np.bincount(deals, minlength=1)
            means = np.bincount(deals, weights=self._lead[rows]) / np.maximum(number, 1)
            below = sign * (self._lead[rows] - means[deals]) < -1e-9
            self._loser[rows[below]] = first[rows[below]]

    def _find_differences(self, results: TournamentResults) -> None:
        """Give each hand the difference of its deal. Tables of one player belong to several pairs, and get none."""
        if results.teams and not self.is_match:
            return
        for pair, seatings in results.sets.items():
            rows = results.numbers(seatings) - 1
            self._difference[rows] = results.rows[pair][0].deals[:, None]

    @property
    def names(self) -> list[str]:
        """Names of the players."""
        return label_players(self._specs, self.is_match)

    @property
    def letters(self) -> list[str]:
        """Short marks of the players: A and B, or numbers from 1."""
        return ["A", "B"] if self.is_match else [str(i + 1) for i in range(len(self._specs))]

    def columns(self) -> list[dict[str, Any]]:
        """Describe the columns: `key`, `title`, `sortable`."""
        lead = "A − B" if self.is_match else "difference"
        columns = [("number", "game", True), ("deal", "deal", True), ("seats", "players", True)]
        columns += [("scores", "score" if self._shared else "scores", self._shared)]
        columns += [] if self._shared else [("lead", lead, True)]
        if self.is_match or not self._shared:
            columns.append(("difference", f"{lead} in the deal", True))
        columns.append(("loser", "who lost", True))
        return [{"key": key, "title": title, "sortable": sortable} for key, title, sortable in columns]

    def filters(self) -> dict[str, Any]:
        """Describe the choices of the filters: names of the players, seatings as text, and a note on the columns."""
        seen = sorted(set(self._seating.tolist()), key=lambda place: self._seatings[place])
        names = self.names if self.is_match else [f"{i} {name}" for i, name in zip(self.letters, self.names)]
        return {"players": names, "seatings": [[place, self._seats(place)] for place in seen], "note": self._key()}

    def _key(self) -> str:
        """Explain the columns."""
        if self._shared:
            lost = "the player whose team lost" if self._won_or_lost else "a score below the mean of the deal's tables"
            return f"who lost: {lost}."
        lost = "who lost: the player whose seats have the worse mean score at the table."
        return lost if self.is_match else f"difference: the player with the lower number minus the other. {lost}"

    def note(self) -> str:
        """Describe the players and the score in a line."""
        better = "higher" if self._higher_is_better else "lower"
        players = zip(self.letters, self._specs if self.is_match else self.names)
        return " · ".join([*(f"{mark}: {player}" for mark, player in players), f"score a hand, {better} is better"])

    def page(self, number: int, query: HandQuery) -> dict[str, Any] | None:
        """Return a page of the list.

        Args:
            number: Number of the page, from 0.
            query: Order and filters.

        Returns:
            The rows, the number of hands that the filters leave (`total`), the number of pages, and the column that
            orders the rows. None if there is no such page.
        """
        if query.sort is None:  # the worst deals for A first
            default: SortKey = "difference" if self.is_match else "number"
            query = replace(query, sort=default, descending=self.is_match and not self._higher_is_better)
        records = self._rank(query)
        pages = max(1, -(-len(records) // PAGE))
        if number >= pages:
            return None
        shown = records[number * PAGE : (number + 1) * PAGE]
        order = {"sort": query.sort, "descending": query.descending}
        return {"rows": self._rows(shown), "total": len(records), "pages": pages, "order": order}

    def _rank(self, query: HandQuery) -> np.ndarray:
        """Return the records that the filters leave, in order, int [n]."""
        if self._ranked is None or self._ranked[0] != query:
            kept = np.flatnonzero(self._is_kept(query))
            self._ranked = query, kept[np.lexsort([key[kept] for key in self._sort_keys(query)])]
        return self._ranked[1]

    def _is_kept(self, query: HandQuery) -> np.ndarray:
        kept = np.ones(self.count, dtype=bool)
        if query.seating is not None:
            kept &= self._seating == query.seating
        if query.player is not None:
            has_seat = np.array([query.player in seating for seating in self._seatings])
            kept &= has_seat[self._seating]
        if query.loser is not None:
            kept &= self._loser == query.loser
        return kept

    def _sort_keys(self, query: HandQuery) -> list[np.ndarray]:
        """Return the keys for `np.lexsort`, the main key last. Unknown values (NaN) come last in both directions."""
        sign = -1 if query.descending else 1
        number = np.arange(self.count)
        rank = self._rank_of_seating[self._seating]  # not the number, which depends on the tables that ended first
        match query.sort:
            case "difference":
                # Within a deal the hands come first that pull A's mean in this direction, and those without A last.
                without_first = np.array([0 not in seating for seating in self._seatings])[self._seating]
                within = [rank, sign * self._lead, without_first] if self.is_match else [rank, sign * self._lead]
                return [*within, self._deal, sign * self._difference]
            case "deal":
                return [rank, sign * self._deal]
            case "seats":
                return [number, sign * rank]
            case "lead" | "scores":
                return [number, sign * self._lead]
            case "loser":
                nobody = self._loser == NOBODY
                return [number, sign * self._loser, nobody]
            case _:
                return [sign * number]

    def _rows(self, records: np.ndarray) -> list[dict[str, Any]]:
        schedule, rows = self._columns.schedule, []
        scores = self._columns.take("scores", records).astype(int).tolist()
        for record, hand_scores in zip(records.tolist(), scores):
            deal = schedule.deal(int(self._deal[record]))
            loser = int(self._loser[record])
            rows.append(
                {
                    "number": record + 1,
                    "deal": str(deal.number) if deal.seed is None else f"{deal.seed},{deal.number}",
                    "seats": self._seats(int(self._seating[record])),
                    "scores": " ".join(map(str, hand_scores[:1] if self._shared else hand_scores)),
                    "lead": format_difference(float(self._lead[record])),
                    "difference": format_difference(float(self._difference[record])),
                    "loser": "" if loser == NOBODY else self.letters[loser],
                }
            )
        return rows

    def _seats(self, seating: int) -> str:
        """Format a seating, by its place on the list of seatings."""
        return " ".join(self.letters[player] for player in self._seatings[seating])
