"""`trickformer mines`: values, tables that resume, agreement of the draws, and what is refused."""

import fcntl
import json

import numpy as np
import pytest
from support.records import comparable

from trickformer import _core, games
from trickformer.plumbing import digests
from trickformer.plumbing.report import REPORT
from trickformer.studies.mines import agree, report, results
from trickformer.studies.mines.exact import best_value
from trickformer.studies.mines.plan import MinesComparison, SamplerAgreement
from trickformer.tournaments import run

TABLE = {"simulations": "20,80", "beliefs": "rejection,inherited,exact", "games": 8, "seed": 3}
AGREE = {"positions": 6, "draws": 200, "trials": 2000, "seed": 5}


def test_exact_prints_the_papers_values(command):
    code, out, err = command(
        "mines", "exact", "--board", "4x4", "--mines", 6, "--first-move", "no-neighbours", "--json"
    )
    found = json.loads(out)
    assert code == 0
    assert "moves" in err  # progress
    assert (found["value"], found["first_move"]) == (1.0, "central")
    assert {m["move"]: round(m["value"], 4) for m in found["moves"]} == {
        "central": 1.0,
        "edge": 0.9162,
        "corner": 0.8198,
    }
    assert sorted(cell for m in found["moves"] for cell in m["cells"]) == [[r, c] for r in range(4) for c in range(4)]


def test_exact_values_a_position(command):
    """Figure 2 of the paper, left: 1 cell on average by the middle one, 4/3 by the others."""
    position = "..1/.32/..1"
    code, out, _ = command("mines", "exact", "--board", "3x3", "--mines", 3, "--position", position, "--json")
    moves = {m["move"]: m["expected_moves"] for m in json.loads(out)["moves"]}
    assert code == 0
    assert moves == pytest.approx({"(0,0)": 4 / 3, "(1,0)": 1, "(2,0)": 4 / 3, "(0,1)": 0, "(2,1)": 0})
    code, out, _ = command("mines", "exact", "--board", "3x3", "--mines", 3, "--position", position)
    assert "a best cell is (0,0), with a final score of 0.8889" in out, "(2,0) is as good"
    assert "row and column of a cell, counted from 0" in " ".join(out.split())
    code, out, _ = command("mines", "exact", "--board", "1x4", "--mines", 1, "--position", ".1..")
    assert code == 0 and "the best cell is (0,3)" in out, "one cell is better than all others"


def test_classes_of_first_moves(command):
    """Symmetric cells have one value, by solving each of them."""
    for board, mines in (("3x5", 2), ("5x5", 3), ("1x6", 2)):
        out = command("mines", "exact", "--board", board, "--mines", mines, "--first-move", "safe", "--json")[1]
        rows, cols = map(int, board.split("x"))
        game = games.load(f"mines(rows={rows},cols={cols},mines={mines},first_move=safe)")
        solver = _core.mines.Solver(game.board, 10**6, 10**6)
        start = _core.mines.Observation(game.board, [], [])
        names = [m["move"] for m in json.loads(out)["moves"]]
        assert len(set(names)) == len(names)
        for move in json.loads(out)["moves"]:
            sums = {solver.open(start, r * cols + c) for r, c in move["cells"]}
            assert len(sums) == 1
            count, total = sums.pop()
            assert move["expected_moves"] == pytest.approx(total / count)
    assert best_value(games.load("mines(rows=8,cols=8,mines=10)"), 1000) is None


def test_a_table_that_was_stopped_goes_on(tmp_path, command):
    whole = run.tournament(MinesComparison(**TABLE))
    part = MinesComparison(**TABLE, out=tmp_path)
    run.tournament(part)
    records = tmp_path / run.RECORDS
    lines = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(b"".join(lines[:17]) + lines[17][:20])
    arguments = [f"--{key}={value}" for key, value in TABLE.items()]
    code, out, err = command("mines", "table", *arguments, "--out", tmp_path, "--resume", "--json")
    assert code == 0, err
    assert comparable(run.load(tmp_path, MinesComparison).records) == comparable(whole.records)
    again, found = results.result(whole), json.loads(out)
    for row, same in zip(found["rows"], again["rows"]):
        for name, player in row["players"].items():
            for key in ("score", "won", "inconsistent", "drawn_per_move"):
                assert player[key] == same["players"][name][key]
        assert row["difference"]["score"] == pytest.approx(
            row["players"]["inherited"]["score"] - row["players"]["rejection"]["score"]
        )
    assert found["optimal"] == 1
    assert {p.name for p in tmp_path.iterdir()} >= {run.CONFIG, run.ABOUT, report.SUMMARY, REPORT, report.PLOT}
    text = (tmp_path / REPORT).read_text()
    assert "| 20, rejection |" in text
    assert "inherited minus rejection" in text and "exact minus rejection" in text
    for row in found["rows"]:
        exact, first = (row["players"][name]["score"] for name in ("exact", "rejection"))
        assert row["differences"]["exact"]["score"] == pytest.approx(exact - first)
        assert row["differences"]["inherited"] == row["difference"]
    for other in (["--games=9"], ["--c=0.6"], ["--domain=board"], ["--cascade"]):
        changed = [a for a in arguments if a.partition("=")[0] != other[0].partition("=")[0]]
        code, _, err = command("mines", "table", *changed, *other, "--out", tmp_path, "--resume")
        assert code == 2
        assert "choose another --out" in err


def test_only_beliefs_that_propose_layouts_have_a_domain():
    table = MinesComparison(board="4x4", mines=3, beliefs="rejection,exact", domain="board", simulations="5", games=2)
    result = run.tournament(table)
    assert len(result.records) == 4
    assert [",domain=board" in spec for spec in table.specs] == [True, False]


def test_a_table_with_the_cascade(tmp_path, command):
    """Its boards are those without; a folder from before the option has none."""
    options = ["--board=5x5", "--mines=3", *[f"--{key}={value}" for key, value in TABLE.items()]]
    folders = {flag: tmp_path / flag for flag in ("--cascade", "--no-cascade")}
    found = {}
    for flag, folder in folders.items():
        code, out, err = command("mines", "table", *options, flag, "--out", folder, "--json")
        assert code == 0, err
        found[flag] = json.loads(out)
        assert found[flag]["cascade"] == (flag == "--cascade")
        assert ("first move no-neighbours, cascade:" in (folder / REPORT).read_text()) == (flag == "--cascade")
    records = {flag: run.load(folder, MinesComparison).records for flag, folder in folders.items()}
    decisions = {flag: sum(r.decisions[0] for r in games) for flag, games in records.items()}
    assert 2 * decisions["--cascade"] < decisions["--no-cascade"], "a move opens many cells"
    config = folders["--no-cascade"] / run.CONFIG
    config.write_text("".join(line for line in config.read_text().splitlines(True) if "cascade" not in line))
    digests.sums_file(config).unlink(missing_ok=True)
    for flag in ("--no-cascade", "--cascade"):
        code, _, err = command("mines", "table", *options, flag, "--out", folders["--no-cascade"], "--resume")
        assert code == (2 if flag == "--cascade" else 0), err
        assert ("--no-cascade, not --cascade; choose another --out" in err) == (flag == "--cascade")


def test_exact_has_the_same_values_with_the_cascade(command):
    values = {}
    for flag in ("--cascade", "--no-cascade"):
        code, out, _ = command("mines", "exact", "--board", "3x4", "--mines", 2, "--first-move", "safe", flag, "--json")
        assert code == 0
        found = json.loads(out)
        assert found.pop("cascade") == (flag == "--cascade")
        values[flag] = found
    assert values["--cascade"] == values["--no-cascade"]
    position = ["--board", "3x3", "--mines", 2, "--position"]
    code, out, _ = command("mines", "exact", *position, "01./12./...", "--cascade")
    assert code == 0 and "01./12./..., cascade: " in out


@pytest.mark.slow
def test_agreement_is_found_and_resumed(tmp_path, command):
    """Exact draws and rejection pass; walks without a step do not. Going on gives the records of one go."""
    whole = agree.agree(SamplerAgreement(**AGREE))
    assert whole["counted"] == AGREE["positions"]
    for name in ("rejection", "exact"):
        assert whole["methods"][name]["smallest_bonferroni"] > 0.001
        assert whole["methods"][name]["inconsistent"] == 0
    agree.agree(SamplerAgreement(**AGREE | {"positions": 3}, out=tmp_path))
    with (tmp_path / agree.RECORDS).open("a") as file:
        file.write('{"position": 3, "ce')
    code, out, err = command("mines", "agree", *[f"--{k}={v}" for k, v in AGREE.items()], "--out", tmp_path, "--resume")
    assert code == 0, err
    assert "p by position" in out
    lines = (tmp_path / agree.RECORDS).read_text().splitlines()
    assert [json.loads(line) for line in lines] == whole["records"]
    assert (tmp_path / agree.PLOT).stat().st_size > 1000
    broken = agree.agree(SamplerAgreement(**AGREE | {"trials": 1}))["methods"]
    assert broken["metropolis"]["inconsistent"] > 0.5
    assert broken["metropolis"]["smallest"] == 0
    other = [f"--{k}={v}" for k, v in (AGREE | {"trials": 7}).items()]
    code, _, err = command("mines", "agree", *other, "--out", tmp_path, "--resume")
    assert code == 2
    assert "--trials 2000, not --trials 7" in err
    again = [*[f"--{k}={v}" for k, v in AGREE.items()], "--out", tmp_path, "--resume"]
    with (tmp_path / agree.RECORDS).open() as other_run:
        fcntl.flock(other_run, fcntl.LOCK_EX)
        code, _, err = command("mines", "agree", *again)
        assert (code, "another run is writing" in err) == (2, True)
    for text, says in (
        (lines[0] + "\n" + lines[0] + "\n", "twice"),
        ("nothing\n", "broken"),
        ('{"position": 0}\n', "broken"),
        (lines[0].replace('"position": 0', '"position": "0"') + "\n", "broken"),
    ):
        (tmp_path / agree.RECORDS).write_text(text)
        digests.sums_file(tmp_path / agree.RECORDS).unlink(missing_ok=True)
        code, _, err = command("mines", "agree", *again)
        assert (code, says in err) == (2, True)
        assert (tmp_path / agree.RECORDS).read_text() == text


def test_a_layout_that_hides_nothing_is_laid_anew():
    """Of 1x3 with the mine in the middle, every position has one layout."""
    found = agree.agree(SamplerAgreement(board="1x3", mines=1, first_move="any", positions=30, draws=100, trials=10))
    assert {record["layouts"] for record in found["records"]} == {2}


def test_draws_on_a_board_of_several_words_agree_with_the_list_of_all_layouts():
    found = agree.agree(SamplerAgreement(board="9x9", mines=2, positions=8, draws=200, trials=10, seed=3))
    assert found["counted"] == 8
    for name in ("rejection", "exact"):
        assert found["methods"][name]["smallest_bonferroni"] > 0.001
        assert found["methods"][name]["inconsistent"] == 0
    assert found["methods"]["metropolis"]["inconsistent"] > 0.2


def test_draws_with_the_cascade_agree_with_the_list_of_all_layouts():
    """The positions can occur in games with the cascade: all neighbours of a 0 are open."""
    options = AGREE | {"board": "5x5", "mines": 3, "positions": 12}
    found = agree.agree(SamplerAgreement(**options, cascade=True))
    assert found["counted"] == 12
    for name in ("rejection", "exact"):
        assert found["methods"][name]["smallest_bonferroni"] > 0.001
        assert found["methods"][name]["inconsistent"] == 0
    board = _core.mines.Board(5, 5, 3, 2)
    numbers = [dict(zip(record["cells"], record["shown"])) for record in found["records"]]
    zeros = [(shown, cell) for shown in numbers for cell in shown if shown[cell] == 0]
    assert zeros and all(shown.keys() >= set(board.around(cell)) for shown, cell in zeros)
    plain = agree.agree(SamplerAgreement(**options))["records"]
    assert sum(len(r["cells"]) for r in found["records"]) > sum(len(r["cells"]) for r in plain)
    assert ", cascade: 12 random positions" in str(agree.make_report(found).heading)


def test_random_positions_hide_something():
    game = games.load("mines")
    sizes = set()
    for index in range(40):
        cells, shown = agree.random_position(game, 1, index, np.random.default_rng(index))
        assert _core.mines.Counter(game.board, _core.mines.Observation(game.board, cells, shown)).layouts > 1
        sizes.add(len(cells))
    assert len(sizes) > 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["exact", "--board", "4"], "write rows x columns"),
        (["exact", "--board", "23x23"], "from 1 to 512 cells"),
        (["exact", "--board", "9x9", "--mines", "10"], "9x9 with 10 mines is too large: too many layouts: 1.1e+12"),
        (["exact", "--mines", "8"], "room for 1 to 7 mines"),
        (["exact", "--board", "7x7", "--mines", "11"], "7x7 with 11 mines is too large"),
        (["exact", "--position", "1.."], "write 4 rows of 4 marks"),
        (["exact", "--position", "1..", "--first-move", "any"], "--first-move has no effect after the first move"),
        (["exact", "--board", "1x3", "--mines", "1", "--position", "x.."], "write 1 rows of 3 marks"),
        (
            ["exact", "--board", "1x3", "--mines", "1", "--position", "2.."],
            "no layout of 1 mines is consistent with it",
        ),
        (["exact", "--board", "1x3", "--mines", "1", "--position", "01."], "no safe cell is left to open"),
        (["table"], "give either --seconds"),
        (["table", "--seconds", "1", "--simulations", "1"], "give either --seconds"),
        (["table", "--seconds", "1,x"], "--seconds 1,x: write numbers above 0"),
        (["table", "--seconds", "0.1,0.1"], "each once"),
        (["table", "--simulations", "0"], "--simulations 0: write numbers"),
        (["table", "--seconds", "1", "--beliefs", "guess"], "choose from rejection, metropolis"),
        (["table", "--seconds", "1", "--beliefs", "exact", "--domain", "board"], "--domain board is for beliefs that"),
        (["table", "--seconds", "1", "--resume"], "--resume needs the --out"),
        (["exact", "--board", "1x1", "--mines", "1", "--first-move", "any"], "leave no room for a mine"),
        (["agree", "--board", "7x7", "--mines", "11"], "29,135,916,264 layouts"),
        (
            ["exact", "--board", "3x3", "--mines", "1", "--position", "0../.../...", "--cascade"],
            "with --cascade the 0 in row 0, column 0 opens its neighbours",
        ),
        (["agree", "--resume"], "--resume needs the --out"),
        (["agree", "--draws", "3"], "--draws 3"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(arguments, says, command, tmp_path):
    out = tmp_path / "run"
    writes = ["--out", out] if arguments[0] != "exact" and "--resume" not in arguments else []
    code, printed, err = command("mines", *arguments, *writes)
    assert code == 2
    assert says in err.splitlines()[-1]
    assert err.splitlines()[-1].startswith("error: ")
    assert printed == ""
    assert not out.exists()
