"""Results of a tournament: the statistics of its finished deals, and the JSON object of `--json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from trickformer.base import Game, Summary, TrickformerError
from trickformer.tournaments import gains, plan
from trickformer.tournaments.columns import RecordColumns, in_pieces
from trickformer.tournaments.deals import DealName
from trickformer.tournaments.power import deals_to_resolve
from trickformer.tournaments.ratings import rate
from trickformer.tournaments.record_file import Selection
from trickformer.tournaments.run import TournamentRun
from trickformer.tournaments.scoreboard import Scoreboard
from trickformer.tournaments.statistics import MatchRow, MixedTeamScore, extrapolate, match, score_mixed_teams
from trickformer.tournaments.store import HandRecord

SCHEMA = 2  # version of the JSON object; version 1 had no number


class NoFinishedDealError(TrickformerError):
    """A run has no deal that is finished in all its seatings."""


class TournamentResults:
    """The statistics of a run over its finished deals, those with a record of every seating.

    A sequential match with a bound counts only the deals up to the one at which it stopped, even if more are finished.
    """

    def __init__(self, run: TournamentRun):
        """Compute the statistics.

        Raises:
            NoFinishedDealError: No deal is finished.
        """
        self.run = run
        self.game: Game = run.game
        config = run.config
        self.pairs: list[tuple[int, int]] = config.pairs
        self.sets = {pair: plan.seatings(self.game, pair) for pair in self.pairs}  # seatings of each pair
        distinct = dict.fromkeys(seating for seatings in self.sets.values() for seating in seatings)
        # In a game whose seats share their scores, one player holds all seats, except at the optional mixed tables.
        self.teams = all(len(set(seating)) == 1 for seating in distinct)
        mixtures = {pair: plan.mixtures(self.game, pair) for pair in self.pairs if config.mixed}
        self._columns = run.columns()
        self._find_finished([*distinct, *(seating for seatings in mixtures.values() for seating in seatings)])
        self.rows: dict[tuple[int, int], list[MatchRow]] = {}
        outcomes = _list_outcomes(self.game)
        for pair, seatings in self.sets.items():
            scores, kinds = self.scores(seatings), (np.array(seatings) == pair[1]).astype(int)
            self.rows[pair] = match(scores, kinds, self.game.by_seats, outcomes=outcomes, sequential=config.sequential)
        self.mixed: dict[tuple[int, int], MixedTeamScore] = {}
        support = (-np.inf, np.inf) if outcomes is None else (float(outcomes.min()), float(outcomes.max()))
        for pair, seatings in mixtures.items():
            mixed_scores, teams = self.scores(seatings)[..., 0], self.scores(self.sets[pair])[..., 0]
            self.mixed[pair] = score_mixed_teams(
                mixed_scores.astype(float), teams.astype(float), support, sequential=config.sequential
            )

    def _find_finished(self, seatings: list[tuple[int, ...]]) -> None:
        """Find the deals that are finished in these seatings. Raises NoFinishedDealError if there are none."""
        schedule = self._columns.schedule
        self.decision = self._find_decision()
        self._places = {seating: place for place, seating in enumerate(seatings)}  # columns of `_rows`
        hands = schedule.grid[:, [schedule.seatings.index(seating) for seating in seatings]]
        rows = np.where(hands >= 0, self._columns.row_of[hands], -1)
        self._finished = np.flatnonzero((rows >= 0).all(axis=1))[: self.decision]
        if not len(self._finished):
            raise NoFinishedDealError("no deal of this run is finished in all its seatings; continue it with --resume")
        self._rows = rows[self._finished]  # index of the record, int [finished deals, seatings]

    def _find_decision(self) -> int | None:
        """Return the number of deals after which a sequential match with a bound has stopped; None if it has not."""
        if self.run.config.bound is None:
            return None
        return Scoreboard(self.run.config, self.game).replay(self._columns)

    def scores(self, seatings: Sequence[tuple[int, ...]]) -> np.ndarray:
        """Return scores of the finished deals.

        Args:
            seatings: Seatings of the scores.

        Returns:
            The scores, [deals, seatings, seats], in the smallest type that holds them.
        """
        rows = self._rows[:, [self._places[seating] for seating in seatings]]
        return self._columns.take_packed("scores", rows.ravel()).reshape(*rows.shape, self.game.players)

    def numbers(self, seatings: Sequence[tuple[int, ...]]) -> np.ndarray:
        """Return the numbers of the finished deals' records, counted from 1.

        Args:
            seatings: Seatings of the records.

        Returns:
            The numbers, int [deals, seatings].
        """
        return self._rows[:, [self._places[seating] for seating in seatings]] + 1

    @property
    def deals(self) -> list[DealName]:
        """The finished deals, in the order of the series."""
        return [self._columns.schedule.deal(row) for row in self._finished.tolist()]

    @property
    def records(self) -> Sequence[HandRecord]:
        """The records of the finished deals, deal by deal. Records in a run folder are read at each access."""
        return Selection(self.run.records, self._rows.ravel(), lambda record: record)

    def result(self) -> dict[str, Any]:
        """Return the object that `--json` prints and result.json holds.

        All results, of a match of two players, a round robin or a gauntlet, have:

        - `schema`: 2.
        - `game`, `seed`, `deals` (finished), `scheduled_deals`, `higher_is_better` (of scores), `unit` (of a score).
        - `players`: specs as they were typed. Players are numbered in this order.
        - `matches`: by pair, `players` (two numbers; the first is A), `a` and `b` (their specs), `rows`, and
          `deals_to_resolve`: the number of deals for a power of 80%; null below ten deals, without an effect and in a
          sequential match. A row, by the name of its seatings, has the mean scores `a` and `b`, `difference` (A - B),
          `ci95` (its 95% interval, nulls if the deals allow none), `p` (Wilcoxon's test, or that of the sequential
          interval) and `different_deals` (the number of deals with a difference other than 0).
        - `ratings`, the best first: `player`, `spec`, `rating`: points a hand by which the player is better than the
          mean of the field, so that higher is better in every game, and its `ci95`.
        - `planned`: whether the number of deals was fixed before the run, or the test is sequential; `extensions`: each
          change of the number (`old`, `new`, `at`).
        - `sequential`: whether interval and p hold at every look; `bound`, and `decision`: the number of deals after
          which the match has stopped, or null.
        - By player: `seconds_per_turn` (wall seconds in the player), `turns`, `batch` (mean number of views a call),
          `illegal` (numbers of histories that its searches generated, and of the illegal ones), `sees_state`,
          `caveats`, `resolved` (specs with every option), `engine_faults`, and with a clock `overran` (turns that took
          longer than `clock` seconds). In a match of two players the keys are `a` and `b`; otherwise they are
          numbers, or lists in the order of `players`.
        - `files` (digests), `versions` (builds that have played), and `deals_from` (the file that names the deals),
          `summary`, `gains`, `teams` if they apply.

        A match of two players repeats `a`, `b`, `rows` and the rest of its match at the top, where version 0.2 had
        them. A round robin and a gauntlet have `differences`: the matrix of mean differences, row minus column, null
        for pairs that have not met; a gauntlet has `gauntlet`: true, and its player is number 0.
        """
        return self._result

    @cached_property
    def _result(self) -> dict[str, Any]:
        config = self.run.config
        matches = [self._match(pair) for pair in self.pairs]
        work = {key: sum_up_work(self._columns, i, self._rows.ravel()) for i, key in enumerate(self._keys())}
        head: dict[str, Any] = {"game": config.game}
        about = {"deals": len(self._finished), "higher_is_better": self.game.higher_is_better}
        if config.players is None:
            match = {key: value for key, value in matches[0].items() if key != "players"}
            head |= {"a": match["a"], "b": match["b"]} | about | match
        else:
            head |= about | {"differences": self._difference_matrix()} | ({"gauntlet": True} if config.gauntlet else {})
        head |= {"schema": SCHEMA, "players": self.run.typed, "matches": matches, "ratings": self._ratings()}
        return head | self._extras() | self._about_the_test() | self._by_player(work) | self._about_the_run()

    def _keys(self) -> list[str]:
        """Return the names of the players in objects by player."""
        config = self.run.config
        return ["a", "b"] if config.players is None else [str(i) for i in range(len(config.specs))]

    def _extras(self) -> dict[str, Any]:
        """Return the entries that only some games and players have."""
        players = range(len(self.run.config.specs))
        extras: dict[str, Any] = {"teams": True} if self.teams else {}
        if any(summaries := [self._summary(i) for i in players]):
            extras["summary"] = summaries
        if self._columns.has_gains and (estimates := gains.summarize_gains(self._records_by_player(), len(players))):
            extras["gains"] = estimates
        return extras

    def _about_the_test(self) -> dict[str, Any]:
        config, extensions = self.run.config, self.run.extensions
        return {
            "unit": "games won" if self._is_won_or_lost() else self.game.score_unit,
            "seatings": len(next(iter(self.sets.values()))),
            "sequential": config.sequential,
            "bound": config.bound,
            "decision": self.decision,
            "planned": config.sequential or not extensions,
            "extensions": [extension.model_dump(mode="json") for extension in extensions],
        }

    def _is_won_or_lost(self) -> bool:
        outcomes = _list_outcomes(self.game)
        return self.teams and outcomes is not None and set(np.unique(outcomes).tolist()) == {0, 1}

    def _by_player(self, work: dict[str, dict[str, Any]]) -> dict[str, Any]:
        config, run = self.run.config, self.run
        entries: dict[str, Any] = {
            "seconds_per_turn": {k: u["seconds"] for k, u in work.items()},
            "batch": {k: u["batch"] for k, u in work.items()},
            "turns": {k: u["turns"] for k, u in work.items()},
            "illegal": {k: {"illegal": u["illegal"], "searched": u["searched"]} for k, u in work.items()},
            "sees_state": [list(work)[i] for i in run.sees_state] if config.players is None else run.sees_state,
            "caveats": {k: run.caveats[i] for i, k in enumerate(work) if run.caveats[i]},
            "resolved": dict(zip(work, config.specs)) if config.players is None else config.specs,
        }
        if faults := {k: u["faults"] for k, u in work.items() if u["faults"]}:
            entries["engine_faults"] = faults
        if config.clock is not None:
            entries |= {"clock": config.clock, "overran": {k: u["overran"] for k, u in work.items()}}
        if config.players is not None:  # by player: lists in the order of `players`
            for key in ("seconds_per_turn", "batch", "turns", "illegal", "overran"):
                if key in entries:
                    entries[key] = list(entries[key].values())
        return entries

    def _about_the_run(self) -> dict[str, Any]:
        config = self.run.config
        about: dict[str, Any] = {"seed": config.seed, "scheduled_deals": config.deals}
        if isinstance(config, plan.Tournament) and config.deals_from is not None:
            about["deals_from"] = str(config.deals_from)
        return about | {"files": self.run.files, "versions": self.run.builds}

    def _match(self, pair: tuple[int, int]) -> dict[str, Any]:
        rows, specs = self.rows[pair], self.run.typed
        body: dict[str, Any] = {"a": specs[pair[0]], "b": specs[pair[1]], "players": list(pair)}
        body["rows"] = {
            r.label: {
                "a": r.a,
                "b": r.b,
                "difference": r.difference,
                "ci95": list(r.ci95) if r.ci95 else [None, None],
                "p": r.p,
                "different_deals": int(np.count_nonzero(r.deals)),
            }
            for r in rows
        }
        body["deals_to_resolve"] = None if self.run.config.sequential else deals_to_resolve(rows[0].deals)
        if pair in self.mixed:
            m = self.mixed[pair]
            body["mixed"] = {
                "score": m.score,
                "ci95": list(m.ci95 or (None, None)),
                "difference": m.difference,
                "difference_ci95": list(m.difference_ci95 or (None, None)),
            }
        if (target := self.game.plays_to) is not None:
            body["extrapolation"] = {"to": target, "difference": extrapolate(rows[0], target)}
        return body

    def _ratings(self) -> list[dict[str, Any]]:
        outcomes, specs = _list_outcomes(self.game), self.run.typed
        ratings = rate(
            {pair: rows[0].deals for pair, rows in self.rows.items()},
            len(specs),
            self.game.higher_is_better,
            largest=np.inf if outcomes is None else float(np.ptp(outcomes)),
            sequential=self.run.config.sequential,
        )
        return [
            {"player": r.player, "spec": specs[r.player], "rating": r.rating, "ci95": list(r.ci95 or (None, None))}
            for r in ratings
        ]

    def _difference_matrix(self) -> list[list[float | None]]:
        n = len(self.run.config.specs)
        matrix: list[list[float | None]] = [[0.0 if i == j else None for j in range(n)] for i in range(n)]
        for (i, j), rows in self.rows.items():
            matrix[i][j], matrix[j][i] = rows[0].difference, 0.0 - rows[0].difference
        return matrix

    def _rows_by_player(self) -> np.ndarray:
        """Return the records that statistics of single players count: in a game with teams, no mixed tables."""
        places = [place for seating, place in self._places.items() if not self.teams or len(set(seating)) == 1]
        return self._rows[:, places].ravel()

    def _records_by_player(self) -> Sequence[HandRecord]:
        return Selection(self.run.records, self._rows_by_player(), lambda record: record)

    def _summary(self, player: int) -> Summary:
        if type(self.game).summary is Game.summary:
            return {}
        rows = self._rows_by_player()
        # Seats of the player in each seating of the schedule.
        seats = [
            tuple(seat for seat, index in enumerate(seating) if index == player)
            for seating in self._columns.schedule.seatings
        ]
        seatings = self._columns.seatings(rows)
        takes_part = np.array([bool(own_seats) for own_seats in seats])[seatings]
        histories = Selection(self.run.records, rows[takes_part], lambda record: record.history)
        return self.game.summary(histories, [seats[seating] for seating in seatings[takes_part].tolist()])


def _list_outcomes(game: Game) -> np.ndarray | None:
    """Return the scores that a hand can have, int [outcomes, seats]; None if the game does not list them."""
    return np.array(game.outcomes.labels) if game.outcomes.labels else None


def sum_up_work(columns: RecordColumns, player: int, rows: np.ndarray | None = None) -> dict[str, Any]:
    """Sum up the work of a player in some hands.

    Args:
        columns: Numeric fields of the records.
        player: Index of the player.
        rows: Indices of the hands' records, int [n]; by default all records.

    Returns:
        `turns` (decisions), `seconds` and `batch` (means of a decision), `illegal` of `searched` histories, `overran`,
        and `faults` of an engine by kind.
    """
    rows = np.arange(len(columns)) if rows is None else rows
    is_player = np.array(columns.schedule.seatings) == player  # bool [seatings, seats]

    def values(field: str) -> Iterator[float]:
        for piece in in_pieces(rows):
            yield from columns.take(field, piece)[is_player[columns.seatings(piece)]].tolist()

    turns, calls = int(sum(values("decisions"))), sum(values("calls"))
    return {
        "turns": turns,
        "seconds": sum(values("seconds")) / turns if turns else None,
        "batch": turns / calls if calls else None,
        "illegal": int(sum(values("illegal"))),
        "searched": int(sum(values("searched"))),
        "overran": int(sum(values("overran"))),
        "faults": _count_faults(columns, rows, is_player),
    }


def _count_faults(columns: RecordColumns, rows: np.ndarray, is_player: np.ndarray) -> dict[str, int]:
    """Count the faults of an engine by kind, and in all as `restarts`; empty if there were none.

    `is_player` marks the player's seats in each seating of the schedule, bool [seatings, seats].
    """
    faults = Counter[str]()
    for position, by_seat in columns.faults(rows):
        seating = columns.seatings(rows[position : position + 1])[0]
        for counts, is_own in zip(by_seat, is_player[seating]):
            if is_own:
                faults.update(counts)
    return dict(faults) | ({"restarts": faults.total()} if faults else {})
