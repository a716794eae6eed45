"""Process of a running engine: its start, its messages and its end."""

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
_LOOK = 1.0  # seconds between two checks of the time and of standard error
_SHOWN = 120  # characters of an engine's line in an error message
_ATTEMPTS = 3  # attempts to start an engine
_NOT_STARTED = "cannot be started"


class Fault(Exception):
    """Breach of the protocol or death of an engine. The message describes it, without the engine's name."""

    def __init__(self, message: str, kind: FaultKind = "protocol"):
        super().__init__(message)
        self.kind: FaultKind = kind


def split_command(command: str) -> list[str]:
    """Split a command into words as a shell does.

    Args:
        command: The command.

    Raises:
        TrickformerError: The command is empty or has an open quote.
    """
    try:
        words = shlex.split(command)
    except ValueError as e:
        raise TrickformerError(f"the command {command!r} cannot be split into words: {e}") from None
    if not words:
        raise TrickformerError("engine needs a command: engine:cmd=PROGRAM")
    return words


def _to_line(message: dict[str, Any]) -> bytes:
    return to_json(message) + b"\n"


class Process:
    """Process of an engine.

    Attributes:
        name: Name of the engine.
        timeout: Seconds of silence that count as a fault.
        hello: Answer of the engine to the first message.
        waiting: Tables whose action has been requested and has not arrived.
        fault: Description of the engine's fault; None if there is none.
        fault_kind: Kind of the fault.
        log: File of standard error; None if it is a temporary file.
    """

    def __init__(self, name: str | None, command: Sequence[str], timeout: float, log: Path | None, logs: Path | None):
        """Start the engine and exchange the first messages.

        Args:
            name: Name of the engine; None for the one that it gives itself.
            command: Words of its command.
            timeout: Seconds of silence that count as a fault.
            log: File of standard error to append to.
            logs: Folder for a new file of standard error; None for a temporary file.

        Raises:
            Fault: The engine does not start or breaks the protocol.
        """
        self.name, self.timeout = name, timeout
        self.waiting: set[int] = set()
        self.fault: str | None = None
        self.fault_kind: FaultKind = "protocol"
        self._out, self._in = bytearray(), bytearray()
        self.errors, self.log = _log(name or Path(command[0]).name, log, logs)
        watched, watch = os.pipe()  # the supervisor ends the engine once our end is closed, also by our death
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
        answers: list[Hello] = []
        self._out += _to_line({"type": "hello", "protocol": PROTOCOL})

        def take(_: Process, message: EngineMessage) -> None:
            if not isinstance(message, Hello):
                raise Fault("did not answer hello")
            answers.append(message)

        _pump([self], lambda _: not answers, take)
        if self.fault:
            last_error = self.last_error()
            self.end()
            raise Fault(f"{self.fault}, saying {last_error!r}" if last_error else self.fault)
        hello = answers[0]
        if hello.protocol != PROTOCOL:
            self.end()
            raise Fault(f"speaks version {hello.protocol} of the protocol, not {PROTOCOL}")
        self.name = self.name or make_printable(hello.name)
        return hello

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message. The next `wait_for_actions` writes it.

        Args:
            message: Message of the protocol.
        """
        self._out += _to_line(message)

    def request_action(self, table: int, request: dict[str, Any]) -> None:
        """Queue a request for an action, which `wait_for_actions` waits for.

        Args:
            table: Number of the table.
            request: Fields of the message besides `type` and `table`.
        """
        self.waiting.add(table)
        self.send({"type": "act", "table": table, **request})

    def end(self) -> None:
        """Send `quit` and wait until the process has ended, by force if it does not exit.

        The same happens when this object is garbage-collected.
        """
        self._finalize()

    def write(self) -> None:
        """Write as much as the pipe takes.

        Raises:
            Fault: The engine has closed the pipe.
        """
        try:
            sent = os.write(self.stdin, self._out[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            raise Fault(self._describe_exit(), "crash") from None
        del self._out[:sent]

    def read(self) -> list[EngineMessage]:
        """Read the messages whose lines have arrived in full.

        Raises:
            Fault: The engine has ended, or a line is too long or no message.
        """
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
        parsed = []
        for text in lines:
            try:
                parsed.append(messages.parse(bytes(text)))
            except ValueError as e:
                raise Fault(f"wrote {make_printable(text.decode(errors='replace'))} ({e})") from None
        return parsed

    @property
    def has_unsent_output(self) -> bool:
        return bool(self._out)

    def _describe_exit(self) -> str:
        """Describe the end of the engine, from the exit code of its supervisor."""
        try:
            code = self._child.wait(_GOODBYE)
        except subprocess.TimeoutExpired:
            return "closed its standard output"
        if code == 127:
            return _NOT_STARTED
        return f"was ended by signal {code - 128}" if code > 128 else f"exited with code {code}"

    def last_error(self) -> str:
        """Return the last line that the engine wrote to standard error; empty if there is none."""
        with suppress(OSError):
            size = os.fstat(self.errors.fileno()).st_size
            tail = os.pread(self.errors.fileno(), 4_096, max(0, size - 4_096)).decode(errors="replace")
            lines = [text for text in tail.splitlines() if text.strip()]
            return make_printable(lines[-1].strip()) if lines else ""
        return ""

    def limit_errors(self) -> None:
        """Empty the file of standard error if it is too large."""
        if os.fstat(self.errors.fileno()).st_size > _MOST_ERRORS:
            os.truncate(self.errors.fileno(), 0)
            os.write(self.errors.fileno(), b"(earlier output was too large and has been removed)\n")


def start(
    name: str | None, command: Sequence[str], timeout: float, log: Path | None = None, logs: Path | None = None
) -> Process:
    """Start an engine, with up to three attempts.

    Args:
        name: Name of the engine; None for the one that it gives itself.
        command: Words of its command.
        timeout: Seconds of silence that count as a fault.
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


def _pump(
    processes: Sequence[Process], more: Callable[[Process], bool], take: Callable[[Process, EngineMessage], None]
) -> None:
    """Write to all engines and read from them, until every engine has finished or failed.

    An engine has finished if its messages are written and `more` is false. One that fails, or is silent for its
    timeout, gets its `fault` set.

    Args:
        processes: The engines.
        more: Function that returns whether an engine still owes a message.
        take: Function that receives each message. It may raise Fault.

    Raises:
        TrickformerError: An engine reported an error.
    """
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
                    elif received := p.read():
                        for message in received:
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


def wait_for_actions(processes: Sequence[Process]) -> dict[tuple[int, int], EngineAction]:
    """Send the queued messages, and wait for the requested actions.

    Args:
        processes: The engines. Those that fail get their `fault` set.

    Returns:
        The actions by index of the process and table. An engine that fails keeps those that it sent before.

    Raises:
        TrickformerError: An engine reported an error.
    """
    index = {id(p): i for i, p in enumerate(processes)}
    actions: dict[tuple[int, int], EngineAction] = {}

    def take(p: Process, message: EngineMessage) -> None:
        if not isinstance(message, EngineAction) or message.table not in p.waiting:
            text = make_printable(message.model_dump_json(exclude_none=True))
            raise Fault(f"sent an answer without a request: {text}")
        p.waiting.discard(message.table)
        actions[index[id(p)], message.table] = message

    _pump(processes, lambda p: bool(p.waiting), take)
    return actions


def _end(child: subprocess.Popen[bytes], watch: int, errors: IO[bytes], unsent: bytearray) -> None:
    """Write the queued messages and `quit`, and end the supervisor. It ends the engine and all of its descendants."""
    assert child.stdin is not None and child.stdout is not None
    with suppress(OSError):
        os.write(child.stdin.fileno(), bytes(unsent) + _to_line({"type": "quit"}))
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
    """Make a text of an engine fit for an error message.

    Args:
        text: The text.

    Returns:
        One line of at most 120 printable characters.
    """
    shown = printable(text[: 4 * _SHOWN]).replace("\n", "?")
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + "..."
