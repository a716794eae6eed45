"""Supervisor of a program: ends the program and all of its descendants when the caller dies, even by kill -9.

    python -I -S _supervise.py FD WORD ...

FD is the reading end of a pipe whose other end the caller holds. The system closes it when the caller dies. The program
gets its own process group, so that Ctrl-C in a terminal does not reach it. The exit code is the program's, 128 plus the
number of the signal that ended it, or 127 if it cannot be started. Only the standard library is imported, so that the
supervisor starts within milliseconds.

On Linux this process is a subreaper: orphaned descendants become its children, in any group or session. It therefore
finds every descendant in /proc. On other systems it ends only the program's group.
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

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # of <linux/prctl.h>
_PATIENCE = 5.0  # seconds to wait for descendants; a process in the kernel, or of another user, may not die
_LOOK = 0.005  # seconds between two checks


def _prctl() -> Callable[[int, int], int] | None:
    """Return the system call prctl, or None if the system has none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        return None


def _alive_descendants() -> list[int]:
    """List the descendants of this process that have not ended, from /proc."""
    children: dict[int, list[int]] = {}
    ended = set()
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with suppress(OSError):
                stat = Path(entry.path, "stat").read_bytes()
                state, parent = stat.rpartition(b")")[2].split()[:2]  # the name before it may contain spaces
                children.setdefault(int(parent), []).append(int(entry.name))
                if state in (b"Z", b"X"):
                    ended.add(int(entry.name))
    descendants: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        descendants += below
        waiting += below
    return [pid for pid in descendants if pid not in ended]


def _kill_descendants() -> None:
    """Kill all descendants repeatedly, because one may start another before it dies."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and (alive := _alive_descendants()):
        for pid in alive:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_LOOK)


def main() -> None:
    signal.signal(signal.SIGINT, lambda *_: None)  # a handler, unlike SIG_IGN, is not inherited
    caller = int(sys.argv[1])
    prctl = _prctl()
    adopts = prctl is not None and prctl(_PR_SET_CHILD_SUBREAPER, 1) == 0

    def die_with_supervisor() -> None:
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    try:
        child = subprocess.Popen(sys.argv[2:], start_new_session=True, preexec_fn=die_with_supervisor)
    except OSError as e:
        print(f"{sys.argv[2]}: {e.strerror}", file=sys.stderr, flush=True)
        os._exit(127)
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1):  # only the program may hold the pipes, which must close when it ends
        os.dup2(nothing, pipe)

    def end_all() -> None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        if adopts:
            _kill_descendants()

    def wait() -> None:
        while True:  # adopted processes are reaped as they end
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            if ended is None or ended.si_pid == child.pid:
                break
            with suppress(ChildProcessError):
                os.waitpid(ended.si_pid, 0)
        end_all()  # before the program is reaped, so that no other group gets its number
        assert ended is not None
        os._exit(ended.si_status if ended.si_code == os.CLD_EXITED else 128 + ended.si_status)

    threading.Thread(target=wait, daemon=True).start()
    os.read(caller, 1)
    end_all()
    os._exit(1)


if __name__ == "__main__":
    main()
