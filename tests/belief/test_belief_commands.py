"""`trickformer belief`: runs that go on end as unbroken ones, reports say what records hold, bad input is one line."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

import trickformer
from trickformer.base import TrickformerError
from trickformer.belief.hanabi import finetune, networks
from trickformer.belief.hanabi.config import ESTIMATORS, BeliefTraining, Evaluation
from trickformer.belief.hanabi.estimators import CountingEstimator
from trickformer.belief.learner import Learner
from trickformer.plumbing import config as configs
from trickformer.plumbing import digests, folder
from trickformer.plumbing.report import REPORT
from trickformer.studies.belief import evaluation, report, training
from trickformer.studies.belief.stack import Stack, load, save
from trickformer.studies.belief.system import process_of, resolve_paths

LEARN = {"hidden": 8, "games": 2, "targets": 3, "steps": 4, "save_every": 2}
TUNING = {
    "steps": 5,
    "batch": 5,
    "learning_rate": 0.5,
    "fall": 0.5,
    "clip": 5.0,
    "part": "encoder",
    "bf16": True,
    "worlds": 5,
}


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    out = tmp_path_factory.mktemp("belief") / "run"
    return training.command(BeliefTraining(out=out, **LEARN), resume=False)


def judge(out, network, **given) -> Evaluation:
    settings = {"estimators": ["v0", "v1", "seq2seq", "bft"], "games": 4, "stack": 2} | given
    tuning = {"steps": 1, "worlds": 16} if "bft" in settings["estimators"] else {}
    return Evaluation(out=out, checkpoint=network, **tuning | settings)


def without_seconds(records):
    for record in records:
        for entry in record["estimators"].values():
            del entry["seconds"]
    return records


@pytest.mark.slow
@pytest.mark.parametrize("model", ["lstm", "transformer"])
def test_training_that_was_stopped_ends_in_the_same_weights(tmp_path, model):
    options = LEARN | {"model": model} | ({"heads": 2} if model == "transformer" else {})
    once = training.command(BeliefTraining(out=tmp_path / "once", **options), resume=False)
    config = BeliefTraining(out=tmp_path / "again", **options)
    config.out.mkdir()
    steps = training.run(config)
    for _ in range(3):  # the state on disk is that of step 2
        next(steps)
    del steps
    assert [r["step"] for r in training.run(config)] == [3, 4]
    whole, again = (networks.load(file)[0].weights() for file in (once, config.out / networks.NETWORK))
    for name, w in whole.items():
        torch.testing.assert_close(again[name], w, atol=0, rtol=0)
    assert (once.parent / "loss.png").stat().st_size > 1000
    log = (once.parent / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in log] == [1, 2, 3, 4]


def test_a_kill_loses_no_line_of_the_log(tmp_path, monkeypatch):
    """Wherever it comes between a step and the next: here as soon as the state is written."""
    config, save = BeliefTraining(out=tmp_path / "run", **LEARN), Learner.save

    def cut(learner, steps):
        save(learner, steps)
        raise RuntimeError("killed")

    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="killed"):
        patched.setattr(Learner, "save", cut)
        training.command(config, resume=False)
    training.command(config, resume=True)
    log = (config.out / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in log] == [1, 2, 3, 4]


def test_an_evaluation_with_a_relative_path_resumes(tmp_path, network, monkeypatch):
    """From Python, and by a run whose config is of a version that stored the path as typed."""
    monkeypatch.chdir(network.parent)
    config = judge(tmp_path / "a", Path(network.name), estimators=["v0", "seq2seq"], games=2)
    records = evaluation.command(config, resume=False)
    assert evaluation.command(config, resume=True) == records
    assert evaluation.command(resolve_paths(config), resume=True) == records


@pytest.mark.slow
def test_an_evaluation_that_was_stopped_has_the_same_records(tmp_path, network):
    config = judge(tmp_path / "a", network)
    whole = without_seconds(evaluation.command(config, resume=False))
    file = config.out / evaluation.RECORDS
    first, second = file.read_text().splitlines(keepends=True)
    file.write_text(first + second[: len(second) // 2])  # killed while it wrote
    assert without_seconds(evaluation.command(config, resume=True)) == whole
    assert [record["game"] for record in whole] == [0, 1, 2, 3]
    with pytest.raises(TrickformerError, match="already holds a run"):
        evaluation.command(config, resume=False)
    with pytest.raises(TrickformerError, match="--games 4, not --games 6"):
        evaluation.command(config.model_copy(update={"games": 6}), resume=True)
    changes = [('"game": 0', '"game": 1'), ('"game": 1', '"game": 3'), ('"v1"', '"v3"'), ('"positions"', '"turns"')]
    changes += [('"notes"', '"remarks"'), ('"bins": [[', '"bins": [[1.0], ['), ('"seconds"', '"hours"')]
    changes += [('"cards": ', '"cards": -')]
    for broken in ("nothing\n", "[]\n", *(first.replace(*change) for change in changes)):
        assert broken != first
        file.write_text(broken)
        digests.sums_file(file).unlink(missing_ok=True)
        with pytest.raises(TrickformerError, match="broken; restore it from a copy"):
            evaluation.command(config, resume=True)


def test_another_network_is_not_gone_on_with(tmp_path):
    file = tmp_path / "network.safetensors"
    for seed in (7, 8):
        options = LEARN | {"seed": seed, "steps": 1}
        trained = training.command(BeliefTraining(out=tmp_path / str(seed), **options), resume=False)
        file.write_bytes(trained.read_bytes())
        config = judge(tmp_path / "run", file, estimators=["seq2seq"], games=1)
        if seed == 7:
            evaluation.command(config, resume=False)
            assert evaluation.command(config, resume=True)
    with pytest.raises(TrickformerError, match=r"begun with another .*network\.safetensors;"):
        evaluation.command(config, resume=True)


@pytest.mark.slow
def test_a_stack_that_was_stopped_goes_on_at_its_move(tmp_path, network, monkeypatch):
    """Every estimator is followed on from where it was kept: same records, and no move is made again. Counting, which
    is slow, has a test of its own."""
    reader = training.command(
        BeliefTraining(out=tmp_path / "reader", model="transformer", heads=2, **LEARN), resume=False
    )
    small = {"particles": 50, "samples": 2, "limit": 200, "form": "fosg"}
    config = judge(
        tmp_path / "a",
        network,
        games=2,
        estimators=[e for e in ESTIMATORS if e != "counting"],
        transformer=reader,
        **small,
    )
    whole = without_seconds(evaluation.command(config.model_copy(update={"out": None}), resume=False))
    monkeypatch.setattr(evaluation, "KEEP_EVERY", 0.0)
    made: list[int] = []
    moves = Stack.moves

    def stopping(self):
        for move in moves(self):
            made.append(move)
            yield move  # the stack is kept before the next move is asked for
            if len(made) in (9, 29):
                raise KeyboardInterrupt

    monkeypatch.setattr(Stack, "moves", stopping)
    for again in range(2):
        with pytest.raises(folder.Interruption, match="after 0 of 2 games"):
            evaluation.command(config, resume=again > 0)
        assert (config.out / evaluation.STACK).exists()
    assert without_seconds(evaluation.command(config, resume=True)) == whole
    assert len(made) == max(record["positions"] for record in whole)
    assert not (config.out / evaluation.STACK).exists()


def test_a_stack_with_counting_is_kept(tmp_path):
    config = judge(tmp_path / "a", None, estimators=["counting"])
    process = process_of(config)
    shared = {"config": config, "process": process}
    stack = Stack(config, process, {"counting": CountingEstimator(process)}, 0, 1)
    next(stack.moves())
    save(stack, shared, tmp_path / "kept")
    again = load(tmp_path / "kept", shared)
    (once,), (other,) = ([next(each.moves()), *without_seconds(list(each.records()))][1:] for each in (stack, again))
    assert once == other and once["estimators"]["counting"]


def test_a_kept_stack_that_is_broken_is_one_line(tmp_path, network):
    config = judge(tmp_path / "a", network, estimators=["v0", "seq2seq"])
    records = without_seconds(evaluation.command(config, resume=False))
    (config.out / evaluation.RECORDS).write_text("")
    for broken in (b"", b"nothing", pickle.dumps({"a": 1})):
        (config.out / evaluation.STACK).write_bytes(broken)
        with pytest.raises(TrickformerError, match=r"stack\.npz is broken, or of another build"):
            evaluation.command(config, resume=True)
    (config.out / evaluation.STACK).unlink()
    assert without_seconds(evaluation.command(config, resume=True)) == records


def test_a_run_is_continued_with_its_number_of_threads(tmp_path, network):
    """Sums of torch depend on it."""
    for command, config in (
        (training.command, BeliefTraining(out=tmp_path / "a", **LEARN)),
        (evaluation.command, judge(tmp_path / "b", network, estimators=["seq2seq"], games=1)),
    ):
        command(config, resume=False)
        with pytest.raises(TrickformerError, match="holds a run with --threads 1, not --threads 2;"):
            command(config.model_copy(update={"threads": 2}), resume=True)


def test_a_network_is_written_to_the_same_bytes_each_time(tmp_path):
    """A run that is resumed after its end writes the file anew, and runs that read the network compare its digest."""
    config = BeliefTraining(out=tmp_path, **LEARN)
    written = {training.command(config, resume=again > 0).read_bytes() for again in range(8)}
    assert len(written) == 1


def test_a_training_state_that_is_broken_is_one_line(tmp_path):
    config = BeliefTraining(out=tmp_path, **LEARN)
    training.command(config, resume=False)
    for text in (b"", b"nothing", b"PK\x03\x04"):
        (tmp_path / training.STATE).write_bytes(text)
        with pytest.raises(TrickformerError, match=r"state\.npz is broken"):
            training.command(config, resume=True)
    torch.save({"step": 3}, tmp_path / training.STATE)
    with pytest.raises(TrickformerError, match=r"state\.npz is broken"):
        training.command(config, resume=True)


def test_two_trainings_do_not_share_a_folder(tmp_path):
    with folder.RunFolder(tmp_path).lock(), pytest.raises(TrickformerError, match="another run is writing"):
        training.command(BeliefTraining(out=tmp_path, **LEARN), resume=False)
    assert not list(tmp_path.iterdir())


def _write(summary, folder):
    """Write the report of an evaluation with its figure."""
    made = report.make_report(summary)
    made.write(folder, report.SUMMARY)
    made.draw(folder)


def test_a_plot_that_cannot_be_written_is_one_warning(tmp_path, capfd):
    config = Evaluation(estimators=["v0"], games=2, out=tmp_path / "a")
    records = evaluation.command(config, resume=False)
    (config.out / report.PLOT).mkdir()
    capfd.readouterr()
    _write(report.result(config, records), config.out)
    err = capfd.readouterr().err
    assert err.startswith("warning: ") and err.count("\n") == 1 and "cannot write" in err and "calibration.png" in err
    assert (config.out / "report.md").exists()


def test_presets_and_what_follows_from_the_steps():
    """The paper's network and tuning; and worlds enough that many steps do not learn them by heart."""
    offline, paper = BeliefTraining(preset="paper"), Evaluation(preset="paper")
    assert (offline.hidden, offline.steps, BeliefTraining().hidden) == (512, 400 * 1_000, 128)
    assert (paper.games, paper.steps, paper.part) == (300, 10_000, "encoder")
    assert (paper.batch, paper.learning_rate, paper.clip) == (offline.games, offline.learning_rate, offline.clip)
    assert paper.fall == offline.fall == 1.0  # the rate stays
    tuned = finetune.tuning(paper)
    assert (tuned.batch, tuned.learning_rate, tuned.fall, tuned.clip) == (128, 1e-3, 1.0, 50.0)
    assert Evaluation(preset="paper", steps=100).steps == 100
    given = {10: 320, 100: 3_200, 300: 3_200, 1_000: 9_600, 10_000: 96_000, 0: 1}
    assert {n: finetune.tuning(Evaluation(steps=n)).worlds for n in given} == given
    assert finetune.tuning(Evaluation(), 7).worlds == 7
    assert Evaluation(estimators=["v0,v1", "bb"]).estimators == ["v0", "v1", "bb"]
    with pytest.raises(TrickformerError, match="preset='large'"):
        configs.validate(BeliefTraining, {"preset": "large"})


@pytest.mark.slow
def test_a_folder_of_a_run_is_its_network_and_a_seat_its_own(tmp_path, network):
    model, config = networks.load(network.parent)
    assert torch.equal(model.weights()["decoder.start"], networks.load(network)[0].weights()["decoder.start"])
    assert config.seat == 0
    pomdp = training.command(BeliefTraining(out=tmp_path / "n", form="pomdp", seat=1, **LEARN), resume=False)
    judged = judge(None, pomdp, form="pomdp", seat=1, games=2)
    assert evaluation.command(judged, resume=False)[0]["estimators"]["bft"]["cards"] > 0
    with pytest.raises(TrickformerError, match="trained for seat 1, not for seat 0"):
        evaluation.command(judged.model_copy(update={"seat": 0}), resume=False)


def test_each_move_of_a_stack_is_told(tmp_path):
    """A stack may take an hour, and a record is there only when it has ended."""
    told = []
    config = Evaluation(estimators=["v0"], games=5, stack=3)
    records = list(evaluation.play(config, 3, lambda n=1, where="": told.append((n, where))))
    longest = max(record["positions"] for record in records)
    assert told == [(0, f"games 3 to 4 at move {move}") for move in range(1, longest + 1)]


def test_the_report_is_of_the_records(tmp_path, network):
    config = judge(tmp_path / "a", network, estimators=["v0", "seq2seq"])
    records = evaluation.command(config, resume=False)
    found = report.result(config, records)
    _write(found, config.out)
    per_game = {
        n: [r["estimators"][n]["loss"] / r["estimators"][n]["cards"] for r in records] for n in config.estimators
    }
    for name, entry in found["estimators"].items():
        assert entry["loss"]["mean"] == pytest.approx(np.mean(per_game[name]))
        assert entry["loss"]["se"] == pytest.approx(np.std(per_game[name], ddof=1) / 2)
        said = sum(b["said"] * b["n"] for b in entry["calibration"])
        so = sum(b["so"] * b["n"] for b in entry["calibration"])
        cards = sum(r["estimators"][name]["cards"] for r in records)
        assert said == pytest.approx(cards, rel=1e-4) and so == pytest.approx(cards)
    (difference,) = found["differences"]
    gap = np.subtract(per_game["seq2seq"], per_game["v0"])
    assert difference["mean"] == pytest.approx(gap.mean()) and difference["se"] == pytest.approx(gap.std(ddof=1) / 2)
    assert json.loads((config.out / report.SUMMARY).read_text())["games"] == 4
    assert "| v0 |" in (config.out / REPORT).read_text() and (config.out / report.PLOT).stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"players": ["smart", "holmes"]}, "The games are played by smart and holmes."),
        (
            {"form": "pomdp", "seat": 1, "others": ["piers", "iggi"]},
            "in seat 1 by a script drawn at random for each move (piers, iggi), and in seat 0 by smart.",
        ),
        (
            {"form": "fosg", "others": ["piers"]},
            "The games are played in all seats by a script drawn at random for each move (piers).",
        ),
    ],
)
def test_the_report_names_the_players(options, line):
    config = Evaluation(estimators=["v0"], games=1, **options)
    assert line in report.make_report(report.result(config, list(evaluation.play(config, 0)))).text()


def test_the_report_names_the_players_of_the_networks_training(tmp_path, network):
    config = judge(tmp_path / "run", network, players=["holmes", "holmes"], estimators=["seq2seq"], games=1)
    found = report.result(config, evaluation.command(config, resume=False))
    assert found["networks"]["checkpoint"]["players"] == ["smart", "smart"]
    assert "network of --checkpoint was trained on games of smart and smart." in report.make_report(found).text()


def test_a_report_of_one_game_is_json_and_names_every_build(tmp_path):
    """There is no standard error, and where hands are too many no exact belief."""
    config = Evaluation(estimators=["v0", "exact"], games=1, limit=1, pairs=1, out=tmp_path / "a")
    records = evaluation.command(config, resume=False)
    about = config.out / "run.json"
    about.write_text(json.dumps({"builds": [{"trickformer": "0.0.1"}]}))
    found = report.result(config, records)
    assert [b["trickformer"] for b in found["versions"]] == ["0.0.1", trickformer.__version__]
    json.dumps(found, allow_nan=False)
    assert found["estimators"]["exact"]["loss"] == {"mean": None, "se": None}
    assert report.pool_losses(np.array([2.0]), np.array([4])) == {"mean": 0.5, "se": None}
    _write(found, config.out)
    assert "| exact | - |" in (config.out / REPORT).read_text()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"estimators": []}, "no estimator is named"),
        ({"others": []}, "no scripted player is named"),
        ({"estimators": ["v0", "v0"]}, "named twice"),
        ({"estimators": ["v0"], "checkpoint": "a"}, "checkpoint is for the estimators seq2seq and bft"),
        ({"estimators": ["v0"], "transformer": "a"}, "transformer is for the estimator transformer"),
        ({"estimators": ["bb"], "alpha": 0.1}, "--alpha is for the estimator v2; add it to --estimators"),
        ({"estimators": ["v1"], "samples": 8}, "--samples is for the estimators bb and v2; add one"),
        ({"estimators": ["v1"], "particles": 8}, "--particles is for the estimators particles and rejection; add one"),
        ({"estimators": ["v1"], "limit": 8}, "--limit is for the estimator exact; add it"),
        ({"estimators": ["v1"], "pairs": 8}, "--pairs is for the estimator exact; add it"),
        ({"form": "pomdp", "pairs": 8}, "--pairs is for the forms hmm and fosg"),
        *(
            ({"estimators": ["v0", "seq2seq"], name: value}, f"{configs.option(name)} is for the estimator bft; add it")
            for name, value in TUNING.items()
        ),
        ({"preset": "paper", "estimators": ["v0"], "steps": 100}, "--steps is for the estimator bft"),
        ({"seat": 1}, "--seat is for --form pomdp and --played-by; in form hmm, leave out --seat"),
        ({"form": "fosg", "seat": 1}, "in form fosg, leave out --seat"),
        ({"others": ["smart"]}, "--others is for the forms pomdp and fosg"),
        ({"form": "pomdp", "others": ["smart"], "games_from": "a"}, "--others plays new games"),
    ],
)
def test_what_says_nothing_is_refused(given, says):
    with pytest.raises(TrickformerError, match=says):
        configs.validate(Evaluation, given)


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (Evaluation, {"preset": "paper", "estimators": ["v0"]}),
        (Evaluation, {"estimators": ["bb"], "alpha": 0.01, "steps": 100}),
        (Evaluation, {"form": "pomdp", "seat": 1, "others": ["smart"]}),
        (Evaluation, {"form": "fosg", "others": ["smart"], "pairs": 8}),
        (Evaluation, {"seat": 1, "games_from": Path("a"), "played_by": "smart"}),
        (Evaluation, {"particles": 8, "samples": 8, "estimators": ["rejection", "bb"]}),
        (BeliefTraining, {"model": "transformer", "heads": 2}),
        (BeliefTraining, {"form": "pomdp", "seat": 1}),
    ],
)
def test_what_is_read_is_accepted(model, given):
    config = configs.validate(model, given)
    assert {name: getattr(config, name) for name in given} == given


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"heads": 2}, "--heads is for --model transformer"),
        ({"seat": 1}, "--seat is for --form pomdp, not hmm"),
        ({"form": "fosg", "seat": 1}, "--seat is for --form pomdp, not fosg"),
    ],
)
def test_a_training_refuses_what_it_does_not_read(given, says):
    with pytest.raises(TrickformerError, match=says):
        configs.validate(BeliefTraining, given)


def test_a_network_of_an_earlier_version_may_hold_what_was_not_read(tmp_path):
    config = BeliefTraining(hidden=8).model_copy(update={"heads": 2, "seat": 1})
    networks.save(networks.network_of(config), config, config.players, tmp_path / "a.safetensors")
    assert networks.load(tmp_path / "a.safetensors")[1] == config.model_copy(update={"out": BeliefTraining().out})


def test_what_is_not_read_is_refused_on_the_command_line_but_not_in_a_file(tmp_path, command):
    """Files of earlier versions may hold it."""
    words = ["belief", "evaluate", "--estimators", "v0", "--games", 1, "--out", tmp_path / "run"]
    code, out, err = command(*words, "--alpha", "0.5")
    assert code == 2 and not out and not (tmp_path / "run").exists()
    assert err == "error: --alpha is for the estimator v2; add it to --estimators\n"
    (tmp_path / "a.toml").write_text("alpha = 0.5\n")
    code, _, err = command(*words, "--config", tmp_path / "a.toml")
    assert code == 0, err
    code, _, err = command("belief", "evaluate", "--resume", "--out", tmp_path / "run")
    assert code == 0, err


def test_the_distance_from_the_exact_belief_is_of_the_same_positions():
    """Against Cochran's standard error of a ratio; a game without a listed hand does not count."""
    rng = np.random.default_rng(4)
    cards, games = np.array([7, 0, 4, 9]), range(4)
    loss = {"v0": rng.uniform(1, 2, 4), "v1": rng.uniform(1, 2, 4), "exact": rng.uniform(0, 1, 4)}
    every = {"cards": 10, "missing": 0, "seconds": 0.1, "notes": {}, "bins": np.ones((3, 20)).tolist()}
    records = [
        {
            "game": g,
            "positions": 2,
            "exact_cards": int(cards[g]),
            "estimators": {
                n: {"loss": 10 * x[g], "loss_where_exact": cards[g] * x[g]} | every for n, x in loss.items()
            },
        }
        for g in games
    ]
    found = report.result(Evaluation(estimators=["v0", "v1", "exact"], games=4), records)
    gap = cards * (loss["v1"] - loss["exact"])
    rest = (gap - gap.sum() / cards.sum() * cards)[cards > 0]
    above = found["estimators"]["v1"]["above_exact"]
    assert above["mean"] == pytest.approx(gap.sum() / 20)
    assert above["se"] == pytest.approx(np.sqrt(3 * rest.var(ddof=1)) / 20)
    assert [(d["of"], d["minus"]) for d in found["differences"]] == [("v1", "v0"), ("exact", "v1"), ("exact", "v0")]


def test_v0_is_what_counting_says(tmp_path):
    """Before any move, of the public forms: every card is as likely as its share of the deck."""
    config = Evaluation(estimators=["v0"], games=3, stack=3)
    share = np.tile([3, 2, 2, 2, 1], 5) / 50
    process = process_of(config)
    x = process.start(config.seed, 0, 3)
    each = evaluation.estimators.V0(process)
    each.begin(x)
    np.testing.assert_allclose(np.exp(each.log_probs(process.hidden_cards(x)))[0, 0], share, rtol=1e-6)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"form": "pomdp"}, "trained for hmm on 5-card-8-hint, not for pomdp"),
        ({"variant": "5-card-2-hint"}, "not for hmm on 5-card-2-hint"),
        ({"checkpoint": None}, "need a network; give --checkpoint"),
        ({"players": ["smart"]}, "players takes 2 names, one for each seat, not 1"),
        ({"device": "cuda:77"}, "torch cannot use device 'cuda:77'"),
        ({"seed": 0}, "was trained on the games of seed 0"),
    ],
)
def test_bad_input_writes_nothing(tmp_path, network, given, says):
    config = judge(tmp_path / "a", network).model_copy(update=given)
    with pytest.raises(TrickformerError, match=says):
        evaluation.command(config, resume=False)
    assert not (tmp_path / "a").exists()


def test_training_on_a_device_that_is_not_there_writes_nothing(tmp_path):
    with pytest.raises(TrickformerError, match="torch cannot use device 'nowhere'"):
        training.command(BeliefTraining(device="nowhere", out=tmp_path / "a"), resume=False)
    assert not (tmp_path / "a").exists()


def test_a_network_of_what_all_see_serves_both_public_forms(tmp_path, network):
    found = evaluation.command(judge(None, network, form="fosg", games=1, stack=1), resume=False)
    assert found[0]["estimators"]["bft"]["cards"] > 0
