"""Worker processes: pages stay responsive while a worker computes, and a worker can be killed at any time."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.plumbing.parallel import end_with_the_parent

# Kinds of the messages (kind, value) that the process sends.
_DONE = "done"
_REPORT = "report"
_SEARCH = "search"
_ERROR = "error"
_REPORT_INTERVAL = 0.25  # seconds between two reports of a search


class _Call(NamedTuple):
    """Call of a method, as it is sent to the process."""

    method: str
    arguments: tuple[Any, ...]
    reports: bool  # whether the method gets a function that sends reports
    reports_search: bool  # whether the progress of searches is sent


class CancellationError(Exception):
    """`Worker.cancel` has ended the work."""


class Worker:
    """One process that holds an object and calls its methods, one after the other."""

    def __init__(self, make: Callable[..., Any], *make_arguments: Any):
        """Prepare a worker; the first call starts the process.

        Args:
            make: Function of a module that makes the object, in the process.
            make_arguments: Arguments of `make`.
        """
        self._make, self._make_arguments = make, make_arguments
        self._process: Any = None
        self._pipe: Connection | None = None
        self._lock = asyncio.Lock()
        self.busy = False

    async def do(
        self,
        method: str,
        *arguments: Any,
        report: Callable[[Any], None] | None = None,
        report_search: Callable[[tuple[int, int]], None] | None = None,
    ) -> Any:
        """Call a method of the object in the process.

        Args:
            method: Name of the method.
            arguments: Arguments of the method.
            report: Receives the method's reports. The method gets a function for them as an additional last argument.
            report_search: Receives the progress of searches in the core, (done, total), four times a second.

        Returns:
            The result of the method.

        Raises:
            TrickformerError: The method raises an error, or the process dies.
            CancellationError: `cancel` ended the process.
        """
        async with self._lock:
            pipe = self._ensure_started()
            self.busy = True
            try:
                receivers = {_REPORT: report, _SEARCH: report_search}
                pipe.send(_Call(method, arguments, report is not None, report_search is not None))
                kind, value = await asyncio.to_thread(pipe.recv)
                while (receive := receivers.get(kind)) is not None:
                    receive(value)
                    kind, value = await asyncio.to_thread(pipe.recv)
            except (EOFError, OSError):
                if self._pipe is not pipe:
                    raise CancellationError from None
                code = self._process.exitcode
                self.cancel()
                raise TrickformerError(f"the worker process died (exit code {code})") from None
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
            self._pipe.send((self._make, self._make_arguments))
        return self._pipe

    def cancel(self) -> None:
        """End the process at once; the next call starts another."""
        if self._pipe is None:
            return
        pipe, self._pipe = self._pipe, None
        self._process.kill()  # compiled code ignores weaker signals
        self._process.join()
        if not self.busy:  # if it is busy, a thread reads the pipe and needs to see its end
            pipe.close()


@contextmanager
def _report_search_progress(pipe: Connection) -> Generator[None]:
    """Report the progress of searches while the context is open."""
    over = threading.Event()

    def report_until_done() -> None:
        with suppress(OSError):  # the parent is gone
            while not over.wait(_REPORT_INTERVAL):
                done, total = _core.under_way()
                if total:
                    pipe.send((_SEARCH, (done, total)))

    thread = threading.Thread(target=report_until_done, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _serve(pipe: Connection) -> None:
    """Run the process: make the object, and call its methods on request."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C also reaches the parent, which ends this process
    threading.Thread(target=end_with_the_parent, daemon=True).start()
    with suppress(BrokenPipeError, ConnectionResetError, EOFError):  # the parent is gone
        make, make_arguments = pipe.recv()
        target: Any = None
        while True:
            call: _Call = pipe.recv()
            try:
                if target is None:
                    target = make(*make_arguments)
                reporters = [lambda report: pipe.send((_REPORT, report))] if call.reports else []
                with _report_search_progress(pipe) if call.reports_search else nullcontext():
                    message = (_DONE, getattr(target, call.method)(*call.arguments, *reporters))
            except TrickformerError as e:
                message = (_ERROR, str(e))
            except Exception as e:  # a faulty player must not end the table
                message = (_ERROR, f"{type(e).__name__}: {e}".splitlines()[0])
            pipe.send(message)
