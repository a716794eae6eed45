"""A table that is served by a process of its own, and a page's side of its socket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

STARTS = ("the table is at ", "the hands are at ", "the training is at ", "the puzzles are at ")  # of the first line


@contextmanager
def served(
    *words: str, command: str = "play", err: IO[str] | int = subprocess.PIPE, browser: str | None = None
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of `trickformer play`, `view` or `puzzle` with these words, and its process, which is ended.

    Args:
        words: Arguments of the command.
        command: The command: `play`, `view` or `puzzle`.
        err: File that takes standard error. A pipe that nobody reads would stop a process that prints much.
        browser: Command to open the page with, as in the environment variable BROWSER; None to open none.
    """
    given = [sys.executable, "-m", "trickformer", command, *words, *([] if browser else ["--no-browser"])]
    env = os.environ | ({"BROWSER": browser} if browser else {})
    with subprocess.Popen(given, stdout=subprocess.PIPE, stderr=err, text=True, env=env) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line.startswith(STARTS), process.stderr.read() if process.stderr is not None else line
            yield line.split()[-1], process
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()
            if process.stderr is not None:
                process.stderr.close()


@contextmanager
def page(address: str, name: str = "socket", **headers: str):
    """A socket as the page opens it; name: `socket` at the table, `reviewing` for hands, `puzzles` for puzzles."""
    from websockets.sync.client import connect

    at = urlsplit(address)
    origin = headers.pop("origin", f"http://{at.netloc}")
    with connect(f"ws://{at.netloc}{at.path}{name}", origin=origin, additional_headers=headers, proxy=None) as socket:
        yield socket


def heard(socket, kind: str, seconds: float = 60.0):
    """The next message of that kind."""
    while True:
        message = json.loads(socket.recv(timeout=seconds))
        if message["type"] == kind:
            return message


def my_turn(socket):
    """The next table at which it is the person's turn, or whose hand is over."""
    while True:
        table = heard(socket, "table")
        if table["turn"] in (None, table["me"]):
            return table


def clicks(scene) -> list[int]:
    """Return the actions that a scene of the page offers, ascending."""
    cards = [c for part in (*scene.get("seats", []), *scene.get("piles", [])) for c in part.get("cards", [])]
    cells = [cell for row in scene.get("board", []) for cell in row]
    offered = {option["actions"][0] for card in cards for option in card.get("options", [])}
    placed = [
        x["action"]
        for x in (*cards, *cells, *scene.get("choices", []), *scene.get("ladder", []))
        if x.get("action") is not None
    ]
    return sorted([*placed, *offered])


def children(pid: int) -> list[int]:
    """Return the ids of the running child processes of a process."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found
