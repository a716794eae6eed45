"""Thinking in a process of its own, so that a page never waits, and what nobody waits for any more is ended."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing.connection import Connection
from typing import Any

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.plumbing.parallel import end_with_the_parent

_DONE, _TOLD, _SEARCHED, _ERROR = "done", "told", "searched", "error"  # what a process sends: (kind, value)
_EVERY = 0.25  # seconds between two looks at a search


class CancellationError(Exception):
    """The work was ended before it was done."""


class Worker:
    """One process that does one piece of work after the other. What is made by `make`, which must be a function of a
    module, is kept between them."""

    def __init__(self, make: Callable[..., Any], *given: Any):
        """make(*given): the object whose methods are called, made in the process."""
        self._make, self._given = make, given
        self._process: Any = None
        self._pipe: Connection | None = None
        self._turn = asyncio.Lock()
        self.busy = False

    async def do(
        self,
        method: str,
        *arguments: Any,
        told: Callable[[Any], None] | None = None,
        searched: Callable[[tuple[int, int]], None] | None = None,
    ) -> Any:
        """What a method of the object returns. Raises TrickformerError as it does, or where the process dies, and
        Cancelled where `cancel` ended it.

        told: what the method says on the way; it is then called with a function as its last argument, which takes
        what it has to say. searched: four times a second, of the searches in the core what they have done and of how
        much."""
        async with self._turn:
            pipe = self._ensure_started()
            self.busy = True
            try:
                hears = {_TOLD: told, _SEARCHED: searched}
                pipe.send((method, arguments, told is not None, searched is not None))
                kind, value = await asyncio.to_thread(pipe.recv)
                while (hear := hears.get(kind)) is not None:
                    hear(value)
                    kind, value = await asyncio.to_thread(pipe.recv)
            except (EOFError, OSError):
                if self._pipe is not pipe:
                    raise CancellationError from None
                code = self._process.exitcode
                self.cancel()
                raise TrickformerError(f"the process that was thinking died (exit code {code})") from None
            finally:
                self.busy = False
        if kind == _ERROR:
            raise TrickformerError(value)
        return value

    def _ensure_started(self) -> Connection:
        if self._pipe is None:
            context = multiprocessing.get_context("spawn")  # a fork would copy the threads of the server
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
            self._pipe.send((self._make, self._given))
        return self._pipe

    def cancel(self) -> None:
        """Ends the process, whatever it does; the next work starts another."""
        if self._pipe is None:
            return
        pipe, self._pipe = self._pipe, None
        self._process.kill()  # compiled code hears nothing less
        self._process.join()
        if not self.busy:  # else the thread that reads it sees its end
            pipe.close()


@contextmanager
def _report_search_progress(pipe: Connection) -> Generator[None]:
    """Says meanwhile how far searches have got."""
    over = threading.Event()

    def look() -> None:
        with suppress(OSError):  # the parent is gone
            while not over.wait(_EVERY):
                done, of = _core.under_way()
                if of:
                    pipe.send((_SEARCHED, (done, of)))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()


def _serve(pipe: Connection) -> None:
    """Does what it is asked. Programs that play are ended with their players, or by their supervisor."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends us
    threading.Thread(target=end_with_the_parent, daemon=True).start()
    with suppress(BrokenPipeError, ConnectionResetError, EOFError):  # the parent is gone
        make, given = pipe.recv()
        made: Any = None
        while True:
            method, arguments, tells, watched = pipe.recv()
            try:
                if made is None:
                    made = make(*given)
                more = [lambda said: pipe.send((_TOLD, said))] if tells else []
                with _report_search_progress(pipe) if watched else nullcontext():
                    message = (_DONE, getattr(made, method)(*arguments, *more))
            except TrickformerError as e:
                message = (_ERROR, str(e))
            except Exception as e:  # of a player that is at fault: the table goes on
                message = (_ERROR, f"{type(e).__name__}: {e}".splitlines()[0])
            pipe.send(message)
