"""A table of several people: what each link shows and allows, reconnecting, and two people in two browsers."""

from __future__ import annotations

import asyncio
import json
import random
import re
from contextlib import ExitStack

import pytest
from support.browser import CHROMIUM, faint, launched, move, opened, rules_hold
from support.forked import served
from support.served import clicks, heard, page

from trickformer.base import TrickformerError
from trickformer.web.config import YOU, Play
from trickformer.web.pages import HOST, SPECTATOR, Access

pytest.importorskip("starlette", reason="needs the extra web")
GUEST = Access(2)


class Recorder:
    """A worker that notes the panels that it is asked for."""

    busy = False

    def __init__(self):
        self.requests = []

    async def do(self, method, request, *_, **__):
        self.requests.append((method, request.seat))
        return {"of": request.seat}

    def cancel(self):
        pass


def _room(game="hearts(pass_cards=False)", inside=None, invite=(2,)):
    from trickformer.web.room import Room
    from trickformer.web.table import Table

    settings = Play(game=game, opponents=["random"], invite=list(invite), seed=1)
    rules = settings.rules()
    return Room(settings, Table(rules, settings.seats(rules), 1, 1), inside or Recorder(), {GUEST: "../guest/"})


def _read(queue):
    """The messages of a page so far."""
    return [json.loads(queue.get_nowait()) for _ in range(queue.qsize())]


def _ply(table):
    return len(table.state.history())


async def _room_at(seat, inside=None):
    """A room with a page of each link, in which first legal actions were played until a seat is on turn."""
    room = _room(inside=inside)
    for access in (HOST, GUEST, SPECTATOR):
        room.enter(access, access)
    await room.receive(HOST, json.dumps({"do": "cancel"}))  # before a player decides
    table = room.table
    while table.turn != seat or len(table.moves) < 5:
        table.act(table.turn, table.state.legal_actions()[0])
    return room


def _cards(table, seat):
    """The names of the cards of a seat in a message; None for a hidden one."""
    return [card.get("name") or None for card in table["scene"]["seats"][seat]["cards"]]


def test_each_link_sees_its_own_cards():
    async def talk():
        room = _room()
        queues = {access: room.enter(access, access) for access in (HOST, GUEST, SPECTATOR)}
        await room.close()
        return {access: next(m for m in _read(queue) if m["type"] == "table") for access, queue in queues.items()}

    tables = asyncio.run(talk())
    for access, own in ((HOST, [0]), (GUEST, [2]), (SPECTATOR, [0, 1, 2, 3])):
        for seat in range(4):
            assert all((name is not None) == (seat in own) for name in _cards(tables[access], seat)), (access, seat)
    assert [tables[access]["me"] for access in (HOST, GUEST)] == [0, 2]
    assert [tables[access]["people"] for access in (HOST, GUEST, SPECTATOR)] == [[2], [0], [0, 2]]
    assert [tables[access]["links"] for access in (HOST, GUEST, SPECTATOR)] == [[[2, "../guest/"]], [], []]
    assert not clicks(tables[SPECTATOR]["scene"]) and "seed" not in tables[GUEST]


def test_a_link_stays_with_a_guest_who_changes_seats():
    async def talk():
        room = _room("skat")
        queues = {access: room.enter(access, access) for access in (HOST, GUEST)}
        room.table.next_deal()
        room.refresh()
        tables = {access: [m for m in _read(queue) if m["type"] == "table"][-1] for access, queue in queues.items()}
        room.leave(GUEST)
        room.table.next_deal()
        room.refresh()
        absences = [m["seats"] for m in _read(queues[HOST]) if m["type"] == "absent"]
        await room.close()
        return tables, absences

    tables, absences = asyncio.run(talk())
    assert absences == [[1], [0]]  # the guest left from seat 1
    assert [tables[access]["me"] for access in (HOST, GUEST)] == [2, 1]
    for access, own in ((HOST, 2), (GUEST, 1)):
        assert [seat for seat in range(3) if None not in _cards(tables[access], seat)] == [own]
        assert tables[access]["order"] == [2, 0, 1]
        assert tables[access]["seats"] == ["random", YOU, YOU]
    assert tables[HOST]["links"] == [[1, "../guest/"]]


GAMES = {
    "hearts": [1, 2, 3],
    "skat": [1, 2],
    "crew(mission=4,distress=left)": [1, 2, 3],
    "hanabi(players=3)": [1, 2],
    "mines": None,
}


def _tables(game, access, host):
    """Play a random hand, and return the table at every position as a link shows it. `host` has seat 0."""
    from trickformer.web.room import Room
    from trickformer.web.table import Table

    async def watch():
        settings, draw, tables = Play(game=game, invite=GAMES[game], seed=4), random.Random(4), []
        rules = settings.rules()
        seats = (host, *settings.seats(rules)[1:])
        room = Room(settings, Table(rules, seats, 4, 1), Recorder())
        while not tables or not room.table.over:
            if tables:
                room.table.act(room.table.turn, draw.choice(room.table.state.legal_actions()))
            tables += [m for m in _read(room.enter("page", access)) if m["type"] == "table"]
            room.leave("page")
        await room.close()
        return tables

    return asyncio.run(watch())


@pytest.mark.parametrize("game", GAMES)
def test_no_text_calls_a_spectator_you(game):
    """People play, and a spectator sees every position."""
    for table in _tables(game, SPECTATOR, YOU):
        assert table.pop("you") is None
        del table["seats"], table["players"]  # specs, which the page shows as names
        assert not re.search(r"\byour?\b", json.dumps(table)), table["log"]


@pytest.mark.parametrize("game", [name for name in GAMES if GAMES[name]])
def test_no_text_calls_a_host_without_a_seat_you(game):
    """A player has its seat, and it sees what this seat sees."""
    for table in _tables(game, HOST, "random"):
        assert table.pop("you") is None and table["me"] == 0
        del table["seats"], table["players"]  # specs, which the page shows as names
        assert "ask" not in table["scene"] and not re.search(r"\byour?\b", json.dumps(table)), table["log"]


MESSAGES = (
    {"do": "look", "panels": [], "players": []},
    {"do": "claim", "score": 26},
    {"do": "cancel"},
    {"do": "next"},
    {"do": "act"},
    {"do": "undo"},
    {"do": "again"},
    {"do": "match", "seats": [0, 1, 0, 1], "deal": 5},
)


JOINED = "\U0001f469\u200d\U0001f467 \u200fa\u200bb\u200cc"  # joined emoji, a mark of direction, invisible characters


def _annotations(message):
    return {
        card["order"]: card["annotation"]
        for seat in message["scene"]["seats"]
        for card in seat["cards"]
        if "annotation" in card
    }


def test_annotations_are_private():
    """Each person sees the own ones, on a second page too; nothing is sent to the others, not even the table."""
    from trickformer.web.messages import MAX_ANNOTATION

    async def talk():
        room = _room("hanabi(players=3)", invite=(2,))
        pages = {name: access for access in (HOST, GUEST, SPECTATOR) for name in (access, (access, "second"))}
        queues = {name: room.enter(name, access) for name, access in pages.items()}
        await room.receive(HOST, json.dumps({"do": "cancel"}))
        for queue in queues.values():
            _read(queue)

        async def annotate(page, seat, card, text, deal=1):
            message = {"do": "annotate", "deal": deal, "seat": seat, "card": card, "text": text}
            await room.receive(page, json.dumps(message))
            return {name for name, queue in queues.items() if queue.qsize() and [_read(queue)]}

        assert await annotate(HOST, 0, 2, "  <b>mine</b>\n now ") == {HOST, (HOST, "second")}
        assert await annotate(HOST, 0, 3, JOINED) == {HOST, (HOST, "second")}
        assert await annotate(GUEST, 2, 2, "x" * MAX_ANNOTATION) == {GUEST, (GUEST, "second")}
        wrong = (GUEST, 0, "no"), (HOST, 2, "no"), (SPECTATOR, 0, "no"), (HOST, 1, "no")
        wrong += (HOST, 0, "x" * (MAX_ANNOTATION + 1)), (HOST, 0, "\ud800")
        for reader, seat, text in wrong:
            with pytest.raises((TrickformerError, ValueError)):
                await annotate(reader, seat, 1, text)
        with pytest.raises(TrickformerError, match="the table has changed"):
            await annotate(HOST, 0, 1, "late", deal=2)
        room.refresh()
        tables = {name: next(m for m in _read(queue) if m["type"] == "table") for name, queue in queues.items()}
        await room.close()
        return {
            access: [_annotations(tables[access]), _annotations(tables[access, "second"])] for access in pages.values()
        }

    shown = asyncio.run(talk())
    assert shown == {HOST: [{2: "<b>mine</b> now", 3: JOINED}] * 2, GUEST: [{2: "x" * 100}] * 2, SPECTATOR: [{}] * 2}


def test_a_seat_that_is_given_to_a_player_has_no_person():
    """In a new match nobody is "you" at its page, which offers no action; before and after, the person is."""

    async def talk():
        room = _room("hanabi(players=3)", invite=(2,))
        queues = {access: room.enter(access, access) for access in (HOST, GUEST, SPECTATOR)}
        seen = []
        for seats in (None, (1, 1, 0), (0, 1, 1), (1, 0, 0), (0, 1, 0)):
            if seats is not None:
                choices = [room.choices.index(who) for who in (YOU, "random")]
                message = {"do": "match", "seats": [choices[seat] for seat in seats], "deal": 4}
                await room.receive(HOST, json.dumps(message))
            tables = [[m for m in _read(queue) if m["type"] == "table"][-1] for queue in queues.values()]
            seen.append([table["you"] for table in tables])
            for table in tables:
                is_own = table["you"] is not None and table["turn"] == table["you"]
                assert table["turn"] == 0 and bool(clicks(table["scene"])) == is_own
            await room.receive(HOST, json.dumps({"do": "cancel"}))
        await room.close()
        return seen

    assert asyncio.run(talk()) == [[0, 2, None], [None, 2, None], [0, None, None], [1, 2, None], [0, 2, None]]


@pytest.mark.parametrize("turn", [0, 2])
def test_each_link_allows_what_is_its_own(turn):
    """Every message by every link, at the turn of the host and of the guest; what is refused changes nothing."""

    async def is_allowed(access, message):
        room = await _room_at(turn)
        table = room.table
        if message["do"] == "act":
            message = message | {"seat": turn, "action": table.state.legal_actions()[0], "ply": _ply(table)}
        before = table.deal, list(table.moves)
        try:
            await room.receive(access, json.dumps(message))
        except TrickformerError:
            assert (table.deal, table.moves) == before
            return False
        finally:
            await room.close()
        return True

    everything = {message["do"] for message in MESSAGES}
    host = everything if turn == 0 else everything - {"act", "claim"}
    guest = {"look"} if turn == 0 else {"look", "act", "claim", "cancel"}
    for access, allowed in ((HOST, host), (GUEST, guest), (SPECTATOR, set())):
        assert {m["do"] for m in MESSAGES if asyncio.run(is_allowed(access, m))} == allowed, access


def test_a_deal_that_two_people_ask_for_begins_once():
    async def talk():
        room = _room()
        for access in (HOST, GUEST):
            room.enter(access, access)
        await room.receive(HOST, json.dumps({"do": "cancel"}))
        table, draw = room.table, random.Random(2)
        while not table.over:
            table.act(table.turn, draw.choice(table.state.legal_actions()))
        hand = table.hand_count
        for access in (GUEST, HOST):
            await room.receive(access, json.dumps({"do": "next", "hand": hand}))
            await room.receive(HOST, json.dumps({"do": "cancel"}))
        await room.close()
        return table.deal, table.hand_count - hand

    assert asyncio.run(talk()) == (2, 1)


class Prover(Recorder):
    """A worker that can prove no claim."""

    async def do(self, method, request, *_, **__):
        await super().do(method, request)
        return False, ()


def test_a_claim_is_of_the_decision_at_which_it_was_made():
    """With several people one claim is checked at a decision, and not at that of the next person."""

    async def talk():
        prover = Prover()
        room = await _room_at(2, prover)
        table = room.table
        claim = json.dumps({"do": "claim", "score": 26})
        await room.receive(GUEST, claim)
        act = {"do": "act", "seat": 2, "action": table.state.legal_actions()[0], "ply": _ply(table)}
        await room.receive(GUEST, json.dumps(act))  # before the proof begins
        await asyncio.sleep(0.05)
        table.undo()
        refusals = []
        for _ in range(2):
            with pytest.raises(TrickformerError) as refusal:
                await room.receive(GUEST, claim)
                pytest.fail("a second claim at this decision")
            refusals.append(str(refusal.value))
        await room.close()
        return [seat for method, seat in prover.requests if method == "claim"], set(refusals)

    seats, refusals = asyncio.run(talk())
    assert seats == [2] and refusals == {"with several people only one claim is checked at a decision"}


def test_a_page_that_reads_too_slowly_is_closed():
    from trickformer.web.pages import CLOSE, MAX_UNREAD

    async def talk():
        room = _room()
        queue = room.enter(SPECTATOR, SPECTATOR)
        for _ in range(MAX_UNREAD + 1):
            room.refresh()
        await room.close()
        return SPECTATOR in room.pages, [queue.get_nowait() for _ in range(queue.qsize())] == [CLOSE]

    assert asyncio.run(talk()) == (False, True)


@pytest.mark.parametrize("turn", [0, 2])
def test_panels_are_shown_to_the_seat_that_decides(turn):
    async def talk():
        recorder = Recorder()
        room = await _room_at(turn, recorder)
        queues = {access: room.pages[access] for access in (HOST, GUEST)}
        look = json.dumps({"do": "look", "panels": ["pimc"], "players": []})
        for access in (HOST, GUEST, HOST, GUEST):  # the second time the panel is there already
            await room.receive(access, look)
            for _ in range(20):
                await asyncio.sleep(0)
        await room.close()
        return recorder.requests, {access: _read(queue) for access, queue in queues.items()}

    requests, messages = asyncio.run(talk())
    assert requests == [("pimc", turn)]
    viewer, other = (HOST, GUEST) if turn == 0 else (GUEST, HOST)
    assert [m["data"] for m in messages[viewer] if m["type"] == "look" and not m.get("busy")]
    assert not [m for m in messages[other] if m["type"] == "look"]


def test_the_page_says_who_is_absent():
    async def talk():
        room = _room()
        host = room.enter("host", HOST)
        room.enter("guest", GUEST)
        room.enter("second page of the guest", GUEST)
        room.leave("guest")
        room.leave("second page of the guest")
        await room.close()
        return [m["seats"] for m in _read(host) if m["type"] == "absent"]

    assert asyncio.run(talk()) == [[2], [], [], [], [2]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--invite", "4"], "there is no seat 4 in hearts: seats are 0 to 3"),
        (["--invite", "0"], "--invite names a seat twice, or your own seat; give other seats, each once"),
        (["--invite", "2", "2"], "--invite names a seat twice, or your own seat; give other seats, each once"),
        (["--invite", "1", "2", "--opponents", "random", "rules"], "2 opponents, but hearts has 4 seats, 3 of them"),
        (["--invite", "1", "--text"], "--invite is for the page in the browser; leave it out, or give --no-text"),
    ],
)
def test_bad_invitations_are_one_line(command, words, message):
    code, _, err = command("play", "hearts", *words, "--no-browser")
    assert code == 2
    assert err.startswith(f"error: {message}") and err.count("\n") == 1


def test_guests_cannot_compute_the_deals():
    seeds = {Play(game="hearts", invite=[1]).seed for _ in range(3)}
    assert len(seeds) == 3 and 0 not in seeds
    assert Play(game="hearts", invite=[1], seed=5).seed == 5
    assert Play(game="hearts").seed == 0
    assert Play(game="hearts", opponents=["rules"], invite=[1]).seats(Play(game="hearts").rules()) == (
        YOU,
        YOU,
        "rules",
        "rules",
    )


def _links(process, number):
    """The further links that a table prints: "seat 2" or "spectators watch" -> address."""
    lines = [process.stdout.readline() for _ in range(number)]
    return {line.partition(" at ")[0].removesuffix(" is"): line.split()[-1] for line in lines}


@pytest.mark.slow
def test_three_people_over_sockets(tmp_path):
    """Each goes and comes back by the same link; a killed table goes on, with new links."""
    words = ["skat", "--invite", "1", "2", "--spectators", "--seed", "3", "--out", str(tmp_path / "t")]
    draw, history = random.Random(1), []
    for resume in ([], ["--resume"]):
        with served(*words, *resume) as (address, process):
            links = _links(process, 3)
            by_seat = {0: address, 1: links["seat 1"], 2: links["seat 2"]}
            assert len({*links.values(), address}) == 4
            with page(links["spectators watch"]) as watching:
                table = heard(watching, "table")
                while len(history) < (6 if not resume else 12):
                    seat = table["turn"]
                    with page(by_seat[seat]) as socket:
                        own = heard(socket, "table")
                        assert own["me"] == seat and own["ply"] == table["ply"]
                        action = draw.choice(clicks(own["scene"]))
                        socket.send(json.dumps({"do": "act", "seat": seat, "action": action, "ply": own["ply"]}))
                        table = heard(watching, "table")
                        assert table["ply"] == own["ply"] + 1
                        history.append((seat, action))
            process.kill()
    steps = [json.loads(line) for line in (tmp_path / "t" / "moves.jsonl").read_text().splitlines()]
    assert [(step["seat"], step["action"]) for step in steps if step["do"] == "act"] == history


@pytest.mark.slow
def test_a_link_has_few_sockets():
    from websockets.exceptions import InvalidStatus

    from trickformer.web.server import MAX_GUEST_SOCKETS

    with served("hearts", "--invite", "2", "--opponents", "random") as (address, process), ExitStack() as stack:
        guest = _links(process, 1)["seat 2"]
        for _ in range(MAX_GUEST_SOCKETS):
            heard(stack.enter_context(page(guest)), "table")
        with pytest.raises(InvalidStatus), page(guest):
            pass
        with page(address) as socket:
            assert heard(socket, "table")["me"] == 0


def _addresses(page):
    """List the texts of a page, shown or for screen readers, that call its reader "you"."""
    texts = page.evaluate("""() => [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility()).flatMap(
        (e) => [e.innerText, e.title, e.ariaLabel])""")
    return [text for text in texts if re.search(r"\byour?\b", text or "", re.IGNORECASE)]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_the_host_gives_its_seat_to_a_player():
    """Its page then calls nobody "you", is never on turn and offers no card; the guest plays on."""
    for needed in ("playwright", "axe_playwright_python"):
        pytest.importorskip(needed, reason=f"needs {needed}, of the extra dev")
    draw = random.Random(3)
    words = ("hearts(pass_cards=False)", "--invite", "2", "--opponents", "random", "--seed", "1", "--deal", "1")
    with served(*words) as (address, process), launched() as browser:
        host = opened(browser, address)
        guest = opened(browser, _links(process, 1)["seat 2"])
        watch = """window.turns = []; new MutationObserver(() => turns.push(document.body.dataset.turn)).observe(
            document.body, {attributes: true})"""
        host.click("#match")
        host.select_option("#who0", label="random")
        host.evaluate(watch)
        host.click("#new-match button.main")
        host.wait_for_selector("#own .seat:has-text('random')")
        for _ in range(4):
            guest.wait_for_selector("body[data-turn=mine]")
            host.locator("#status:has-text('Waiting for seat 2')").wait_for()
            assert not _addresses(host) and _addresses(guest)
            assert not host.locator("#felt .act").count() and host.locator("#hint, #claim").count() == 2
            assert host.locator("#hint").is_disabled() and host.locator("#claim").is_disabled()
            rules_hold(host, contrast=True)
            move(guest, draw)
        assert "mine" not in host.evaluate("turns")
        assert not host.faults + guest.faults


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_two_people_in_two_browsers():
    """The host follows a link of its page; both play a hand of The Crew to the end, and a spectator sees all cards."""
    for needed in ("playwright", "axe_playwright_python"):
        pytest.importorskip(needed, reason=f"needs {needed}, of the extra dev")
    draw = random.Random(3)
    words = ("crew(mission=1)", "--invite", "2", "--opponents", "rules", "--spectators")
    with served(*words) as (address, process), launched() as browser:
        links = _links(process, 2)
        host = opened(browser, address)
        assert host.locator("#links a").count() == 2
        assert host.locator("#links a").first.evaluate("a => a.href") == links["seat 2"]
        guest, watcher = opened(browser, links["seat 2"]), opened(browser, links["spectators watch"])
        assert guest.locator("#links a").count() == 0
        assert [guest.locator(f"#{button}").is_visible() for button in ("undo", "again", "match")] == [False] * 3
        assert watcher.locator("#felt .act").count() == 0 and not watcher.locator("#fault").is_visible()
        assert watcher.locator("#felt .card[data-name]").count() >= 40
        waited = False
        while host.locator("body").get_attribute("data-turn") != "over":
            for person, other in ((host, guest), (guest, host)):
                if person.locator("body").get_attribute("data-turn") == "mine":
                    if not waited and "Waiting for seat" in other.inner_text("#status"):
                        for shown in (host, guest, watcher):
                            rules_hold(shown)
                            assert not faint(shown)
                        assert _addresses(host) and not _addresses(watcher)
                        waited = True
                    move(person, draw)
            host.wait_for_timeout(20)
        assert waited
        for person in (guest, watcher):
            person.wait_for_selector("body[data-turn=over]")
            person.click("#review-hand")
            person.wait_for_selector("#felt .seat, #hands .final", timeout=90_000)
            assert person.locator("#own .seat").get_attribute("data-seat") == ("2" if person is guest else "0")
            assert not _addresses(person)
        assert not host.faults + guest.faults + watcher.faults
