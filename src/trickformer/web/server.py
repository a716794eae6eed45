"""Pages and their sockets: authorization and serving.

room.py handles the table, reading.py the reviews, puzzles.py the puzzles.

The address holds a secret token; without a token the server returns 404. Guests and spectators of a table have tokens
of their own. The server checks the headers Host and Origin, so that a page of another site cannot reach the table
through the browser. The content security policy lets the page load nothing from other servers. The server serves only
the files of the package, read at its start, and the games of the path on the command line. No request can name another
file.
"""

from __future__ import annotations

import asyncio
import html
import ipaddress
import mimetypes
import secrets
import socket
import tempfile
import threading
import time
import webbrowser
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from importlib import resources
from pathlib import Path
from typing import Never

from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.status import WS_1003_UNSUPPORTED_DATA, WS_1008_POLICY_VIOLATION, WS_1013_TRY_AGAIN_LATER
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn import Config

from trickformer import players
from trickformer.base import Game, TrickformerError
from trickformer.plumbing.folder import Interruption, how_to_resume
from trickformer.plumbing.terminal import warn
from trickformer.records import files
from trickformer.records.skat.record import UnreadableGame
from trickformer.review import solver
from trickformer.review.analyst import SOLVER
from trickformer.review.hand import of_record
from trickformer.selfplay.results import TrainingResults, holds_training
from trickformer.web.cast import make_cast
from trickformer.web.config import Play, PuzzleSettings, ViewSettings
from trickformer.web.listener import BACKLOG, PageServer, keep_connection
from trickformer.web.pages import CLOSE, HOST, SPECTATOR, Access, Pages
from trickformer.web.puzzles import PuzzlePages, find_by_settings
from trickformer.web.reading import Reading
from trickformer.web.room import Room
from trickformer.web.table import open_table
from trickformer.web.training import TrainingRooms

MAX_MESSAGE = 4_096  # largest message of a page in bytes
MAX_SOCKETS = 8  # open sockets in a room with the link of the user who started the server
MAX_GUEST_SOCKETS = 3  # open sockets in a room with any other link; each socket of a review runs a process
MESSAGES_PER_SECOND = 20.0  # messages that a socket may send on average
BURST = 40.0  # messages that a socket may send at once
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_REDIRECT_PAGE = (
    '<!doctype html><title>trickformer</title><meta http-equiv="refresh" content="0; url={0}"><a href="{0}">{0}</a>\n'
)


class Guard:
    """Authorization of requests by token, host and origin."""

    def __init__(self, links: Mapping[str, Access], host: str, port: int):
        """Set the tokens and the names of the server.

        Args:
            links: Rights by token.
            host: Address that the server listens at.
            port: Its port.
        """
        self._links = links
        self._port = port
        self._only_loopback = _is_loopback(host)
        names = ["localhost", host, *([] if self._only_loopback else [socket.gethostname()])]
        self._names = {name.lower() for name in names}

    def rights(self, connection: HTTPConnection) -> Access | None:
        """Return the rights of a request; None if its token, its Host header or its origin is not one of ours.

        Args:
            connection: Request or socket. A socket must come from one of our pages.
        """
        token = str(connection.path_params.get("token", "")).encode()
        # All tokens are compared, so that the response time does not depend on them.
        matches = [access for known, access in self._links.items() if secrets.compare_digest(token, known.encode())]
        host = connection.headers.get("host", "")
        if not matches or not self._names_this_server(host):
            return None
        origin = connection.headers.get("origin")
        is_ours = origin == f"http://{host}" or (origin is None and connection.scope["type"] != "websocket")
        return matches[0] if is_ours else None

    def _names_this_server(self, host: str) -> bool:
        """Test whether a Host header names this server or an address.

        Other domains are refused, because their owners could point them to this server (DNS rebinding).
        """
        name = host.rpartition(":")[0]
        if host.rpartition(":")[2] != str(self._port):
            return False
        name = name.lower().removeprefix("[").removesuffix("]")
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self._only_loopback


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _RateLimit:
    """Rate limit of a socket: BURST messages at once, MESSAGES_PER_SECOND on average."""

    def __init__(self) -> None:
        self._allowance, self._updated = BURST, time.monotonic()

    def try_acquire(self) -> bool:
        now = time.monotonic()
        self._allowance = min(BURST, self._allowance + (now - self._updated) * MESSAGES_PER_SECOND) - 1
        self._updated = now
        return self._allowance >= 0


def static() -> Mapping[str, tuple[bytes, str]]:
    """Read the files of the pages: name -> (contents, content type)."""
    by_name = {}
    for file in resources.files("trickformer.web").joinpath("static").iterdir():
        kind = "text/javascript" if file.name.endswith(".js") else mimetypes.guess_type(file.name)[0] or "text/plain"
        by_name[file.name] = (file.read_bytes(), f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
    return by_name


def app(guard: Guard, index: str, rooms: Mapping[str, Pages]) -> Starlette:
    """Make the server's application.

    Args:
        guard: Authorization of requests.
        index: File of the page at the address.
        rooms: Rooms by the name of their socket.
    """
    files = static()
    open_sockets: Counter[tuple[str, Access]] = Counter()

    async def file(request: Request) -> Response:
        name = request.path_params.get("name", index)
        if guard.rights(request) is None or name not in files:
            return PlainTextResponse("not found", 404, HEADERS)
        keep_connection(request)
        content, kind = files[name]
        return Response(content, headers=HEADERS | {"Content-Type": kind})

    async def exchange(page: WebSocket) -> None:
        name = str(page.path_params["name"])
        room, access = rooms.get(name), guard.rights(page)
        limit = MAX_SOCKETS if access == HOST else MAX_GUEST_SOCKETS
        if room is None or access is None or open_sockets[name, access] >= limit:
            await page.close(WS_1008_POLICY_VIOLATION)
            return
        keep_connection(page)
        open_sockets[name, access] += 1
        try:
            with suppress(WebSocketDisconnect):  # the page may go at any time
                await page.accept()
                await _exchange(room, page, access)
        finally:
            open_sockets[name, access] -= 1

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        yield
        for room in rooms.values():
            await room.close()

    routes = [Route("/{token}/", file), Route("/{token}/{name}", file), WebSocketRoute("/{token}/{name}", exchange)]
    return Starlette(routes=routes, lifespan=lifespan)


async def _exchange(room: Pages, page: WebSocket, access: Access) -> None:
    """Exchange messages with a page until it closes, or sends too many messages or binary data."""
    rate_limit = _RateLimit()
    sending = asyncio.create_task(_send(page, room.enter(page, access)))
    try:
        while True:
            try:
                text = await page.receive_text()
            except (KeyError, RuntimeError):  # a binary message, or the page has gone while a message was sent to it
                return
            # A room removes a page that leaves too many messages unread.
            if not rate_limit.try_acquire() or page not in room.pages:
                await page.close(WS_1008_POLICY_VIOLATION, "too many messages")
                return
            try:
                await room.receive(page, text)
            except ValueError:
                room.send(page, {"type": "error", "text": "that is no message of this page"})
            except TrickformerError as e:
                room.send(page, {"type": "error", "text": str(e)})
    finally:
        sending.cancel()
        room.leave(page)
        with suppress(RuntimeError):  # already closed; only a binary message leaves the socket open
            await page.close(WS_1003_UNSUPPORTED_DATA)


async def _send(page: WebSocket, queue: asyncio.Queue[str]) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        while (text := await queue.get()) != CLOSE:
            await page.send_text(text)
        await page.close(WS_1013_TRY_AGAIN_LATER)


def play(settings: Play, resume: bool) -> None:
    """Serve a table until Ctrl-C.

    Args:
        settings: Settings of the table.
        resume: Whether to continue the table of the folder.

    Raises:
        TrickformerError: The input is bad.
        Interruption: Ctrl-C ended the server.
    """
    make_cast(settings)  # reports faults before anything is written; the worker makes its own players
    with _bind_socket(settings) as listener, open_table(settings, resume) as table:
        links = _make_links(
            *(Access(seat) for seat in settings.guest_seats), *([SPECTATOR] if settings.spectators else [])
        )
        guests = {access: f"../{token}/" for token, access in links.items() if access != HOST}
        rooms = {"socket": Room(settings, table, links=guests), "reviewing": Reading(settings, table)}
        _serve(settings, listener, "the table is", "index.html", rooms, links, table.seat_now)
    remedy = how_to_resume(settings.COMMAND, settings, players.to_type(settings))
    raise Interruption(f"the table is closed; {remedy}")


def view(settings: ViewSettings) -> None:
    """Serve recorded hands, or a training, until Ctrl-C.

    Args:
        settings: Settings of the command.

    Raises:
        TrickformerError: The input is bad.
        Interruption: Ctrl-C ended the server.
    """
    if holds_training(settings.run):
        _view_training(settings)
    _refuse_standard_input(settings.run)
    # The checks report faults before the server starts.
    first = next(files.read(files.place(settings.run)))
    _check_specs(settings, None if isinstance(first, UnreadableGame) else of_record(first).game)
    with _bind_socket(settings) as listener:
        _serve(settings, listener, "the hands are", "review.html", {"reviewing": Reading(settings)})
    raise Interruption("the page is closed")


def _view_training(settings: ViewSettings) -> Never:
    """Serve a training and the hands of its matches until Ctrl-C."""
    TrainingResults.load(settings.run)  # reports a fault of the folder before the server starts
    _check_specs(settings)
    with _bind_socket(settings) as listener:
        _serve(settings, listener, "the training is", "training.html", TrainingRooms(settings))
    raise Interruption("the page is closed")


def puzzle(settings: PuzzleSettings) -> None:
    """Serve puzzles until Ctrl-C.

    Args:
        settings: Settings of the command.

    Raises:
        TrickformerError: The input is bad.
        Interruption: Ctrl-C ended the server.
    """
    _refuse_standard_input(settings.run)
    find_by_settings(settings)  # reports faults before the server starts; the worker finds the puzzles
    shared = {"run", "analyse", "repeats", "seed", "browser", "host", "port"}
    reviewed = ViewSettings.model_validate(settings.model_dump(include=shared))
    with _bind_socket(settings) as listener:
        rooms = {"puzzles": PuzzlePages(settings), "reviewing": Reading(reviewed)}
        _serve(settings, listener, "the puzzles are", "puzzle.html", rooms)
    raise Interruption("the page is closed")


def _refuse_standard_input(path: Path) -> None:
    if str(path) == "-":
        raise TrickformerError("a page reads its games more than once; give a file, not standard input")


def _check_specs(settings: ViewSettings, game: Game | None = None) -> None:
    """Raise TrickformerError if a spec of the command line names no player, or the analyst cannot rate the game."""
    for spec in settings.players or ():
        players.parse(spec)
    if settings.analyse == SOLVER:
        if game is not None:
            solver.check(game)
    elif settings.analyse is not None:
        name, _ = players.parse(settings.analyse)
        if game is not None:
            players.check_game(name, game)


def _make_links(*guests: Access) -> dict[str, Access]:
    """Draw a token for the host and for each guest."""
    return {secrets.token_urlsafe(16): access for access in (HOST, *guests)}


def _serve(
    settings: Play | PuzzleSettings | ViewSettings,
    listener: socket.socket,
    contents: str,
    index: str,
    rooms: Mapping[str, Pages],
    links: Mapping[str, Access] | None = None,
    seat_now: Callable[[int], int] = int,
) -> None:
    """Serve pages until Ctrl-C. `contents` begins the printed line, such as "the table is".

    `seat_now` maps the seat of a guest at the opening of the table to the present one.
    """
    links = links or _make_links()
    port = listener.getsockname()[1]
    name = f"[{settings.host}]" if ":" in settings.host else settings.host
    address_of = {access: f"http://{name}:{port}/{token}/" for token, access in links.items()}
    address = address_of.pop(HOST)

    if not _is_loopback(settings.host):
        warn("whoever has the address below can use the page as you do; the connection is not encrypted")
    config = Config(
        app(Guard(links, settings.host, port), index, rooms),
        log_level="error",
        access_log=False,  # the log would contain the token
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=2,
    )
    listener.listen(BACKLOG)
    print(f"{contents} at {address}", flush=True)
    for guest, link in address_of.items():
        who = "spectators watch" if guest.seat is None else f"seat {seat_now(guest.seat)} is"
        print(f"{who} at {link}", flush=True)
    with _open_in_browser(address) if settings.browser else nullcontext(), suppress(KeyboardInterrupt):
        PageServer(config).run(sockets=[listener])


@contextmanager
def _open_in_browser(address: str) -> Generator[None]:
    """Open an address in the browser, by way of a page that only this user can read and that is deleted at the end.

    The command line of a browser must not hold the address, because other users of the machine can read it."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="trickformer-"))
            page = Path(folder) / "open.html"
            page.touch(0o600)
            page.write_text(_REDIRECT_PAGE.format(html.escape(address)))
        except OSError as e:
            warn(f"the browser is not opened, because a temporary file cannot be written: {e.strerror}")
        else:
            threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
        yield


def _bind_socket(settings: Play | PuzzleSettings | ViewSettings) -> socket.socket:
    """Bind a socket to the address. Raises TrickformerError if the address does not exist or is in use."""
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((settings.host, settings.port))
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
    except OSError as e:
        raise TrickformerError(f"cannot listen at {settings.host}:{settings.port}: {e.strerror}") from None
    return listener
