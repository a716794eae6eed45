"""The option preset=paper of gomcts and argmax: Algorithm 3 and ArgmaxVal* with the settings of the GO-MCTS paper."""

from __future__ import annotations

import json
import random

import pytest
from support.play import random_playout

import trickformer as tf
from trickformer import checkpoints, games, players

# Section 9.3 of the GO-MCTS paper: N_runs, N_steps ("rollouts"), C, threshold and mu of GO-MCTS, then the threshold of
# ArgmaxVal*.
PAPER = {
    "hearts": (100, 2, 0.4, 0.05, 0.01, 0.05),
    "skat": (100, 5, 0.3, 0.05, 0.01, 0.05),
    "crew": (50, 5, 0.1, 0.01, 0.01, 0.05),
}
# Algorithm 3: one simulation at a time, V at new children and at the end, any token of the vocabulary by the policy.
ALGORITHM_3 = {
    "wave": 1,
    "action_values": False,
    "leaf_action_values": False,
    "rollout_action_values": False,
    "temperature": 1.0,
}


def paper_search(name: str) -> dict:
    return dict(zip(("runs", "steps", "c", "threshold", "mu"), PAPER[name])) | ALGORITHM_3


def paper_argmax(name: str) -> dict:
    return {"threshold": PAPER[name][-1], "action_values": False}


def options_of(spec: str, name: str) -> dict:
    options = players.resolve_options(spec, games.load(name))
    left_out = ("checkpoint", "dtype", "device")
    return {key: value for key, value in options.items() if key not in left_out and value is not None}


def spelled_out(player: str, options: dict) -> str:
    return f"{player}:" + ",".join(f"{key}={players.text(value)}" for key, value in options.items() if key != "preset")


@pytest.mark.parametrize("name", PAPER)
def test_a_model_without_mask_imagines_freely_by_the_papers_table(tiny_checkpoint_of, name):
    spec = f"preset=paper,checkpoint={tiny_checkpoint_of(name)}"
    options = options_of(f"gomcts:{spec}", name)
    assert options == {"preset": "paper", "legal": False} | paper_search(name)
    player = players.make(f"gomcts:{spec}", games.load(name))
    assert {key: getattr(player.options, key) for key in options if key != "preset"} == {
        key: value for key, value in options.items() if key != "preset"
    }
    assert not player.caveats
    assert options_of(f"argmax:{spec}", name) == {"preset": "paper"} | paper_argmax(name)


@pytest.mark.parametrize("name", PAPER)
def test_a_masked_model_keeps_its_mask_and_the_player_says_so(name):
    game = games.load(name)
    assert checkpoints.abilities(checkpoints.of_game(game)) == (True, True)
    expected = {"preset": "paper", "legal": True} | paper_search(name)
    del expected["mu"]  # nothing imagined is illegal
    assert options_of("gomcts:preset=paper", name) == expected
    (caveat,) = players.make("gomcts:preset=paper", game).caveats
    assert "masked in training, so imagination is not free" in caveat
    (caveat,) = players.make("gomcts:preset=paper,legal=false", game).caveats
    assert "masked in training, so it never learned" in caveat
    assert not players.make("gomcts", game).caveats
    assert options_of("argmax:preset=paper", name) == {"preset": "paper"} | paper_argmax(name)
    assert players.presets_of("gomcts")["paper"][name] == paper_search(name)
    assert players.presets_of("argmax")["paper"][name] == paper_argmax(name)


def test_options_beside_the_preset_override_it():
    given = {"runs": 50, "action_values": True, "wave": 4, "legal": False}
    spec = spelled_out("gomcts", given) + ",preset=paper"
    assert options_of(spec, "hearts") == {"preset": "paper"} | paper_search("hearts") | given
    spec = players.resolve(spec, games.load("hearts"))
    assert players.resolve(spec, games.load("hearts")) == spec
    given = {"threshold": 0.3, "action_values": True}
    assert options_of(spelled_out("argmax", given) + ",preset=paper", "skat") == {"preset": "paper"} | given


def views_of(game, n: int):
    states = [state for state in random_playout(game.deal(6, 1), random.Random(4)) if not state.is_terminal()]
    views = [game.view(state, state.current_player()) for state in states]
    return [view for view in views if len(view.legal) > 1][-n:]


@pytest.mark.parametrize("player", ["gomcts", "argmax"])
@pytest.mark.parametrize("name", PAPER)
def test_decisions_equal_those_of_the_options_spelled_out(player, name):
    game = games.load(name)
    by_preset = players.make(f"{player}:preset=paper", game)
    options = {"legal": True} | paper_search(name) if player == "gomcts" else paper_argmax(name)
    by_options, usual = players.make(spelled_out(player, options), game), players.make(player, game)
    views = views_of(game, 6)
    assert len(views) == 6
    decisions = [[tf.decide(each, view, seed=3) for view in views] for each in (by_preset, by_options, usual)]
    assert decisions[0] == decisions[1]
    assert [d.value for d in decisions[0]] != [d.value for d in decisions[2]]  # the game's defaults differ


def test_argmax_by_the_value_head_differs_from_argmax_by_action_values():
    """V(h, a) is the value with which a search begins a child."""
    game = games.load("hearts")
    value_head = players.make("argmax:preset=paper,threshold=0", game)
    search = players.make("gomcts:preset=paper,threshold=0,runs=1", game)
    q = players.make("argmax:threshold=0", game)
    for view in views_of(game, 4):
        by_value, by_q = (tf.decide(player, view, seed=1, explain=True) for player in (value_head, q))
        searched = tf.decide(search, view, seed=1)
        untouched = {action for action, visits in searched.visits.items() if visits == 1}
        assert len(untouched) >= len(view.legal) - 1
        for action in untouched:
            assert by_value.values[action] == pytest.approx(searched.values[action], abs=1e-6)
        assert by_value.values.keys() == by_q.values.keys() == set(view.legal)
        assert by_value.values != by_q.values


def test_faults_of_the_preset_are_one_line(command, tiny_checkpoint_of):
    for player in ("gomcts", "argmax"):
        code, _, err = command("tournament", "hearts", "--a", f"{player}:preset=papr", "--b", "rules")
        assert code == 2 and "preset=papr must be 'paper'" in err and err.count("\n") == 1
        code, _, err = command("tournament", "hanabi", "--a", f"{player}:preset=paper", "--b", "partner")
        assert code == 2 and "has no settings for hanabi" in err and err.count("\n") == 1
        spec = f"{player}:checkpoint={tiny_checkpoint_of('hearts')},action_values=true,preset=paper"
        code, _, err = command("tournament", "hearts", "--a", spec, "--b", "rules")
        assert code == 2 and "has no action values" in err and err.count("\n") == 1


def test_a_run_folder_holds_the_resolved_settings(command, tmp_path):
    out = tmp_path / "run"
    words = ["tournament", "hearts", "--a", "gomcts:preset=paper,runs=2", "--b", "argmax:preset=paper", "--deals", "1"]
    code, printed, err = command(*words, "--out", str(out))
    assert code == 0, err
    assert "A (gomcts): preset=paper: the model's policy was masked in training" in printed
    about = json.loads((out / "run.json").read_text())
    search, argmax = (row["options"] for row in about["resolved"])
    expected = {"preset": "paper", "legal": True} | paper_search("hearts") | {"runs": 2}
    del expected["mu"]
    assert {key: search[key] for key in expected} == expected
    assert {key: argmax[key] for key in ("preset", *paper_argmax("hearts"))} == {"preset": "paper"} | paper_argmax(
        "hearts"
    )
    records = (out / "records.jsonl").read_bytes()
    code, _, err = command(*words, "--out", str(out), "--resume")
    assert code == 0, err
    assert (out / "records.jsonl").read_bytes() == records


def test_a_folder_from_before_the_options_existed_resumes(command, tmp_path):
    """Its config names neither preset nor action_values, so both have the values that they had then."""
    out = tmp_path / "run"
    words = ["tournament", "hearts", "--a", "gomcts:runs=2", "--b", "argmax", "--deals", "1", "--out", str(out)]
    code, _, err = command(*words)
    assert code == 0, err
    config = (out / "config.toml").read_text()
    former = config.replace(',action_values=true"', '"')
    assert former != config and "preset" not in former
    (out / "config.toml").write_text(former)
    records = (out / "records.jsonl").read_bytes()
    code, _, err = command(*words, "--resume")
    assert code == 0, err
    assert (out / "records.jsonl").read_bytes() == records
    code, _, err = command("report", str(out), "--json")
    assert code == 0, err


def test_the_list_of_players_explains_the_preset(command):
    _, printed, _ = command("players", "gomcts")
    assert "preset=paper in crew: runs=50,steps=5,c=0.1,threshold=0.01,mu=0.01,wave=1" in printed
    _, printed, _ = command("players", "argmax", "--json")
    (player,) = json.loads(printed)["players"]
    assert player["presets"]["paper"]["skat"] == paper_argmax("skat")
