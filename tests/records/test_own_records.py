"""Records of our own tournaments: shown, checked and converted, in every game."""

from __future__ import annotations

import json
import shutil

import pytest
from support.skat_records import damaged

from trickformer import games
from trickformer.base import TrickformerError
from trickformer.plumbing import digests
from trickformer.plumbing.files import replace
from trickformer.records import files, jsonl
from trickformer.records.check import check
from trickformer.records.show import data
from trickformer.records.skat import iss
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament
from trickformer.tournaments.store import HandRecord

DEALS = 2


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """The folder of a tournament of random players, by game string."""
    found = {}

    def played(spec):
        if spec not in found:
            found[spec] = tmp_path_factory.mktemp("run") / "out"
            run.tournament(Tournament(game=spec, a="random", b="random", deals=DEALS, seed=3, out=found[spec]))
        return found[spec]

    return played


def hands(folder):
    return [HandRecord.model_validate_json(line) for line in (folder / "records.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("name", games.NAMES)
def test_records_of_every_game(name, folder_of, command, tmp_path):
    """Shown from the folder of the run; once converted, from anywhere."""
    folder, game = folder_of(name), games.load(name)
    source, target = folder / "records.jsonl", tmp_path / "own.jsonl"
    told = hands(folder)
    good = f"{len(told)} games: {len(told)} agree, 0 broken off, 0 differ, 0 damaged\n"
    assert command("records", "check", source)[:2] == (0, good)  # standard error may hold the tournament's progress
    assert command("records", "convert", source, target) == (0, f"{len(told)} games written to {target}\n", "")
    assert command("records", "check", target) == (0, good, "")
    assert list(files.read(target)) == list(files.read(source))
    assert command("records", "check", folder) == (0, good, "")
    assert command("records", "convert", folder, tmp_path / "too.jsonl")[::2] == (0, "")
    assert (tmp_path / "too.jsonl").read_bytes() == target.read_bytes()
    code, out, err = command("records", "show", source, "--json")
    shown = json.loads(out)["games"]
    assert (code, err, len(shown)) == (0, "", len(told))
    assert command("records", "show", target, "--json")[1] == out
    code, text, _ = command("records", "show", target)
    assert code == 0 and text.count("Check: agrees") == len(told)
    for hand, record in zip(told, shown):
        assert record["names"] == ["random"] * game.players
        if name != "skat":
            assert (record["history"], record["scores"]) == (list(hand.history), list(hand.scores))
            assert "scores " + " ".join(map(str, hand.scores)) in record["text"]
            assert (name in record["rules"]) and record["mission"] == hand.mission


def test_a_record_that_was_changed_after_the_run(folder_of, command, tmp_path):
    """By its checksum, also where the game still agrees with the rules; and a copy without checksums has none."""
    folder = tmp_path / "run"
    shutil.copytree(folder_of("hearts"), folder)
    path, n = folder / "records.jsonl", len(hands(folder))
    first, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([first.replace(b'"seconds"', b'"seconds" '), *others]))
    code, out, _ = command("records", "check", folder)
    assert (code, out.splitlines()) == (
        1,
        ["damaged: game 1: its checksum differs", f"{n} games: {n - 1} agree, 0 broken off, 0 differ, 1 damaged"],
    )
    path.write_bytes(b"".join(others[1:]))
    code, out, _ = command("records", "check", folder)
    assert code == 1 and out.splitlines()[-2:] == [
        f"missing: 2 games of the run; restore {path} from a copy",
        f"{n - 2} games: {n - 2} agree, 0 broken off, 0 differ, 0 damaged",
    ]
    assert json.loads(command("records", "check", folder, "--json")[1])["missing"] == 2
    (folder / "records.jsonl.sums").unlink()
    assert command("records", "check", folder)[0] == 0


def test_a_folder_without_records_and_a_name_that_leaves_no_room(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = command("records", "check", ".")
    assert code == 2 and "holds no records.jsonl" in err
    long = tmp_path / ("g" * 255)
    long.write_text("")
    code, _, err = command("records", "check", long)
    assert code == 2 and err.count("\n") == 1 and "Traceback" not in err


def test_skat_goes_to_other_programs_and_back(folder_of, command, tmp_path):
    source = folder_of("skat") / "records.jsonl"
    for start, target in ((source, "a.sgf"), (tmp_path / "a.sgf", "b.jsonl"), (tmp_path / "b.jsonl", "c.sgf")):
        code, _, err = command("records", "convert", start, tmp_path / target)
        assert (code, err) == (0, "")
    assert (tmp_path / "a.sgf").read_text() == (tmp_path / "c.sgf").read_text()
    records = list(files.read(tmp_path / "a.sgf"))
    assert [record.source for record in records] == ["trickformer"] * len(records)
    for number, (record, hand) in enumerate(zip(records, hands(folder_of("skat"))), 1):
        assert check(record, number).status == "agrees"
        value = 0 if record.result == "passed" else int(record.result.split(" v:")[1].split()[0])
        won = max(hand.scores) if value > 0 else min(hand.scores)
        assert won == value + (50 if value > 0 else -50 if value else 0)
        assert iss.write(record) == (tmp_path / "a.sgf").read_text().splitlines()[number - 1]


def test_other_games_are_no_skat(folder_of, command, tmp_path):
    source = folder_of("hearts") / "records.jsonl"
    code, out, err = command("records", "convert", source, tmp_path / "a.sgf")
    assert (code, out) == (2, "") and err.endswith("game 1: an ISS record is of Skat, and this is a game of hearts()\n")
    assert not [*tmp_path.iterdir()]


def test_the_crew_names_its_mission(folder_of, command):
    """In the record, and where it is shown; other games have none."""
    folder = folder_of("crew")
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    assert [line["mission"] for line in lines] == [line["history"][0] for line in lines]
    assert all(
        f"mission {line['mission']} " in command("records", "show", folder / "records.jsonl")[1] for line in lines
    )
    assert not any(
        "mission" in json.loads(line) for line in (folder_of("skat") / "records.jsonl").read_text().splitlines()
    )


def test_missions_of_ones_own_under_any_name(command, tmp_path):
    file, out = tmp_path / "mine, and (others).toml", tmp_path / "run"
    file.write_text("[[mission]]\nid = 60\ntasks = 1\n")
    given = ["--player", "random", "--games", 2, "--random-games", 0, "--file", file, "--out", out]
    assert command("crew", "evaluate", *given)[0] == 0
    code, text, err = command("records", "check", out / "records.jsonl")
    assert (code, text, err) == (0, "2 games: 2 agree, 0 broken off, 0 differ, 0 damaged\n", "")
    code, text, err = command("records", "show", out / "records.jsonl", "--json")
    assert (code, err) == (0, "") and [game["mission"] for game in json.loads(text)["games"]] == [60, 60]


def test_records_of_a_run_that_began_before_missions_were_named(folder_of, command, tmp_path):
    """They are read, and gone on with."""
    folder = shutil.copytree(folder_of("crew"), tmp_path / "old")
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    old = [json.dumps({key: value for key, value in line.items() if key != "mission"}) + "\n" for line in lines]
    replace(folder / "records.jsonl", "".join(old[:-1]))
    digests.sums_file(folder / "records.jsonl").unlink()
    about = json.loads((folder / "run.json").read_text())
    replace(folder / "run.json", json.dumps({key: value for key, value in about.items() if key != "game"}))
    assert command("records", "check", folder / "records.jsonl")[0] == 0
    code, _, err = command("tournament", "--config", folder / "config.toml", "--out", folder, "--resume")
    assert code == 0, err
    assert len(hands(folder)) == len(lines)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("scores", [1, 1, 1, 1], "scores 1 1 1 1 in the record, "),
        ("history", [0, 0, 0], "its history is not legal in hearts()"),
        ("history", [], "its history stops before the end of the game"),
        ("seating", [0, 9, 0, 1], "seating 0 9 0 1: the run has players 0 to 1 only"),
        ("seating", [0, -1, 0, 1], "seating 0 -1 0 1: the run has players 0 to 1 only"),
        ("seating", [0, 1], "2 seats in the record, 4 at the table"),
        ("deal", "x", "not a record of a hand"),
        ("history", [2**70], "not a record of a hand"),
    ],
)
def test_a_damaged_record_is_told_and_counted(key, value, says, folder_of, command, tmp_path):
    folder = shutil.copytree(folder_of("hearts"), tmp_path / "run")
    lines = (folder / "records.jsonl").read_text().splitlines()
    (folder / "records.jsonl").write_text(
        "\n".join([lines[0], json.dumps(json.loads(lines[1]) | {key: value}), lines[2], lines[3][:50]])
    )
    code, out, _ = command("records", "check", folder / "records.jsonl")
    assert code == 1 and out.endswith("4 games: 2 agree, 0 broken off, 0 differ, 2 damaged\n")
    assert f"damaged: game 2: {says}" in out
    code, out, err = command("records", "show", folder / "records.jsonl")
    assert (code, out) == (2, "") and err.startswith(f"error: {folder / 'records.jsonl'}, game 2: {says}")
    assert err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("scores", [1, 1, 1, 1], "scores 1 1 1 1 in the record, "),
        ("rules", "hearts(chess=1)", "unknown option of hearts 'chess'"),
        ("history", [1], "its history is not legal in "),
        ("mission", 7, "mission 7 in the record, None by its history"),
        ("moves", ["0 pass"], "move 1 does not match the history"),
    ],
)
def test_a_converted_record_that_differs(key, value, says, folder_of, command, tmp_path):
    target = tmp_path / "own.jsonl"
    command("records", "convert", folder_of("hearts") / "records.jsonl", target)
    line = json.loads(target.read_text().splitlines()[0])
    if key == "history":
        value = [*line["history"][:1] * 2, *line["history"][1:]]
    target.write_text(json.dumps(line | {key: value}) + "\n")
    code, out, err = command("records", "check", target)
    assert (code, err) == (1, "") and f"differs: game 1: {says}" in out
    assert command("records", "show", target)[0] == 0


def test_a_record_of_a_game_that_is_not_installed(folder_of, command, tmp_path):
    """It cannot be checked, which is no difference. Hands of a run are all of one game, so one line says it."""
    target, folder = tmp_path / "own.jsonl", shutil.copytree(folder_of("hearts"), tmp_path / "run")
    command("records", "convert", folder, target)
    line = json.loads(target.read_text().splitlines()[0])
    target.write_text(json.dumps(line) + "\n" + json.dumps(line | {"rules": "oh_hell(cards=7)"}) + "\n")
    code, out, err = command("records", "check", target)
    assert (code, err) == (1, "")
    assert out == (
        "not installed: game 2: the game oh_hell is not installed; install its package\n"
        "2 games: 1 agrees, 0 broken off, 0 differ, 0 damaged, 1 not installed\n"
    )
    assert json.loads(command("records", "check", target, "--json")[1])["not installed"] == 1
    assert command("records", "show", target)[0] == 0
    about = json.loads((folder / "run.json").read_text()) | {"game": "trickformer_oh_hell(cards=7)"}
    (folder / "run.json").write_text(json.dumps(about))
    code, out, err = command("records", "check", folder)
    says = f"error: {folder / 'records.jsonl'}: the game oh_hell is not installed; install its package\n"
    assert (code, out, err) == (2, "", says)


def test_a_shown_hand_names_the_players_by_seat(folder_of, command):
    """Their numbers, which `records worst` counts from 1 and records from 0, are left out."""
    for name in ("hearts", "skat"):
        code, out, _ = command("records", "show", folder_of(name), "--game", 1)
        assert code == 0 and "deal 0" in out and "seating" not in out


def test_records_without_their_run(folder_of, command, tmp_path):
    """One line says what is missing."""
    lone = shutil.copy(folder_of("hearts") / "records.jsonl", tmp_path / "records.jsonl")
    code, out, err = command("records", "show", lone)
    says = "a tournament's record needs config.toml and run.json beside it; one is missing or broken"
    assert (code, out, err) == (2, "", f"error: {lone}, game 1: {says}\n")
    unnamed = "run.json does not name the game; continue the run with --resume"
    for about, what in (({"players": "ab"}, says), ({"players": []}, unnamed)):
        (tmp_path / "config.toml").write_text("seed = 1\n")
        (tmp_path / "run.json").write_text(json.dumps(about))
        code, out, err = command("records", "show", lone)
        assert (code, out, err.count("\n")) == (2, "", 1) and what in err


@pytest.mark.slow
@pytest.mark.parametrize("name", games.NAMES)
def test_damaged_lines_are_read_or_refused(name, folder_of, tmp_path, command):
    """With words or characters changed: whatever is read can be checked, shown and written."""
    source = folder_of(name) / "records.jsonl"
    command("records", "convert", source, tmp_path / "own.jsonl")
    reader = jsonl.LineReader(source.parent)
    refused = 0
    for text in (source.read_text().splitlines()[0], (tmp_path / "own.jsonl").read_text().splitlines()[0]):
        for seed in range(150):
            spoilt = damaged(text, seed)
            try:
                record = reader.read(spoilt, 1)
            except TrickformerError as e:
                assert str(e).startswith("game 1: ") and "\n" not in str(e), f"seed {seed}"
                refused += 1
                continue
            assert check(record, 1).status in ("agrees", "differs", "broken off", "not installed"), f"seed {seed}"
            json.dumps(data(record, 1))
            assert reader.read(jsonl.write(record), 1) == record, f"seed {seed}"
    assert refused > 100
