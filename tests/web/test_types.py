"""Types of the front end: the modules agree with them, and so do the messages of a running server."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

import pytest
from support.forked import served
from support.served import clicks, page
from support.skat_records import GAMES
from support.training import write_training

from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament

ROOT = Path(__file__).parents[2]
WEB = ROOT / "src/trickformer/web"
OPTIONS = ("--noEmit", "--strict", "--target", "ES2022", "--lib", "ES2022")
TABLES = {
    "hearts": ("gomcts:checkpoint=hearts-small,runs=20", "pimc:worlds=4,runs=20", "random"),
    "skat": ("pimc:worlds=2", "random"),
    "crew(mission=9)": ("random",),
    "hanabi": ("random",),
    "mines": (),
}
CLASSES = {
    "a": "HTMLAnchorElement",
    "button": "HTMLButtonElement",
    "details": "HTMLDetailsElement",
    "dialog": "HTMLDialogElement",
    "div": "HTMLDivElement",
    "dl": "HTMLDListElement",
    "form": "HTMLFormElement",
    "h1": "HTMLHeadingElement",
    "h2": "HTMLHeadingElement",
    "input": "HTMLInputElement",
    "p": "HTMLParagraphElement",
    "pre": "HTMLPreElement",
    "progress": "HTMLProgressElement",
    "select": "HTMLSelectElement",
    "span": "HTMLSpanElement",
    "ul": "HTMLUListElement",
}


@pytest.fixture(scope="module")
def tsc():
    """Command of the TypeScript compiler in npx's cache, which `make types` fills. Nothing is fetched here."""
    version = re.search(r"^TYPESCRIPT := (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    command = ["npx", "--offline", "--no", "-p", version, "tsc"]
    if shutil.which("npx") is None or subprocess.run([*command, "--version"], capture_output=True).returncode:
        pytest.skip(f"{version} is not in npx's cache; `make types` fetches it")
    return command


class _Page:
    """A page's side of a socket. It keeps all messages, each with the type that it should have."""

    def __init__(self, socket, name: str, messages: list):
        self._socket, self._messages = socket, messages
        self._types = f"{name}PageMessage", f"{name}Request" if name != "Training" else "DescribeRequest"

    def send(self, do: str, **contents):
        message = {"do": do, **contents}
        self._socket.send(json.dumps(message))
        self._messages.append((self._types[1], message))

    def hear(self, is_last):
        while True:
            message = json.loads(self._socket.recv(timeout=120))
            self._messages.append((self._types[0], message))
            assert message["type"] != "error", message
            if is_last(message):
                return message


def _is_own(message):
    return message["type"] == "table" and message["turn"] in (None, message["me"])


def _play(table_page, draw):
    """Open every panel at the first decision, and play the hand to its end."""
    table, players = table_page.hear(_is_own), []
    players = [i for i, name in enumerate(table["players"]) if name in ("random", "rules")]
    table_page.send("look", panels=table["panels"], players=players)
    awaited = {*table["panels"], *(["players"] if players else [])}
    while awaited:
        answer = table_page.hear(lambda message: message["type"] == "look" and not message.get("busy"))
        awaited.discard(answer["panel"])
    table_page.send("look", panels=[], players=[])
    while table["turn"] is not None:
        table_page.send("act", seat=table["me"], action=draw.choice(clicks(table["scene"])), ply=table["ply"])
        table = table_page.hear(_is_own)
    return table


def _review(review_page, number):
    """Open a hand, rate its decisions, and play on from the first."""
    review_page.send("open", number=number)
    hand = review_page.hear(lambda message: message["type"] == "hand")
    fast = (i for i, name in enumerate(hand["analysts"]) if name.startswith(("pimc", "argmax")))
    review_page.send("rate", number=number, analyst=next(fast, len(hand["analysts"]) - 1))
    review_page.hear(lambda message: message["type"] == "review")
    seats = [hand["players"].index("random")] * len(hand["names"])
    review_page.send("try", number=number, at=1, seats=seats, action=hand["positions"][0]["action"], n=2)
    review_page.hear(lambda message: message["type"] == "what-if")


def _check(tsc, folder, messages, broken=()):
    """Compile messages as literals of their types, which may lack no field and have no other; broken ones must fail."""
    pairs = [*(("", *pair) for pair in messages), *(("// @ts-expect-error\n", *pair) for pair in broken)]
    lines = dict.fromkeys((note, f"{kind} = {json.dumps(message)};\n") for note, kind, message in pairs)
    file = folder / "messages.ts"
    file.write_text(
        f"import type * as types from {json.dumps(str(WEB / 'types/messages'))};\n"
        + "".join(f"{note}export const message{i}: types.{line}" for i, (note, line) in enumerate(lines))
    )
    result = subprocess.run([*tsc, *OPTIONS, file.name], cwd=folder, capture_output=True, text=True)
    assert not result.returncode, result.stdout[:5_000]


@pytest.mark.slow
def test_the_modules_are_typed(tsc):
    result = subprocess.run([*tsc, "-p", str(ROOT / "jsconfig.json")], capture_output=True, text=True)
    assert not result.returncode, result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("spec", TABLES)
def test_messages_of_a_table_have_their_types(spec, tsc, tmp_path):
    messages, seed = [], random.randrange(2**31)
    opponents = ["--opponents", *TABLES[spec]] if TABLES[spec] else []
    with served(spec, *opponents, "--seed", str(seed), "--worlds", "40", "--spectators") as (address, _):
        with page(address) as socket:
            table = _play(_Page(socket, "Table", messages), random.Random(seed))
        ((_, spectators),) = table["links"]
        with page(urljoin(address, spectators)) as socket:
            _Page(socket, "Table", messages).hear(lambda message: message["type"] == "table")
        with page(address, "reviewing") as socket:
            _review(_Page(socket, "Review", messages), table["record"])
    broken = (table | {"extra": 1}, {key: value for key, value in table.items() if key != "ply"})
    _check(tsc, tmp_path, messages, [("TableMessage", message) for message in broken])


@pytest.mark.slow
def test_messages_about_runs_have_their_types(tsc, tmp_path):
    messages = []
    run.tournament(Tournament(game="hearts", a="random", b="rules", deals=2, seed=3, out=tmp_path / "run"))
    for path in (tmp_path / "run", GAMES):
        with served(str(path), command="view") as (address, _), page(address, "reviewing") as socket:
            shown = _Page(socket, "Review", messages)
            shown.send("list", page=0, sort=None, descending=False, seating=None, player=None, loser=None)
            listed = shown.hear(lambda message: message["type"] == "list")
            if listed["run"]:
                shown.send("describe", known=None)
                shown.hear(lambda message: message["type"] == "run")
    training = write_training(tmp_path / "training", 2)
    with served(str(training), command="view") as (address, _), page(address, "training") as socket:
        shown = _Page(socket, "Training", messages)
        shown.send("describe", known=None)
        shown.hear(lambda message: message["type"] == "training")
    _check(tsc, tmp_path, messages)


@pytest.mark.slow
def test_messages_of_puzzles_have_their_types(tsc, tmp_path):
    messages = []
    with served(str(GAMES), "--most", "1", command="puzzle") as (address, _), page(address, "puzzles") as socket:
        shown = _Page(socket, "Puzzle", messages)
        puzzle = shown.hear(lambda message: message["type"] == "puzzle")
        shown.send("solve", puzzle=puzzle["number"], action=clicks(puzzle["scene"])[0])
        shown.hear(lambda message: message["type"] == "solution")
        shown.send("proceed", puzzle=puzzle["number"])
        shown.hear(lambda message: message["type"] == "end")
    _check(tsc, tmp_path, messages)


class _Ids(HTMLParser):
    """The tags of the elements with an id."""

    def __init__(self):
        super().__init__()
        self.tags: dict[str, set[str]] = {}

    def handle_starttag(self, tag, attrs):
        if found := dict(attrs).get("id"):
            self.tags.setdefault(found, set()).add(tag)


def test_elements_have_the_types_of_their_tags():
    """Each id of `Elements` is in a page or made by a module, and has the class of its tag everywhere."""
    declared = dict(re.findall(r'^  "?([\w-]+)"?: (HTML\w+);$', (WEB / "types/page.d.ts").read_text(), re.MULTILINE))
    ids = _Ids()
    for file in (WEB / "static").iterdir():
        if file.suffix == ".html":
            ids.feed(file.read_text())
        elif file.suffix == ".js":
            for tag, name in re.findall(r'make\("(\w+)", \{ id: "([\w-]+)"', file.read_text()):
                ids.tags.setdefault(name, set()).add(tag)
    assert len(declared) > 80
    for name, kind in declared.items():
        assert ids.tags.get(name), name
        assert all(kind in ("HTMLElement", CLASSES.get(tag)) for tag in ids.tags[name]), (name, kind, ids.tags[name])
