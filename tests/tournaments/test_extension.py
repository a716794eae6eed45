"""Tournaments that are extended, stopped early, run as a gauntlet or with deals of a file, and reported at any time."""

from __future__ import annotations

import json
import re
from functools import partial

import numpy as np
import pytest
from support.records import comparable

from trickformer import games
from trickformer.base import TrickformerError
from trickformer.plumbing import digests, progress
from trickformer.records import files
from trickformer.tournaments import plan, report, run
from trickformer.tournaments.conclusion import conclude
from trickformer.tournaments.deals import DealName, read_deals
from trickformer.tournaments.intervals import interval
from trickformer.tournaments.plan import Tournament
from trickformer.tournaments.results import NoFinishedDealError, TournamentResults
from trickformer.tournaments.scoreboard import Scoreboard

MATCH = ["tournament", "hearts", "--a", "rules", "--b", "random", "--seed", 3]


def config(**given):
    sides = {} if "players" in given else {"a": "rules", "b": "random"}
    return Tournament.model_validate({"game": "hearts", "deals": 3, "seed": 3} | sides | given)


@pytest.fixture(scope="module")
def six():
    return run.tournament(config(deals=6))


def differences(found):
    return TournamentResults(found).rows[0, 1][0].deals.tolist()


# More deals.


def test_a_run_is_followed_over_an_extension(tmp_path, six):
    run.tournament(config(out=tmp_path))
    follower = run.RunFollower(tmp_path)
    assert (len(follower.run.records), follower.scheduled) == (0, 42)
    sizes = []
    assert follower.update(sizes.append) and not follower.update()
    assert len(sizes) == 42 and sizes[-1] == (tmp_path / "records.jsonl").stat().st_size
    run.tournament(config(deals=6, out=tmp_path), resume=True)
    assert follower.update() and not follower.update()
    assert follower.scheduled == 84 and comparable(follower.run.records) == comparable(six.records)
    assert [change.new for change in follower.run.extensions] == [6]
    (tmp_path / "config.toml").unlink()
    with pytest.raises(TrickformerError, match="holds no run"):
        follower.update()


def test_a_finished_match_is_extended(command, tmp_path, six):
    assert command(*MATCH, "--deals", 3, "--out", tmp_path)[0] == 0
    first = (tmp_path / "records.jsonl").read_bytes()
    code, out, err = command(*MATCH, "--deals", 6, "--out", tmp_path, "--resume", "--json")
    assert code == 0, err
    assert (tmp_path / "records.jsonl").read_bytes().startswith(first)
    assert comparable(run.load(tmp_path).records) == comparable(six.records)
    result = json.loads(out)
    (change,) = result["extensions"]
    assert (change["old"], change["new"]) == (3, 6) and result["planned"] is False
    text = (tmp_path / "report.md").read_text()
    at = change["at"][:16].replace("T", " ")
    assert f"changed from 3 to 6 on {at} UTC, so p is not that of a planned test" in text
    assert "| p (not planned) |" in text and "p (Wilcoxon)" not in text
    code, out, err = command(*MATCH, "--out", tmp_path, "--resume", "--json")
    assert code == 0, err
    assert json.loads(out)["deals"] == 6 and json.loads(out)["extensions"] == [change]


def test_a_resumed_match_keeps_its_number_of_deals(tmp_path, command):
    """The default of the command line does not extend it."""
    run.tournament(config(out=tmp_path, deals=2))
    path = tmp_path / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-900])
    code, out, _ = command(*MATCH, "--out", tmp_path, "--resume", "--json")
    assert code == 0 and json.loads(out)["deals"] == json.loads(out)["scheduled_deals"] == 2
    assert json.loads(out)["planned"] is True
    code, _, err = command(*MATCH, "--deals", 1, "--out", tmp_path, "--resume")
    assert code == 2 and "the run has 2 deals and cannot have fewer; leave out --deals" in err


def test_a_sequential_match_may_be_extended_as_planned(tmp_path):
    run.tournament(config(out=tmp_path, sequential=True))
    found = run.tournament(config(out=tmp_path, sequential=True, deals=12), resume=True)
    result = TournamentResults(found).result()
    assert result["planned"] and len(result["extensions"]) == 1 and result["deals_to_resolve"] is None
    row = result["rows"]["All"]
    assert row["ci95"] == pytest.approx(interval(np.array(differences(found)), sequential=True))
    assert row["p"] < 0.05
    text = report.make_report(TournamentResults(found)).markdown()
    assert "p (at every look)" in text and "was changed from 3 to 12" in text and "planned test" not in text
    with pytest.raises(TrickformerError, match="holds a run with --sequential, not --no-sequential"):
        run.tournament(config(out=tmp_path, deals=12), resume=True)


# Stopping early.


@pytest.mark.parametrize(
    ("bound", "shape"), [(0, "skewed"), (0.4, "skewed"), (0.3, "normal"), (0.3, "rare wins"), (0.1, "equal")]
)
def test_most_looks_need_only_sums(bound, shape):
    """The decision is that of the interval at every look."""
    rng, game = np.random.default_rng(5), games.load("hearts")
    for _ in range(4):
        draws = {
            "normal": rng.normal(0.1, 1, 150),
            "skewed": rng.exponential(1, 150) - 0.8,
            "rare wins": rng.random(150) < 0.1,
            "equal": np.zeros(150),
        }
        differences = draws[shape].astype(float)
        ends = [interval(differences[:n], sequential=True) for n in range(1, 151)]
        decided = [e is not None and (e[0] > 0 or e[1] < 0 or -bound <= e[0] <= e[1] <= bound) for e in ends]
        board = Scoreboard(config(sequential=True, bound=bound, deals=150), game)
        seatings = plan.seatings(game, (0, 1))
        for deal in range(150):
            for seating in seatings:  # a seat of A scores the difference, a seat of B nothing
                board.add(DealName(deal), seating, [differences[deal] if player == 0 else 0.0 for player in seating])
        assert board.decision == (decided.index(True) + 1 if any(decided) else None)


def test_deals_of_many_seeds_are_shared_among_workers(tmp_path):
    file = tmp_path / "deals.txt"
    file.write_text("".join(f"{seed},0\n" for seed in range(1, 9)))
    given = {"game": "hearts", "a": "random", "b": "rules", "deals_from": file, "workers": 4}
    alone = run.tournament(Tournament(**given | {"workers": 1}))
    assert comparable(run.tournament(Tournament(**given)).records) == comparable(alone.records)


@pytest.mark.parametrize("given", [{"tables": 1}, {"tables": 50}, {"workers": 2}])
def test_a_bound_stops_a_match_at_the_same_deal_however_it_is_played(given):
    found = run.tournament(config(sequential=True, bound=0, deals=60, **given))
    results = TournamentResults(found)
    stop = results.decision
    assert 8 <= stop == len(results.deals) < 20 and len(found.records) < 60 * 14
    deals = results.rows[0, 1][0].deals
    assert interval(deals, sequential=True)[1] < 0
    earlier = [interval(deals[:n], sequential=True) for n in range(2, stop)]
    assert all(ends is None or ends[0] <= 0 <= ends[1] for ends in earlier)
    lines = report.notes(results.result())
    assert any(line.startswith(f"The match stopped after {stop} deals, when the interval excluded 0") for line in lines)
    assert not any("INCOMPLETE" in line for line in lines)


def test_a_bound_stops_equal_players():
    """The interval lies within the bound, and the report concludes that."""
    given = {"game": "hearts", "a": "random", "b": "spiel:bot=uniform_random", "deals": 200, "seed": 2}
    results = TournamentResults(run.tournament(Tournament(**given, sequential=True, bound=3.0)))
    low, high = interval(results.rows[0, 1][0].deals, sequential=True)
    assert 8 <= results.decision == len(results.deals) < 200 and -3 <= low < 0 < high <= 3
    assert "differ by at most 3 points a hand" in conclude(results.result())


@pytest.mark.slow
def test_a_stopped_match_plays_nothing_more_until_it_is_told_to(tmp_path):
    given = config(out=tmp_path, sequential=True, bound=0, deals=30)
    played = len(run.tournament(given).records)
    assert len(run.tournament(given, resume=True).records) == played
    more = run.tournament(config(out=tmp_path, sequential=True, deals=30), resume=True)
    assert TournamentResults(more).decision is None and len(more.records) == 30 * 14


def test_a_bound_needs_a_sequential_match(command):
    code, _, err = command(*MATCH, "--bound", 1)
    assert code == 2 and "--bound is for a sequential match; give --sequential too" in err
    code, _, err = command(*MATCH, "--sequential", "--bound", -1)
    assert code == 2 and "--bound" in err


# A gauntlet.


def test_a_gauntlet_meets_each_other_player_alone(command):
    typed = ["--gauntlet", "rules", "--players", "random", "spiel:state=true", "random", "--deals", 2]
    code, out, err = command("tournament", "hearts", *typed, "--json")
    assert code == 0, err
    result = json.loads(out)
    assert result["players"] == ["rules", "random", "spiel:state=true", "random"]
    assert [m["players"] for m in result["matches"]] == [[0, 1], [0, 2], [0, 3]]
    assert result["differences"][1][2] is None and result["differences"][0][1] == -result["differences"][1][0]
    assert result["turns"][0] == sum(result["turns"][1:])
    ratings = {r["player"]: r["rating"] for r in result["ratings"]}
    assert ratings[0] - ratings[1] == pytest.approx(-result["differences"][0][1])
    code, shown, _ = command("tournament", "hearts", *typed)
    assert "random (1)" in shown and "random (2)" in shown and "Rating" not in shown
    assert shown.rstrip().splitlines()[-1] == (
        "2 deals are too few to show whether rules is better or worse than random (1), spiel and random (2)."
    )
    typed[-1] = 6
    code, shown, _ = command("tournament", "hearts", *typed)
    assert shown.rstrip().splitlines()[-1].startswith("rules is ")


def test_a_gauntlet_needs_players(command):
    code, _, err = command("tournament", "hearts", "--gauntlet", "rules", "--a", "random", "--b", "random")
    assert code == 2 and "give --players SPEC" in err
    code, _, err = command("tournament", "hearts", "--players", "random", "--deals", 1)
    assert code == 2 and "give 2 or more" in err
    code, out, _ = command("tournament", "hearts", "--gauntlet", "rules", "--players", "random", "--deals", 1, "--json")
    assert code == 0 and len(json.loads(out)["matches"]) == 1


# Deals of a file.


def test_deals_of_a_list_are_those_of_their_series(tmp_path):
    file = tmp_path / "deals.txt"
    file.write_text("# two of another series\n\n4\n3,1\n9, 2\n9,4 # the same index\n")
    assert read_deals(file, 3) == [DealName(4), DealName(1), DealName(2, 9), DealName(4, 9)]
    found = run.tournament(config(deals_from=file, deals=4))
    others = {seed: run.tournament(config(seed=seed, deals=5)) for seed in (3, 9)}
    expected = [differences(others[seed])[index] for seed, index in ((3, 4), (3, 1), (9, 2), (9, 4))]
    assert differences(found) == expected
    histories = {(r.deal, r.seating): r.history for r in others[9].records}
    mine = [r for r in found.records if r.seed == 9]
    assert len(mine) == 28 and all(histories[r.deal, r.seating] == r.history for r in mine)
    assert all(r.seed in (None, 9) for r in found.records)


def test_deals_of_records(tmp_path, command):
    folder = tmp_path / "run"
    run.tournament(config(out=folder, deals=2))
    converted = tmp_path / "games.jsonl"
    assert command("records", "convert", folder / "records.jsonl", converted)[0] == 0
    for path in (folder, folder / "records.jsonl", converted):
        assert sorted(read_deals(path, 5)) == [DealName(0, 3), DealName(1, 3)]
        assert sorted(read_deals(path, 3)) == [DealName(0), DealName(1)]
    code, out, err = command(*MATCH[:-1], 5, "--deals-from", folder, "--json")
    assert code == 0, err
    assert json.loads(out)["deals"] == json.loads(out)["scheduled_deals"] == 2
    assert json.loads(out)["deals_from"] == str(folder)
    assert f"The deals are those that {folder} names. If" in command(*MATCH[:-1], 5, "--deals-from", folder)[1]
    assert "deals_from" not in json.loads(command("report", folder, "--json")[1])
    known, own = (TournamentResults(run.load(folder)).result()["rows"], json.loads(out)["rows"])
    assert own == known
    alone = tmp_path / "alone.jsonl"
    alone.write_bytes((folder / "records.jsonl").read_bytes())
    with pytest.raises(TrickformerError, match=r"no config\.toml beside it names the seed"):
        read_deals(alone, 3)


def test_a_run_with_listed_deals_is_resumed_reported_and_extended(tmp_path, command):
    file, out = tmp_path / "deals.txt", tmp_path / "run"
    file.write_text("8,7\n5\n")
    assert command(*MATCH, "--deals-from", file, "--out", out)[0] == 0
    file.rename(tmp_path / "moved.txt")
    code, shown, err = command("report", out, "--json")
    assert code == 0, err
    assert json.loads(shown)["deals"] == 2
    assert command(*MATCH, "--out", out, "--resume")[0] == 0
    record = next(iter(files.read(out / "records.jsonl")))
    assert (record.tags["seed"], record.tags["deal"]) == ("8", "7")
    code, shown, _ = command("records", "worst", out, "--json")
    assert {(d["deal"], d["seed"]) for d in json.loads(shown)["deals"]} == {(7, 8), (5, None)}
    longer = tmp_path / "longer.txt"
    longer.write_text("8,7\n3,5\n6\n")
    code, shown, err = command(*MATCH, "--deals-from", longer, "--out", out, "--resume", "--json")
    assert code == 0, err
    assert json.loads(shown)["deals"] == 3 and json.loads(shown)["extensions"][0]["new"] == 3
    longer.write_text("8,6\n3,5\n6\n1\n")
    code, _, err = command(*MATCH, "--deals-from", longer, "--out", out, "--resume")
    assert code == 2 and "the run was begun with other deals" in err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "names no deals"),
        ("1\n1\n", "line 2: the deal is listed twice"),
        ("1\n3,1\n", "line 2: the deal is listed twice"),
        ("one\n", "line 1: 'one' is no deal; write SEED,INDEX or INDEX"),
        ("1,2,3\n", "line 1: '1,2,3' is no deal"),
        (f"{2**63}\n", "line 1: seeds and indices are below 2^63"),
        (f"{'9' * 5000}\n", "is no deal; write SEED,INDEX or INDEX"),
        ('{"deal": "x", "seed": 1}\n', "line 1: not a record that names its deal"),
        ('{"deal": -1, "seed": 1}\n', "line 1: seeds and indices are from 0"),
        ("{\n", "line 1: not a record"),
        ('\n{"deal": 1, "seed": 1}\n\n{"deal": 1.7, "seed": 1}\n', "line 4: not a record that names its deal"),
        ('{"deal": true, "seed": 1}\n', "line 1: not a record that names its deal"),
    ],
)
def test_a_bad_file_of_deals_is_one_line(tmp_path, command, text, says):
    file = tmp_path / "deals.txt"
    file.write_text(text)
    code, _, err = command(*MATCH, "--deals-from", file)
    assert code == 2 and says in err and err.count("\n") == 1


def test_missing_deals_are_one_line(tmp_path, command):
    code, _, err = command(*MATCH, "--deals-from", tmp_path / "none")
    assert code == 2 and "cannot read the deals of" in err
    (tmp_path / "deals.txt").write_text("1\n2\n")
    code, _, err = command(*MATCH, "--deals-from", tmp_path / "deals.txt", "--deals", 3)
    assert code == 2 and "deals.txt names 2 deals, not 3" in err
    code, out, _ = command(*MATCH, "--deals-from", tmp_path / "deals.txt", "--deals", 1, "--json")
    assert code == 0 and json.loads(out)["deals"] == 1


# While it runs.


def test_a_report_is_made_at_any_time(tmp_path, command):
    run.tournament(config(out=tmp_path))
    path = tmp_path / "records.jsonl"
    digests.sums_file(path).unlink()
    whole = path.read_bytes()
    for lines in range(0, 43, 6):
        cut = whole.split(b"\n")[:lines]
        path.write_bytes(b"\n".join([*cut, b'{"deal": 1, "seat']))  # the last line is torn
        code, out, err = command("report", tmp_path, "--json")
        assert code == 0, err
        result = json.loads(out)
        assert result["scheduled_deals"] == 3 and result["deals"] <= lines // 14
        code, out, _ = command("report", tmp_path)
        if not result["deals"]:
            assert result["tables"] == lines and f"No deal is finished yet: {lines} tables are played" in out
        elif result["deals"] < 3:
            assert f"INCOMPLETE: {result['deals']} of 3 deals are finished, and p is not yet" in out


def test_the_score_is_shown_while_it_is_played(six):
    game = games.load("hearts")
    board = Scoreboard(config(deals=6), game)
    assert board.line() == ""
    for record in six.records:
        board.add(record.deal_name, record.seating, record.scores)
    found = np.array(differences(six))
    error = found.std(ddof=1) / 6**0.5
    score = f"rules − random {found.mean():+.2f} ± {error:.2f} (standard error)"
    assert board.line() == f"6 of 6 deals: {score}; lower is better"
    one = Scoreboard(config(deals=6), game)
    for record in six.records:
        if record.deal == 0:
            one.add(record.deal_name, record.seating, record.scores)
    assert one.line() == f"1 of 6 deals: rules − random {found[0]:+.2f}; lower is better"


def test_a_round_robin_shows_its_order():
    given = config(deals=2, players=["random", "rules"])
    found = run.tournament(given)
    board = Scoreboard(given, games.load("hearts"), ["random", "rules"])
    for record in found.records:
        board.add(record.deal_name, record.seating, record.scores)
    assert re.fullmatch(r"2 of 2 deals, best first: rules -\d\.\d\d, random \+\d\.\d\d", board.line())


def test_plain_lines_carry_the_score(capsys):
    run.tournament(config(deals=2), show=partial(progress.progress, line_every=0.0))
    lines = capsys.readouterr().err.splitlines()
    assert any(re.fullmatch(r"1 of 2 deals: rules − random [+-].*", line) for line in lines)
    assert lines[-1] == "tournament: 28 of 28 tables, 0 s left"


def test_an_unfinished_run_has_no_statistics():
    with pytest.raises(NoFinishedDealError):
        TournamentResults(run.TournamentRun(config(), ["rules", "random"], [], [[], []], [], []))


# The sentence.


def test_the_match_ends_in_one_sentence(command, six):
    code, out, _ = command(*MATCH, "--deals", 6)
    assert code == 0
    last = out.rstrip().splitlines()[-1]
    found = np.array(differences(six))
    low, high = sorted(map(abs, interval(found)))
    assert last == (
        f"A (rules) scores {-found.mean():.1f} points a hand lower than B (random), which is better in Hearts; "
        f"95% interval {low:.1f} to {high:.1f} over 6 deals."
    )
    code, out, _ = command("tournament", "hearts", "--a", "random", "--b", "rules", "--seed", 3, "--deals", 6)
    assert "A (random) scores" in out and "higher than B (rules), which is worse in Hearts" in out
    code, out, _ = command(*MATCH, "--deals", 1)
    assert out.rstrip().splitlines()[-1].startswith("One deal says nothing about the difference: in it, A (rules) ")


@pytest.mark.parametrize(
    ("game", "row", "given", "says"),
    [
        (
            "hearts",
            {"difference": -0.4, "ci95": [-1.2, 0.3]},
            {},
            "9 deals do not show which player is better: A (x) scores 0.40 points a hand lower than B (y), "
            "95% interval of A − B -1.20 to +0.30 points a hand.",
        ),
        (
            "hearts",
            {"difference": 0.0, "ci95": [None, None]},
            {},
            "A (x) and B (y) scored the same in each of 9 deals.",
        ),
        (
            "hearts",
            {"difference": 2.0, "ci95": [None, None]},
            {},
            "A (x) scores 2.0 points a hand higher than B (y) in each of 9 deals; "
            "deals that all agree allow no interval.",
        ),
        (
            "hearts",
            {"difference": 2.0, "ci95": [None, None]},
            {"deals": 3},
            "A (x) scores 2.0 points a hand higher than B (y) in each of 3 deals; "
            "deals that all agree allow no interval. 3 deals are too few to show which player is better.",
        ),
        (
            "hearts",
            {"difference": 2.0, "ci95": [1.0, 3.0]},
            {"deals": 5},
            "5 deals are too few to show which player is better: A (x) scores 2.0 points a hand higher than B (y), "
            "95% interval of A − B +1.0 to +3.0 points a hand.",
        ),
        (
            "hearts",
            {"difference": 2.0, "ci95": [1.0, 3.0], "different_deals": 5},
            {},
            "9 deals are too few to show which player is better: A (x) scores 2.0 points a hand higher than B (y), "
            "95% interval of A − B +1.0 to +3.0 points a hand.",
        ),
        (
            "hearts",
            {"difference": 2.0, "ci95": [None, None]},
            {"sequential": True, "deals": 3},
            "3 deals are too few for an interval that holds at every look; so far, "
            "A (x) scores 2.0 points a hand higher than B (y).",
        ),
        (
            "hearts",
            {"difference": 0.1, "ci95": [-0.3, 0.4]},
            {"sequential": True, "bound": 0.5},
            "A (x) and B (y) differ by at most 0.5 points a hand; 95% interval of A − B -0.30 to +0.40 over 9 deals.",
        ),
        (
            "tic_tac_toe",
            {"difference": 2.0, "ci95": [1.0, 3.0]},
            {},
            "A (x) scores 2.0 points a hand higher than B (y), which is better in Tic Tac Toe; 95% interval 1.0 to 3.0 "
            "over 9 deals.",
        ),
        (
            "crew(mission=2)",
            {"difference": 0.3, "ci95": [0.1, 0.4], "a": 0.5, "b": 0.2},
            {"unit": "games won"},
            "A (x) wins 50.0% of its games and B (y) 20.0%; 95% interval of the difference +10.0 to +40.0 percentage "
            "points over 9 deals.",
        ),
    ],
)
def test_every_kind_of_conclusion(game, row, given, says):
    head = {
        "game": game,
        "players": ["x", "y"],
        "deals": 9,
        "unit": "points a hand",
        "bound": None,
        "sequential": False,
    }
    row = {"different_deals": given.get("deals", 9)} | row
    match = {"players": [0, 1], "rows": {"All": row}}
    result = head | {"rows": {"All": row}, "matches": [match], "higher_is_better": game != "hearts"} | given
    assert conclude(result) == says


def test_mines_counts_cells():
    settings = Tournament(game="mines(rows=3,cols=4,mines=2)", a="rollout:worlds=5", b="random", deals=3)
    results = TournamentResults(run.tournament(settings))
    text = report.make_report(results).text()
    assert "; cells opened a board, of 10, higher is better" in text
    assert "A and B: mean number of cells opened a board, of 10" in text and "a hand" not in text
    assert re.search(r"A \(rollout\) scores [0-9.]+ cells a board higher than B \(random\)", text)
    assert re.search(
        r"Summed over a board, its own .* cells a board \(± standard error\)", report.notes(results.result())[-1]
    )


def test_a_round_robin_ends_in_one_sentence():
    def row(difference, half):
        ends = [difference - half, difference + half]
        return {"rows": {"All": {"difference": difference, "ci95": ends, "different_deals": 50}}}

    result = {
        "game": "hearts",
        "players": ["x", "y:a=1", "y:a=2"],
        "deals": 50,
        "unit": "points a hand",
        "bound": None,
        "sequential": False,
        "higher_is_better": False,
        "ratings": [{"player": 2, "rating": 1.7}, {"player": 0, "rating": 0.3}, {"player": 1, "rating": -2.0}],
        "matches": [
            {"players": [0, 1]} | row(-1.0, 0.4),
            {"players": [0, 2]} | row(2.0, 0.5),
            {"players": [1, 2]} | row(3.0, 0.6),
        ],
    }
    assert conclude(result) == (
        "y:a=2 is the best of 3 players: it beats every other player, x by the smallest margin: 2.0 points a hand; "
        "95% interval 1.5 to 2.5 over 50 deals."
    )
    result["matches"][1] |= row(2.0, 2.5)
    open_result = "50 deals do not show which player is the best: "
    assert conclude(result) == open_result + "y:a=2 leads, but x may be as good."
    result["deals"] = 5
    assert conclude(result) == "5 deals are too few to show which player is the best; y:a=2 leads so far."
    result["ratings"][1]["rating"] = 1.7 - 1e-12  # equal up to rounding, so nobody leads alone
    assert conclude(result) == (
        "5 deals are too few to show which player is the best; y:a=2 and x lead so far, with equal ratings."
    )
    result["deals"] = 50
    assert conclude(result) == open_result + "y:a=2 and x lead, with equal ratings."
    result["matches"][2] |= row(3.0, 3.5)
    assert conclude(result) == open_result + "y:a=2 and x lead, with equal ratings, but y:a=1 may be as good."
    result["deals"] = 1
    assert conclude(result) == "One deal says nothing about the players."
