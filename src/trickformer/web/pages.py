"""Open pages of one room, with a queue of messages for each."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from typing import Any

from trickformer.plumbing.terminal import printable

MOST_WAITING = 256  # largest number of messages that a page may leave unread


class Pages(ABC):
    """Any number of pages that show the same table or hands, in one event loop."""

    def __init__(self) -> None:
        self.pages: dict[object, asyncio.Queue[str]] = {}

    def enter(self, page: object) -> asyncio.Queue[str]:
        """Add a page.

        Args:
            page: Key of the page.

        Returns:
            Queue of the messages for the page.
        """
        self.pages[page] = asyncio.Queue(MOST_WAITING)
        return self.pages[page]

    @abstractmethod
    def leave(self, page: object) -> None:
        """Remove a page, and end the computations for it.

        Args:
            page: Key of the page.
        """

    @abstractmethod
    async def hear(self, page: object, text: str) -> None:
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

    def tell(self, page: object, message: dict[str, Any]) -> None:
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
