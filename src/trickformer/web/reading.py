"""Pages that review hands. Each page has a worker process with a Desk, which does its work.

A page has one job at a time. A new request ends the job before it, and so does closing the page.
"""

from __future__ import annotations

import asyncio
from typing import Any

from trickformer.base import TrickformerError
from trickformer.web import messages
from trickformer.web.config import YOU, Play, ViewSettings
from trickformer.web.desk import Desk, FinishedHand
from trickformer.web.pages import WorkerPages, describe_work
from trickformer.web.shelf import HandQuery
from trickformer.web.table import Table
from trickformer.web.worker import Worker

REPEATS = 4  # number of times that an analyst rates a decision of a table's hands


class Reading(WorkerPages):
    """Pages about the hands of a path, or about the finished hands of a table."""

    def __init__(self, settings: ViewSettings | Play, table: Table | None = None):
        super().__init__()
        self._settings, self._table = settings, table
        self._polls: dict[object, asyncio.Task[None]] = {}  # looks for new records of a run, which a job waits for

    def _make_worker(self) -> Worker:
        settings, table = self._settings, self._table
        if isinstance(settings, ViewSettings):
            desk_arguments = (
                settings.run,
                settings.analyse,
                tuple(settings.players or ()),
                settings.repeats,
                settings.seed,
            )
        else:
            opponents = tuple(who for who in table.specs if who != YOU) if table is not None else ()
            desk_arguments = (None, None, opponents, REPEATS, settings.seed)
        return Worker(Desk, *desk_arguments)

    def leave(self, page: object) -> None:
        if (poll := self._polls.pop(page, None)) is not None:
            poll.cancel()
        super().leave(page)

    async def receive(self, page: object, text: str) -> None:
        message = messages.REVIEW.validate_json(text)
        match message:
            case messages.List():
                if self._table is not None:
                    raise TrickformerError("a table has no list of hands")
                query = HandQuery(**message.model_dump(exclude={"do", "page"}))
                self._start_job(page, "list", "list_hands", message.page, query)
            case messages.Describe():
                if self._table is not None:
                    raise TrickformerError("a table has no report")
                if message.known is None:
                    self._start_job(page, "run", "describe_run", None, reports=True)
                else:
                    self._poll(page, message.known)
            case messages.Open():
                about = {"number": message.number, "table": self._table is not None}
                self._start_job(page, "hand", "open_hand", self._find_hand(message.number), about=about)
            case messages.Rate():
                hand_id = self._find_hand(message.number)
                self._start_job(
                    page,
                    "review",
                    "rate_hand",
                    hand_id,
                    message.analyst,
                    about={"number": message.number},
                    reports=True,
                )
            case messages.Try():
                games = (self._find_hand(message.number), message.at, message.seats, message.action, message.n)
                self._start_job(page, "what-if", "play_what_if", *games, about={"hand": message.number}, reports=True)
            case messages.Cancel():
                self._stop(page)
                self.send(page, {"type": "working", "what": None})

    def _find_hand(self, number: int) -> int | FinishedHand:
        """Return the hand with a number, from 1. Raises TrickformerError if the table has no such hand."""
        if self._table is None:
            return number
        records, table = self._table.records, self._table
        if number > len(records):
            raise TrickformerError(f"the table has finished {len(records)} hands")
        record = records[number - 1]
        names = tuple(table.specs[player] for player in record.seating)
        return FinishedHand(str(table.game.spiel), names, tuple(map(int, record.history)), (table.seed, record.deal))

    def _start_job(
        self, page: object, kind: str, method: str, *arguments: Any, about: Any = None, reports: bool = False
    ) -> None:
        if page not in self._workers:  # the page was removed, because it did not read its messages
            return
        self._stop(page)
        self._jobs[page] = asyncio.create_task(self._run_job(page, kind, method, arguments, about or {}, reports))

    def _poll(self, page: object, known: int) -> None:
        """Look for new records of a run. Any other work goes before it: a page with a job gets no answer to a poll."""
        is_busy = any(page in jobs and not jobs[page].done() for jobs in (self._jobs, self._polls))
        if page in self._workers and not is_busy:
            self._polls[page] = asyncio.create_task(self._answer(page, "run", "describe_run", known, report=_ignore))

    async def _run_job(
        self, page: object, kind: str, method: str, arguments: tuple[Any, ...], about: dict[str, Any], reports: bool
    ) -> None:
        def send(progress: tuple[str, str, int, int]) -> None:
            self.send(page, describe_work(progress))

        self.send(page, {"type": "working", "what": kind})
        await self._answer(page, kind, method, *arguments, about=about, report=send if reports else None)
        self.send(page, {"type": "working", "what": None})

    def _stop(self, page: object) -> None:
        """End the job of a page. A poll, which is short, goes on."""
        poll, worker = self._polls.get(page), self._workers.get(page)
        if (job := self._jobs.pop(page, None)) is not None:
            job.cancel()
        if worker is not None and worker.busy and (poll is None or poll.done()):
            worker.cancel()


def _ignore(_: object) -> None:
    pass
