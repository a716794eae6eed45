"""The Crew by mission: games, records, statistics, ceiling, reports; tournaments of teams."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import stats
from support.records import comparable, kept

from trickformer import _core, games
from trickformer.base import TrickformerError
from trickformer.games import crew, missions
from trickformer.plumbing import digests
from trickformer.selfplay import evaluate
from trickformer.selfplay.config import SelfPlay as Training
from trickformer.studies.crew import STRIDE, ceiling, plot, results, statistics
from trickformer.studies.crew import report as crew_report
from trickformer.studies.crew.indexed_crew import IndexedCrew
from trickformer.studies.crew.plan import CrewEvaluation, numbers
from trickformer.tournaments import plan, report, run
from trickformer.tournaments.intervals import interval
from trickformer.tournaments.results import TournamentResults

COMMAND = [sys.executable, "-c", "from trickformer.cli import main; main()", "crew", "evaluate", "--player", "random"]
OTHER = "spiel:state=true"  # random too, of another sort


def config(**given):
    return CrewEvaluation.model_validate(
        {"player": ["random", OTHER], "missions": "1-2,5,12", "games": 6, "seed": 3, "random_games": 500} | given
    )


@pytest.fixture(scope="module")
def unbroken():
    return run.tournament(config())


def test_missions_are_written_as_ranges_and_lists():
    assert numbers("") == []
    assert numbers("3") == [3]
    assert numbers("20, 1-4,3-5") == [1, 2, 3, 4, 5, 20]
    for text in ("0", "a", "1-", "-3", "4-3", "1,", "256", "1--2"):
        with pytest.raises(ValueError, match="write missions such as 1-10,20"):
            numbers(text)


def test_a_deal_is_the_same_in_every_mission():
    all_missions = games.load("crew")
    boards = IndexedCrew(all_missions.spiel)
    for index in range(4):
        decks = set()
        for mission in all_missions.missions:
            alone = games.load(f"crew(mission={mission})").deal(7, index)
            assert all_missions.deal(7, index, mission).history() == alone.history()
            decks.add(tuple(alone.history()[1 : crew.PREAMBLE]))
            at = STRIDE * index + mission
            assert boards.deal(7, at).history() == all_missions.deal(7, at, mission).history()
        assert len(decks) == 1
    assert all_missions.deal(7, 0).history()[0] in all_missions.missions


def test_every_player_plays_the_same_deals_of_every_mission(unbroken):
    assert len(unbroken.records) == 2 * 4 * 6
    assert {(r.seating[0], r.deal % STRIDE, r.deal // STRIDE) for r in unbroken.records} == {
        (player, mission, game) for player in (0, 1) for mission in (1, 2, 5, 12) for game in range(6)
    }
    boards = IndexedCrew(games.load("crew").spiel)
    first = {r.deal: r for r in unbroken.records if r.seating[0] == 0}
    for record in unbroken.records:
        state = boards.spiel.new_initial_state()
        for action in record.history:
            if state.is_chance_node():
                assert action == (
                    record.deal % STRIDE if state.mission is None else boards.chance(state, 3, record.deal)
                )
            state.apply_action(action)
        assert boards.scores(state) == record.scores
        tasks = boards.missions[record.deal % STRIDE].tasks
        same = crew.PREAMBLE + tasks
        assert record.history[:same] == first[record.deal].history[:same]
    assert len({r.history[1 : crew.PREAMBLE] for r in unbroken.records}) == 4 * 6


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"tables": 1}, {"tables": 7}, {"workers": 2}])
def test_records_do_not_depend_on_tables_or_workers(unbroken, given):
    assert comparable(run.tournament(config(**given)).records) == comparable(unbroken.records)


def test_a_model_plays_all_missions_in_one_batch(crew_checkpoint):
    spec = f"argmax:checkpoint={crew_checkpoint}"
    found = {tables: run.tournament(config(player=[spec], missions="", games=2, tables=tables)) for tables in (50, 4)}
    assert comparable(found[50].records) == comparable(found[4].records)
    use = results.CrewResults(found[50]).result()["players"][0]
    assert use["batch"] > 8
    assert use["seconds_per_turn"] > 0


@pytest.mark.slow
def test_a_killed_evaluation_ends_in_the_records_of_an_unbroken_one(tmp_path):
    out = tmp_path / "run"
    typed = ["--missions", "1-50", "--games", "8", "--seed", "3", "--tables", "8", "--out", str(out)]
    process = subprocess.Popen([*COMMAND, *typed], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    path = out / "records.jsonl"
    limit = time.monotonic() + 60
    while not (path.exists() and path.read_bytes().count(b"\n") >= 9):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < limit
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    whole = kept(path)
    assert whole < 8 * 50, "the run was over before it was killed"
    given = config(player=["random"], missions="1-50", games=8)
    assert len(run.load(out, CrewEvaluation).records) == whole
    found = run.tournament(given.model_copy(update={"out": out}), resume=True)
    assert comparable(found.records) == comparable(run.tournament(given).records)
    assert comparable(run.load(out, CrewEvaluation).records) == comparable(found.records)


def test_what_must_not_be_continued_is_left_alone(tmp_path):
    run.tournament(config(out=tmp_path))
    for given in ({"games": 7}, {"seed": 4}, {"missions": "1-2"}, {"player": ["random"]}, {"distress": "left"}):
        with pytest.raises(TrickformerError, match=f"holds a run with .*--(no-)?{next(iter(given))}"):
            run.tournament(config(out=tmp_path, **given), resume=True)
    assert len(run.tournament(config(out=tmp_path, ceiling=9, random_games=0), resume=True).records) == 48


# Statistics.


@pytest.mark.parametrize("games_", [1, 7, 3000])
def test_wilsons_interval_is_scipys(games_):
    successes = np.unique(np.linspace(0, games_, 12).astype(int))
    low, high = statistics.wilson(successes, games_)
    for k, *bounds in zip(successes, low, high):
        found = stats.binomtest(int(k), games_).proportion_ci(method="wilson")
        assert bounds == pytest.approx([found.low, found.high], abs=1e-12)
    assert low[0] == 0.0
    assert high[-1] == 1.0


def test_holms_correction_by_hand():
    p = np.array([0.01, 0.04, 0.03, 0.005])  # steps 4 x 0.005, 3 x 0.01, 2 x 0.03, then no less than 0.06
    assert statistics.holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm(np.array([0.6, 0.9])).tolist() == [1.0, 1.0]


def test_mcnemars_test_by_hand():
    assert statistics.mcnemar(1, 5) == statistics.mcnemar(5, 1) == pytest.approx(2 * (1 + 6) / 64)
    assert statistics.mcnemar(0, 9) == pytest.approx(2 / 2**9)
    assert statistics.mcnemar(4, 4) == statistics.mcnemar(0, 0) == 1.0


def test_a_comparison_by_plain_loops():
    rng = np.random.default_rng(11)
    rate = rng.random((9, 1))
    a, b = rng.random((9, 40)) < rate, rng.random((9, 40)) < rate * 0.7
    found = statistics.compare(a, b)
    for m in range(9):
        only_a = sum(x and not y for x, y in zip(a[m], b[m]))
        only_b = sum(y and not x for x, y in zip(a[m], b[m]))
        assert (found.only_a[m], found.only_b[m]) == (only_a, only_b)
        assert found.p[m] == pytest.approx(statistics.mcnemar(only_a, only_b))
    assert found.p_holm == pytest.approx(statistics.holm(found.p))
    assert found.wilcoxon == pytest.approx(stats.wilcoxon((a.sum(1) - b.sum(1)).astype(float)).pvalue)
    assert found.p_all == pytest.approx(stats.binomtest(int((a & ~b).sum()), int((a ^ b).sum())).pvalue)
    assert found.difference == pytest.approx(a.mean() - b.mean())
    assert found.ci95[0] < found.difference < found.ci95[1]
    turned = statistics.compare(b, a)
    assert turned.ci95 == pytest.approx([-x for x in reversed(found.ci95)])
    same = statistics.compare(a, a)
    assert (same.wilcoxon, same.p_all, same.difference, same.ci95) == (1.0, 1.0, 0.0, None)


def test_attempts_by_hand():
    found = statistics.attempts(np.array([50, 25, 0]), 100)
    assert found.expected == 2 + 4
    assert found.solved.tolist() == [True, True, False]
    variance = 0.5 / (100 * 0.5**3) + 0.75 / (100 * 0.25**3)
    factor = math.exp(1.959964 * variance**0.5 / 6)
    assert found.ci95 == pytest.approx((6 / factor, 6 * factor))
    nothing = statistics.attempts(np.zeros(3, dtype=int), 100)
    assert math.isnan(nothing.expected)
    assert not nothing.solved.any()


@pytest.mark.slow
def test_the_intervals_cover_what_they_should():
    rng = np.random.default_rng(5)
    rate = np.array([0.9, 0.5, 0.3, 0.12])
    covered = 0
    for _ in range(1500):
        low, high = statistics.attempts(rng.binomial(300, rate), 300).ci95
        covered += low <= (1 / rate).sum() <= high
    assert covered / 1500 == pytest.approx(0.95, abs=0.02)
    covered = 0
    for _ in range(600):
        shared = rng.random((4, 60))  # pairs that go together
        a, b = shared < rate[:, None], (shared + 0.2 * rng.random((4, 60))) % 1 < rate[:, None] * 0.8
        low, high = statistics.compare(a, b).ci95
        covered += low <= (rate - rate * 0.8).mean() <= high
    assert covered / 600 == pytest.approx(0.95, abs=0.03)
    assert statistics.compare(a[:, :1], b[:, :1]).ci95 is None


def test_the_interval_of_a_comparison_is_that_of_cochran():
    """A stratified mean, with Satterthwaite's degrees of freedom; of one mission it is the interval of a match."""
    rng = np.random.default_rng(8)
    a, b = rng.random((2, 5, 3)) < 0.5
    variances = [np.var(row, ddof=1) / 3 for row in a.astype(int) - b]
    freedom = sum(variances) ** 2 / sum(v**2 / 2 for v in variances)
    half = stats.t.ppf(0.975, freedom) * sum(variances) ** 0.5 / 5
    found = statistics.compare(a, b)
    assert found.ci95 == pytest.approx((found.difference - half, found.difference + half))
    a, b = rng.random((2, 1, 12)) < 0.5
    assert statistics.compare(a, b).ci95 == interval((a.astype(float) - b)[0], (-1.0, 1.0))


def test_ahead_of_random_is_the_hypergeometric_tail():
    found = statistics.compare_with_random(np.array([7, 30, 0]), 100, np.array([20, 3000, 0]), 10_000)
    p = [stats.hypergeom.sf(s - 1, 10_100, s + r, 100) for s, r in ((7, 20), (30, 3000), (0, 0))]
    assert found == pytest.approx(statistics.holm(np.array(p)))
    assert found[0] < 0.001
    assert found[1] > 0.4


def test_random_successes_are_those_of_the_core():
    game = IndexedCrew(games.load("crew").spiel)
    settings = config(random_games=20_000)
    found = results.random_successes(game, [1, 5, 47], settings)
    for mission, successes in zip((1, 5, 47), found):
        book = _core.crew.Logbook([game.missions[mission]])
        scores = _core.crew.random_games(book, settings.seed, mission << 32, 20_000)[1]
        assert successes == (scores > 0).sum()
    for mission, rate in ((1, found[0] / 20_000), (5, found[1] / 20_000)):
        mean = np.mean([r.scores[0] for r in _random_games(mission)])
        assert mean == pytest.approx(rate, abs=5 * (rate * (1 - rate) / 200) ** 0.5)


def _random_games(mission):
    return run.tournament(config(player=["random"], missions=str(mission), games=200)).records


# Results and reports.


def test_the_result_counts_what_the_records_say(unbroken):
    found = results.CrewResults(unbroken)
    result = found.result()
    assert json.loads(json.dumps(result)) == result
    assert [p["spec"] for p in result["players"]] == ["random", OTHER]
    assert [p["sees_state"] for p in result["players"]] == [False, True] and "gains" not in result
    assert [m["mission"] for m in result["missions"]] == [1, 2, 5, 12]
    for row, m in enumerate(result["missions"]):
        for i, player in enumerate(m["players"]):
            mine = [r for r in unbroken.records if r.deal % STRIDE == m["mission"] and r.seating[0] == i]
            assert player["successes"] == sum(r.scores[0] for r in mine)
            assert player["rate"] == player["successes"] / 6
            assert player["p_random_holm"] == found.p_random_holm[i][row]  # its name says that it is corrected
    for i, player in enumerate(result["players"]):
        without = [m["mission"] for m in result["missions"] if not m["players"][i]["successes"]]
        assert player["attempts"]["without_success"] == without
        assert player["turns"] == sum(sum(r.decisions) for r in unbroken.records if r.seating[0] == i)
    text = crew_report.make_report(result).markdown()
    assert "SAW THE TRUE STATE" in text and "missions won: of the 4 missions, those won at least once" in text
    a, b = (player["rate"] for player in result["players"])
    said = crew_report.conclude(result)
    assert said.startswith(
        f"A (random) wins {a:.1%} of its games and B (spiel) wins {b:.1%} of its games; 95% interval"
    )
    alone = crew_report.conclude({"players": result["players"][:1]})
    assert alone.startswith(f"A (random) wins {a:.1%} of its games; 95% interval ")
    for m in result["missions"]:
        assert text.count(f"\n| {m['mission']} | ") == 1


def test_a_run_folder_is_complete(command, tmp_path):
    out = tmp_path / "run"
    arguments = ["crew", "evaluate", "--player", "random", "--missions", "1-3", "--games", "4", "--random-games", "99"]
    code, printed, _ = command(*arguments, "--out", out, "--json")
    assert code == 0
    names = {
        "config.toml",
        "run.json",
        "records.jsonl",
        "records.jsonl.sums",
        "report.md",
        "missions.png",
        "summary.json",
    }
    assert {p.name for p in out.iterdir()} == names
    result = json.loads(printed)
    assert json.loads((out / "summary.json").read_text()) == result
    assert "comparison" not in result
    assert (out / "missions.png").read_bytes().startswith(b"\x89PNG")
    code, printed, _ = command("crew", "evaluate", "--config", out / "config.toml", "--out", out, "--resume", "--json")
    assert (code, json.loads(printed)) == (0, result)
    code, printed, _ = command(*arguments, "--distress", "right")
    assert code == 0
    assert "distress signal right" in printed
    assert "one attempt more" in printed


class _Solver:
    """Says of each deal what `answers` says, and checks what it is asked."""

    asked = 0

    def can_succeed(self, state, max_nodes, draws):
        assert max_nodes == 1000
        assert len(draws) == 4
        assert state.current_player() >= 0
        assert all(owner >= 0 for _, _, owner, _ in state.tasks)
        _Solver.asked += 1
        return (True, False, None)[sum(state.hand(0)) % 3]


@pytest.mark.slow
@pytest.mark.parametrize("distress", ["off", "left"])
def test_the_ceiling_is_asked_once_for_each_deal(monkeypatch, tmp_path, distress):
    monkeypatch.setattr(_core.crew, "Solver", _Solver, raising=False)
    settings = config(missions="", games=2, ceiling=1000, distress=distress, out=tmp_path)
    found = run.tournament(settings)
    _Solver.asked = 0
    answers = ceiling.answers(found.config, found.records)
    assert _Solver.asked == len(answers) == 100
    assert set(answers.values()) == {True, False, None}
    path = tmp_path / ceiling.FILE
    path.write_bytes(path.read_bytes()[:-5])  # torn: the last one is asked again
    assert ceiling.answers(found.config, found.records) == answers
    assert _Solver.asked == 101
    result = results.CrewResults(found, answers).result()
    counts = [m["ceiling"] for m in result["missions"]]
    assert sum(c["won"] for c in counts) == list(answers.values()).count(True)
    assert all(sum(c.values()) == 2 for c in counts)
    assert "Ceiling: " in crew_report.make_report(result).markdown()
    plot.players(result, tmp_path / "x.png")
    path.write_text("broken\n")
    with pytest.raises(TrickformerError, match="line 1: its checksum differs"):
        ceiling.answers(found.config, found.records)
    digests.sums_file(path).unlink()
    with pytest.raises(TrickformerError, match="is broken"):
        ceiling.answers(found.config, found.records)


def test_draws_are_those_of_chance():
    """What the solver is told of mission 12 is what happens."""
    game, checked = IndexedCrew(games.load("crew").spiel), 0
    for record in run.tournament(config(player=["random"], missions="12", games=20)).records:
        state, draws = game.spiel.new_initial_state(), game.draws(3, record.deal)
        for action in record.history:
            if state.core is not None and state.core.phase == crew.DRAW:
                cards = state.legal_actions()
                assert action == cards[int(draws[state.core.step] * len(cards))]
                checked += 1
            state.apply_action(action)
    assert checked


def test_iterations_are_evaluated_once(crew_checkpoint, command, tmp_path):
    for i in range(2):
        shutil.copytree(crew_checkpoint, tmp_path / "a,run" / f"model-{i}")
    out = tmp_path / "out"
    arguments = ["crew", "iterations", "--run", tmp_path / "a,run", "--missions", "1,5", "--games", "3"]
    arguments += ["--out", out, "--random-games", "50", "--json"]
    code, printed, _ = command(*arguments)
    assert code == 0
    result = json.loads(printed)
    records = [(out / f"model-{i}" / "records.jsonl").read_bytes() for i in range(2)]
    assert [p["p_previous"] for p in result["players"]] == [None, 1.0]  # the same model twice
    assert all(m["players"][0] == m["players"][1] for m in result["missions"])
    assert {"report.md", "summary.json", "missions.png"} < {p.name for p in out.iterdir()}
    shutil.copytree(crew_checkpoint, tmp_path / "a,run" / "model-2")
    code, printed, _ = command(*arguments)
    assert len(json.loads(printed)["players"]) == 3
    assert [(out / f"model-{i}" / "records.jsonl").read_bytes() for i in range(2)] == records


def test_missions_are_listed(command, tmp_path):
    code, shown, _ = command("crew", "missions")
    assert code == 0
    assert all(rule in shown for rule in missions.RULES)
    code, printed, _ = command("crew", "missions", "--json")
    assert len(json.loads(printed)["missions"]) == 50
    file = tmp_path / "own.toml"
    file.write_text('[[mission]]\nid = 77\ntasks = 2\ntokens = ["omega"]\n')
    code, shown, _ = command("crew", "missions", "--file", file)
    assert code == 0
    assert " ".join(shown.splitlines()[4].split()) == "77 2 omega normal draft"
    code, printed, _ = command("crew", "evaluate", "--player", "random", "--file", file, "--games", "2", "--json")
    assert code == 0
    assert [m["mission"] for m in json.loads(printed)["missions"]] == [77]


def test_reports_say_what_searches_gain_and_what_a_reader_must_know():
    search = "sparta:worlds=20,threshold=0,multi=true,assess=9"
    engine = f'engine:cmd="{sys.executable} -m trickformer serve random --game crew"'
    played = run.tournament(config(player=[search, engine], missions="3", games=4, random_games=0))
    found = results.CrewResults(played).result()
    own, none = found["gains"]
    claims = [claim for r in played.records for claims in r.gains or () for claim in claims]
    assert none is None and own["decisions"] == len(claims) > 50
    assert own["said"]["mean"] == pytest.approx(sum(said for _, said, _ in claims) / 4)
    lines = crew_report.notes(found)
    assert any(line.startswith("A chose otherwise than its blueprint") and "wins a game" in line for line in lines)
    assert any(line.startswith("A: the fresh samples of its gains come from") for line in lines)
    assert "B: receives the states of its random generators, from which it could compute the hidden cards" in lines


# Tournaments of teams.


def test_a_tournament_of_teams():
    given = {"game": "crew(mission=1)", "a": "random", "b": OTHER, "deals": 25, "seed": 2}
    found = run.tournament(plan.Tournament.model_validate(given))
    assert {r.seating for r in found.records} == {(0, 0, 0, 0), (1, 1, 1, 1)}
    won = {(r.seating[0], r.deal): r.scores[0] for r in found.records}
    result = TournamentResults(found).result()
    assert list(result["rows"]) == ["All"]
    row = TournamentResults(found).rows[0, 1][0]
    assert row.deals.tolist() == [won[0, d] - won[1, d] for d in range(25)]
    assert result["rows"]["All"]["difference"] == pytest.approx(row.deals.mean())
    assert result["rows"]["All"]["a"] == pytest.approx(np.mean([won[0, d] for d in range(25)]))
    assert result["turns"]["a"] == sum(sum(r.decisions) for r in found.records if r.seating[0] == 0)
    assert "a deal, which each player plays in all seats" in report.make_report(TournamentResults(found)).markdown()
    copies = TournamentResults(run.tournament(plan.Tournament.model_validate(given | {"b": "random"})))
    assert not copies.rows[0, 1][0].deals.any()


def test_a_round_robin_of_teams_plays_a_deal_once_each(tmp_path):
    given = {"game": "crew(mission=5)", "players": ["random", OTHER, "random"], "deals": 8, "out": tmp_path}
    found = run.tournament(plan.Tournament.model_validate(given))
    assert len(found.records) == 3 * 8
    result = TournamentResults(found).result()
    assert sum(r["rating"] for r in result["ratings"]) == pytest.approx(0)
    assert result["differences"][0][2] == 0
    assert [sum(result["turns"])] == [sum(sum(r.decisions) for r in found.records)]
    report.write(TournamentResults(run.load(tmp_path)), tmp_path)


def test_matches_of_self_play(crew_checkpoint, tmp_path):
    for i in range(2):
        shutil.copytree(crew_checkpoint, tmp_path / f"model-{i}")
    settings = Training.model_validate({"game": "crew", "preset": "tiny", "match_deals": 6, "baseline": "random"})
    entries = {o: [{"iteration": 1, **evaluate.match(settings, tmp_path, 1, o)}] for o in evaluate.OPPONENTS}
    assert entries["previous"][0]["difference"] == 0
    low, high = entries["baseline"][0]["low"], entries["baseline"][0]["high"]
    assert low is high is None or -1 <= low <= high <= 1
    evaluate.curve(games.load("crew"), settings, entries, tmp_path)
    assert (tmp_path / "curve.png").exists()
