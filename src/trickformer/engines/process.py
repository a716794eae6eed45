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
_READ_SIZE = 1 << 16  # bytes read or written at once
_EXIT_WAIT = 0.5  # seconds for an engine to exit by itself
_MAX_STDERR = 1 << 26  # bytes; a larger file of standard error is emptied
_CHECK_INTERVAL = 1.0  # seconds between two checks of the size of standard error
_MAX_QUOTE = 120  # characters of an engine's line that an error message quotes
_ATTEMPTS = 3  # attempts to start an engine
_NOT_STARTED = "cannot be started"


class Fault(Exception):
    """A fault of an engine: it broke the protocol, exited or was too slow. The message leaves out the engine's name."""

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
        stderr_path: File that the engine's standard error goes to; None if it is a temporary file.
    """

    def __init__(
        self,
        name: str | None,
        command: Sequence[str],
        timeout: float,
        stderr_path: Path | None,
        stderr_folder: Path | None,
    ):
        """Start the engine and exchange the `hello` messages.

        Args:
            name: Name of the engine; None for the name in the engine's `hello`.
            command: Program and arguments.
            timeout: Seconds of silence that count as a fault.
            stderr_path: File to append standard error to, from an earlier process of this engine.
            stderr_folder: Folder for a new file if `stderr_path` is None. If both are None, standard error goes to a
                temporary file.

        Raises:
            Fault: The engine does not start or breaks the protocol.
        """
        self.name, self.timeout = name, timeout
        self.waiting: set[int] = set()
        self.fault: str | None = None
        self.fault_kind: FaultKind = "protocol"
        self._unsent, self._received = bytearray(), bytearray()
        self.stderr, self.stderr_path = _open_stderr(name or Path(command[0]).name, stderr_path, stderr_folder)
        # The supervisor kills the engine when `our_end` is closed, which also happens if this process dies.
        supervisor_end, our_end = os.pipe()
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_SUPERVISE), str(supervisor_end), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.stderr,
                pass_fds=(supervisor_end,),
                bufsize=0,
            )
        except (OSError, ValueError) as e:  # ValueError: a null character in the command
            os.close(our_end)
            self.stderr.close()
            raise Fault(f"cannot be started: {e}") from None
        finally:
            os.close(supervisor_end)
        assert self._child.stdin is not None and self._child.stdout is not None
        self.stdin, self.stdout = self._child.stdin.fileno(), self._child.stdout.fileno()
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)
        self._finalize = weakref.finalize(self, _stop, self._child, our_end, self.stderr, self._unsent)
        self.hello = self._greet()

    def _greet(self) -> Hello:
        answers: list[Hello] = []
        self._unsent += _to_line({"type": "hello", "protocol": PROTOCOL})

        def receive(_: Process, message: EngineMessage) -> None:
            if not isinstance(message, Hello):
                raise Fault("did not answer hello")
            answers.append(message)

        _exchange([self], lambda _: not answers, receive)
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
        self._unsent += _to_line(message)

    def request_action(self, table: int, request: dict[str, Any]) -> None:
        """Queue a request for an action, which `wait_for_actions` waits for.

        Args:
            table: Number of the table.
            request: Fields of the message besides `type` and `table`.
        """
        self.waiting.add(table)
        self.send({"type": "act", "table": table, **request})

    def end(self) -> None:
        """Send `quit` and wait until the process has ended. An engine that does not exit within 0.5 s is killed.

        The same happens when this object is garbage-collected.
        """
        self._finalize()

    def write(self) -> None:
        """Write as many queued bytes as the pipe takes without blocking.

        Raises:
            Fault: The engine has closed the pipe.
        """
        try:
            sent = os.write(self.stdin, self._unsent[:_READ_SIZE])
        except BlockingIOError:
            return
        except BrokenPipeError:
            raise Fault(self._describe_exit("input"), "crash") from None
        del self._unsent[:sent]

    def read(self) -> list[EngineMessage]:
        """Read the messages whose lines have arrived in full.

        Raises:
            Fault: The engine has ended, or a line is too long or is not a message of the protocol.
        """
        try:
            data = os.read(self.stdout, _READ_SIZE)
        except BlockingIOError:
            return []
        if not data:
            raise Fault(self._describe_exit("output"), "crash")
        self._received += data
        *lines, rest = self._received.split(b"\n")
        if len(rest) > MAX_LINE or any(len(text) > MAX_LINE for text in lines):
            raise Fault(f"wrote a line of more than {MAX_LINE:,} bytes")
        self._received = rest
        parsed = []
        for text in lines:
            try:
                parsed.append(messages.parse(bytes(text)))
            except ValueError as e:
                line = make_printable(text.decode(errors="replace"))
                raise Fault(f"wrote a line that docs/engines.md does not allow: {e}; it wrote {line}") from None
        return parsed

    @property
    def has_unsent_output(self) -> bool:
        return bool(self._unsent)

    def _describe_exit(self, stream: str) -> str:
        """Describe how the engine ended after it closed a standard stream, by the exit codes of _supervise.py."""
        try:
            code = self._child.wait(_EXIT_WAIT)
        except subprocess.TimeoutExpired:
            return f"closed its standard {stream}"
        if code == 127:
            return _NOT_STARTED
        return f"was ended by signal {code - 128}" if code > 128 else f"exited with code {code}"

    def last_error(self) -> str:
        """Return the last line that the engine wrote to standard error; empty if there is none."""
        with suppress(OSError):
            size = os.fstat(self.stderr.fileno()).st_size
            tail = os.pread(self.stderr.fileno(), 4_096, max(0, size - 4_096)).decode(errors="replace")
            lines = [text for text in tail.splitlines() if text.strip()]
            return make_printable(lines[-1].strip()) if lines else ""
        return ""

    def limit_stderr(self) -> None:
        """Empty the file of standard error if it has more than 64 MiB."""
        if os.fstat(self.stderr.fileno()).st_size > _MAX_STDERR:
            os.truncate(self.stderr.fileno(), 0)
            os.write(self.stderr.fileno(), b"(earlier output was too large and has been removed)\n")


def start(
    name: str | None,
    command: Sequence[str],
    timeout: float,
    stderr_path: Path | None = None,
    stderr_folder: Path | None = None,
) -> Process:
    """Start an engine, with up to three attempts.

    Args:
        name: As in `Process`.
        command: As in `Process`.
        timeout: As in `Process`.
        stderr_path: As in `Process`.
        stderr_folder: As in `Process`.

    Raises:
        TrickformerError: The engine does not start.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return Process(name, command, timeout, stderr_path, stderr_folder)
        except Fault as e:
            if attempt == _ATTEMPTS or e.args[0].startswith(_NOT_STARTED):
                quoted = e.args[0].startswith(_NOT_STARTED) and any(map(str.isspace, command[0]))
                hint = '; the command is one word here: write engine:cmd="PROGRAM ARGUMENT", without inner quotes'
                remedy = hint if quoted else ""
                raise TrickformerError(f"engine {name or shlex.join(command)} {e}{remedy}") from None
    raise AssertionError


def _exchange(
    processes: Sequence[Process],
    owes_message: Callable[[Process], bool],
    receive: Callable[[Process, EngineMessage], None],
) -> None:
    """Write to all engines and read from them, until every engine has finished or failed.

    An engine has finished when its queued messages are written and it owes no message. If an engine fails, or is
    silent for its timeout, its `fault` is set.

    Args:
        processes: The engines.
        owes_message: Function that returns whether an engine still has to send a message.
        receive: Function that handles each message. It may raise Fault.

    Raises:
        TrickformerError: An engine reported an error.
    """
    deadline = {id(p): time.monotonic() + p.timeout for p in processes}
    last_check = time.monotonic()

    def is_busy(p: Process) -> bool:
        return p.fault is None and (p.has_unsent_output or owes_message(p))

    with selectors.DefaultSelector() as selector:
        while busy := [p for p in processes if is_busy(p)]:
            for p in processes:
                for file, is_wanted in ((p.stdin, p.has_unsent_output), (p.stdout, True)):
                    is_registered = file in selector.get_map()
                    if (should_watch := is_wanted and p in busy) and not is_registered:
                        event = selectors.EVENT_WRITE if file == p.stdin else selectors.EVENT_READ
                        selector.register(file, event, p)
                    elif is_registered and not should_watch:
                        selector.unregister(file)
            next_deadline = min(deadline[id(p)] for p in busy)
            for key, event in selector.select(max(0.0, min(next_deadline - time.monotonic(), _CHECK_INTERVAL))):
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
                            receive(p, message)
                        deadline[id(p)] = time.monotonic() + p.timeout
                except Fault as e:
                    p.fault, p.fault_kind = str(e), e.kind
            now = time.monotonic()
            if now - last_check > _CHECK_INTERVAL:
                last_check = now
                for p in busy:
                    p.limit_stderr()
            for p in busy:
                if is_busy(p) and now >= deadline[id(p)]:
                    p.fault, p.fault_kind = f"was silent for {p.timeout:g} s", "timeout"


def wait_for_actions(processes: Sequence[Process]) -> dict[tuple[int, int], EngineAction]:
    """Send the queued messages, and wait for the requested actions.

    Args:
        processes: The engines. Those that fail get their `fault` set.

    Returns:
        The actions by (index of the process, table). They include those that an engine sent before it failed.

    Raises:
        TrickformerError: An engine reported an error.
    """
    index = {id(p): i for i, p in enumerate(processes)}
    actions: dict[tuple[int, int], EngineAction] = {}

    def receive(p: Process, message: EngineMessage) -> None:
        if not isinstance(message, EngineAction) or message.table not in p.waiting:
            text = make_printable(message.model_dump_json(exclude_none=True))
            raise Fault(f"sent an answer without a request: {text}")
        p.waiting.discard(message.table)
        actions[index[id(p)], message.table] = message

    _exchange(processes, lambda p: bool(p.waiting), receive)
    return actions


def _stop(child: subprocess.Popen[bytes], our_end: int, stderr: IO[bytes], unsent: bytearray) -> None:
    """Write what the pipe takes of the queued messages and `quit`, then close our end.

    The supervisor kills the engine and its descendants.
    """
    assert child.stdin is not None and child.stdout is not None
    with suppress(OSError):
        os.write(child.stdin.fileno(), bytes(unsent) + _to_line({"type": "quit"}))
    child.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        child.wait(_EXIT_WAIT)
    os.close(our_end)
    child.wait()
    child.stdout.close()
    stderr.close()


def _open_stderr(name: str, path: Path | None, folder: Path | None) -> tuple[IO[bytes], Path | None]:
    """Open a file for standard error: `path`, else a new one in `folder`, else a temporary one without a path."""
    if path is not None:
        return path.open("a+b", buffering=0), path
    if folder is None:
        return tempfile.TemporaryFile("a+b", buffering=0), None
    stem = re.sub(r"[^\w.-]", "_", name)[:40]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(1_000_000):
            path = folder / f"{stem}-{number}.stderr"
            with suppress(FileExistsError):
                path.open("xb").close()
                return path.open("a+b", buffering=0), path
    except OSError as e:
        raise TrickformerError(f"cannot write {folder}: {e.strerror}") from None
    raise TrickformerError(f"{folder} holds too many error logs of {name}; delete its files {stem}-*.stderr")


def make_printable(text: str) -> str:
    """Shorten a text of an engine to one line for an error message.

    Args:
        text: The text.

    Returns:
        One line of at most 120 printable characters.
    """
    quote = printable(text[: 4 * _MAX_QUOTE]).replace("\n", "?")
    return quote if len(quote) <= _MAX_QUOTE else quote[: _MAX_QUOTE - 3] + "..."
