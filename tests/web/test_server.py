"""The table's server: who is let in, what a page may say, and that nothing is lost or left behind."""

from __future__ import annotations

import asyncio
import gc
import http.client
import json
import random
import signal
import socket
import time
import warnings
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support import served as processes
from support.forked import assert_no_traceback, served
from support.served import children, clicks, heard, my_turn, page

from trickformer.web import messages, scenes
from trickformer.web.cast import state_after
from trickformer.web.config import YOU, Play

pytest.importorskip("starlette", reason="needs the extra web")
_faults = pytest.importorskip("websockets.exceptions", reason="needs the extra web")
ConnectionClosed, InvalidStatus = _faults.ConnectionClosed, _faults.InvalidStatus


@pytest.fixture(scope="module")
def hearts_table():
    with served("hearts", "--opponents", "random", "--seed", "1", "--deal", "1") as (address, _):
        yield address


def _get(address, path=None, **headers):
    at = urlsplit(address)
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=20)
    connection.request("GET", at.path if path is None else path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return found


def test_the_page_is_served_with_a_strict_policy(hearts_table):
    from trickformer.web.server import static

    at = urlsplit(hearts_table)
    for name in ("", *sorted(static())):
        status, headers, body = _get(hearts_table, at.path + name)
        assert status == 200 and body
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "://" not in body.decode().replace("http://www.w3.org/2000/svg", ""), "nothing comes from elsewhere"


def test_the_pages_are_light():
    """Together they stay below 300 kB."""
    from trickformer.web.server import static

    assert sum(len(body) for body, _ in static().values()) < 300_000


@pytest.mark.parametrize(
    "path", ["/", "/x/", "/x/app.js", "/{t}/none.js", "/{t}/..%2fserver.py", "/{t}/%2e%2e/", "/{t}"]
)
def test_there_is_nothing_else(hearts_table, path):
    token = urlsplit(hearts_table).path.strip("/")
    status, _, body = _get(hearts_table, path.format(t=token))
    assert status in (404, 307)
    assert b"import" not in body


def test_other_hosts_origins_and_tokens_are_refused(hearts_table):
    at = urlsplit(hearts_table)
    assert _get(hearts_table, Host=f"localhost:{at.port}")[0] == 200
    for host in ("evil.example", f"evil.example:{at.port}", "127.0.0.1:1", f"127.0.0.1.evil.example:{at.port}"):
        assert _get(hearts_table, Host=host)[0] == 404
    assert _get(hearts_table, Origin="http://evil.example")[0] == 404
    with page(hearts_table) as socket:
        assert heard(socket, "table")["game"] == "hearts"
    for origin in ("http://evil.example", "null", f"https://{at.netloc}", None):
        with pytest.raises(InvalidStatus), page(hearts_table, origin=origin):
            pass
    with pytest.raises(InvalidStatus), page(f"http://{at.netloc}/{'x' * 22}/"):
        pass


def test_the_name_of_the_machine_is_the_same_in_capitals(monkeypatch):
    from starlette.requests import HTTPConnection

    from trickformer.web.pages import HOST
    from trickformer.web.server import Guard

    monkeypatch.setattr(socket, "gethostname", lambda: "MyBox")
    guard = Guard({"word": HOST}, "0.0.0.0", 8000)
    for name, admitted in (("MyBox", True), ("mybox", True), ("yourbox", False)):
        headers = [(b"host", f"{name}:8000".encode())]
        asked = HTTPConnection({"type": "http", "path_params": {"token": "word"}, "headers": headers})
        assert (guard.rights(asked) == HOST) is admitted


class Endless:
    """A worker that thinks until it is stopped."""

    busy = True

    async def do(self, *_, **__):
        await asyncio.Event().wait()

    def cancel(self):
        pass


def _room_of_hearts():
    from trickformer.web.room import Room
    from trickformer.web.table import Table

    settings = Play(game="hearts", opponents=["random"])
    return Room(settings, Table(settings.rules(), (YOU, "random", "random", "random"), 1, 1), Endless())


def test_a_page_that_goes_at_once_leaves_no_warning():
    """Its work is cancelled before it begins. A coroutine that nobody awaits would warn."""

    async def talk():
        room = _room_of_hearts()
        room.enter("page")
        room.leave("page")
        await asyncio.sleep(0)
        await room.close()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(talk())
        gc.collect()
    assert not caught


def test_a_claim_leaves_the_page_free_and_can_be_stopped():
    async def talk():
        room = _room_of_hearts()
        told = room.enter("page")
        for message in ({"do": "claim", "score": 3}, {"do": "cancel"}):
            await asyncio.wait_for(room.receive("page", json.dumps(message)), 5)
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        await room.close()
        return [json.loads(told.get_nowait()) for _ in range(told.qsize())]

    said = asyncio.run(talk())
    assert [m["text"] for m in said if m["type"] == "error"] == ["the proof of the claim was stopped"]


class Prover:
    """A worker that proves a claim by the first legal actions."""

    busy = False

    def __init__(self, game):
        self._game = game

    async def do(self, name, request, score):
        assert name == "claim" and score == 26
        state = state_after(self._game, request.history)
        line = []
        while not state.is_terminal():
            line.append(state.legal_actions()[0])
            state = state.child(line[-1])
        return True, line

    def cancel(self):
        pass


def _talk(spec, *steps):
    """Histories of a table whose people share a page, at first and after each step.

    A step is the word of an action, or words of actions that the page sends together, or a message of the page. An
    empty word stands for the first legal action.
    """
    from trickformer.web.room import Room
    from trickformer.web.table import Table

    settings = Play(game=spec, opponents=["random"])
    game = settings.rules()
    table = Table(game, (YOU,) * game.players, 1, 0)

    async def talk():
        room = Room(settings, table, Prover(game))
        room.enter("page")
        histories = [table.state.history()]
        for step in steps:
            if isinstance(step, dict):
                await room.receive("page", json.dumps(step))
            else:
                for word in step if isinstance(step, tuple) else (step,):
                    action = next(a for a in table.state.legal_actions() if word in (game.words(a), ""))
                    message = {"do": "act", "seat": table.turn, "action": action, "ply": len(table.state.history())}
                    await room.receive("page", json.dumps(message))
            while room.is_checking_claim:
                await asyncio.sleep(0)
            histories.append(table.state.history())
        await room.close()
        return histories

    return table, asyncio.run(talk())


UNDO = {"do": "undo"}


def test_a_communication_is_undone_as_one_decision():
    """A seat that stays silent has made a decision of its own."""
    table, _ = _talk("crew(mission=9)")
    while table.game.words(table.state.legal_actions()[-1]) != "silent":
        table.act(table.turn, table.state.legal_actions()[0])
    ply = len(table.state.history())
    scene = scenes.show(table.game, table.state, table.turn)
    label, shown = next(option.actions for card in scene.seats[table.turn].cards for option in card.options)
    draft = [""] * len(table.moves)  # first legal actions
    communication = (table.game.words(label), table.game.words(shown))
    _, histories = _talk("crew(mission=9)", *draft, communication, "silent", UNDO, UNDO)
    *_, start, shows, silent, first, second = histories
    assert len(start) == ply and len(shows) == ply + 2 and len(silent) == ply + 3
    assert (first, second) == (shows, start)


def test_a_claim_is_undone_as_one_decision():
    """The hand is played out from the claim to its end, by all seats; undo returns to the claim."""
    claim = {"do": "claim", "score": 26}
    table, (*_, before, after, undone, earlier) = _talk("hearts", *[""] * 17, claim, UNDO, UNDO)
    assert len(after) > len(before) + 20
    assert undone == before and len(earlier) == len(before) - 1 and not table.over


def _fuzzed(draw):
    """A message that no page of ours sends, or one that comes at a wrong time."""
    junk = [None, True, -1, 3.5, 10**40, "", "you", "gomcts:checkpoint=/etc/passwd", [], {}, [[[]]], {"do": "act"}]
    valid = [
        {"do": "act", "seat": 0, "action": 3, "ply": 53},
        {"do": "undo"},
        {"do": "again"},
        {"do": "claim", "score": 3},
        {"do": "match", "seats": [0, 1, 1, 1], "deal": 2},
        {"do": "look", "panels": ["tokens"]},
        {"do": "cancel"},
    ]
    message = dict(draw.choice(valid))
    kind = draw.randrange(5)
    if kind == 0:
        message[draw.choice(list(message))] = draw.choice(junk)
    elif kind == 1:
        message[draw.choice(["file", "spec", "path", "out"])] = draw.choice(junk)
    elif kind == 2:
        message.pop(draw.choice(list(message)))
    elif kind == 3:
        return "".join(chr(draw.randrange(1, 300)) for _ in range(draw.randrange(80)))
    text = json.dumps(message)
    return text if draw.random() < 0.8 else text[: draw.randrange(len(text))]


@pytest.mark.slow
def test_a_hundred_fuzzed_messages():
    seed = random.randrange(2**31)
    draw = random.Random(seed)
    with served("hearts", "--opponents", "random", "--seed", "1") as (address, process):
        sent = 0
        while sent < 100:
            with suppress(ConnectionClosed), page(address) as socket:
                heard(socket, "table")
                for _ in range(20):
                    sent += 1
                    socket.send(_fuzzed(draw))
                socket.send(b"\x00\x01")  # which is refused, or ends the socket
                heard(socket, "error")
        with page(address) as socket:
            table = heard(socket, "table")
            assert table["seats"].count("you") >= 1, seed
            assert process.is_alive(), seed
        assert_no_traceback(process)


def test_messages_are_limited(hearts_table):
    with page(hearts_table) as socket:
        heard(socket, "table")
        socket.send("x" * 100_000)
        with pytest.raises(ConnectionClosed) as end:
            heard(socket, "never")
        assert end.value.rcvd is not None and end.value.rcvd.code == 1009
    with page(hearts_table) as socket, pytest.raises(ConnectionClosed) as end:
        for _ in range(200):
            socket.send('{"do":"undo"}')
        heard(socket, "never")
    assert end.value.rcvd is not None and end.value.rcvd.code == 1008
    with pytest.raises(ValueError):
        messages.TABLE.validate_json('{"do":"act","seat":0,"action":"3","ply":0}')


@pytest.mark.slow
def test_a_page_that_goes_leaves_no_search_running():
    with processes.served("hearts", "--opponents", "pimc:worlds=1000000", "--seat", "1") as (address, process):
        with page(address) as socket:
            assert heard(socket, "thinking")["seat"] is not None
            while not (thinking := _thinkers(process.pid)):
                time.sleep(0.05)
        deadline = time.monotonic() + 20
        while set(thinking) & set(_thinkers(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not _thinkers(process.pid)
        with page(address) as socket:  # it comes back, and may stop the search by itself
            assert heard(socket, "thinking")["seat"] is not None
            socket.send('{"do":"cancel"}')
            while not heard(socket, "thinking")["stopped"]:
                pass
            assert not _thinkers(process.pid)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "of"),
    [("gomcts:checkpoint=hearts-small,runs=200000", 200_000), ("pimc:worlds=100000", 100_000)],
    ids=lambda given: str(given).partition(":")[0],
)
def test_how_far_a_search_has_got(spec, of):
    """Of a player's search, and of one that is looked into."""
    with served("hearts", "--opponents", spec, "--seat", "1", "--deal", "1") as (address, _), page(address) as socket:
        searched = [heard(socket, "thinking").get("progress") for _ in range(4)]
        assert searched[0] is None
        assert [total for _, total in searched[1:]] == [of] * 3
        assert searched[1][0] < searched[2][0] < searched[3][0] < of
        socket.send('{"do":"cancel"}')
    with (
        served("hearts", "--opponents", "rules", spec, "rules", "--deal", "1") as (address, _),
        page(address) as socket,
    ):
        my_turn(socket)
        panel = {"gomcts": "search", "pimc": "pimc"}[spec.partition(":")[0]]
        socket.send(json.dumps({"do": "look", "panels": [panel]}))
        looks = [heard(socket, "look") for _ in range(3)]
        assert all(look["busy"] for look in looks)
        assert [look["progress"][1] for look in looks[1:]] == [of] * 2
        assert looks[1]["progress"][0] < looks[2]["progress"][0]
        # It is switched off, which ends the search, and another panel shows.
        socket.send(json.dumps({"do": "look", "panels": ["worlds"]}))
        while (look := heard(socket, "look"))["panel"] == panel or look.get("busy"):
            pass
        assert look["panel"] == "worlds"
        assert look["data"]["scenes"]


def _thinkers(pid):
    """Worker processes; the tracker of multiprocessing's resources is none."""
    found = []
    for child in children(pid):
        with suppress(OSError):
            found += [child] if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes() else []
    return found


@pytest.mark.slow
@pytest.mark.parametrize("game", ["skat", "crew(mission=9)"])
def test_a_whole_hand_over_the_socket(game, tmp_path, command):
    """Played with a server that is killed in the middle and goes on; the record then replays by the rules."""
    words = [game, "--seed", "4", "--out", str(tmp_path / "t"), *(["--opponents", "random"] if game != "mines" else [])]
    draw, moves = random.Random(1), 0
    with served(*words) as (address, process), page(address) as socket:
        table = my_turn(socket)
        while table["turn"] is not None and moves < 3:
            moves += 1
            socket.send(json.dumps(_act(table, draw)))
            table = my_turn(socket)
        process.kill()
    with served(*words, "--resume") as (address, _), page(address) as socket:
        back = my_turn(socket)
        assert (back["scene"], back["log"], back["ply"]) == (table["scene"], table["log"], table["ply"])
        while (table := back)["turn"] is not None:
            socket.send(json.dumps(_act(table, draw)))
            back = my_turn(socket)
        assert table["hands"] == [[0, table["scores"]]] and table["told"]
    code, out, _ = command("records", "check", tmp_path / "t" / "records.jsonl")
    assert (code, out) == (0, "1 game: 1 agrees, 0 broken off, 0 differ, 0 damaged\n")


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_it_quietly(times):
    """Also where people press it again, while a page is there and a player thinks."""
    words = ("hearts", "--opponents", "pimc:worlds=100000", "--seat", "1", "--deal", "1")
    with processes.served(*words) as (address, process):
        with page(address) as socket:
            assert heard(socket, "thinking")["seat"] is not None
            for _ in range(times):
                process.send_signal(signal.SIGINT)
                time.sleep(0.05)
            _, err = process.communicate(timeout=20)
        assert process.returncode == 130
        assert err == "the table is closed; nothing is kept without --out\n"


def _act(table, draw):
    return {"do": "act", "seat": table["me"], "action": draw.choice(clicks(table["scene"])), "ply": table["ply"]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("skat", "--opponents", "gomcts:checkpoint=hearts-small"), "checkpoint hearts-small was trained on hearts"),
        (("hearts", "--checkpoint", "skat-small"), "checkpoint skat-small was trained on"),
        (("hearts", "--host", "203.0.113.1"), "cannot listen at 203.0.113.1:0"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(command, words, said, tmp_path):
    code, _, err = command("play", *words, "--no-browser", "--out", tmp_path / "t")
    assert code == 2
    assert err.startswith(f"error: {said}") and err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_stale_and_foreign_clicks_change_nothing(hearts_table):
    with page(hearts_table) as socket:
        table = my_turn(socket)
        action = clicks(table["scene"])[0]
        for wrong in ({"ply": table["ply"] - 1}, {"seat": 1}, {"action": 60}):
            socket.send(json.dumps({"do": "act", "seat": table["me"], "action": action, "ply": table["ply"]} | wrong))
            assert heard(socket, "error")["text"]
    with page(hearts_table) as socket:
        assert heard(socket, "table")["ply"] == table["ply"]


@pytest.mark.slow
def test_a_match_of_others_from_the_page(hearts_table):
    with page(hearts_table) as socket:
        players = heard(socket, "table")["players"]
        assert players[0] == "you" and "rules" in players
        assert not any("cmd" in spec or "/" in spec for spec in players)
        seats = [players.index("rules"), 0, players.index("random"), 0]
        socket.send(json.dumps({"do": "match", "seats": seats, "deal": 6}))
        table = my_turn(socket)
        while table["deal"] != 6:
            table = my_turn(socket)
        assert table["seats"] == ["rules", "you", "random", "you"]
        socket.send(json.dumps({"do": "match", "seats": [999, 0, 0, 0], "deal": 6}))
        assert "no such player" in heard(socket, "error")["text"]
