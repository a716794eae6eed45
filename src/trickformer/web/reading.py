"""Pages that review hands: each has a process of its own, which shows hands, rates them and plays them on.

A page has one thing done at a time: what it asks for ends what it has asked for before, and so does its leaving."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trickformer.base import TrickformerError
from trickformer.web import messages
from trickformer.web.config import YOU, Play, ViewSettings
from trickformer.web.desk import Desk, FinishedHand
from trickformer.web.pages import Pages
from trickformer.web.table import Table
from trickformer.web.worker import CancellationError, Worker

REPEATS = 4  # how often an analyst that samples is asked, of a table's hands


def desk_of(path: Path | None, analyse: str | None, named: Sequence[str], repeats: int, seed: int) -> Desk:
    """The desk of a page; made in its process."""
    return Desk(path, analyse, named, repeats, seed)


class Reading(Pages):
    """The hands of a path, or those that a table has finished."""

    def __init__(self, settings: ViewSettings | Play, table: Table | None = None):
        super().__init__()
        self._settings, self._table = settings, table
        self._workers: dict[object, Worker] = {}
        self._jobs: dict[object, asyncio.Task[None]] = {}

    def enter(self, page: object) -> asyncio.Queue[str]:
        settings, table = self._settings, self._table
        if isinstance(settings, ViewSettings):
            given = (settings.run, settings.analyse, tuple(settings.players or ()), settings.repeats, settings.seed)
        else:
            sat = tuple(who for who in table.specs if who != YOU) if table is not None else ()
            given = (None, None, sat, REPEATS, settings.seed)
        self._workers[page] = Worker(desk_of, *given)
        return super().enter(page)

    def leave(self, page: object) -> None:
        self._stop(page)
        self.pages.pop(page, None)
        if (worker := self._workers.pop(page, None)) is not None:
            worker.cancel()

    async def close(self) -> None:
        for page in list(self._workers):
            self.leave(page)

    async def hear(self, page: object, text: str) -> None:
        message = messages.read_review(text)
        match message:
            case messages.List():
                if self._table is not None:
                    raise TrickformerError("a table has no list of hands")
                self._begin(page, "list", "list_hands", message.page)
            case messages.Open():
                about = {"number": message.number, "table": self._table is not None}
                self._begin(page, "hand", "open_hand", self._which(message.number), about=about)
            case messages.Rate():
                which = self._which(message.number)
                self._begin(
                    page, "review", "rate_hand", which, message.analyst, about={"number": message.number}, told=True
                )
            case messages.Try():
                asked = (self._which(message.number), message.at, message.seats, message.action, message.n)
                self._begin(page, "what-if", "play_what_if", *asked, about={"hand": message.number}, told=True)
            case messages.Cancel():
                self._stop(page)
                self.tell(page, {"type": "working", "what": None})

    def _which(self, number: int) -> int | FinishedHand:
        """A hand by its number, from 1. Raises TrickformerError where the table has no such one."""
        if self._table is None:
            return number
        records, table = self._table.records, self._table
        if number > len(records):
            raise TrickformerError(f"the table has finished {len(records)} hands")
        found = records[number - 1]
        names = tuple(table.specs[player] for player in found.seating)
        return FinishedHand(str(table.game.spiel), names, tuple(map(int, found.history)), (table.seed, found.deal))

    def _begin(
        self, page: object, kind: str, method: str, *arguments: Any, about: Any = None, told: bool = False
    ) -> None:
        if page not in self._workers:  # it does not read, and is forgotten
            return
        self._stop(page)
        self._jobs[page] = asyncio.create_task(self._do(page, kind, method, arguments, about or {}, told))

    async def _do(
        self, page: object, kind: str, method: str, arguments: tuple[Any, ...], about: dict[str, Any], told: bool
    ) -> None:
        def tell(at: tuple[str, str, int, int]) -> None:
            what, unit, done, total = at
            self.tell(page, {"type": "working", "what": what, "unit": unit, "done": done, "total": total})

        self.tell(page, {"type": "working", "what": kind})
        try:
            found = await self._workers[page].do(method, *arguments, told=tell if told else None)
            self.tell(page, found | about | {"type": kind})
        except CancellationError:
            pass
        except TrickformerError as e:
            self.tell(page, {"type": "error", "text": str(e)})
        self.tell(page, {"type": "working", "what": None})

    def _stop(self, page: object) -> None:
        """Gives up what is being done for a page."""
        job, worker = self._jobs.pop(page, None), self._workers.get(page)
        if job is not None:
            job.cancel()
        if worker is not None and worker.busy:
            worker.cancel()
