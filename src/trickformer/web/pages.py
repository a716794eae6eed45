"""Pages that are there, and what they are told."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from typing import Any

from trickformer.plumbing.terminal import printable

MOST_WAITING = 256  # messages that a page may leave unread


class Pages(ABC):
    """Any number of pages that look at one thing. All of it runs in one event loop."""

    def __init__(self) -> None:
        self.pages: dict[object, asyncio.Queue[str]] = {}

    def enter(self, page: object) -> asyncio.Queue[str]:
        """A page comes; what the queue brings is for it."""
        self.pages[page] = asyncio.Queue(MOST_WAITING)
        return self.pages[page]

    @abstractmethod
    def leave(self, page: object) -> None:
        """A page goes, and with it what is thought for it alone."""

    @abstractmethod
    async def hear(self, page: object, text: str) -> None:
        """Does what a page says. Raises ValueError on what is no message, and TrickformerError on what cannot be done
        now."""

    @abstractmethod
    async def close(self) -> None:
        """Ends all processes."""

    def tell(self, page: object, message: dict[str, Any]) -> None:
        """Says something to one page; one that reads nothing is forgotten. Text of strangers is made printable."""
        queue = self.pages.get(page)
        if queue is None:
            return
        try:
            queue.put_nowait(json.dumps(_printable(message)))
        except asyncio.QueueFull:
            self.leave(page)


def _printable(value: Any) -> Any:
    """Make all text of a message printable."""
    match value:
        case str():
            return printable(value)
        case dict():
            return {key: _printable(each) for key, each in value.items()}
        case list() | tuple():
            return [_printable(each) for each in value]
        case _:
            return value
