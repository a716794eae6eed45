"""Work of the page that reviews hands: lists hands, shows them, rates their decisions, and plays on from a position.

A Desk runs in a worker process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trickformer import games
from trickformer.base import CHANCE, Game, TrickformerError
from trickformer.plumbing.config import ForeignRunError
from trickformer.plumbing.folder import RunFolder
from trickformer.plumbing.progress import Advance, Show
from trickformer.records import files
from trickformer.records.show import in_words
from trickformer.records.skat import check, replay
from trickformer.records.skat.record import SkatRecord, UnreadableGame
from trickformer.review import analyst, text
from trickformer.review.hand import ReviewHand, of_record
from trickformer.review.rating import seats_share_score
from trickformer.review.result import Review
from trickformer.review.what_if import what_if
from trickformer.tournaments import report as tournament_reports
from trickformer.tournaments.charts import charts
from trickformer.tournaments.deals import RECORDS
from trickformer.tournaments.results import NoFinishedDealError, TournamentResults
from trickformer.tournaments.run import RunFollower
from trickformer.web import scenes
from trickformer.web.offers import analysts, list_players, short
from trickformer.web.overview import describe_chart, describe_report
from trickformer.web.scenes import OPEN
from trickformer.web.shelf import PAGE, HandQuery, Shelf

if TYPE_CHECKING:
    from trickformer.base import State

SMALL_RUN = 1 << 23  # bytes of records that `list_hands` reads at once; larger ones are read by `describe_run`
_REPORT_INTERVAL = 0.1  # seconds between two reports of progress

# Function of (name of the work, unit, number of units done, total), which sends the progress to the page.
ReportProgress = Callable[[tuple[str, str, int, int]], None]


@dataclass(frozen=True, slots=True)
class FinishedHand:
    """Finished hand of a table."""

    rules: str  # game string
    names: tuple[str, ...]  # by seat
    history: tuple[int, ...]  # all actions, chance included
    source: tuple[int, int]  # seed and number of the deal


class Desk:
    """Hands of one path, or of a table. A request about a hand of a table holds the hand itself."""

    def __init__(self, path: Path | None, analyse: str | None, extra_specs: Sequence[str], repeats: int, seed: int):
        """Open a path.

        Args:
            path: Run folder or file of games; None for hands of a table.
            analyse: Spec of the analyst that comes first, or None.
            extra_specs: Specs of players besides the package's own.
            repeats: Number of times that an analyst rates a decision.
            seed: Seed of all randomness.
        """
        self._path = path
        self._analyse = analyse
        self._extra_specs = tuple(extra_specs)
        self._repeats, self._seed = repeats, seed
        self._games = files.GameFile(files.place(path)) if path is not None else None
        self._shelf: Shelf | None = None  # list of the tournament's hands; None until its records are read
        self._results: TournamentResults | None = None  # None without a finished deal
        self._fault: str | None = None  # why the tournament of the path cannot be evaluated

    def close(self) -> None:
        """Close the file of games."""
        if self._games is not None:
            self._games.close()

    def list_hands(self, page: int = 0, query: HandQuery | None = None) -> dict[str, Any]:
        """List a page of the hands that the path holds.

        Hands of a tournament are sorted and filtered. Until the records of a large one are read (`describe_run`), and
        in all other files, the hands have the order of the file, and each page of the list reads only its own lines.

        Args:
            page: Number of the page, from 0.
            query: Order and filters; by default a tournament's worst deals for A come first.

        Returns:
            The rows, their columns, a note on their order, the number of pages and of hands, and whether the path
            holds a tournament (`run`), whose records are yet to be read (`waiting`).

        Raises:
            TrickformerError: The games cannot be read, or there is no such page.
        """
        assert self._path is not None and self._games is not None
        query, follower = query or HandQuery(), self._follower
        can_evaluate = follower is not None and self._fault is None
        if can_evaluate and self._shelf is None and files.place(self._path).stat().st_size <= SMALL_RUN:
            self._update(lambda _: None)
        about = {"name": self._path.resolve().name, "page": page, "run": can_evaluate}
        if self._shelf is None:
            return about | {"waiting": can_evaluate and self._fault is None} | self._list_file(page, query)
        shown = self._shelf.page(page, query)
        if shown is None:
            raise TrickformerError(f"there is no page {page + 1} of hands")
        is_worst_first = query.sort is None and self._shelf.is_match
        note = [self._shelf.note(), *(["worst deals of A first"] if is_worst_first else [])]
        described = {"columns": self._shelf.columns(), "note": " · ".join(note), "count": self._shelf.count}
        return about | {"waiting": False} | described | {"filters": self._shelf.filters()} | shown

    def _list_file(self, page: int, query: HandQuery) -> dict[str, Any]:
        """List a page of the file in its order, or in the reverse order."""
        assert self._games is not None
        count = len(self._games)
        pages = max(1, -(-count // PAGE))
        if page >= pages:
            raise TrickformerError(f"there is no page {page + 1} of hands: the last is {pages}")
        numbers = range(1, count + 1)
        backwards = query.sort == "number" and query.descending
        shown = (numbers[::-1] if backwards else numbers)[page * PAGE : (page + 1) * PAGE]
        columns = [("number", "game"), ("deal", "deal"), ("who", "who"), ("result", "result")]
        fault = [] if self._fault is None else [f"the tournament cannot be evaluated: {self._fault}"]
        return {
            "columns": [{"key": key, "title": title, "sortable": key == "number"} for key, title in columns],
            "rows": [self._row(number) for number in shown],
            "note": " · ".join(["in the order of the file", *fault]),
            "count": count,
            "total": count,
            "pages": pages,
            "order": {"sort": "number", "descending": backwards},
        }

    @cached_property
    def _follower(self) -> RunFollower | None:
        """The tournament of the path; None for another file, or the folder of a table."""
        assert self._path is not None
        folder = self._path.parent if self._path.name == RECORDS else self._path
        if not RunFolder(folder).has_run:
            return None
        try:
            return RunFollower(folder)
        except ForeignRunError:
            return None
        except TrickformerError as e:
            self._fault = str(e)
            return None

    def _update(self, report: Callable[[int], None]) -> bool:
        """Read new records of the tournament, and compute its results. Return whether there are any."""
        assert self._follower is not None and self._games is not None
        try:
            changed = self._follower.update(report)
            if not changed and self._shelf is not None:
                self._fault = None
                return False
            self._games.refresh()
            run = self._follower.run
            try:
                self._results = TournamentResults(run)
            except NoFinishedDealError:
                self._results = None
            self._shelf, self._fault = Shelf(run, self._results), None
        except TrickformerError as e:
            self._fault, self._shelf = str(e), None
        return True

    def describe_run(self, known: int | None, report: ReportProgress) -> dict[str, Any]:
        """Describe the tournament of the path: its report, its charts, and how many of its hands are played.

        Args:
            known: Number of records that the page has a description of; None if it has none.
            report: Receives the progress of reading.

        Returns:
            `changed` and, if there are other records than the page knows, the description.

        Raises:
            TrickformerError: The path holds no tournament, or its records are damaged.
        """
        follower = self._follower
        if follower is None:
            raise TrickformerError(self._fault or f"{self._path} holds no tournament")
        size = files.place(self._path).stat().st_size if self._path is not None else 0
        unit, last = 1 << 20, 0.0

        def advance(done: int) -> None:
            nonlocal last
            if (now := time.monotonic()) - last >= _REPORT_INTERVAL:
                last = now
                report(("the records are read", "MiB", done // unit, max(1, size // unit)))

        self._update(advance)
        if self._fault is not None:
            raise TrickformerError(self._fault)
        run, played = follower.run, len(follower.run.records)
        if played == known:
            return {"changed": False}
        results = self._results
        if results is None:
            described: dict[str, Any] = describe_report(tournament_reports.make_progress_report(run)) | {"charts": []}
        else:
            described = describe_report(tournament_reports.make_report(results))
            described |= {"charts": [describe_chart(chart) for chart in charts(results)]}
        is_over = played == follower.scheduled or (results is not None and results.decision is not None)
        return described | {
            "changed": True,
            "played": played,
            "scheduled": follower.scheduled,
            "over": is_over,
            "written": files.place(follower.folder).stat().st_mtime,
        }

    def _row(self, number: int) -> dict[str, Any]:
        """Return the row of a game of the file."""
        assert self._games is not None
        record = self._games.get(number)
        row = {"number": number, "deal": "", "who": "", "result": ""}
        if isinstance(record, UnreadableGame):
            return row | {"result": record.why}
        row["who"] = ", ".join(map(short, record.names))
        if isinstance(record, SkatRecord):
            row["deal"] = record.tags.get("CO", "").removeprefix("deal ")
            row["result"] = " ".join((check.result(replay.replay(record)) or "").split()[:3])
        else:
            row["deal"] = record.tags.get("deal", "")
            row["result"] = " ".join(map(str, record.scores))
        return row

    def open_hand(self, hand_id: int | FinishedHand) -> dict[str, Any]:
        """Describe a hand at each decision and at its end with open cards, and list its analysts and players.

        Args:
            hand_id: Number of the hand in the file, from 1, or a hand of a table.

        Raises:
            TrickformerError: There is no such hand, or a move is not legal.
        """
        hand = self._hand(hand_id)
        game, end = hand.game, hand.end()
        positions = [
            _scene(game, state)
            | {
                "number": turn.number,
                "seat": turn.seat,
                "trick": turn.trick,
                "action": turn.action,
                "words": game.words(turn.action),
            }
            for turn, state in hand.turns()
        ]
        first, chosen = self._analysts(game), self._players(game)
        other = chosen.index(game.baseline) if game.baseline in chosen else 0
        return {
            "game": game.name,
            "deal": hand.source[1] if hand.source is not None else None,
            "names": [short(name) for name in hand.names],
            "positions": positions,
            "end": _scene(game, end),
            "over": end.is_terminal(),
            "scores": list(game.scores(end)) if end.is_terminal() else None,
            "shared": seats_share_score(game),
            "told": in_words(game, end) if end.is_terminal() else "",
            "notes": list(hand.notes),
            "analysts": [short(spec) for spec in first],
            "players": [short(spec) for spec in chosen],
            # Place of each seat's initial player on the list: the player of the hand, or `other` if the list lacks it.
            "sat": [chosen.index(name) if name in chosen else other for name in hand.names],
        }

    def rate_hand(self, hand_id: int | FinishedHand, chosen: int, report: ReportProgress) -> dict[str, Any]:
        """Review a hand.

        Args:
            hand_id: As in `open_hand`.
            chosen: Place of the analyst on the hand's list, from 0.
            report: Receives the progress.

        Raises:
            TrickformerError: There is no such hand or analyst, or `analyst.review` raises it.
        """
        hand = self._hand(hand_id)
        spec = _pick(self._analysts(hand.game), chosen)
        review: Review = analyst.review(
            hand, spec, repeats=self._repeats, seed=self._seed, show=throttle_progress(report)
        )
        return {
            "analyst": short(review.analyst),
            "unit": review.unit,
            "notes": list(review.notes),
            "ratings": [
                {
                    "number": r.number,
                    "loss": r.loss,
                    "error": r.error,
                    "grade": r.grade(review.worth),
                    "actions": [[a.words, a.value, a.action == r.action] for a in r.actions],
                }
                for r in review.ratings
            ],
            "curves": [
                {
                    "who": text.name_seats(curve),
                    "points": [[point.number, point.value] for point in curve.points],
                    "result": curve.result,
                }
                for curve in review.curves
            ],
            "mistakes": [{"number": r.number, "words": text.describe_mistake(r)} for r in review.mistakes],
            "answers": [
                {
                    "lines": text.describe_verdict(verdict, review.unit),
                    "losing_step": verdict.losing_step.number if verdict.losing_step else None,
                }
                for verdict in review.answers
            ],
        }

    def play_what_if(
        self,
        hand_id: int | FinishedHand,
        at: int,
        seats: Sequence[int],
        action: int | None,
        n: int,
        report: ReportProgress,
    ) -> dict[str, Any]:
        """Play games from a position.

        Args:
            hand_id: As in `open_hand`.
            at: Number of the decision before which the games begin, from 1.
            seats: Place of each seat's player on the hand's list, from 0.
            action: First action; None lets the player decide.
            n: Number of games.
            report: Receives the progress.

        Raises:
            TrickformerError: There is no such hand or player, or `what_if` raises it.
        """
        hand = self._hand(hand_id)
        chosen = self._players(hand.game)
        specs = [_pick(chosen, seat) for seat in seats]
        words = None
        if action is not None:
            if action not in hand.at(at)[0].legal:
                raise TrickformerError("that action is not legal there")
            words = hand.game.words(action)
        result = what_if(hand, at, specs, n=n, seed=self._seed, action=words, show=throttle_progress(report))
        # The seed of a table with guests is secret, because it determines the deals to come.
        return result.model_dump(mode="json", exclude={"scores", "seed"}) | {
            "players": [short(s) for s in result.players],
            "unit": hand.game.score_unit,
        }

    def _analysts(self, game: Game) -> tuple[str, ...]:
        return analysts(game, self._analyse, self._extra_specs)

    def _players(self, game: Game) -> tuple[str, ...]:
        return list_players(game, [*self._extra_specs, *([game.baseline] if game.players == 1 else [])])

    def _hand(self, hand_id: int | FinishedHand) -> ReviewHand:
        if isinstance(hand_id, FinishedHand):
            return ReviewHand(
                games.load(hand_id.rules),
                hand_id.names,
                hand_id.history,
                source=hand_id.source,
            )
        assert self._games is not None
        record = self._games.get(hand_id)
        if isinstance(record, UnreadableGame):
            raise TrickformerError(f"{self._path}, {record.why}")
        return of_record(record)


def _scene(game: Game, state: State) -> dict[str, Any]:
    if state.current_player() == CHANCE:  # the hand was broken off here
        return {"scene": {"text": game.describe(state), "seats": [{"seat": p} for p in range(game.players)]}}
    return {"scene": scenes.to_json(scenes.show(game, state, OPEN))}


def _pick(specs: Sequence[str], chosen: int) -> str:
    if chosen >= len(specs):
        raise TrickformerError("there is no such player on the list")
    return specs[chosen]


def throttle_progress(report: ReportProgress) -> Show:
    """Make a progress display for a page.

    Args:
        report: Receives the progress, at most every _REPORT_INTERVAL seconds.
    """

    @contextmanager
    def show(what: str, unit: str, done: int, total: int) -> Generator[Advance]:
        last = time.monotonic()
        report((what, unit, done, total))

        def advance(n: int = 1, where: str = "", score: Callable[[], str] | None = None) -> None:
            nonlocal done, last
            done += n
            if time.monotonic() - last >= _REPORT_INTERVAL:
                last = time.monotonic()
                report((what, unit, done, total))

        yield advance

    return show
