"""`trickformer obl train` and the player obl: a killed run ends as an unbroken one, what is learned is what the
operator says, and what is wrong is one line."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from support.records import comparable

from trickformer import _core, checkpoints, games, players
from trickformer.base import TrickformerError
from trickformer.models.hanabi_values import ActionValues, HanabiCheckpoint, NetworkSizes, load, save
from trickformer.plumbing import config as configs
from trickformer.studies.obl.hanabi import beliefs, play, training
from trickformer.studies.obl.hanabi.config import OffBeliefTraining
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play as play_hands

TINY = "hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)"
THREE = "hanabi(players=3,colors=2,ranks=2,hand_size=2,max_information_tokens=3,max_life_tokens=2)"
QUICK = {"hidden": 8, "tables": 8, "batch": 4, "burn_in": 8, "buffer": 32, "games": 8, "evaluate_every": 5}


def quick(out, **given):
    settings = {"game": TINY, "steps": 12, "save_every": 4, "out": out} | QUICK | given
    unread = {"tables", "burn_in"} if given.get("method") == "clone" else set()
    return OffBeliefTraining(**{name: value for name, value in settings.items() if name not in unread})


def same(a, b):
    """Whether two folders hold the same network."""
    one, other = (load(folder).model.state_dict() for folder in (a, b))
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


METHODS = [
    {},
    {"model": "lstm", "odds": True, "tries": True},
    {"method": "vdn", "model": "lstm", "v0": False},
    {"preset": "paper", "hidden": 4, "steps": 6, "save_every": 3},
    {"method": "iql", "sad": True, "model": "lstm"},
    {"method": "vdn", "sad": True, "other_play": True, "odds": True},
    {"method": "clone", "games_of": "partner:style=holmes"},
    {"game": THREE},
    {"game": THREE, "method": "iql", "sad": True, "other_play": True, "auxiliary": 0.25},
    {"game": THREE, "method": "vdn", "model": "lstm", "colour_bonus": 0.5, "hide_last_action": True},
    {"method": "clone", "games_of": "partner", "shuffle_colours": True, "model": "lstm"},
    {"method": "vdn", "other_play": True, "colour_bonus": 0.5, "hide_last_action": True, "model": "lstm"},
    {"method": "iql", "auxiliary": 0.5, "sad": True, "model": "lstm"},
    {"method": "klevel"},
    {"method": "klevel", "level": 2, "model": "lstm", "hidden": 16, "slip": 0.2},
    {"level": 2, "belief": "exact", "slip": 0.1, "hidden": 16},
    {"level": 2, "model": "lstm", "hidden": 16, "belief_hidden": 8, "belief_steps": 6, "belief_games": 4},
]


@pytest.mark.slow
@pytest.mark.parametrize("given", METHODS, ids=str)
def test_training_that_was_stopped_ends_in_the_same_weights(tmp_path, given, checkpoint):
    if "level" in given:
        given, below = given | {"below": tmp_path}, load(checkpoint[given.get("model", "mlp")])
        save(replace(below, about={"method": given.get("method", "obl"), "level": 1}), tmp_path)
    once = training.command(quick(tmp_path / "once", **given), resume=False)
    config = quick(tmp_path / "again", **given)
    config.out.mkdir()
    rules = training.rules_of(config.game)
    going = training.run(training.TrainingProgress.begin(config, rules))
    for _ in range(config.save_every + 2):  # the state on disk is two steps older: a step is kept after it is told
        next(going)
    del going
    resumed = training.TrainingProgress.begin(config, rules)
    resumed.resume()
    assert resumed.step == config.save_every
    assert [r["step"] for r in training.run(resumed)] == list(range(config.save_every + 1, config.steps + 1))
    assert same(once, config.out)
    log = [json.loads(line) for line in (once / "log.jsonl").read_text().splitlines()]
    assert [r["step"] for r in log] == list(range(1, config.steps + 1)) and "score" in log[-1]
    assert (once / "score.png").stat().st_size > 1000 and list((once / "tensorboard").iterdir())


def test_training_goes_on_with_the_level_below_that_it_began_with(tmp_path, checkpoint):
    below = shutil.copytree(checkpoint["mlp"], tmp_path / "below")
    config = quick(tmp_path / "run", **LEVEL_2 | {"below": below, "belief_steps": 2, "steps": 2})
    training.command(config, resume=False)
    training.command(config, resume=True)
    (config.out / "belief" / training.STATE).write_bytes(b"nothing")
    with pytest.raises(TrickformerError, match=r"belief/state\.npz is broken"):
        training.command(config, resume=True)
    (below / "config.json").write_text((below / "config.json").read_text() + "\n")
    with pytest.raises(TrickformerError, match=f"begun with another {below}/config.json;"):
        training.command(config, resume=True)


def test_a_relative_path_of_the_level_below_resumes_elsewhere(tmp_path, checkpoint, monkeypatch):
    below = shutil.copytree(checkpoint["mlp"], tmp_path / "below")
    monkeypatch.chdir(tmp_path)
    config = quick(tmp_path / "run", **LEVEL_2 | {"below": Path("below"), "belief_steps": 2, "steps": 2})
    training.command(config, resume=False)
    monkeypatch.chdir(tmp_path / "run")
    training.command(configs.read(OffBeliefTraining, config.out / "config.toml"), resume=True)
    training.command(config.model_copy(update={"below": below}), resume=True)
    with pytest.raises(TrickformerError, match="--threads 1, not --threads 2"):
        training.command(config.model_copy(update={"below": below, "threads": 2}), resume=True)


LEVEL_2 = {"level": 2, "hidden": 16, "belief_hidden": 8, "belief_layers": 1, "belief_games": 4, "belief_steps": 80}


SAD = {"method": "vdn", "sad": True, "auxiliary": 0.25}


@pytest.mark.slow
@pytest.mark.parametrize(("more", "stage"), [(SAD, "."), (LEVEL_2, "belief"), (LEVEL_2, ".")])
def test_kill_9_then_resume_ends_in_the_same_weights(tmp_path, capsys, checkpoint, more, stage):
    given = (
        {"steps": 120, "save_every": 20, "seed": 3} | more | ({"below": checkpoint["mlp"]} if "level" in more else {})
    )
    once = training.command(quick(tmp_path / "once", **given), resume=False)
    config = quick(tmp_path / "killed", **given)
    file = tmp_path / "obl.toml"
    file.write_text(configs.dump(config))
    words = [sys.executable, "-m", "trickformer", "obl", "train", "--config", str(file), "--out", str(config.out)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    limit, log = time.monotonic() + 120, config.out / stage / "log.jsonl"
    while not (log.exists() and log.read_bytes().count(b"\n") >= 30 and (log.parent / training.STATE).exists()):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < limit
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    later = config.out / ("log.jsonl" if stage == "belief" else "model.safetensors")
    assert not later.exists(), "the stage was over before it was killed"
    training.command(config, resume=True)
    assert "obl train, score" in capsys.readouterr().err
    assert same(once, config.out)
    for file in [
        Path("log.jsonl"),
        *([Path("belief/log.jsonl")] if "level" in more else []),
    ]:
        assert (once / file).read_bytes() == (config.out / file).read_bytes()


@pytest.mark.parametrize("averaging", [0.0, 0.5, 0.999])
def test_the_mean_of_the_weights_is_saved(tmp_path, averaging):
    going = training.TrainingProgress.begin(quick(tmp_path, averaging=averaging), training.rules_of(TINY))
    wanted = going.online.worth.weight.detach().clone()
    for step in range(1, 12):
        going.learn()
        keep = min(averaging, step / (step + 9))
        wanted = keep * wanted + (1 - keep) * going.online.worth.weight.detach()
    saved = going.make_checkpoint().model.worth.weight
    assert saved == pytest.approx(wanted, abs=1e-6)
    assert torch.equal(saved, going.online.worth.weight) == (averaging == 0)


def test_the_preset_full_is_how_the_shipped_network_was_trained():
    about = json.loads((checkpoints.find("hanabi-obl-1") / "config.json").read_text())["about"]
    full = OffBeliefTraining(preset="full").model_dump(mode="json")
    assert {k for k in about.keys() & full.keys() if about[k] != full[k]} == {"preset"}


@pytest.mark.parametrize(
    "given",
    [
        {"method": "vdn", "preset": "full"},
        {"method": "iql", "preset": "paper"},
        {"method": "clone", "games_of": "partner", "preset": "paper"},
        {"method": "klevel", "n_step": 2, "tables": 8},
        {"method": "klevel", "level": 2, "below": Path("x"), "slip": 0.1, "warm": False},
        {"level": 2, "below": Path("x"), "slip": 0.1, "belief": "exact", "tries": True, "worlds": 2},
        {"level": 2, "below": Path("x"), "slip": 0.1, "belief_steps": 5},
        {"n_step": 1},
    ],
)
def test_what_is_read_or_in_a_preset_is_accepted(given):
    config = configs.validate(OffBeliefTraining, given)
    assert {name: getattr(config, name) for name in given} == given


def test_files_of_earlier_versions_may_hold_what_is_not_read():
    given = {"slip": 0.1, "belief": "exact", "tries": True, "method": "klevel", "belief_steps": 5}
    configs.validate(OffBeliefTraining, given, {"filed": given.keys(), "typed": set()})
    with pytest.raises(TrickformerError, match="--sad is for self-play"):
        configs.validate(OffBeliefTraining, given | {"sad": True}, {"filed": {*given, "sad"}, "typed": set()})


def test_presets():
    small, paper = OffBeliefTraining(), OffBeliefTraining(preset="paper")
    assert (small.hidden, small.model, small.moves) == (128, "mlp", 1)
    assert (paper.hidden, paper.model, paper.batch, paper.buffer, paper.burn_in) == (512, "lstm", 128, 100_000, 10_000)
    assert (paper.learning_rate, paper.adam_epsilon, paper.clip) == (6.25e-5, 1.5e-5, 5)
    assert (paper.priority_exponent, paper.priority_weight, paper.target_every, paper.discount) == (
        0.9,
        0.6,
        2_500,
        0.999,
    )
    assert not paper.odds and not paper.tries and paper.averaging == 0
    assert (
        OffBeliefTraining(preset="paper", method="vdn").moves == 3
        and OffBeliefTraining(preset="paper", hidden=64).hidden == 64
    )
    rules = training.rules_of("hanabi")
    sizes = ActionValues(NetworkSizes.for_rules(rules, 512, 3, True)).sizes
    assert sizes.seen - sizes.hands == 533


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """Networks of random weights for the game TINY."""
    made = {}
    for model in ("mlp", "lstm", "sad", "hidden"):
        out = tmp_path_factory.mktemp("obl") / model
        out.mkdir()
        torch.manual_seed(3)
        rules = training.rules_of(TINY)
        last = {"sad": "greedy", "hidden": "hidden"}.get(model, "seen")
        network = ActionValues(NetworkSizes.for_rules(rules, 16, 2, model != "mlp", last=last))
        with torch.no_grad():
            network.advantage.weight.mul_(30)
        save(HanabiCheckpoint(network, rules, True, 0.0, {"seed": 3, "method": "obl", "level": 1}), out)
        made[model] = out
    return made


def test_a_checkpoint_of_self_play_is_no_level(checkpoint, tmp_path):
    trained = load(checkpoint["mlp"])
    save(replace(trained, about=trained.about | {"method": "vdn"}), tmp_path)
    with pytest.raises(TrickformerError, match="is of the method vdn; level 2 needs level 1"):
        training.command(quick(tmp_path / "run", level=2, below=tmp_path, hidden=16), resume=False)
    with pytest.raises(TrickformerError, match="own hands, and an exact belief lists 2,000 at most"):
        beliefs.hands(training.rules_of("hanabi"))


def test_a_network_that_diverged_is_not_saved(checkpoint, tmp_path):
    trained = load(checkpoint["mlp"])
    with torch.no_grad():
        trained.model.advantage.bias[0] = float("nan")
    with pytest.raises(TrickformerError, match=r"advantage\.bias holds a weight that is infinite or not a number"):
        save(trained, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_level_begins_with_the_weights_of_the_one_below(checkpoint, tmp_path):
    given = {"level": 2, "below": checkpoint["mlp"], "hidden": 16, "belief_hidden": 8, "belief_steps": 1}
    weights = load(checkpoint["mlp"]).model.state_dict()
    for warm in (True, False):
        config = quick(tmp_path / str(warm), warm=warm, **given)
        config.out.mkdir()
        begun = training.TrainingProgress.begin(config, training.rules_of(TINY))
        for network in (begun.online, begun.target):
            equal = [torch.equal(w, weights[name]) for name, w in network.state_dict().items()]
            assert all(equal) == warm


@pytest.mark.parametrize("model", ["mlp", "lstm", "sad", "hidden"])
def test_the_player_plays_as_the_tables_do(checkpoint, model):
    """The same games through views of OpenSpiel's states and on the core's tables: every score is the same."""
    game, trained = games.load(TINY), load(checkpoint[model])
    n = 12
    found = play.scores([trained] * 2, 5, 0, n)
    player = players.make(f"obl:checkpoint={checkpoint[model]}", game)
    for number in range(n):
        table = _core.hanabi.Tables(trained.rules, 5, number, 1)[0]
        state, drawn = game.spiel.new_initial_state(), iter([*table.hand(0), *table.hand(1), *table.deck])
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(drawn))
                continue
            view = game.view(state, state.current_player())
            decision = player.act([view], [np.random.default_rng(0)], [{}])[0]
            assert decision.value is None or np.isfinite(decision.value)
            state.apply_action(decision.action)
        assert round(state.returns()[0]) == found[number], number


def test_a_table_of_the_tournament(checkpoint, command):
    spec = f"obl:checkpoint={checkpoint['mlp']}"
    game = games.load(TINY)
    hands = [Hand(d, game.seatings(2)[d % 2]) for d in range(4)]
    casts = [[players.make(spec, game), players.make("partner", game)] for _ in range(2)]
    together, alone = (list(play_hands(game, cast, hands, 5, tables)) for cast, tables in zip(casts, (4, 1)))
    assert comparable(together) == comparable(alone)
    words = ["--a", spec, "--b", "partner:style=smart", "--deals", "3", "--seed", "1", "--json"]
    code, out, err = command("tournament", TINY, *words)
    assert code == 0 and json.loads(out), err


def test_three_runs_at_one_table(tmp_path, command):
    """Cross-play of three seats seats three different runs: each plays by its own network, in every order of seats."""
    rules, game, specs = training.rules_of(THREE), games.load(THREE), []
    for seed, last in enumerate(("seen", "greedy", "hidden")):
        torch.manual_seed(seed)
        network = ActionValues(NetworkSizes.for_rules(rules, 16, 2, seed == 0, last=last))
        with torch.no_grad():
            network.advantage.weight.mul_(30)
        (tmp_path / str(seed)).mkdir()
        save(HanabiCheckpoint(network, rules, True, 0.0, {"method": "vdn"}), tmp_path / str(seed))
        specs.append(f"obl:checkpoint={tmp_path / str(seed)}")
    words = [
        "--game",
        THREE,
        "--players",
        *specs,
        "--methods",
        "a",
        "a",
        "a",
        "--games",
        "2",
        "--out",
        tmp_path / "out",
    ]
    code, out, err = command("obl", "crossplay", *words, "--json")
    assert code == 0, err
    records = [json.loads(line) for line in (tmp_path / "out" / "records.jsonl").read_text().splitlines()]
    mixed = [r for r in records if len(set(r["seating"])) == 3]
    assert sorted(tuple(r["seating"]) for r in mixed) == sorted(2 * list(permutations(range(3))))
    found = json.loads(out)["methods"][0]["cross_play"]["mean"]
    assert found == pytest.approx(np.mean([r["scores"][0] for r in mixed]))
    team, differ = [players.make(spec, game) for spec in specs], 0
    for record in mixed:
        state = game.spiel.new_initial_state()
        for action in record["history"]:
            if not state.is_chance_node():
                view = game.view(state, state.current_player())
                said = [p.act([view], [np.random.default_rng(0)], [{}])[0].action for p in team]
                assert said[record["seating"][view.viewer]] == action
                differ += len(set(said)) > 1
            state.apply_action(action)
        assert state.is_terminal() and round(state.returns()[0]) == record["scores"][0]
    assert differ > 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["hearts"], "plays hanabi only, not hearts"),
        (["hanabi", "--level", "0"], "--level 0"),
        (["hanabi", "--level", "2"], "--level 2 needs the level below it; give the folder of level 1 with --below"),
        (["hanabi", "--other-play"], "--other-play is for self-play"),
        (["hanabi", "--colour-bonus", "0.25"], "--colour-bonus is for self-play; give --method iql or vdn"),
        (["hanabi", "--hide-last-action"], "--hide-last-action is for self-play; give --method iql or vdn"),
        (["hanabi", "--method", "iql", "--sad", "--hide-last-action"], "give one of them"),
        (
            ["hanabi", "--method", "clone"],
            "--method clone needs a player to imitate; give --games-of, such as partner:style=smart",
        ),
        (["hanabi", "--method", "clone", "--games-of", "random"], "who is imitated is a scripted player"),
        (["hanabi", "--method", "clone", "--games-of", "partner:style=x"], "style=x"),
        (["hanabi", "--method", "clone", "--games-of", "partner", "--level", "2"], "clone has no levels"),
        (["hanabi", "--method", "clone", "--games-of", "partner", "--sad"], "--sad is for self-play"),
        (["hanabi", "--games-of", "partner"], "--games-of is for imitation; give --method clone"),
        (["hanabi", "--method", "vdn", "--shuffle-colours"], "--shuffle-colours is for imitation"),
        (["hanabi", "--auxiliary", "0.25"], "--auxiliary is for self-play; give --method iql or vdn"),
        (["hanabi", "--priority-weight", "0.6"], "--priority-weight is for prioritized replay; give a --priority-exp"),
        (["hanabi", "--method", "vdn", "--auxiliary", "-1"], "--auxiliary -1"),
        (["hanabi", "--sad"], "--sad is for self-play; give --method iql or vdn"),
        (["hanabi", "--sad", "--method", "klevel"], "--sad is for self-play; give --method iql or vdn"),
        (["hanabi", "--below", "x"], "--below: there is nothing below level 1"),
        (["hanabi", "--slip", "0.1"], "--slip: there is nothing below level 1; give --level 2 or more"),
        (["hanabi", "--no-warm", "--method", "klevel"], "--no-warm: there is nothing below level 1"),
        (["hanabi", "--belief", "exact"], "--belief: there is nothing below level 1"),
        (["hanabi", "--belief-steps", "5"], "--belief-steps: there is nothing below level 1"),
        (
            ["hanabi", "--method", "vdn", "--slip", "0.1"],
            "--slip is for methods with levels; give --method obl or klevel",
        ),
        (
            ["hanabi", "--method", "iql", "--no-warm"],
            "--no-warm is for methods with levels; give --method obl or klevel",
        ),
        (["hanabi", "--method", "vdn", "--preset", "full", "--worlds", "4"], "--worlds is for off-belief learning"),
        *(
            (["hanabi", "--method", method, *words], f"{words[0]} is for off-belief learning; give --method obl")
            for method in ("iql", "vdn", "clone", "klevel")
            for words in (["--tries"], ["--worlds", "2"], ["--belief", "exact"], ["--belief-hidden", "64"])
        ),
        *(
            (
                ["hanabi", "--method", "clone", "--games-of", "partner", *words],
                f"{words[0]} is for methods that play their own games; give --method obl or iql or vdn or klevel",
            )
            for words in (["--n-step", "3"], ["--tables", "8"], ["--exploration", "0.5"], ["--target-every", "5"])
        ),
        (["hanabi", "--level", "2", "--method", "iql", "--below", "x"], "--level 2: method iql has no levels"),
        (["hanabi", "--level", "2", "--below", "nowhere"], "--below nowhere is no run folder of"),
        (["hanabi", "--level", "2", "--below", "hanabi-small"], "is no checkpoint of `trickformer obl train`"),
        (["hearts", "--level", "2", "--below", "{}"], "plays hanabi only, not hearts"),
        (["hanabi", "--level", "2", "--below", "{}"], "was trained on hanabi with colors=2, not 5"),
        ([TINY, "--level", "3", "--below", "{}"], "is level 1; level 3 needs level 2"),
        ([TINY, "--level", "2", "--below", "{}"], "has --model mlp --hidden 16 --layers 2 --v0 --no-odds"),
        ([TINY, "--level", "2", "--below", "{}", "--hidden", "16", "--belief", "exact"], "give --slip above 0"),
        (
            [TINY, "--level", "2", "--below", "{}", "--belief", "exact", "--belief-steps", "5"],
            "--belief-steps is for a belief network; give --belief learned",
        ),
        ([TINY, "--level", "2", "--below", "{}", "--no-warm", "--belief", "exact"], "give --slip above 0"),
        (
            [TINY, "--level", "2", "--below", "{}", "--method", "klevel"],
            "of the method obl; level 2 needs level 1 of klevel",
        ),
        (["hanabi", "--method", "sad"], "--method sad: choose from obl, iql, vdn, klevel, clone"),
        (["hanabi", "--n-step", "3"], "--n-step 3: targets of off-belief learning have one length"),
        (["hanabi(colours=1)"], "unknown option of hanabi 'colours'"),
        (["hanabi", "--device", "cuda:77"], "torch cannot use device"),
        (["hanabi", "--preset", "large"], "--preset large: choose from small, full, paper"),
    ],
)
def test_bad_input_is_one_line(arguments, says, command, tmp_path, checkpoint):
    out, words = tmp_path / "run", [word.format(checkpoint["mlp"]) for word in arguments]
    code, _, err = command("obl", "train", *words, "--out", out)
    assert code == 2 and says in err and err.count("\n") == 1 and not out.exists()


@pytest.mark.parametrize(
    ("spec", "name", "says"),
    [
        ("obl", TINY, "needs checkpoint=hanabi-obl, or"),
        ("obl:checkpoint=nowhere", TINY, "unknown checkpoint 'nowhere'"),
        ("obl:checkpoint=hanabi-small", TINY, "hanabi-small is no checkpoint of `trickformer obl train`"),
        ("obl:checkpoint={}", "hearts", "plays hanabi only, not hearts"),
        ("obl:checkpoint={}", "hanabi", "was trained on hanabi with colors=2, not 5"),
        ("argmax:checkpoint={}", TINY, "is a network of player obl, not a transformer"),
    ],
)
def test_what_cannot_be_seated_is_one_line(spec, name, says, checkpoint):
    with pytest.raises(TrickformerError) as refusal:
        players.make(spec.format(checkpoint["mlp"]), games.load(name))
    assert says in str(refusal.value) and "\n" not in str(refusal.value)


def test_a_damaged_checkpoint_or_state_is_one_line(checkpoint, tmp_path):
    files = {name: (checkpoint["mlp"] / name).read_bytes() for name in ("config.json", "model.safetensors")}
    said = json.loads(files["config.json"])
    broken = [
        ("config.json", b"{"),
        ("config.json", b"[]"),
        ("config.json", json.dumps(said | {"rules": {"colors": 9}}).encode()),
        ("config.json", json.dumps(said | {"shape": said["shape"] | {"hidden": 8}}).encode()),
        ("config.json", json.dumps(said | {"shape": said["shape"] | {"seen": 8}}).encode()),
        ("config.json", json.dumps(said | {"shape": said["shape"] | {"hidden": 10**30}}).encode()),
        ("config.json", json.dumps(said | {"shape": said["shape"] | {"layers": 10**9}}).encode()),
        ("config.json", json.dumps(said | {"v0": "no"}).encode()),
        ("config.json", json.dumps(said | {"temperature": -1}).encode()),
        ("config.json", json.dumps(said | {"temperature": math.nan}).encode()),
        ("model.safetensors", files["model.safetensors"][:-9]),
        ("model.safetensors", b""),
    ]
    for name, content in broken:
        for known, held in files.items():
            (tmp_path / known).write_bytes(content if known == name else held)
        with pytest.raises(TrickformerError, match="is no checkpoint of `trickformer obl train`") as refusal:
            load(tmp_path)
        assert "\n" not in str(refusal.value)
    run = tmp_path / "run"
    training.command(quick(run, steps=4), resume=False)
    (run / training.STATE).write_bytes(b"nothing")
    with pytest.raises(TrickformerError, match=r"state\.npz is broken; restore"):
        training.command(quick(run, steps=4), resume=True)


def test_weights_of_another_precision_play(checkpoint, tmp_path):
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        folder = shutil.copytree(checkpoint["mlp"], tmp_path / str(dtype))
        file = folder / "model.safetensors"
        save_file({name: w.to(dtype) for name, w in load_file(file).items()}, file)
        assert len(play.scores([load(folder)] * 2, 5, 0, 2)) == 2


def test_a_config_file_is_read(tmp_path, command):
    file = tmp_path / "obl.toml"
    file.write_text(configs.dump(quick(tmp_path, steps=2, seed=4)))
    code, out, err = command("obl", "train", "--config", file, "--steps", "3", "--out", tmp_path / "run")
    assert code == 0, err
    assert out.strip() == str(tmp_path / "run") and load(tmp_path / "run").about["step"] == 3
    code, _, err = command("obl", "train", "--config", file, "--out", tmp_path / "run")
    assert code == 2 and "already holds a run" in err
