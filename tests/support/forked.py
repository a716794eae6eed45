"""Servers of pages, forked from one process that has imported everything: a new interpreter would take seconds.

Tests of processes themselves, such as their signals and exit codes, start them by `support.served` instead.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import SimpleNamespace

from support.served import STARTS

IMPORTS = (
    "trickformer.cli",
    "trickformer.models.backend",
    "trickformer.web.inside",
    "trickformer.web.server",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
)


@contextmanager
def served(*words: str, command: str = "play") -> Iterator[tuple[str, BaseProcess]]:
    """The address of `trickformer play`, `view` or `puzzle` with these words, and its process, which is ended.

    The process has its further output as `stdout`, like a `Popen`.

    Args:
        words: Arguments of the command.
        command: The command: `play`, `view` or `puzzle`.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(IMPORTS))
    forkserver.ensure_running()
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(theirs, _fork_server(), (command, *words, "--no-browser")))
    process.start()
    theirs.close()
    with os.fdopen(os.dup(ours.fileno()), encoding="utf-8") as output, ours:
        try:
            line = output.readline()
            assert line.startswith(STARTS), line + output.read()
            process.stdout = output
            yield line.split()[-1], process
        finally:
            process.terminate()
            process.join()
            process.close()


def assert_no_traceback(process: BaseProcess) -> None:
    """End a server of `served`, and assert that it has printed no traceback."""
    process.terminate()
    process.join()
    os.set_blocking(process.stdout.fileno(), False)
    try:
        output = os.read(process.stdout.fileno(), 1_000_000).decode()
    except BlockingIOError:
        output = ""
    assert "Traceback" not in output, output


def _fork_server() -> dict[str, object]:
    """The address of the fork server of this process and, in Python 3.14, its key."""
    names = ("_forkserver_address", "_forkserver_authkey")
    return {name: value for name in names if (value := getattr(forkserver._forkserver, name, None)) is not None}


def _serve(output: Connection, server: dict[str, object], words: tuple[str, ...]) -> None:
    """Run the command line. The fork server of the tests also starts the worker processes of the page."""
    from trickformer import cli
    from trickformer.web import worker

    sys.stdout = sys.stderr = os.fdopen(output.fileno(), "w", buffering=1, encoding="utf-8", closefd=False)
    vars(forkserver._forkserver).update(server, ensure_running=lambda: None)
    worker.multiprocessing = SimpleNamespace(get_context=lambda _: multiprocessing.get_context("forkserver"))
    sys.argv = ["trickformer", *words]
    cli.main()
