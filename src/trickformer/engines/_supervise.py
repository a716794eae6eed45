"""Supervisor of a program, which leaves no process behind.

It kills the program and all of its descendants when the caller dies, even by kill -9, and it kills the remaining
descendants when the program ends.

    python -I -S _supervise.py FD WORD ...

FD is the reading end of a pipe whose other end the caller holds. The system closes it when the caller dies. The program
gets its own session, so that Ctrl-C in a terminal does not reach it. The exit code is the program's, 128 plus the
number of the signal that ended it, 127 if it cannot be started, or 1 if the caller died or closed the pipe. Only the
standard library is imported, so that the supervisor starts within milliseconds.

On Linux this process is a subreaper (see prctl(2)): orphaned descendants become its children, in any process group or
session. It therefore finds every descendant in /proc. On other systems it kills only the program's group.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # from <linux/prctl.h>
_KILL_TIMEOUT = (
    5.0  # seconds; then give up on descendants that cannot be killed (blocked in the kernel, another user's)
)
_KILL_INTERVAL = 0.005  # seconds between two rounds of kills


def _prctl() -> Callable[[int, int], int] | None:
    """Return the system call prctl, or None if the system has none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        return None


def _live_descendants() -> list[int]:
    """List the running descendants of this process, from /proc."""
    children: dict[int, list[int]] = {}
    ended = set()  # zombie and dead processes
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with suppress(OSError):
                stat = Path(entry.path, "stat").read_bytes()
                # The command's name stands in brackets before the state and may contain spaces and brackets.
                state, parent = stat.rpartition(b")")[2].split()[:2]
                children.setdefault(int(parent), []).append(int(entry.name))
                if state in (b"Z", b"X"):
                    ended.add(int(entry.name))
    descendants: list[int] = []
    unvisited = [os.getpid()]
    while unvisited:
        own_children = children.get(unvisited.pop(), [])
        descendants += own_children
        unvisited += own_children
    return [pid for pid in descendants if pid not in ended]


def _kill_descendants() -> None:
    """Kill all descendants repeatedly, because one may start another before it dies."""
    end = time.monotonic() + _KILL_TIMEOUT
    while time.monotonic() < end and (alive := _live_descendants()):
        for pid in alive:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_KILL_INTERVAL)


def main() -> None:
    signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN, which the program would inherit
    caller_pipe = int(sys.argv[1])
    prctl = _prctl()
    is_subreaper = prctl is not None and prctl(_PR_SET_CHILD_SUBREAPER, 1) == 0

    def die_with_supervisor() -> None:
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    try:
        child = subprocess.Popen(sys.argv[2:], start_new_session=True, preexec_fn=die_with_supervisor)
    except OSError as e:
        print(f"{sys.argv[2]}: {e.strerror}", file=sys.stderr, flush=True)
        os._exit(127)
    devnull = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # let go of standard input and output, so that they close when the program ends
        os.dup2(devnull, stream)

    def end_all() -> None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        if is_subreaper:
            _kill_descendants()

    def wait() -> None:
        while True:  # reap adopted processes as they end, until the program itself ends
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            if ended is None or ended.si_pid == child.pid:
                break
            with suppress(ChildProcessError):
                os.waitpid(ended.si_pid, 0)
        end_all()  # kill before the program is reaped: afterwards another group may get its number
        assert ended is not None
        os._exit(ended.si_status if ended.si_code == os.CLD_EXITED else 128 + ended.si_status)

    threading.Thread(target=wait, daemon=True).start()
    os.read(caller_pipe, 1)  # returns when the caller closes its end or dies
    end_all()
    os._exit(1)


if __name__ == "__main__":
    main()
