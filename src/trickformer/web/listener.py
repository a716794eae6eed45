"""Connections to the pages: limits on their number, and on the time that one stays open without showing the token.

Every user of this machine can open a connection, so a connection without the token must cost little.
"""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

from starlette.requests import HTTPConnection
from uvicorn import Config, Server

from trickformer.plumbing.terminal import warn

MOST_CONNECTIONS = 100  # largest number of open connections; a browser opens up to eight for a page
TOKEN_TIMEOUT = 5.0  # seconds after which a connection that has not shown the token is closed
BACKLOG = 128  # connections that wait to be accepted
_RETRY_PAUSE = 1.0  # seconds until a failed accept is tried again
_STATE_KEY = "connection"  # key of the `_Connection` in the ASGI state of a request


@dataclass(slots=True, eq=False)
class _Connection:
    """A connection. It counts as a stranger until one of its requests has shown the token."""

    transport: asyncio.Transport | None = None
    is_stranger: bool = True

    def is_open(self) -> bool:
        return self.transport is not None and not self.transport.is_closing()

    def close_stranger(self) -> None:
        if self.is_stranger and self.transport is not None:
            self.transport.abort()


def keep_connection(request: HTTPConnection) -> None:
    """Keep the connection of a request open beyond TOKEN_TIMEOUT.

    Args:
        request: Request that has the token.
    """
    request.scope["state"][_STATE_KEY].is_stranger = False


class PageServer(Server):
    """Server that accepts its connections itself, to limit them.

    asyncio would accept every connection, and print a traceback for each failed accept.
    """

    def __init__(self, config: Config):
        super().__init__(config)
        self._open: list[_Connection] = []  # oldest first
        self._warnings: set[str] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        assert sockets is not None
        await super().startup([])
        asyncio.get_running_loop().set_exception_handler(self._report)
        self._accepting = asyncio.create_task(self._accept(sockets[0]))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._accepting.cancel()
        await asyncio.wait([self._accepting])
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # The first Ctrl-C ends the server, within two seconds. Another would interrupt the shutdown.
        if not self.should_exit:
            super().handle_exit(sig, frame)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection = _Connection()
            try:
                accepted, _ = await loop.sock_accept(listener)
                protocol = partial(self._protocol, connection)
                connection.transport, _ = await loop.connect_accepted_socket(protocol, accepted)
            except ConnectionError:  # the other end is gone already
                continue
            except OSError as e:  # such as too many open files
                self._warn_once("accept", f"cannot accept a connection: {e.strerror}; trying again every second")
                self._close_oldest_stranger()
                await asyncio.sleep(_RETRY_PAUSE)
                continue
            loop.call_later(TOKEN_TIMEOUT, connection.close_stranger)
            self._open = [*filter(_Connection.is_open, self._open), connection]
            if len(self._open) > MOST_CONNECTIONS:
                self._close_oldest_stranger()

    def _protocol(self, connection: _Connection) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        state = self.lifespan.state | {_STATE_KEY: connection}
        return make(config=self.config, server_state=self.server_state, app_state=state)

    def _close_oldest_stranger(self) -> None:
        for connection in self._open:
            if connection.is_stranger and connection.is_open():
                connection.close_stranger()
                return

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Print only the first fault of a connection, in one line, because strangers can cause any number of faults."""
        if "transport" not in context:
            loop.default_exception_handler(context)
            return
        fault = context.get("exception")
        self._warn_once("fault", f"closed a connection ({type(fault).__name__}: {fault}); others are not reported")

    def _warn_once(self, kind: str, text: str) -> None:
        if kind not in self._warnings:
            self._warnings.add(kind)
            warn(text)
