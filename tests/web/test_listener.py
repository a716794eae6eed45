"""Strangers on the same machine: floods of connections, pages that vanish, the token, and text that is shown."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shlex
import signal
import socket
import stat
import struct
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from support.served import heard, page, served

pytest.importorskip("starlette", reason="needs the extra web")

HEARTS = ("hearts", "--opponents", "random", "--seed", "1", "--deal", "1")
CLOSED = "the table is closed; nothing is kept without --out\n"
REQUEST = (
    "GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


@pytest.fixture
def err(tmp_path):
    """A file for standard error."""
    with (tmp_path / "err").open("w+") as file:
        yield file


def _printed(err):
    return Path(err.name).read_text()


def _connect(address):
    at = urlsplit(address)
    assert at.hostname is not None and at.port is not None
    return socket.create_connection((at.hostname, at.port), timeout=20)


def _open_files(process):
    return sum(1 for _ in Path(f"/proc/{process.pid}/fd").iterdir())


def _ended(connection):
    """Whether the server has closed a connection; waits for it."""
    try:
        return connection.recv(1_000) == b""
    except ConnectionError:
        return True


@pytest.mark.slow
def test_a_flood_of_connections_leaves_the_page_reachable(err):
    """Without the token they are few, and soon closed, also if they send their header letter by letter."""
    from trickformer.web.listener import MOST_CONNECTIONS, TOKEN_TIMEOUT

    with served(*HEARTS, err=err) as (address, process), ExitStack() as stack:
        first = stack.enter_context(page(address))
        heard(first, "table")
        before = _open_files(process)
        flood = [stack.enter_context(_connect(address)) for _ in range(3 * MOST_CONNECTIONS)]
        with page(address) as own:
            assert heard(own, "table")["game"] == "hearts"
        assert _open_files(process) < before + 1.5 * MOST_CONNECTIONS
        slow, start = flood[-1], time.monotonic()
        with suppress(ConnectionError):
            while time.monotonic() < start + 2 * TOKEN_TIMEOUT:
                slow.sendall(b"G")
                time.sleep(0.1)
        assert time.monotonic() < start + 1.5 * TOKEN_TIMEOUT
        assert all(map(_ended, flood))
        first.send('{"do":"again"}')  # the page with the token has stayed
        assert heard(first, "table")
    assert _printed(err) == CLOSED


@pytest.mark.slow
def test_too_few_descriptors_are_one_line_and_no_busy_loop(err):
    with served(*HEARTS, err=err) as (address, process):
        _, hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (_open_files(process) + 5, hard))
        with ExitStack() as stack:
            for _ in range(30):
                stack.enter_context(_connect(address))
            seconds = _cpu_seconds(process)
            time.sleep(2)
            assert _cpu_seconds(process) < seconds + 1
        with page(address) as own:
            assert heard(own, "table")["game"] == "hearts"
    assert _printed(err).startswith("warning: cannot accept a connection: Too many open files")
    assert _printed(err).count("\n") == 2 and _printed(err).endswith(CLOSED)


def _cpu_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
def test_pages_that_vanish_leave_no_traceback(err):
    with served(*HEARTS, err=err) as (address, _):
        at = urlsplit(address)
        asked = REQUEST.format(path=at.path + "socket", host=at.netloc).encode()
        for has_answer in (False, True):
            for is_reset in (False, True):
                for path in (asked, asked.replace(b"Upgrade", b"X-Nothing").replace(b"/socket", b"/app.js")):
                    with _connect(address) as connection:
                        connection.sendall(path)
                        if has_answer:
                            connection.recv(10)
                        if is_reset:
                            linger = struct.pack("ii", 1, 0)
                            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        with page(address) as own:
            assert heard(own, "table")["game"] == "hearts"
    assert _printed(err) == CLOSED


@pytest.mark.slow
def test_broken_requests_are_one_line(err):
    with served(*HEARTS, err=err) as (address, _):
        for _ in range(3):
            with _connect(address) as connection:
                connection.sendall(b"POST /x/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                connection.recv(10)
                connection.sendall(b"zz\r\n" * 2)
                while not _ended(connection):
                    pass
    assert _printed(err).startswith("warning: closed a connection (LocalProtocolError: ")
    assert _printed(err).count("\n") == 2 and _printed(err).endswith(CLOSED)


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_token_is_not_on_the_command_line_of_the_browser(tmp_path, end):
    """It is in a file that the user alone can read, and that is gone with the table."""
    seen, script = tmp_path / "seen", tmp_path / "browser"
    script.write_text(f'#!/bin/sh\nprintf %s "$1" > {shlex.quote(str(seen))}.part\nmv {seen}.part {seen}\n')
    script.chmod(0o700)
    with served(*HEARTS, browser=f"{script} %s") as (address, process):
        deadline = time.monotonic() + 20
        while not seen.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        opened = seen.read_text()
        assert urlsplit(address).path.strip("/") not in opened
        file = Path(unquote(urlsplit(opened).path))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert f"url={address}" in file.read_text()
        process.send_signal(end)
        process.wait(20)
        assert not file.parent.exists()


def test_text_of_strangers_reaches_the_page_without_control_characters():
    from trickformer.web.config import ViewSettings
    from trickformer.web.reading import Reading

    hostile, clean = "a\x1b[2J\u202eb\x07\u2066\udcff<img src=x>", "a?[2J?b???<img src=x>"

    async def talk():
        reading = Reading(ViewSettings(run=Path("games.jsonl")))
        queue = reading.enter("page")
        reading.send(
            "page", {"type": "list", "name": hostile, "rows": [{"who": hostile, "number": 1}], "note": (hostile,)}
        )
        return json.loads(queue.get_nowait())

    assert asyncio.run(talk()) == {
        "type": "list",
        "name": clean,
        "rows": [{"who": clean, "number": 1}],
        "note": [clean],
    }


def test_the_page_never_reads_text_as_markup():
    from trickformer.web.server import static

    for name, (content, _) in static().items():
        for sink in (b"innerHTML", b"outerHTML", b"insertAdjacentHTML", b"document.write", b"DOMParser", b"srcdoc"):
            assert sink not in content, name
