"""A running engine: what is written to it and read from it, and how it ends."""

from __future__ import annotations

import os
import re
import selectors
import shlex
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from pydantic_core import to_json

from trickformer.base import FaultKind, TrickformerError
from trickformer.engines import MAX_LINE, PROTOCOL, messages
from trickformer.engines.messages import EngineAction, EngineMessage, Error, Hello
from trickformer.plumbing.terminal import printable

_SUPERVISE = Path(__file__).with_name("_supervise.py")
_CHUNK = 1 << 16  # bytes read at once
_GOODBYE = 0.5  # seconds for an engine to exit by itself
_MOST_ERRORS = 1 << 26  # bytes of standard error that are kept
_LOOK = 1.0  # seconds between two looks at the time and at standard error
_SHOWN = 120  # characters of a line in a message
_ATTEMPTS = 3  # to start an engine
_NOT_STARTED = "cannot be started"


class Fault(Exception):
    """An engine broke the protocol or is gone. The message says what it did."""

    def __init__(self, message: str, kind: FaultKind = "protocol"):
        super().__init__(message)
        self.kind: FaultKind = kind


def words(command: str) -> list[str]:
    """A command as words, as a shell has them. Raises TrickformerError."""
    try:
        found = shlex.split(command)
    except ValueError as e:
        raise TrickformerError(f"the command {command!r} cannot be split into words: {e}") from None
    if not found:
        raise TrickformerError("engine needs a command: engine:cmd=PROGRAM")
    return found


def line(message: dict[str, Any]) -> bytes:
    """A message as a line."""
    return to_json(message) + b"\n"


class Process:
    """An engine, from its start to its end. `hello` is what it said of itself."""

    def __init__(self, name: str | None, command: Sequence[str], timeout: float, log: Path | None, logs: Path | None):
        """Start the engine and say hello. Without a name it has its own.

        log: file of standard error to append to. logs: folder for a new one; None for a temporary file.

        Raises Fault where it does not answer as it should."""
        self.name, self.timeout = name, timeout
        self.waiting: set[int] = set()  # tables whose answer is due
        self.fault: str | None = None
        self.fault_kind: FaultKind = "protocol"  # of `fault`
        self._out, self._in = bytearray(), bytearray()
        self.errors, self.log = _log(name or Path(command[0]).name, log, logs)
        watched, watch = os.pipe()
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_SUPERVISE), str(watched), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                pass_fds=(watched,),
                bufsize=0,
            )
        finally:
            os.close(watched)
        assert self._child.stdin is not None and self._child.stdout is not None
        self.stdin, self.stdout = self._child.stdin.fileno(), self._child.stdout.fileno()
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)
        self._finalize = weakref.finalize(self, _end, self._child, watch, self.errors, self._out)
        self.hello = self._hello()

    def _hello(self) -> Hello:
        found: list[Hello] = []
        self._out += line({"type": "hello", "protocol": PROTOCOL})

        def take(_: Process, said: EngineMessage) -> None:
            if not isinstance(said, Hello):
                raise Fault("did not answer hello")
            found.append(said)

        pump([self], lambda _: not found, take)
        if self.fault:
            said = self.last_error()
            self.end()
            raise Fault(f"{self.fault}, saying {said!r}" if said else self.fault)
        if found[0].protocol != PROTOCOL:
            self.end()
            raise Fault(f"speaks version {found[0].protocol} of the protocol, not {PROTOCOL}")
        self.name = self.name or make_printable(found[0].name)
        return found[0]

    def say(self, message: dict[str, Any]) -> None:
        """Puts a message into what is written at the next `pump`."""
        self._out += line(message)

    def ask(self, table: int, message: dict[str, Any]) -> None:
        """The same of a request for an action, which `answers` then waits for."""
        self.waiting.add(table)
        self.say({"type": "act", "table": table, **message})

    def end(self) -> None:
        """Says quit, and ends it if it does not go: it is gone on return. So it is once nobody holds this object."""
        self._finalize()

    def write(self) -> None:
        """Writes what the pipe takes. Raises Fault where the engine has closed it."""
        try:
            sent = os.write(self.stdin, self._out[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            raise Fault(self._describe_exit(), "crash") from None
        del self._out[:sent]

    def read(self) -> list[EngineMessage]:
        """What has come in whole lines. Raises Fault at its end, and on what is no message."""
        try:
            data = os.read(self.stdout, _CHUNK)
        except BlockingIOError:
            return []
        if not data:
            raise Fault(self._describe_exit(), "crash")
        self._in += data
        *lines, rest = self._in.split(b"\n")
        if len(rest) > MAX_LINE or any(len(text) > MAX_LINE for text in lines):
            raise Fault(f"wrote a line of more than {MAX_LINE:,} bytes")
        self._in = rest
        said = []
        for text in lines:
            try:
                said.append(messages.parse(bytes(text)))
            except ValueError as e:
                raise Fault(f"wrote {make_printable(text.decode(errors='replace'))} ({e})") from None
        return said

    @property
    def has_unsent_output(self) -> bool:
        return bool(self._out)

    def _describe_exit(self) -> str:
        """How it went, from the exit code of its supervisor."""
        try:
            code = self._child.wait(_GOODBYE)
        except subprocess.TimeoutExpired:
            return "closed its standard output"
        if code == 127:
            return _NOT_STARTED
        return f"was ended by signal {code - 128}" if code > 128 else f"exited with code {code}"

    def last_error(self) -> str:
        """The last line that it wrote to standard error."""
        with suppress(OSError):
            size = os.fstat(self.errors.fileno()).st_size
            tail = os.pread(self.errors.fileno(), 4_096, max(0, size - 4_096)).decode(errors="replace")
            lines = [text for text in tail.splitlines() if text.strip()]
            return make_printable(lines[-1].strip()) if lines else ""
        return ""

    def limit_errors(self) -> None:
        """Takes away what was written to standard error where it is too much."""
        if os.fstat(self.errors.fileno()).st_size > _MOST_ERRORS:
            os.truncate(self.errors.fileno(), 0)
            os.write(self.errors.fileno(), b"(what stood here was too much, and is gone)\n")


def start(
    name: str | None, command: Sequence[str], timeout: float, log: Path | None = None, logs: Path | None = None
) -> Process:
    """Start a process, at the second or third attempt if need be.

    Args:
        name: Name of the engine; None for the one that it gives itself.
        command: Words of its command.
        timeout: Seconds of silence that are a fault.
        log: File of standard error to append to.
        logs: Folder for a new file of standard error; None for a temporary file.

    Raises:
        TrickformerError: The engine does not start.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return Process(name, command, timeout, log, logs)
        except Fault as e:
            if attempt == _ATTEMPTS or e.args[0].startswith(_NOT_STARTED):
                raise TrickformerError(f"engine {name or shlex.join(command)} {e}") from None
    raise AssertionError


def pump(
    processes: Sequence[Process], more: Callable[[Process], bool], take: Callable[[Process, EngineMessage], None]
) -> None:
    """Writes to the engines and reads from them, all at once, until of none `more` is to come, or only of those that
    have failed: their `fault` says how. `take` is given every message; it may raise Fault.

    An engine fails too where it says nothing for its timeout."""
    deadline = {id(p): time.monotonic() + p.timeout for p in processes}
    looked = time.monotonic()

    def busy(p: Process) -> bool:
        return p.fault is None and (p.has_unsent_output or more(p))

    with selectors.DefaultSelector() as selector:
        while live := [p for p in processes if busy(p)]:
            for p in processes:
                for file, wanted in ((p.stdin, p.has_unsent_output), (p.stdout, True)):
                    known = file in selector.get_map()
                    if (wanted := wanted and p in live) and not known:
                        event = selectors.EVENT_WRITE if file == p.stdin else selectors.EVENT_READ
                        selector.register(file, event, p)
                    elif known and not wanted:
                        selector.unregister(file)
            soonest = min(deadline[id(p)] for p in live)
            for key, event in selector.select(max(0.0, min(soonest - time.monotonic(), _LOOK))):
                p: Process = key.data
                if p.fault is not None:
                    continue
                try:
                    if event & selectors.EVENT_WRITE:
                        p.write()
                    elif said := p.read():
                        for message in said:
                            if isinstance(message, Error):
                                p.end()
                                raise TrickformerError(f"engine {p.name}: {make_printable(message.text)}")
                            take(p, message)
                        deadline[id(p)] = time.monotonic() + p.timeout
                except Fault as e:
                    p.fault, p.fault_kind = str(e), e.kind
            now = time.monotonic()
            if now - looked > _LOOK:
                looked = now
                for p in live:
                    p.limit_errors()
            for p in live:
                if busy(p) and now >= deadline[id(p)]:
                    p.fault, p.fault_kind = f"was silent for {p.timeout:g} s", "timeout"


def answers(processes: Sequence[Process]) -> dict[tuple[int, int], EngineAction]:
    """Waits for all that is due: the answers by (index of the process, table), also of those that failed later."""
    index = {id(p): i for i, p in enumerate(processes)}
    found: dict[tuple[int, int], EngineAction] = {}

    def take(p: Process, said: EngineMessage) -> None:
        if not isinstance(said, EngineAction) or said.table not in p.waiting:
            raise Fault(f"answered what nobody had asked: {make_printable(said.model_dump_json(exclude_none=True))}")
        p.waiting.discard(said.table)
        found[index[id(p)], said.table] = said

    pump(processes, lambda p: bool(p.waiting), take)
    return found


def _end(child: subprocess.Popen[bytes], watch: int, errors: IO[bytes], unsent: bytearray) -> None:
    """Says what is still to be said, and quit. Then ends the supervisor, which ends the engine and all that it has
    started."""
    assert child.stdin is not None and child.stdout is not None
    with suppress(OSError):
        os.write(child.stdin.fileno(), bytes(unsent) + line({"type": "quit"}))
    child.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        child.wait(_GOODBYE)
    os.close(watch)
    child.wait()
    child.stdout.close()
    errors.close()


def _log(name: str, known: Path | None, logs: Path | None) -> tuple[IO[bytes], Path | None]:
    """Open the known file for standard error, or a new one in the folder `logs`; return it and its path."""
    if known is not None:
        return known.open("a+b", buffering=0), known
    if logs is None:
        return tempfile.TemporaryFile("a+b", buffering=0), None
    plain = re.sub(r"[^\w.-]", "_", name)[:40]
    try:
        logs.mkdir(parents=True, exist_ok=True)
        for number in range(1_000_000):
            path = logs / f"{plain}-{number}.stderr"
            with suppress(FileExistsError):
                path.open("xb").close()
                return path.open("a+b", buffering=0), path
    except OSError as e:
        raise TrickformerError(f"cannot write {logs}: {e.strerror}") from None
    raise TrickformerError(f"{logs} holds too many files of {name}")


def make_printable(text: str) -> str:
    """What a program says, fit for a line of a message."""
    said = printable(text[: 4 * _SHOWN]).replace("\n", "?")
    return said if len(said) <= _SHOWN else said[: _SHOWN - 3] + "..."
