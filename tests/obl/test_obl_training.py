"""`trickformer obl train` and the player obl: a killed run ends as an unbroken one, what is learned is what the
operator says, and what is wrong is one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from support.obl import tree_of
from support.records import comparable

from trickformer import _core, games, players
from trickformer.base import TrickformerError
from trickformer.belief.samplers.hanabi import HanabiBelief, positions
from trickformer.models.hanabi_values import ActionValues, Shape, Trained, load, save
from trickformer.obl import operator
from trickformer.obl.hanabi import play, training
from trickformer.obl.hanabi.config import Training
from trickformer.plumbing import config as configs
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play as play_hands

TINY = "hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)"
QUICK = {"hidden": 8, "tables": 8, "batch": 4, "burn_in": 8, "buffer": 32, "games": 8, "evaluate_every": 5}


def quick(out, **given):
    return Training(**{"game": TINY, "steps": 12, "save_every": 4, "out": out} | QUICK | given)


def same(a, b):
    """Whether two folders hold the same network."""
    one, other = (load(folder).model.state_dict() for folder in (a, b))
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


METHODS = [
    {},
    {"model": "lstm"},
    {"method": "iql"},
    {"method": "vdn", "model": "lstm", "v0": False},
    {"preset": "paper", "hidden": 4, "steps": 6, "save_every": 3},
]


@pytest.mark.parametrize("given", METHODS, ids=str)
def test_training_that_was_stopped_ends_in_the_same_weights(tmp_path, given):
    once = training.command(quick(tmp_path / "once", **given), resume=False)
    config = quick(tmp_path / "again", **given)
    config.out.mkdir()
    rules = training.rules_of(config.game)
    going = training.run(training.Run.begin(config, rules))
    for _ in range(config.save_every + 2):  # the state on disk is two steps older
        next(going)
    del going
    resumed = training.Run.begin(config, rules)
    resumed.resume()
    assert resumed.step == config.save_every
    assert [r["step"] for r in training.run(resumed)] == list(range(config.save_every + 1, config.steps + 1))
    assert same(once, config.out)
    log = [json.loads(line) for line in (once / "log.jsonl").read_text().splitlines()]
    assert [r["step"] for r in log] == list(range(1, config.steps + 1)) and "score" in log[-1]
    assert (once / "score.png").stat().st_size > 1000 and list((once / "tensorboard").iterdir())


def test_kill_9_then_resume_ends_in_the_same_weights(tmp_path, capsys):
    given = {"steps": 200, "save_every": 20, "seed": 3}
    once = training.command(quick(tmp_path / "once", **given), resume=False)
    config = quick(tmp_path / "killed", **given)
    file = tmp_path / "obl.toml"
    file.write_text(configs.dump(config))
    words = [sys.executable, "-m", "trickformer", "obl", "train", "--config", str(file), "--out", str(config.out)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    limit, log = time.monotonic() + 120, config.out / "log.jsonl"
    while not (log.exists() and log.read_bytes().count(b"\n") >= 30 and (config.out / training.STATE).exists()):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < limit
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert not (config.out / "model.safetensors").exists(), "the run was over before it was killed"
    training.command(config, resume=True)
    assert "obl train, score" in capsys.readouterr().err
    assert same(once, config.out)
    assert (once / "log.jsonl").read_bytes() == log.read_bytes()


def test_presets():
    small, paper = Training(), Training(preset="paper")
    assert (small.hidden, small.model, small.moves) == (128, "mlp", 1)
    assert (paper.hidden, paper.model, paper.batch, paper.buffer, paper.burn_in) == (512, "lstm", 128, 100_000, 10_000)
    assert (paper.learning_rate, paper.adam_epsilon, paper.clip) == (6.25e-5, 1.5e-5, 5)
    assert (paper.priority_exponent, paper.priority_weight, paper.target_every, paper.discount) == (
        0.9,
        0.6,
        2_500,
        0.999,
    )
    assert Training(preset="paper", method="vdn").moves == 3 and Training(preset="paper", hidden=64).hidden == 64
    rules = training.rules_of("hanabi")
    assert ActionValues(Shape.of(rules, 512, 3, True)).shape.seen - Shape.of(rules, 512, 3, True).hands == 533


def observations(spec):
    """float32 [states, seen], what a seat sees in each information state of a game, the same in all worlds that explain
    its view; bool [states, actions], what is legal there."""
    tree, game = tree_of(spec), games.load(spec)
    belief, seen, legal = HanabiBelief(game), [], np.zeros((len(tree.keys), game.rules.actions), dtype=bool)
    for i, (seat, view) in enumerate(tree.keys):
        belief.reset(view)
        *_, table = positions(game, belief.sample(1, np.random.default_rng(i)).history(0))
        seen.append(table.observe(np.array([seat], dtype=np.int8), True)[0])
        legal[i, list(view.legal)] = True
    return np.stack(seen), legal


def test_an_observation_says_all_that_level_1_needs():
    """Information states that show the same have the same action values: a network needs no memory."""
    spec = "hanabi(colors=1,ranks=2,hand_size=1,max_information_tokens=2,max_life_tokens=1)"
    tree, (seen, legal) = tree_of(spec), observations(spec)
    q = operator.respond(tree, operator.grounded(tree), 0.1).q
    found: dict[bytes, np.ndarray] = {}
    for i in range(len(tree.before)):
        values = q[tree.first[i] : tree.first[i + 1]]
        known = found.setdefault(seen[i].tobytes() + legal[i].tobytes(), values)
        assert values == pytest.approx(known, abs=1e-9), tree.keys[i]
    assert len(found) < len(tree.before) / 2


def test_level_1_is_what_the_operator_says(tmp_path):
    """On a small game; docs/results/obl.md has a larger one. Values of the actions that are taken; and what the policy
    is worth, exactly and by games. Seats that agreed on meanings would get 1.5 here, and level 1 gets 1."""
    spec, temperature = "hanabi(colors=1,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=1)", 0.1
    settings = {"steps": 1_000, "evaluate_every": 1_000, "games": 4_000, "target_every": 20, "save_every": 1_000}
    settings |= {"hidden": 32, "tables": 32, "batch": 32, "buffer": 512, "learning_rate": 5e-3, "discount": 1.0}
    training.command(quick(tmp_path, **settings, game=spec, temperature=temperature), resume=False)
    tree, model, (seen, legal) = tree_of(spec), load(tmp_path).model, observations(spec)
    of_state = model(torch.from_numpy(seen), torch.ones(len(seen), 1), torch.from_numpy(legal))[0].numpy()
    q = of_state[np.repeat(np.arange(len(seen)), tree.counts), tree.action].astype(np.float64)
    answer = operator.respond(tree, operator.grounded(tree), temperature)
    tabular = float(operator.value(tree, answer.policy)[0])
    policy = operator.softmax(tree, q, slice(0, len(q)), temperature)
    assert float(operator.value(tree, policy)[0]) == pytest.approx(tabular, abs=0.03)
    nodes = np.flatnonzero(tree.state >= 0)
    reached = np.bincount(tree.state[nodes], operator.reach(tree, answer.policy)[nodes], len(tree.before))
    weights = np.repeat(reached, tree.counts) * np.exp(answer.policy)
    assert np.sqrt((weights * (q - answer.q) ** 2).sum() / weights.sum()) < 0.15
    record = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1])
    assert abs(record["score"] - tabular) <= 2 * record["error"] + 0.03


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """Networks of random weights for the game TINY."""
    made = {}
    for model in ("mlp", "lstm"):
        out = tmp_path_factory.mktemp("obl") / model
        out.mkdir()
        torch.manual_seed(3)
        rules = training.rules_of(TINY)
        network = ActionValues(Shape.of(rules, 16, 2, model == "lstm"))
        with torch.no_grad():
            network.advantage.weight.mul_(30)
        save(Trained(network, rules, True, 0.0, {"seed": 3}), out)
        made[model] = out
    return made


@pytest.mark.parametrize("model", ["mlp", "lstm"])
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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["hearts"], "plays hanabi only, not hearts"),
        (["hanabi", "--level", "0"], "level=0"),
        (["hanabi", "--level", "2"], "level=2"),
        (["hanabi", "--method", "sad"], "'sad' is not one of 'obl', 'iql', 'vdn'"),
        (["hanabi", "--n-step", "3"], "n_step = 3: a target of off-belief learning is one move"),
        (["hanabi(colours=1)"], "unknown option of hanabi 'colours'"),
        (["hanabi", "--device", "cuda:77"], "torch cannot use device"),
        (["hanabi", "--preset", "large"], "'large' is not one of 'small', 'paper'"),
    ],
)
def test_bad_input_is_one_line(arguments, says, command, tmp_path):
    out = tmp_path / "run"
    code, _, err = command("obl", "train", *arguments, "--out", out)
    assert code == 2 and says in err and err.count("\n") == 1 and not out.exists()


@pytest.mark.parametrize(
    ("spec", "name", "says"),
    [
        ("obl", TINY, "needs checkpoint=FOLDER"),
        ("obl:checkpoint=nowhere", TINY, "unknown checkpoint 'nowhere'"),
        ("obl:checkpoint=hanabi-small", TINY, "hanabi-small is no checkpoint of `trickformer obl train`"),
        ("obl:checkpoint={}", "hearts", "plays hanabi only, not hearts"),
        ("obl:checkpoint={}", "hanabi", "was trained on hanabi with colors=2, not 5"),
        ("argmax:checkpoint={}", TINY, "it is no checkpoint of trickformer"),
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
    with pytest.raises(TrickformerError, match=r"state\.npz is broken; choose another --out"):
        training.command(quick(run, steps=4), resume=True)


def test_a_config_file_is_read(tmp_path, command):
    file = tmp_path / "obl.toml"
    file.write_text(configs.dump(quick(tmp_path, steps=2, seed=4)))
    code, out, err = command("obl", "train", "--config", file, "--steps", "3", "--out", tmp_path / "run")
    assert code == 0, err
    assert out.strip() == str(tmp_path / "run") and load(tmp_path / "run").about["step"] == 3
    code, _, err = command("obl", "train", "--config", file, "--out", tmp_path / "run")
    assert code == 2 and "already holds a run" in err
