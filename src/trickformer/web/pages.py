"""Bases of the rooms: the open pages, with a queue of outgoing messages for each, and maybe a worker process."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trickformer.base import TrickformerError
from trickformer.plumbing.terminal import printable
from trickformer.web.worker import CancellationError, Worker

MAX_UNREAD = 256  # messages that a page may leave unread; then it is removed
CLOSE = ""  # as a message of a queue: the connection ends


@dataclass(frozen=True, slots=True)
class Access:
    """Rights of the holder of a link."""

    seat: int | None = None  # seat of an invited person; None: the host, who has the other seats of people
    watches: bool = False  # a spectator, who sees all cards and decides nothing


HOST = Access()
SPECTATOR = Access(watches=True)


def describe_work(progress: tuple[str, str, int, int]) -> dict[str, Any]:
    """Make the message that reports the progress of work.

    Args:
        progress: Name of the work, its unit, and how many units are done and to do.
    """
    return {"type": "working"} | dict(zip(("what", "unit", "done", "total"), progress))


class Pages(ABC):
    """Any number of pages that show the same table or hands, in one event loop."""

    def __init__(self) -> None:
        self.pages: dict[object, asyncio.Queue[str]] = {}

    def enter(self, page: object, access: Access = HOST) -> asyncio.Queue[str]:
        """Add a page.

        Args:
            page: Key of the page, such as its socket.
            access: Rights of the page.

        Returns:
            Queue of the messages for the page.
        """
        self.pages[page] = asyncio.Queue(MAX_UNREAD)
        return self.pages[page]

    @abstractmethod
    def leave(self, page: object) -> None:
        """Remove a page, and end the computations for it.

        Args:
            page: Key of the page.
        """

    @abstractmethod
    async def receive(self, page: object, text: str) -> None:
        """Handle a message of a page.

        Args:
            page: Key of the page.
            text: JSON text of the message.

        Raises:
            ValueError: The text is no message.
            TrickformerError: The request is not possible now.
        """

    @abstractmethod
    async def close(self) -> None:
        """End all processes."""

    def send(self, page: object, message: dict[str, Any]) -> None:
        """Send a message to one page, and remove the page if its queue is full.

        Args:
            page: Key of the page.
            message: Message for JSON; control characters in its text are made printable.
        """
        queue = self.pages.get(page)
        if queue is None:
            return
        try:
            queue.put_nowait(json.dumps(_printable(message)))
        except asyncio.QueueFull:  # the page reads too slowly; it connects anew
            while not queue.empty():
                queue.get_nowait()
            queue.put_nowait(CLOSE)
            self.leave(page)


class WorkerPages(Pages):
    """Pages that have a worker process each."""

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[object, Worker] = {}
        self._jobs: dict[object, asyncio.Task[None]] = {}

    @abstractmethod
    def _make_worker(self) -> Worker:
        """Make the worker of a page."""

    def enter(self, page: object, access: Access = HOST) -> asyncio.Queue[str]:
        self._workers[page] = self._make_worker()
        return super().enter(page, access)

    def leave(self, page: object) -> None:
        if (job := self._jobs.pop(page, None)) is not None:
            job.cancel()
        self.pages.pop(page, None)
        if (worker := self._workers.pop(page, None)) is not None:
            worker.cancel()

    async def close(self) -> None:
        for page in list(self._workers):
            self.leave(page)

    async def _answer(
        self,
        page: object,
        kind: str,
        method: str,
        *arguments: Any,
        about: dict[str, Any] | None = None,
        report: Callable[[Any], None] | None = None,
    ) -> None:
        """Call a method of the page's worker, and send its result or its error. Nothing is sent after a cancellation.

        Args:
            page: Key of the page.
            kind: Type of the message with the result.
            method: Name of the method.
            *arguments: Its arguments.
            about: Further entries of the message.
            report: Receives the progress.
        """
        try:
            answer = await self._workers[page].do(method, *arguments, report=report)
            self.send(page, answer | (about or {}) | {"type": kind})
        except CancellationError:
            pass
        except TrickformerError as e:
            self.send(page, {"type": "error", "text": str(e)})


def _printable(value: Any) -> Any:
    """Make all text of a message printable, except for the reader's own notes on cards."""
    match value:
        case str():
            return printable(value)
        case dict():
            return {key: item if key == "annotation" else _printable(item) for key, item in value.items()}
        case list() | tuple():
            return [_printable(item) for item in value]
        case _:
            return value
