"""Damaged and foreign files of games, and the commands: one clear line, never a crash, nothing written."""

import bz2
import gzip
import io
import json
import os
import random
import subprocess
import sys
import threading
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.skat_records import GAMES, damaged, fixture_games
from support.xskat_log import xskat_log

from trickformer.base import TrickformerError
from trickformer.records import files, jsonl
from trickformer.records.show import data
from trickformer.records.skat import iss, xskat
from trickformer.records.skat.check import check

ISS = GAMES.read_text().splitlines()
JSONL = [jsonl.write(record) for record in fixture_games()]
XSKAT = [xskat_log(fixture_games()[i]).splitlines() for i in (0, 2, 5, 8)]
seeds = st.integers(0, 2**32 - 1)


def survives(read, write):
    """Reads; what is read can be checked, shown and written. Gives the record, or None where it is refused."""
    try:
        record = read()
    except TrickformerError as e:
        assert "\n" not in str(e)
        assert str(e).startswith("game 1")
        return None
    finding = check(record, 1)
    assert finding.status in ("agrees", "differs", "broken off")
    assert (finding.status == "differs") <= bool(finding.what)
    json.dumps(data(record, 1))
    assert jsonl.parse(jsonl.write(record), 1) == record
    try:
        assert write is None or write(record)
    except TrickformerError as e:
        assert str(e).startswith("game 1: ")
    return record


@settings(max_examples=400, deadline=None)
@given(st.integers(0, len(ISS) - 1), seeds)
def test_damaged_iss_records(number, seed):
    text = damaged(ISS[number], seed)
    record = survives(lambda: iss.parse(text, 1), None)
    if record is not None:
        assert iss.parse(iss.write(record), 1) == record


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(JSONL) - 1), seeds)
def test_damaged_json_lines(number, seed):
    survives(lambda: jsonl.parse(damaged(JSONL[number], seed), 1), iss.write)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(XSKAT) - 1), seeds)
def test_damaged_logs(number, seed):
    rng = random.Random(seed)
    lines = list(XSKAT[number])
    at = rng.randrange(len(lines))
    lines[at : at + 1] = rng.choice(([], [lines[at]] * 2, [damaged(lines[at] or " ", seed)]))
    survives(lambda: next(xskat.games(iter(lines)))(), None)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["\n".join(ISS), "\n".join(JSONL), "\n".join(XSKAT[0])]), seeds)
def test_damaged_bytes(tmp_path_factory, text, seed):
    """A file with bytes changed is read, or refused in one line that names it."""
    rng = random.Random(seed)
    spoilt = bytearray(text.encode())
    for _ in range(rng.randint(1, 4)):
        spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
    path = tmp_path_factory.getbasetemp() / "spoilt"
    path.write_bytes(spoilt[: rng.randint(1, len(spoilt))])
    try:
        for record in files.read(path):
            assert check(record, 1).status in ("agrees", "differs", "broken off")
    except TrickformerError as e:
        assert str(e).startswith(str(path))
        assert "\n" not in str(e)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (" 0 p 2 p 1 s ", " 0 x 2 p 1 s ", "game 1, move 2: 'x' is no move"),
        (" 0 p 2 p 1 s ", " 5 p 2 p 1 s ", "game 1, move 2: '5' is neither w nor a seat"),
        (" 1 18 ", " 1 19 ", "game 1, move 1: '19' is no move"),
        ("(;GM[Skat]", "(;GM[Go]", "not a game of Skat"),
        ("P1[bob]", "", "property P1 is missing"),
        ("P1[bob]", "P0[bob]", "property P0 occurs twice"),
        (" ;)", "", "not a complete record"),
        ("MV[w ", "MV[w CJ.", "game 1, move 0: the deal is not 32 different cards"),
        (" s w ", " s 1 ", "game 1, move 5: the skat is not shown after it was picked up"),
    ],
)
def test_damage_is_named(old, new, says):
    assert old in ISS[0]
    with pytest.raises(TrickformerError, match="game 1") as e:
        iss.parse(ISS[0].replace(old, new), 1)
    assert says in str(e.value)


@pytest.fixture
def refused(command, monkeypatch, tmp_path):
    """Runs a command that must fail, from a folder of its own; gives its line on standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        code, out, err = command("records", *arguments)
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert err.startswith("error: ")
        return err

    return call


@pytest.mark.slow
@pytest.mark.parametrize("word", [["show"], ["check"], ["convert", "out.jsonl"]])
def test_files_that_hold_no_games(refused, tmp_path, word):
    def call(name):
        return refused(word[0], name, *word[1:])

    for name, content, says in [
        ("empty", b"", "empty holds no game"),
        ("foreign", b"hello world\n", "foreign holds no games; give"),
        ("binary", bytes(range(256)) * 40, "binary holds no games; give"),
        ("zeros", bytes(4096), "zeros holds no games; give"),
        ("blank", b"\n\n\n", "blank holds no game"),
        ("other.sgf", b"(;GM[1]FF[4];B[aa])\n", "other.sgf, game 1: not a complete record"),
        ("other.jsonl", b'{"deal": 1}\n', "other.jsonl, game 1: "),
        ("cut.jsonl", (JSONL[0] + "\n" + JSONL[1][:90]).encode(), "cut.jsonl, game 2: "),
        ("cut.sgf", (ISS[0] + "\n" + ISS[1][:90]).encode(), "cut.sgf, game 2: not a complete record"),
        ("cut.log", "\n".join(XSKAT[0][:20]).encode(), "cut.log, game 1: the log breaks off"),
        ("latin.sgf", ISS[0].replace("ada", "\xe4da").encode("latin-1"), "latin.sgf, game 1: not text in UTF-8"),
    ]:
        if word[0] == "check" and ", game" in says:  # it goes on, and counts what is damaged
            continue
        if word[0] == "show" and ", game 2" in says:  # it shows the first game
            continue
        (tmp_path / name).write_bytes(content)
        assert says in call(name), name
    assert "cannot read missing: No such file" in call("missing")
    (tmp_path / "folder").mkdir()
    assert "folder holds no records.jsonl; give a run folder with finished hands, or a file of games" in call("folder")


def test_what_convert_refuses(refused, tmp_path):
    (tmp_path / "there.jsonl").write_text("")
    (tmp_path / "log").write_text("\n".join(XSKAT[0]) + "\n")
    assert "there.jsonl already exists" in refused("convert", GAMES, "there.jsonl")
    assert "out.txt: name it .sgf" in refused("convert", GAMES, "out.txt")
    assert "cannot write nowhere/out.jsonl: No such file" in refused("convert", GAMES, "nowhere/out.jsonl")
    assert "log, game 1: its source has no auction" in refused("convert", "log", "out.sgf")
    moved = fixture_games()[0].model_copy(update={"moves": ("1 hand",), "contract": None})
    (tmp_path / "odd.jsonl").write_text(jsonl.write(moved) + "\n")
    assert "odd.jsonl, game 1: the ISS format cannot hold this game" in refused("convert", "odd.jsonl", "out.sgf")
    assert "games.sgf holds no game 99" in refused("show", GAMES, "--game", "99")
    assert "--game" in refused("show", GAMES, "--game", "0")
    assert "Missing command" in refused()


def test_convert_there_and_back(command, tmp_path):
    for source, target in ((GAMES, "a.jsonl"), (tmp_path / "a.jsonl", "b.sgf"), (tmp_path / "b.sgf", "c.jsonl")):
        code, out, _ = command("records", "convert", source, tmp_path / target)
        assert (code, out) == (0, f"{len(ISS)} games written to {tmp_path / target}\n")
    assert (tmp_path / "b.sgf").read_bytes() == GAMES.read_bytes()
    assert (tmp_path / "c.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jsonl", "b.sgf", "c.jsonl"]


def test_a_file_is_known_by_its_content(command, tmp_path):
    for name, text in (("x.txt", ISS[0]), ("y.sgf", JSONL[0]), ("z.jsonl", "\n".join(XSKAT[0]))):
        (tmp_path / name).write_text(text + "\n")
        code, out, _ = command("records", "check", tmp_path / name)
        assert (code, out) == (0, "1 game: 1 agrees, 0 broken off, 0 differ, 0 damaged\n")


def test_check_tells_what_differs(command, tmp_path):
    code, out, _ = command("records", "check", GAMES)
    assert code == 0
    assert "broken off: game 11: seat 0 left\n" in out
    assert "agrees: game 14: the null is worth less than the bid" in out
    assert out.endswith("15 games: 12 agree, 3 broken off, 0 differ, 0 damaged\n")
    (tmp_path / "g.sgf").write_text("\n".join([ISS[0], ISS[1].replace("v:-144", "v:144")]))
    code, out, _ = command("records", "check", tmp_path / "g.sgf", "--json")
    assert code == 1
    found = json.loads(out)
    assert (found["games"], found["agrees"], found["differs"]) == (2, 1, 1)
    assert (found["findings"][0]["game"], found["findings"][0]["status"]) == (2, "differs")


@pytest.mark.parametrize("games", [ISS, JSONL], ids=["iss", "jsonl"])
def test_a_damaged_game_does_not_end_those_behind_it(command, tmp_path, games):
    lines = [games[0], games[1].replace("a", "\udcff", 1), games[2][:40], "", games[3], "nothing", games[4]]
    path = tmp_path / "archive"
    path.write_text("\n".join(lines), errors="surrogateescape")
    code, out, _ = command("records", "check", path, "--json")
    found = json.loads(out)
    assert code == 1 and (found["games"], found["damaged"], found["differs"]) == (6, 3, 0)
    damaged = {f["game"]: f["what"] for f in found["findings"] if f["status"] == "damaged"}
    assert set(damaged) == {2, 3, 5} and damaged[2] == "not text in UTF-8"
    with pytest.raises(TrickformerError, match=r"archive, game 2: not text in UTF-8$"):
        list(files.read(path))


def test_a_log_that_is_damaged_goes_on(command, tmp_path):
    whole = "\n".join(XSKAT[0]).rstrip("\n") + "\n"
    path = tmp_path / "log"
    path.write_text(whole + whole.replace("Won", "Wan").replace("Lost", "Last") + whole)
    code, out, _ = command("records", "check", path)
    assert code == 1 and out.endswith("3 games: 2 agree, 0 broken off, 0 differ, 1 damaged\n")
    assert "damaged: game 2" in out


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, bytes], ids=["gz", "bz2", "plain"])
def test_archives_that_are_compressed_and_pipes(pack, command, tmp_path, monkeypatch):
    data = pack("\n".join(ISS).encode())
    (tmp_path / "archive").write_bytes(data)
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(data))
    writer.start()
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data))))
    told = {command("records", "check", name) for name in (tmp_path / "archive", tmp_path / "pipe", "-")}
    writer.join()
    ((code, out, err),) = told
    assert code == 0 and f"{len(ISS)} games: " in out and not err
    if pack is not bytes:
        (tmp_path / "archive").write_bytes(data[: len(data) // 2])
        code, _, err = command("records", "check", tmp_path / "archive")
        assert code == 2 and len(err.splitlines()) == 1


def test_a_closed_standard_input_is_one_line(command, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    code, _, err = command("records", "check", "-")
    assert code == 2 and err == "error: the standard input is closed; name a file\n"


@pytest.mark.slow
def test_show(command):
    code, out, _ = command("records", "show", GAMES, "--game", "1")
    assert code == 0
    for words in (
        "Game 1 ",
        "0 forehand",
        "ada",
        "Auction (seat and call): 1 18, 0 pass, 2 pass",
        "Laid away: ",
        "Check: agrees",
    ):
        assert words in out
    assert "Soloist: seat 1, clubs, bid 18" in out and "←: card that was led." in out
    assert sum(line.strip()[:2].strip().isdigit() and "seat" in line for line in out.splitlines()) == 10  # tricks
    code, out, _ = command("records", "show", GAMES)
    assert code == 0
    assert out.count("\nResult: ") == out.count("\nISS result: ") == len(ISS)
    lost = "lost, value -144 (without 1 matador, 30 card points of the soloist, 4 tricks)"
    assert f"{lost}; scores by seat 40 40 -194 (Seeger-Fabian)" in " ".join(out.split())
    code, out, _ = command("records", "show", GAMES, "--json")
    games = json.loads(out)["games"]
    assert [game["game"] for game in games] == list(range(1, len(ISS) + 1))
    assert games[0]["computed"] == games[0]["result"]
    assert len(games[0]["tricks"]) == 10


def test_help_loads_nothing_heavy():
    code = "import sys; sys.argv[1:] = ['records', '--help']\nfrom trickformer.cli import main\ntry: main()\n"
    code += "except SystemExit: pass\nprint([m for m in ('torch', 'pyspiel', 'transformers') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
