"""Files of other programs and editors: the cases of public reports, byte order marks, escapes and limits of size."""

import codecs
import json
import shutil

import pytest
from support.play import shared_file
from support.skat_records import GAMES, fixture_games
from support.xskat_log import xskat_log

from trickformer.records import files, jsonl
from trickformer.records.skat import iss
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament

NAMES = ("a]b", "back\\slash", 'engine:cmd="python3 b[1].py"', "ends with \\", "\\]", "[", "\\\\", "]]")


def test_a_game_behind_a_byte_order_mark(command, tmp_path):
    """The case iss-byte-order-mark."""
    path = shared_file("cases", "iss-byte-order-mark.sgf")
    data = path.read_bytes()
    assert data.startswith(codecs.BOM_UTF8)
    (tmp_path / "plain.sgf").write_bytes(data.removeprefix(codecs.BOM_UTF8))
    assert list(files.read(path)) == list(files.read(tmp_path / "plain.sgf"))
    assert command("records", "check", path) == command("records", "check", tmp_path / "plain.sgf")


@pytest.mark.parametrize("notation", ["sgf", "jsonl", "xskat"])
def test_byte_order_marks_are_skipped(notation, command, tmp_path):
    records = [fixture_games()[i] for i in (0, 2, 3)]
    write = {"sgf": lambda record: iss.write(record) + "\n", "jsonl": lambda record: jsonl.write(record) + "\n"}
    text = "".join(map(write.get(notation, xskat_log), records))
    for name, mark in (("plain", ""), ("marked", "\ufeff"), ("blank", "\ufeff\n\n")):
        (tmp_path / name).write_text(mark + text, encoding="utf-8")
    found = [list(files.read(tmp_path / name)) for name in ("plain", "marked", "blank")]
    assert found[0] == found[1] == found[2] and len(found[0]) == len(records)
    (tmp_path / "only").write_bytes(codecs.BOM_UTF8)
    code, out, err = command("records", "check", tmp_path / "only")
    assert (code, out, err) == (
        2,
        "",
        f"error: {tmp_path / 'only'} holds no game; if its run has just begun, wait for the end of a hand\n",
    )


def test_a_run_folder_that_an_editor_has_marked(command, tmp_path):
    run.tournament(Tournament(game="hearts", a="random", b="random", deals=1, seed=3, out=tmp_path / "run"))
    copy = shutil.copytree(tmp_path / "run", tmp_path / "copy")
    for name in ("config.toml", "run.json", "records.jsonl"):
        (copy / name).write_bytes(codecs.BOM_UTF8 + (copy / name).read_bytes())
    assert list(files.read(copy / "records.jsonl")) == list(files.read(tmp_path / "run" / "records.jsonl"))


@pytest.mark.parametrize("name", NAMES)
def test_names_with_brackets_and_backslashes(name, command, tmp_path):
    """The case iss-bracket: written with escapes, read back equal."""
    first = fixture_games()[0]
    record = first.model_copy(update={"names": (name, *first.names[1:]), "tags": first.tags | {"CO": name}})
    (tmp_path / "a.jsonl").write_text(jsonl.write(record) + "\n")
    for source, target in (("a.jsonl", "b.sgf"), ("b.sgf", "c.jsonl"), ("c.jsonl", "d.sgf")):
        assert command("records", "convert", tmp_path / source, tmp_path / target)[::2] == (0, "")
    assert list(files.read(tmp_path / "b.sgf")) == [record]
    assert (tmp_path / "c.jsonl").read_text() == (tmp_path / "a.jsonl").read_text()
    assert (tmp_path / "d.sgf").read_text() == (tmp_path / "b.sgf").read_text()
    assert "P0[" + name.replace("\\", "\\\\").replace("]", "\\]") + "]" in (tmp_path / "b.sgf").read_text()


def test_a_backslash_that_escapes_nothing():
    """The server writes no escapes: a backslash before another character stands for itself."""
    line = GAMES.read_text().splitlines()[0].replace("P1[bob]", r"P1[b\ob]")
    assert iss.parse(line, 1).names[1] == r"b\ob"
    assert iss.parse(iss.write(iss.parse(line, 1)), 1) == iss.parse(line, 1)


def test_a_name_of_two_lines_is_refused(command, tmp_path):
    first = fixture_games()[0]
    (tmp_path / "a.jsonl").write_text(jsonl.write(first.model_copy(update={"names": ("a\nb", "c", "d")})) + "\n")
    code, out, err = command("records", "convert", tmp_path / "a.jsonl", tmp_path / "b.sgf")
    assert (code, out) == (2, "") and "game 1: the ISS format cannot hold this game" in err
    assert not (tmp_path / "b.sgf").exists()


def test_a_line_that_is_too_long_damages_its_game_alone(command, tmp_path):
    lines = [jsonl.write(record) for record in fixture_games()[:3]]
    huge = json.dumps(json.loads(lines[1]) | {"tags": {"CO": "x" * files.MAX_LINE}})
    (tmp_path / "games.jsonl").write_text("\n".join([lines[0], huge, lines[2], ""]))
    code, out, _ = command("records", "check", tmp_path / "games.jsonl")
    assert code == 1 and out.endswith("3 games: 2 agree, 0 broken off, 0 differ, 1 damaged\n")
    assert "damaged: game 2: a line has more than 1 MiB\n" in out
    code, out, err = command("records", "convert", tmp_path / "games.jsonl", tmp_path / "out.sgf")
    assert (code, out) == (2, "") and err.endswith("games.jsonl, game 2: a line has more than 1 MiB\n")
    assert not (tmp_path / "out.sgf").exists()


@pytest.mark.slow
@pytest.mark.parametrize("notation", ["sgf", "jsonl", "xskat"])
@pytest.mark.parametrize("share", [0.2, 0.9])
def test_a_torn_last_game_hides_no_other(notation, share, command, tmp_path):
    """`show` prints the whole games, then one line on standard error; `convert` writes nothing."""
    write = {"sgf": lambda record: iss.write(record) + "\n", "jsonl": lambda record: jsonl.write(record) + "\n"}
    texts = [write.get(notation, xskat_log)(fixture_games()[i]) for i in (0, 2, 3)]
    (tmp_path / "whole").write_text("".join(texts[:2]))
    path = tmp_path / "torn"
    path.write_text("".join(texts[:2]) + texts[2][: int(share * len(texts[2]))])
    warning = f"warning: {path}: game 3 is cut off and not shown\n"
    for given in ((), ("--json",)):
        code, out, err = command("records", "show", path, *given)
        assert (code, err) == (0, warning)
        assert out == command("records", "show", tmp_path / "whole", *given)[1]
    assert command("records", "show", path, "--game", 2)[::2] == (0, "")
    code, out, err = command("records", "show", path, "--game", 3)
    assert (code, out, err.count("\n")) == (2, "", 1) and err.startswith(f"error: {path}, game 3: ")
    code, out, _ = command("records", "check", path)
    assert code == 1 and out.endswith("3 games: 2 agree, 0 broken off, 0 differ, 1 damaged\n")
    code, out, err = command("records", "convert", path, tmp_path / "out.jsonl")
    assert (code, out, err.count("\n")) == (2, "", 1) and not (tmp_path / "out.jsonl").exists()


def test_a_torn_record_of_a_run(command, tmp_path):
    """Without its line end a whole record counts; a damaged one in the middle is an error."""
    run.tournament(Tournament(game="hearts", a="random", b="random", deals=1, seed=3, out=tmp_path / "run"))
    path = tmp_path / "run" / "records.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines))
    assert command("records", "check", path)[0] == 0  # takes the tournament's progress from standard error
    code, whole, err = command("records", "show", tmp_path / "run")
    assert (code, err) == (0, "") and whole.count("Check: agrees") == len(lines)
    path.write_text("\n".join([*lines[:-1], lines[-1][:40]]))
    code, out, err = command("records", "show", tmp_path / "run")
    assert code == 0 and whole.startswith(out) and out.count("Check: agrees") == len(lines) - 1
    assert err == f"warning: {path}: game {len(lines)} is cut off and not shown\n"
    path.write_text("\n".join([lines[0], lines[1][:40], lines[2], lines[3][:40]]))
    code, out, err = command("records", "show", tmp_path / "run")
    assert (code, out, err.count("\n")) == (2, "", 1) and f"{path}, game 2: " in err
    path.write_text(lines[0][:40])
    code, out, err = command("records", "show", tmp_path / "run")
    assert (code, out, err.count("\n")) == (2, "", 1) and f"{path}, game 1: " in err


def test_games_by_house_rules_are_left_out(command, tmp_path):
    ramsch = xskat_log(fixture_games()[0]).replace("bob played Club", "bob lost the Ramsch")
    path = tmp_path / "log"
    path.write_text(ramsch + xskat_log(fixture_games()[2]) + ramsch + xskat_log(fixture_games()[3])[:300])
    code, out, err = command("records", "show", path)
    assert code == 0 and out.count("Check: agrees") == 1 and "Game 2 " in out
    assert err == f"warning: {path}: game 4 is cut off and not shown; games by house rules are not shown (Ramsch 2)\n"
    code, out, err = command("records", "show", path, "--game", 3)
    assert (code, out, err) == (
        2,
        "",
        f"error: {path}, game 3: Ramsch is a house rule, not in the international rules (ISkO)\n",
    )
