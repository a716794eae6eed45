"""Hands on record for the page that reviews them: what it is told, what it may say, and what a file may not decide."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from contextlib import ExitStack, closing, suppress

import pytest
from rich.console import Console
from support.review import dealt
from support.served import children, heard, page, served
from support.skat_records import GAMES

from trickformer import games, players
from trickformer.base import TrickformerError
from trickformer.records import files, jsonl
from trickformer.review import analyst, worst
from trickformer.review.result import DecisionRating
from trickformer.review.text import print_review
from trickformer.review.what_if import what_if
from trickformer.tournaments import report, results, run
from trickformer.tournaments.plan import Tournament
from trickformer.web import messages
from trickformer.web.cast import DecisionRequest
from trickformer.web.desk import PAGE, Desk, FinishedHand
from trickformer.web.inside import Inside
from trickformer.web.offers import analysts, list_players
from trickformer.web.shelf import HandQuery

SPECS = {"crew": "crew(mission=9)", "mines": "mines(rows=3,cols=4,mines=2)"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("view") / "run"
    run.tournament(Tournament(game="hearts", a="random", b="rules", deals=2, seed=3, out=found))
    return found


@pytest.fixture
def desk_of():
    """Makes a desk for a path, which is closed at the end of the test."""
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(closing(Desk(path, None, (), 1, 0)))


def _kept(name):
    hand = dealt(SPECS.get(name, name), seed=2)
    return hand, FinishedHand(str(hand.game.spiel), hand.names, hand.history, (2, 0))


def _unheard(at):
    pass


@pytest.mark.parametrize("name", games.NAMES)
def test_a_hand_has_a_scene_of_each_decision(name):
    """All cards are open, and what was done is among what may be clicked."""
    hand, kept = _kept(name)
    told = Desk(None, None, ("rules",) if name != "mines" else (), 1, 0).open_hand(kept)
    turns = [turn for turn, _ in hand.turns()]
    assert [(p["number"], p["seat"]) for p in told["positions"]] == [(t.number, t.seat) for t in turns]
    for position, turn in zip(told["positions"], turns, strict=True):
        scene = json.dumps(position["scene"])
        assert turn.action in _clickable(position["scene"])
        assert "a hidden card" not in scene
    assert told["scores"] == list(hand.game.scores(hand.end())) and told["over"]
    assert told["analysts"]
    assert not any("cmd" in spec or "/" in spec for spec in (*told["analysts"], *told["players"]))


def _clickable(part):
    """Collect the actions of a scene: `action` of a card or choice, `actions` of what several clicks give."""
    if isinstance(part, dict):
        own = {part["action"]} if isinstance(part.get("action"), int) else set(part.get("actions", ()))
        return own.union(*map(_clickable, part.values()))
    return set().union(*map(_clickable, part)) if isinstance(part, list | tuple) else set()


@pytest.mark.parametrize("name", games.NAMES)
def test_the_analysts_that_are_offered_exist(name):
    game = games.load(name)
    found = analysts(game, "random", ("random",))
    assert found[0] == "random" and len(set(found)) == len(found)
    assert (analyst.SOLVER in found) == (name in ("skat", "crew"))
    assert name != "crew" or "pimc" not in found


@pytest.mark.parametrize("name", games.NAMES)
def test_the_players_that_are_offered_play_the_game(name):
    game = games.load(name)
    found = list_players(game, ("random:",) if game.players > 1 else ())
    for spec in found:
        players.make(spec, game)
    assert found[:1] == (("random:",) if game.players > 1 else ()) and "random" not in found
    assert ("sparta" in found) == (name in ("hanabi", "crew")) and ("kermit" in found) == (name == "skat")
    assert "rollout" in found or game.players == 1


def test_players_and_analysts_are_listed_without_torch_and_scipy_stats():
    """They take seconds to import, which every page would wait for."""
    code = (
        "import sys\nfrom trickformer import games\nimport trickformer.web.server\n"
        "from trickformer.web.offers import analysts, list_players\n"
        "for name in games.NAMES: list_players(games.load(name), ()), analysts(games.load(name), None, ())\n"
        "assert not {'torch', 'scipy.stats'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_tournament_is_listed_by_its_worst_deals(folder, desk_of):
    rows = desk_of(folder).list_hands()["rows"]
    expected = [game for deal in worst.worst(folder).deals for game in deal.games]
    assert [row["number"] for row in rows] == [game.game for game in expected]
    assert rows[0]["scores"] == " ".join(map(str, expected[0].scores))
    lines = (folder / "records.jsonl").read_text().splitlines()
    desk = desk_of(folder)
    for row in rows[:5]:
        assert desk.open_hand(row["number"])["scores"] == json.loads(lines[row["number"] - 1])["scores"]
    with pytest.raises(TrickformerError, match="holds no game 99"):
        desk.open_hand(99)


def test_a_review_and_a_what_if_are_those_of_the_library():
    hand, kept = _kept("skat")
    desk, heard = Desk(None, None, ("rules",), 1, 5), []
    told = desk.open_hand(kept)
    review = analyst.review(hand, "solver")
    found = desk.rate_hand(kept, told["analysts"].index("solver"), heard.append)
    assert [m["number"] for m in found["mistakes"]] == [r.number for r in review.mistakes]
    assert [r["loss"] for r in found["ratings"]] == [r.loss for r in review.ratings]
    steps = [answer.losing_step for answer in review.answers]
    assert [answer["losing_step"] for answer in found["answers"]] == [step and step.number for step in steps]
    assert heard and heard[0][0] == "review"
    rules, last = told["players"].index("rules"), told["positions"][-5]["number"]
    turn, _ = hand.at(last)
    tried = desk.play_what_if(kept, last, [rules] * 3, turn.action, 4, heard.append)
    expected = what_if(hand, last, ["rules"], n=4, seed=5, action=hand.game.words(turn.action))
    assert (tried["means"], tried["games"], tried["unit"]) == (list(expected.means), 4, "points a hand")
    assert "seed" not in tried  # that of a table with guests is secret
    for at, seats, action, fault in [
        (last, [999] * 3, None, "no such player"),
        (10_000, [rules] * 3, None, "no decision"),
        (last, [rules] * 3, 10_000, "not legal there"),
    ]:
        with pytest.raises(TrickformerError, match=fault):
            desk.play_what_if(kept, at, seats, action, 4, _unheard)
    with pytest.raises(TrickformerError, match="no such player"):
        desk.rate_hand(kept, 999, _unheard)


@pytest.mark.parametrize("name", ["hearts", "skat", "crew", "hanabi"])
def test_panels_reviews_and_the_terminal_count_in_one_unit(name, capsys):
    """A panel's values of a decision are those that the same player's review has of it."""
    hand, kept = _kept(name)
    inside = Inside(kept.rules, {"model": "argmax"}, None, 10)
    review = analyst.review(hand, "argmax", repeats=1, seed=2)
    print_review(review, Console(width=200))
    assert f"values in {hand.game.worth[1]}" in capsys.readouterr().out
    desk = Desk(None, None, ("argmax",), 1, 2)
    place = desk.open_hand(kept)["analysts"].index("argmax")
    assert desk.rate_hand(kept, place, _unheard)["unit"] == review.unit == hand.game.worth[1]
    checked = 0
    for rating in review.ratings:
        if rating.forced or not rating.actions:
            continue
        turn, _ = hand.at(rating.number)
        panel = inside.model(DecisionRequest("", 2, 0, turn.seat, 0, hand.history[: turn.at]))
        shown = {row["action"]: row["value"] for row in panel["rows"] if row["value"] is not None}
        assert panel["unit"] == review.unit
        for action in rating.actions:
            if action.value is not None and action.action in shown:
                assert shown[action.action] == pytest.approx(action.value, abs=1e-3 * hand.game.worth[0])
                checked += 1
        if checked > 30:
            break
    assert checked


def test_a_mistake_is_graded_by_the_share_of_a_unit():
    """A loss within the error is no mistake and has no grade."""

    def graded(loss, error=None):
        rating = DecisionRating(
            number=1, at=1, seat=0, trick=1, action=0, words="", forced=False, loss=loss, error=error
        )
        return rating.grade(26.0)

    assert [graded(loss) for loss in (0.0, 1.0, 1.1, 2.5, 2.7)] == [
        None,
        "inaccuracy",
        "mistake",
        "mistake",
        "blunder",
    ]
    assert graded(2.7, error=2.0) is None and graded(2.7, error=1.0) == "blunder"


def test_a_file_of_games_is_listed_in_its_order(desk_of):
    desk = desk_of(GAMES)
    rows = desk.list_hands()["rows"]
    assert [row["number"] for row in rows] == [*range(1, len(list(files.read(GAMES))) + 1)]
    assert any(row["result"] for row in rows)
    told = desk.open_hand(2)
    assert told["game"] == "skat" and told["analysts"][0] == "solver" and told["names"] == rows[1]["who"].split(", ")


def test_a_large_file_is_listed_by_pages_and_read_where_it_is_looked_at(folder, desk_of, tmp_path, monkeypatch):
    file = tmp_path / "games.jsonl"
    files.convert(folder / "records.jsonl", file)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines * 99, "{torn"]))
    count, read = 99 * len(lines) + 1, []
    parse = jsonl.LineReader.read
    monkeypatch.setattr(jsonl.LineReader, "read", lambda self, *given: (read.append(given[1]), parse(self, *given))[1])
    desk = desk_of(file)
    for leaf in (0, 5, count // PAGE):
        read.clear()
        told = desk.list_hands(leaf)
        numbers = [*range(leaf * PAGE + 1, min(count, (leaf + 1) * PAGE) + 1)]
        assert [row["number"] for row in told["rows"]] == numbers == read
        assert (told["page"], told["pages"], told["total"]) == (leaf, -(-count // PAGE), count)
    assert told["rows"][-1]["result"].startswith(f"game {count}: ") and told["rows"][-2]["who"]  # the last is torn
    read.clear()
    assert desk.open_hand(count - 1)["scores"] == desk.open_hand(len(lines))["scores"]
    assert read == [count - 1, len(lines)]
    with pytest.raises(TrickformerError, match=f"game {count}: "):
        desk.open_hand(count)
    with pytest.raises(TrickformerError, match=f"no page {count // PAGE + 2} of hands"):
        desk.list_hands(count // PAGE + 1)


def _rows(desk, **query):
    return desk.list_hands(0, HandQuery(**query))["rows"]


def _means(row):
    """Mean scores of A's seats and of B's in a row of the list; None for a player without a seat."""
    scores, seats = [int(x) for x in row["scores"].split()], row["seats"].split()
    own = [[score for score, seat in zip(scores, seats) if seat == player] for player in "AB"]
    return [sum(each) / len(each) if each else None for each in own]


def test_hands_of_a_tournament_are_filtered_and_sorted(folder, desk_of):
    desk = desk_of(folder)
    records = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    rows = _rows(desk, sort="number")
    assert [row["number"] for row in rows] == [*range(1, len(records) + 1)]
    for row, record in zip(rows, records, strict=True):
        assert row["scores"] == " ".join(map(str, record["scores"])) and row["deal"] == str(record["deal"])
        assert row["seats"] == " ".join("AB"[player] for player in record["seating"])
        a, b = _means(row)  # in Hearts the higher score is worse
        assert float(row["lead"]) == round(a - b, 2) and row["loser"] == ("A" if a > b else "B" if b > a else "")
    leads = [float(row["lead"]) for row in _rows(desk, sort="lead")]
    assert leads == sorted(leads) and len(set(leads)) > 5
    assert [float(row["lead"]) for row in _rows(desk, sort="lead", descending=True)] == leads[::-1]
    for player in (0, 1):
        lost = _rows(desk, loser=player)
        assert {row["loser"] for row in lost} == {"AB"[player]}
        assert len(lost) == sum(row["loser"] == "AB"[player] for row in rows)
    filters = desk.list_hands()["filters"]
    place, words = filters["seatings"][3]
    chosen = _rows(desk, seating=place)
    assert {row["seats"] for row in chosen} == {words} and len(chosen) == 2  # once in each deal
    assert not _rows(desk, player=2) and len(_rows(desk, player=1)) == len(rows)


def test_tables_of_one_player_are_listed(desk_of, tmp_path):
    """Who loses a game of a team is who does not win it; on boards of Mines, who opens less than the deal's mean."""
    for name, b in (("crew(mission=9)", "rules"), ("mines(rows=3,cols=4,mines=2)", "optimal")):
        path = tmp_path / name[:4]
        run.tournament(Tournament(game=name, a="random", b=b, deals=4, seed=3, out=path))
        rows, by_deal = _rows(desk_of(path)), {}
        for row in rows:
            by_deal.setdefault(row["deal"], []).append(int(row["scores"]))
        for row in rows:
            mean = sum(by_deal[row["deal"]]) / 2
            is_lost = int(row["scores"]) == 0 if b == "rules" else int(row["scores"]) < mean
            assert row["loser"] == (row["seats"][0] if is_lost else ""), row
        assert any(row["loser"] for row in rows) and rows[0]["loser"] == "A"


def test_several_players_are_numbered_and_rated(desk_of, tmp_path):
    run.tournament(
        Tournament(game="skat", players=["random", "rules", "random:"], deals=2, seed=3, out=tmp_path / "run")
    )
    desk = desk_of(tmp_path / "run")
    told = desk.list_hands()
    assert [row["number"] for row in told["rows"]] == [*range(1, 37)]
    assert told["filters"]["players"] == ["1 random (1)", "2 rules", "3 random (2)"]
    lost = _rows(desk, loser=2)
    assert lost and all("3" in row["seats"].split() and row["loser"] == "3" for row in lost)
    described = desk.describe_run(None, _unheard)
    rating = next(section for section in described["sections"] if section["title"] == "Rating")
    chart = next(chart for chart in described["charts"] if chart["title"] == "Rating")
    assert [row[0] for row in rating["rows"]] == [row["label"] for row in chart["rows"]]
    assert [row[1] for row in rating["rows"]] == [f"{row['value']:+.2f}" for row in chart["rows"]]
    assert all(row["ci95"] is None or row["ci95"][0] <= row["value"] <= row["ci95"][1] for row in chart["rows"])


def test_the_page_of_a_run_shows_the_cells_of_its_report(folder, desk_of):
    told = desk_of(folder).describe_run(None, _unheard)
    made = report.make_report(results.TournamentResults(run.load(folder)))
    assert [(s["title"], (tuple(s["head"]), [*map(tuple, s["rows"])])) for s in told["sections"]] == [
        (title, (tuple(head), [*map(tuple, rows)])) for title, (head, rows) in made.tables
    ]
    assert (told["conclusion"], told["notes"]) == (made.conclusion, made.notes)
    assert (told["played"], told["scheduled"], told["over"]) == (28, 28, True)
    intervals, histogram = told["charts"]
    row = made.result["rows"]["All"]
    assert (intervals["rows"][0]["value"], list(intervals["rows"][0]["ci95"])) == (row["difference"], row["ci95"])
    assert sum(histogram["counts"]) == 2 and histogram["mean"] == row["difference"]


def _part(folder, target, lines):
    """A copy of a run as it was when it had written that many lines, and a part of the next one."""
    target.mkdir(exist_ok=True)
    for name in ("config.toml", "run.json"):
        (target / name).write_text((folder / name).read_text())
    for name in ("records.jsonl", "records.jsonl.sums"):
        written = (folder / name).read_text().splitlines(keepends=True)
        (target / name).write_text("".join(written[:lines]) + "".join(written[lines : lines + 1])[:9])
    return target


def test_a_run_that_is_being_played_is_followed(folder, desk_of, tmp_path):
    desk = desk_of(_part(folder, tmp_path / "run", 5))
    assert desk.list_hands()["count"] == 5
    told = desk.describe_run(None, _unheard)
    assert (told["played"], told["over"], told["sections"], told["charts"]) == (5, False, [], [])
    assert "No deal is finished yet" in told["conclusion"]
    assert desk.describe_run(5, _unheard) == {"changed": False}
    _part(folder, tmp_path / "run", 20)
    told = desk.describe_run(5, _unheard)
    assert (told["changed"], told["played"], told["over"]) == (True, 20, False)
    assert any(note.startswith("INCOMPLETE: 1 of 2 deals") for note in told["notes"])
    assert desk.list_hands()["count"] == 20 and desk.open_hand(20)["over"]
    rows = _rows(desk, sort="difference")
    assert [bool(row["difference"]) for row in rows] == [True] * 14 + [False] * 6  # unfinished deals come last
    _part(folder, tmp_path / "run", 28)
    told, whole = desk.describe_run(20, _unheard), desk_of(folder).describe_run(None, _unheard)
    assert told | {"written": 0} == whole | {"written": 0}


def test_a_large_run_is_listed_by_its_file_until_its_records_are_read(folder, desk_of, monkeypatch):
    monkeypatch.setattr("trickformer.web.desk.SMALL_RUN", 10)
    monkeypatch.setattr("trickformer.web.shelf.PAGE", 10)
    monkeypatch.setattr("trickformer.web.desk.PAGE", 10)
    desk, steps = desk_of(folder), []
    told = desk.list_hands(2)
    assert (told["waiting"], told["pages"], [row["number"] for row in told["rows"]]) == (True, 3, [*range(21, 29)])
    assert [row["number"] for row in _rows(desk, sort="number", descending=True)] == [*range(28, 18, -1)]
    desk.describe_run(None, steps.append)
    assert steps and steps[0][1] == "MiB"
    pages = [desk.list_hands(leaf) for leaf in range(3)]
    expected = [game.game for deal in worst.worst(folder).deals for game in deal.games]
    assert [row["number"] for told in pages for row in told["rows"]] == expected
    assert [(told["waiting"], told["pages"], told["total"]) for told in pages] == [(False, 3, 28)] * 3
    with pytest.raises(TrickformerError, match="no page 4 of hands"):
        desk.list_hands(3)


def test_a_damaged_run_is_listed_with_its_fault(folder, desk_of, tmp_path):
    path = _part(folder, tmp_path / "run", 28)
    lines = (path / "records.jsonl").read_text().splitlines(keepends=True)
    (path / "records.jsonl").write_text("".join([*lines[:3], lines[3].replace("deal", "dael"), *lines[4:]]))
    desk = desk_of(path)
    told = desk.list_hands()
    assert "cannot be evaluated" in told["note"] and "line 4: its checksum differs" in told["note"]
    assert (told["waiting"], len(told["rows"])) == (False, 28)
    with pytest.raises(TrickformerError, match="line 4"):
        desk.describe_run(None, _unheard)


@pytest.mark.parametrize(
    "text",
    [
        '{"do":"open","number":0}',
        '{"do":"open","number":"1"}',
        '{"do":"open","number":1,"file":"/etc/passwd"}',
        '{"do":"rate","number":1,"analyst":"engine:cmd=ls"}',
        '{"do":"try","number":1,"at":1,"seats":[],"action":null,"n":5}',
        '{"do":"try","number":1,"at":1,"seats":[0],"action":null,"n":1000000}',
        '{"do":"act","seat":0,"action":1,"ply":3}',
        '{"do":"list","sort":"seed"}',
        '{"do":"list","loser":-1}',
        '{"do":"describe","known":"all"}',
        "[]",
        "",
    ],
)
def test_what_is_no_message_is_refused(text):
    with pytest.raises(ValueError):
        messages.REVIEW.validate_json(text)


def _junk(draw):
    valid = [
        {"do": "list", "sort": "lead", "descending": True, "seating": 1, "player": 0, "loser": 1},
        {"do": "describe", "known": 28},
        {"do": "open", "number": 1},
        {"do": "rate", "number": 2, "analyst": 0},
        {"do": "try", "number": 1, "at": 3, "seats": [0], "action": None, "n": 2},
        {"do": "cancel"},
    ]
    message = dict(draw.choice(valid))
    if draw.random() < 0.7:
        message[draw.choice([*message, "path", "spec"])] = draw.choice([None, -1, 3.5, 10**30, "../x", [], {}, True])
    text = json.dumps(message)
    return text if draw.random() < 0.9 else text[: draw.randrange(len(text))]


@pytest.mark.slow
def test_the_server_survives_junk_and_stops_what_nobody_waits_for(folder):
    ConnectionClosed = pytest.importorskip("websockets.exceptions", reason="needs the extra web").ConnectionClosed
    pytest.importorskip("starlette", reason="needs the extra web")
    seed = random.randrange(2**31)
    draw = random.Random(seed)
    words = [str(folder), "--analyse", "pimc:worlds=100000"]
    with served(*words, command="view") as (address, process):
        for _ in range(2):
            with suppress(ConnectionClosed), page(address, "reviewing") as socket:
                for _ in range(25):
                    socket.send(_junk(draw))
                socket.send(b"\x00\x01")
                heard(socket, "never")
        with page(address, "reviewing") as socket:
            socket.send('{"do":"open","number":3}')
            hand = heard(socket, "hand")
            assert hand["number"] == 3, seed
            assert hand["analysts"][0] == "pimc:worlds=100000"
            socket.send('{"do":"rate","number":3,"analyst":0}')
            assert heard(socket, "working")["what"] is None  # the hand is there
            while heard(socket, "working").get("total") is None:
                pass
            socket.send('{"do":"cancel"}')
            while heard(socket, "working")["what"] is not None:
                pass
            socket.send('{"do":"open","number":4}')  # in a new process
            assert heard(socket, "hand")["number"] == 4
        assert process.poll() is None, seed
        deadline = time.monotonic() + 20
        while len(children(process.pid)) > 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(children(process.pid)) <= 1  # the tracker of multiprocessing's resources


def test_bad_input_is_one_line(command, tmp_path, folder):
    pytest.importorskip("starlette", reason="needs the extra web")
    (tmp_path / "bad.jsonl").write_text("{}\n")
    for words, said in [
        ((tmp_path / "none",), "cannot read"),
        ((tmp_path / "bad.jsonl",), ""),
        (("-",), "a page reads its games more than once"),
        ((folder, "--analyse", "pimk"), "unknown player 'pimk'"),
        ((folder, "--analyse", ""), "unknown player ''"),
        ((folder, "--analyse", "solver", "--players", "solver"), "unknown player 'solver'"),
        ((folder, "--analyse", "kermit"), "player 'kermit' plays skat only"),
        ((folder, "--players", "rules", "engine:x=1"), ""),
        ((folder, "--host", "203.0.113.1"), "cannot listen at 203.0.113.1:0"),
    ]:
        code, _, err = command("view", *words, "--no-browser")
        assert code == 2, words
        assert err.startswith(f"error: {said}") and err.count("\n") == 1, err
