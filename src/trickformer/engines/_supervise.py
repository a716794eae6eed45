"""Runs a program and ends it, with all that it has started, once whoever asked for it is gone: also after kill -9.

    python -I -S _supervise.py FD WORD ...

FD is the reading end of a pipe whose other end the asker holds; the system closes it when the asker dies. The program
gets a process group of its own, so that Ctrl-C in a terminal does not reach it. Exits with the program's exit code, 128
and the number of the signal that ended it, or 127 where it cannot be started. Imports the standard library alone: it is
there in milliseconds."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress


def main() -> None:
    signal.signal(signal.SIGINT, lambda *_: None)  # a handler, unlike SIG_IGN, is not inherited
    asker = int(sys.argv[1])
    try:
        child = subprocess.Popen(sys.argv[2:], start_new_session=True)
    except OSError as e:
        print(f"{sys.argv[2]}: {e.strerror}", file=sys.stderr, flush=True)
        os._exit(127)
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1):  # the program's alone: they must close when it ends
        os.dup2(nothing, pipe)

    def end_group() -> None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)

    def wait() -> None:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # its number stays its group's until it is reaped
        end_group()
        code = child.wait()
        os._exit(code if code >= 0 else 128 - code)

    threading.Thread(target=wait, daemon=True).start()
    os.read(asker, 1)
    end_group()
    child.wait()
    os._exit(1)


if __name__ == "__main__":
    main()
