"""Games of a file by their numbers: the same ones as in its order, and none but those that are asked for."""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import tracemalloc

import pytest
from support.play import shared_file

from trickformer.base import TrickformerError
from trickformer.records import files, line_index, played
from trickformer.records.files import GameFile
from trickformer.records.line_index import MAX_LINE, LineIndex
from trickformer.records.skat.record import UnreadableGame
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a tournament of 28 hands of Hearts."""
    out = tmp_path_factory.mktemp("run") / "out"
    run.tournament(Tournament(game="hearts", a="rules", b="random", deals=2, seed=3, out=out))
    return out


@pytest.fixture
def parsed(monkeypatch):
    """The numbers of the records that are replayed, as they come."""
    found = []
    read = played.RunHeader.read

    def note(self, line, number):
        found.append(number)
        return read(self, line, number)

    monkeypatch.setattr(played.RunHeader, "read", note)
    return found


def lines_of(folder):
    return (folder / "records.jsonl").read_bytes().splitlines(keepends=True)


def changed(folder, data):
    """Write other records beside the config of a run."""
    path = folder / "other.jsonl"
    path.write_bytes(data)
    return path


def test_show_replays_the_game_that_it_shows(folder, parsed, command):
    code, out, err = command("records", "show", folder, "--game", 20)
    assert (code, err, parsed) == (0, "", [20]) and "Game 20 " in out
    assert command("records", "convert", folder, folder.parent / "one.jsonl", "--game", 7)[0] == 0
    assert parsed == [20, 7]
    assert command("records", "show", folder, "--game", 29)[0] == 2


BLANKS = [b"\n", b" \t\n", "\u3000\n".encode(), b"\r\n"]


@pytest.mark.parametrize("piece", [7, 1_000, 1 << 20])
@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines,
        lambda lines: [codecs.BOM_UTF8, *lines],
        lambda lines: [*BLANKS[:2], *lines[:9], *BLANKS, *lines[9:], *BLANKS],
        lambda lines: [*lines[:9], b"damaged\n", b"\xff\n", *lines[9:]],
        lambda lines: [*lines[:-1], lines[-1][:-1]],
        lambda lines: [*lines[:-1], lines[-1][:60]],
        lambda lines: [*lines[:3], b'{"deal": ' + b" " * MAX_LINE + b"1}\n", *lines[3:]],
        lambda lines: lines[:1],
    ],
)
def test_games_are_those_in_the_order_of_the_file(folder, change, piece, monkeypatch):
    path = changed(folder, b"".join(change(lines_of(folder))))
    monkeypatch.setattr(line_index, "READ_SIZE", max(piece, path.stat().st_size >> 12))
    expected = list(files.games(path))
    with GameFile(path) as every:
        numbers = [*range(len(expected), 0, -1), 1]
        assert [every.get(n) for n in numbers] == [expected[n - 1] for n in numbers]
        assert len(every) == len(expected)
    for number in (0, -1, len(expected) + 1):
        with GameFile(path) as every, pytest.raises(TrickformerError, match=f"holds no game {number}"):
            every.get(number)


def test_games_in_other_notations(folder):
    plain = b"".join(lines_of(folder))
    for name, data in (("x.gz", gzip.compress(plain)), ("x.bz2", bz2.compress(plain))):
        (folder / name).write_bytes(data)
        with GameFile(folder / name) as every:
            assert every.get(28) == list(files.games(folder / name))[27] and len(every) == 28
    path = shared_file("cases", "iss-byte-order-mark.sgf")
    with GameFile(path) as every:
        assert [every.get(n + 1) for n in range(len(every))] == list(files.games(path))


@pytest.mark.parametrize("data", [b"", b"\n \n", b"no game\n"])
def test_files_without_games(data, tmp_path):
    path = tmp_path / "games.jsonl"
    with pytest.raises(TrickformerError, match=r"games.jsonl"):
        GameFile(path)
    path.write_bytes(data)
    with pytest.raises(TrickformerError, match="holds no game"):
        GameFile(path)


def test_a_torn_line_hides_no_other_game(folder, command):
    lines = lines_of(folder)
    for rest in (1, 60, len(lines[-1]) // 2, len(lines[-1]) - 2):
        path = changed(folder, b"".join(lines[:-1]) + lines[-1][:rest])
        code, out, err = command("records", "show", path, "--json")
        assert code == 0 and [game["game"] for game in json.loads(out)["games"]] == list(range(1, 28))
        assert err == f"warning: {path}: game 28 is cut off and not shown\n"
        assert command("records", "show", path, "--game", 27)[::2] == (0, "")
        code, _, err = command("records", "show", path, "--game", 28)
        assert code == 2 and err.startswith(f"error: {path}, game 28")
        with GameFile(path) as every:
            last = every.get(28)
            assert len(every) == 28 and isinstance(last, UnreadableGame) and last.torn


def test_an_index_holds_a_few_bytes_a_line(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_bytes((b'{"deal": 0}' + b" " * 300 + b"\n") * 20_000)
    tracemalloc.start()
    lines = LineIndex(path)
    assert lines.count() == 20_000 and lines.read(20_000) is not None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    lines.close()
    assert peak < path.stat().st_size / 2


def test_games_that_are_appended_count_after_a_refresh(folder, tmp_path):
    lines = (folder / "records.jsonl").read_bytes().splitlines(keepends=True)
    for name in ("config.toml", "run.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"".join(lines[:5]) + lines[5][:20])  # the sixth line is being written
    with GameFile(path) as every:
        assert len(every) == 6 and isinstance(every.get(6), UnreadableGame)
        path.write_bytes(b"".join(lines[:9]))
        assert len(every) == 6
        every.refresh()
        assert len(every) == 9
        for number in (5, 6, 9):
            assert every.get(number).scores == tuple(json.loads(lines[number - 1])["scores"])
