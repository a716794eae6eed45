"""Tournaments: duplicate deals, records that replay, resuming, workers, reports."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import BaseModel
from support.kuhn import Kuhn
from support.records import comparable

from trickformer import checkpoints, games, players
from trickformer.base import Decision, Player, TrickformerError, View
from trickformer.plumbing import digests
from trickformer.plumbing.lines import JsonLines
from trickformer.tournaments import plan, report, run, store
from trickformer.tournaments.plan import Hand, Tournament
from trickformer.tournaments.play import play
from trickformer.tournaments.results import TournamentResults

COMMAND = [sys.executable, "-c", "from trickformer.cli import main; main()", "tournament", "hearts"]
SIDES = {"a": "random", "b": "spiel:state=true"}


def config(**given):
    return Tournament.model_validate({"game": "hearts", "deals": 2, "seed": 3, "tables": 9} | SIDES | given)


@pytest.fixture(scope="module")
def unbroken():
    return run.tournament(config(deals=6))


def test_the_schedule_is_the_papers():
    hands = list(plan.hands(games.load("hearts"), 2, 3))
    assert len(hands) == len(set(hands)) == 3 * 14
    assert {sum(h.seating) for h in hands} == {1, 2, 3}


def test_a_round_robin_plays_every_seating_of_every_pair():
    hands = list(plan.hands(games.load("hearts"), 3, 2))
    assert len(hands) == len(set(hands)) == 2 * 3 * 14
    assert {tuple(sorted(set(h.seating))) for h in hands} == {(0, 1), (0, 2), (1, 2)}


def test_a_player_against_its_copy_is_exactly_zero_in_every_deal():
    results = TournamentResults(run.tournament(config(deals=4, b="random")))
    for row in results.rows[0, 1]:
        assert not row.deals.any()
        assert (row.p, row.ci95) == (1.0, None)


def test_records_replay_through_openspiel(unbroken):
    game = games.load("hearts")
    deals = {}
    for record in unbroken.records:
        state = game.spiel.new_initial_state()
        for action in record.history:
            assert action in state.legal_actions()
            state.apply_action(action)
        assert game.scores(state) == record.scores
        assert deals.setdefault(record.deal, record.history[:53]) == record.history[:53]
        assert record.history[0] == record.deal % 4
    assert len(deals) == 6
    assert all(sum(r.decisions) == len(r.history) - 53 for r in unbroken.records)


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"tables": 1}, {"tables": 500}, {"tables": None}, {"workers": 2}])
def test_records_do_not_depend_on_tables_or_workers(unbroken, given):
    assert comparable(run.tournament(config(deals=6, **given)).records) == comparable(unbroken.records)


class _Searcher(Player):
    """Plays the lowest legal action; counts; remembers its hand in memo."""

    def __init__(self, illegal_action=False):
        self.batches, self.illegal_action = [], illegal_action

    def act(self, views, rng, memo):
        self.batches.append(len(views))
        for view, m in zip(views, memo):
            hand = view.events[1].seen
            assert m.setdefault("hand", hand) == hand
        return [Decision(-1 if self.illegal_action else v.legal[0], searched=10, illegal=3) for v in views]


def test_tables_share_a_call_and_searches_are_counted():
    game, searcher = games.load("hearts"), _Searcher()
    hands = list(plan.hands(game, 2, 6))
    records = list(play(game, [searcher, players.make("random", game)], hands, 0, 28))
    turns = sum(n for r in records for n, who in zip(r.decisions, r.seating) if who == 0)
    calls = sum(n for r in records for n, who in zip(r.calls, r.seating) if who == 0)
    assert turns == sum(searcher.batches)
    assert calls == pytest.approx(len(searcher.batches), abs=1e-3)
    assert max(searcher.batches) > 14
    assert all(r.searched[s] == 10 * r.decisions[s] for r in records for s in range(4) if r.seating[s] == 0)
    use = TournamentResults(run.TournamentRun(config(deals=6), ["x", "y"], [], [[], []], records, [])).result()
    assert use["illegal"]["a"] == {"illegal": 3 * turns, "searched": 10 * turns}
    assert use["batch"]["a"] == pytest.approx(np.mean(searcher.batches), rel=1e-4)


def test_an_illegal_action_is_an_error_that_names_the_hand():
    game = games.load("hearts")
    with pytest.raises(TrickformerError, match=r"illegal action -1 in deal 5, seating \(0, 0, 1, 1\), seat"):
        list(play(game, [_Searcher(illegal_action=True)] * 2, [Hand(5, (0, 0, 1, 1))], 0, 1))


LIST = "it must give a list of one Decision for each"
FINITE = "values must be finite numbers"


@pytest.mark.parametrize(
    ("decisions", "says"),
    [
        (None, "Answering gave a NoneType for 1 views; " + LIST),
        ([], "Answering gave 0 decisions for 1 views; " + LIST),
        ([3], "Answering gave 3 in deal 9, which is no Decision"),
        ([Decision(3), Decision(3)], "Answering gave 2 decisions for 1 views; " + LIST),
        ([Decision(4)], "Answering chose the illegal action 4 in deal 9; legal: [3, 5]"),
        ([Decision(3, values={4: 0.5})], "Answering valued the illegal action 4 in deal 9; legal: [3, 5]"),
        ([Decision(3, visits={3: 1, 6: 2})], "Answering valued the illegal action 6 in deal 9; legal: [3, 5]"),
        ([Decision(3, values={3: float("nan")})], "Answering gave the value nan in deal 9; " + FINITE),
        ([Decision(3, value=-float("inf"))], "Answering gave the value -inf in deal 9; " + FINITE),
        ([Decision(3, value="x")], "Answering gave the value 'x' in deal 9; " + FINITE),
        ([Decision(3.0)], "Answering gave the action 3.0 in deal 9; actions are integers"),
    ],
)
def test_what_a_player_may_not_answer(decisions, says):
    class Answering(Player):
        def act(self, views, rng, memo):
            return decisions

    player, views = Answering(), [View(0, (), (3, 5))]
    with pytest.raises(TrickformerError) as error:
        players.validate_decisions(player, views, player.act(views, [], []), lambda i: f" in deal {9 + i}")
    assert str(error.value) == says
    fine = [Decision(3, value=0.5, values={3: 0.5, 5: 0.25}, visits={5: 1})]
    assert players.validate_decisions(player, views, fine) == fine


def test_three_players_and_higher_is_better(monkeypatch):
    monkeypatch.setattr(games, "load", lambda spec: Kuhn())
    found = run.tournament(config(game="kuhn", deals=30, b="spiel:state=true"))
    result = TournamentResults(found).result()
    assert result["higher_is_better"] is True
    assert list(result["rows"]) == ["All", "2A/1B", "1A/2B"]
    assert "extrapolation" not in result
    assert "higher is better" in report.make_report(TournamentResults(found)).markdown()
    three = run.tournament(
        config(game="kuhn", deals=5, a=None, b=None, players=["random", "spiel:state=true", "random"])
    )
    result = TournamentResults(three).result()
    assert sum(r["rating"] for r in result["ratings"]) == pytest.approx(0)
    best = result["ratings"][0]["player"]
    assert np.mean(result["differences"][best]) == pytest.approx(result["ratings"][0]["rating"])
    assert result["differences"][0][2] == 0
    assert [m["players"] for m in result["matches"]] == [[0, 1], [0, 2], [1, 2]]


def test_the_result_is_the_promised_object(unbroken):
    result = TournamentResults(unbroken).result()
    first = ["game", "a", "b", "deals", "higher_is_better", "rows"]
    assert list(result)[:6] == first
    assert list(result["rows"]) == ["All", "3A/1B", "2A/2B", "1A/3B"]
    for row in result["rows"].values():
        assert list(row) == ["a", "b", "difference", "ci95", "p", "different_deals"]
        assert row["difference"] == pytest.approx(row["a"] - row["b"])
    assert set(result["seconds_per_turn"]) == {"a", "b"}
    assert result["b"] == "spiel:state=true"
    assert result["resolved"]["b"] == "spiel:bot=uniform_random,state=true"
    assert result["sees_state"] == ["b"]
    assert "SAW THE TRUE STATE" in report.make_report(TournamentResults(unbroken)).markdown()
    assert json.loads(json.dumps(result)) == result


@pytest.mark.slow
def test_a_run_folder_is_complete(tmp_path, unbroken):
    out = tmp_path / "run"
    found = run.tournament(config(deals=6, out=out))
    report.write(TournamentResults(found), out)
    names = {"config.toml", "run.json", "records.jsonl", "records.jsonl.sums", "report.md", "plot.png", "result.json"}
    assert {p.name for p in out.iterdir()} == names
    assert comparable(run.load(out).records) == comparable(unbroken.records)
    about = json.loads((out / "run.json").read_text())
    assert {"trickformer", "commit", "python", "open_spiel", "numpy"} <= set(about["builds"][0])
    assert (out / "plot.png").read_bytes().startswith(b"\x89PNG")
    result = json.loads((out / "result.json").read_text())
    assert result["rows"] == TournamentResults(unbroken).result()["rows"]
    assert (out / "report.md").read_text() == report.make_report(SimpleNamespace(result=lambda: result)).markdown()


def _files(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("cut", [1, 60, 5000])
def test_a_torn_file_is_continued(tmp_path, unbroken, cut):
    run.tournament(config(deals=6, out=tmp_path))
    path = tmp_path / "records.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    done = run.load(tmp_path)
    assert len(done.records) < 6 * 14
    found = run.tournament(config(deals=6, out=tmp_path), resume=True)
    assert comparable(found.records) == comparable(unbroken.records)
    assert comparable(run.load(tmp_path).records) == comparable(unbroken.records)
    assert path.read_bytes().startswith(whole[:-cut][: whole[:-cut].rfind(b"\n") + 1])


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_killed_run_ends_in_the_records_of_an_unbroken_one(tmp_path, end, workers):
    out = tmp_path / "run"
    given = {"deals": 16, "seed": 3, "tables": 4, "b": "random"}
    typed = ["--a", "random", "--b", "random", "--deals", "16", "--seed", "3", "--tables", "4"]
    process = subprocess.Popen(
        [*COMMAND, *typed, "--out", str(out), "--workers", workers],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    path = out / "records.jsonl"
    limit = time.monotonic() + 60
    while not (path.exists() and path.read_bytes().count(b"\n") >= 9):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < limit
        time.sleep(0.005)
    os.kill(process.pid, end)
    _, said = process.communicate(timeout=60)
    left = 16 * 14 - path.read_bytes().count(b"\n")
    assert left > 0, "the run was over before it was killed"
    if end == signal.SIGINT:
        assert process.returncode == 130, said
        assert "--resume" in said
        assert "Traceback" not in said
    found = run.tournament(config(**given, out=out), resume=True)
    expected = run.tournament(config(**given))
    assert comparable(found.records) == comparable(expected.records)
    assert comparable(run.load(out).records) == comparable(expected.records)


def test_what_must_not_be_continued_is_left_alone(tmp_path):
    run.tournament(config(out=tmp_path))
    before = _files(tmp_path)
    with pytest.raises(TrickformerError, match="already holds a run"):
        run.tournament(config(out=tmp_path))
    with pytest.raises(TrickformerError, match="the run has 2 deals and cannot have fewer"):
        run.tournament(config(out=tmp_path, deals=1), resume=True)
    for given in ({"seed": 4}, {"sequential": True}, {"a": "spiel:state=true"}, {"game": "hearts(jd_bonus=True)"}):
        with pytest.raises(TrickformerError, match=f"holds a run with .*--(no-)?{next(iter(given))}"):
            run.tournament(config(out=tmp_path, **given), resume=True)
    assert _files(tmp_path) == before
    assert len(run.tournament(config(out=tmp_path, tables=3), resume=True).records) == 28


def _spoil(lines, how):
    record = json.loads(lines[3])
    if how == "garbage":
        lines[3] = b"garbage"
    elif how == "twice":
        lines[3] = lines[2]
    elif how == "foreign deal":
        lines[3] = json.dumps(record | {"deal": 99}).encode()
    elif how == "foreign field":
        lines[3] = json.dumps(record | {"more": 1}).encode()
    elif how == "seats":
        lines[3] = json.dumps(record | {"scores": [0, 26]}).encode()
    elif how == "cut inside":
        lines[3] = lines[3][:50]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["garbage", "twice", "foreign deal", "foreign field", "seats", "cut inside"])
def test_a_broken_record_is_one_line_and_nothing_is_written(tmp_path, how):
    run.tournament(config(out=tmp_path))
    path = tmp_path / "records.jsonl"
    lines = path.read_bytes().splitlines()
    _spoil(lines, how)
    path.write_bytes(b"\n".join(lines) + b"\n")
    for _ in ("with checksums", "without"):
        before = _files(tmp_path)
        for attempt in (lambda: run.tournament(config(out=tmp_path), resume=True), lambda: run.load(tmp_path)):
            with pytest.raises(TrickformerError, match=r"records\.jsonl, line 4: ") as caught:
                attempt()
            assert "\n" not in str(caught.value)
        assert _files(tmp_path) == before
        digests.sums_file(path).unlink(missing_ok=True)


def test_two_runs_do_not_share_a_file(tmp_path):
    run.tournament(config(out=tmp_path))
    with JsonLines(tmp_path / "records.jsonl"), pytest.raises(TrickformerError, match="another run"):
        run.tournament(config(out=tmp_path), resume=True)


def test_a_record_that_does_not_fit_on_the_disk_leaves_no_trace(tmp_path, monkeypatch, unbroken):
    path = tmp_path / "records.jsonl"
    with JsonLines(path) as writer:
        writer.append(unbroken.records[0])
        whole = path.read_bytes()
        write = os.write
        monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:40]))
        with pytest.raises(TrickformerError, match="disk is full"):
            writer.append(unbroken.records[1])
        assert path.read_bytes() == whole


def test_a_run_goes_on_with_the_files_that_it_began_with(tmp_path):
    for name in ("config.json", "model.safetensors"):
        shutil.copy(checkpoints.find("hearts-small") / name, tmp_path)
    for name in ("run.json", "result.json"):  # of the training in whose folder the checkpoint stands
        (tmp_path / name).write_text("{}")
    settings = config(a=f"argmax:checkpoint={tmp_path}", deals=1, out=tmp_path / "run")
    run.tournament(settings)
    assert sorted(run.load(settings.out).files) == [f"{tmp_path}/config.json", f"{tmp_path}/model.safetensors"]
    assert len(run.tournament(settings, resume=True).records) == 14
    (tmp_path / "config.json").write_text((tmp_path / "config.json").read_text() + "\n")
    with pytest.raises(TrickformerError, match=r"begun with another .*config.json; choose another --out"):
        run.tournament(settings, resume=True)


def test_a_folder_with_the_name_of_an_option_is_not_read(tmp_path, monkeypatch):
    """Such as the run's own."""
    monkeypatch.chdir(tmp_path)
    settings = config(game="crew(mission=1)", a="rollout:policy=rules,worlds=1", deals=1, out="uniform")
    for resume in (False, True, True):
        assert len(run.tournament(settings, resume=resume).records) > 1
    assert run.load(settings.out).files == {}


def test_a_line_that_does_not_fit_on_the_disk_leaves_no_trace(tmp_path, monkeypatch):
    path = tmp_path / "lines.jsonl"
    with JsonLines(path) as lines:
        lines.append({"first": 1})
        whole = path.read_bytes()
        write = os.write
        monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:4]))
        with pytest.raises(TrickformerError, match="disk is full"):
            lines.append({"second": 2})
        assert path.read_bytes() == whole
        monkeypatch.undo()
        lines.append({"second": 2})
    assert path.read_text() == '{"first": 1}\n{"second": 2}\n'


def test_an_unfinished_run_reports_its_finished_deals(tmp_path):
    run.tournament(config(out=tmp_path))
    path = tmp_path / "records.jsonl"
    digests.sums_file(path).unlink()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if json.loads(line)["deal"] == 0) + lines[-1])
    incomplete = TournamentResults(run.load(tmp_path))
    result = incomplete.result()
    assert (result["deals"], result["scheduled_deals"]) == (1, 2)
    assert result["rows"]["All"]["ci95"] == [None, None]
    assert "INCOMPLETE: 1 of 2" in report.make_report(incomplete).markdown()
    path.write_bytes(lines[0])
    with pytest.raises(TrickformerError, match="no deal of this run is finished"):
        TournamentResults(run.load(tmp_path))


def test_the_models_of_configs_and_records_reject_unknown_keys():
    for model in (Tournament, store.HandRecord):
        assert issubclass(model, BaseModel)
        assert model.model_config["extra"] == "forbid"
