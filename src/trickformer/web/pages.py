"""Base of the rooms, Room and Reading: the open pages, with a queue of outgoing messages for each."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from typing import Any

from trickformer.plumbing.terminal import printable

MAX_UNREAD = 256  # messages that a page may leave unread; then it is removed


class Pages(ABC):
    """Any number of pages that show the same table or hands, in one event loop."""

    def __init__(self) -> None:
        self.pages: dict[object, asyncio.Queue[str]] = {}

    def enter(self, page: object) -> asyncio.Queue[str]:
        """Add a page.

        Args:
            page: Key of the page, such as its socket.

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
        except asyncio.QueueFull:
            self.leave(page)


def _printable(value: Any) -> Any:
    """Make all text of a message printable."""
    match value:
        case str():
            return printable(value)
        case dict():
            return {key: _printable(item) for key, item in value.items()}
        case list() | tuple():
            return [_printable(item) for item in value]
        case _:
            return value
