"""A table in the browser whose connections are used up: a page with the token still gets an answer."""

from __future__ import annotations

import http.client
import os
import resource
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from tests.faults.report import Part
from tests.support.served import served

DESCRIPTORS = 256  # that the server may open
MOST_PRINTED = 64 << 10  # bytes of standard error
MOST_CPU = 0.2  # of a core, while nobody asks for anything
PATIENCE = 20.0  # seconds in which a page gets its answer


def idle_connections(number: int) -> Part:
    """Open `number` connections that send nothing, and as many that send half a request, and then ask for the page."""
    part = Part("idle connections to the table", f"{number} at {DESCRIPTORS} descriptors")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, number + 1_024)), hard))
    for beginning in (b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"):
        kind = "half a request" if beginning else "nothing"
        with served("hearts", "--opponents", "random", "--seed", "1") as (address, process):
            printed = _Printed(process)
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
            idle = _connect(address, number, beginning)
            part.check(_answers(address), f"{number} connections that send {kind}: no answer in {PATIENCE:.0f} s")
            before, begun = _cpu(process.pid), time.monotonic()
            time.sleep(3)
            used = (_cpu(process.pid) - before) / (time.monotonic() - begun)
            part.check(used <= MOST_CPU, f"{number} connections that send {kind}: {used:.0%} of a core while idle")
            for connection in idle:
                connection.close()
            part.check(_answers(address), f"{number} connections that sent {kind}, closed: no answer")
        size = printed.size()
        part.check(size <= MOST_PRINTED, f"{number} connections that send {kind}: {size:,} bytes of standard error")
        part.case()
    return part


class _Printed:
    """Reads the standard error of a process, so that it never waits for a reader."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        self._descriptor, self._size = os.dup(process.stderr.fileno()), 0
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while data := os.read(self._descriptor, 1 << 16):
            self._size += len(data)
        os.close(self._descriptor)

    def size(self) -> int:
        """Bytes until the end of the process."""
        self._thread.join()
        return self._size


def _connect(address: str, number: int, beginning: bytes) -> list[socket.socket]:
    at, found = urlsplit(address), []
    for _ in range(number):
        connection = socket.socket()
        connection.settimeout(0.2)
        with suppress(OSError):  # the server may refuse more
            connection.connect((at.hostname, at.port))
            connection.sendall(beginning)
        found.append(connection)
    return found


def _answers(address: str) -> bool:
    """Whether the page is served, at any of several attempts."""
    at, deadline = urlsplit(address), time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=5)
        with suppress(OSError, http.client.HTTPException):
            connection.request("GET", at.path)
            if connection.getresponse().status == 200:
                return True
        connection.close()
        time.sleep(0.2)
    return False


def _cpu(pid: int) -> float:
    """CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
