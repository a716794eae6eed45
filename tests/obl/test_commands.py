"""`trickformer obl ...`."""

import json

import numpy as np
import pytest
from support.obl import SMALL_HANABI, tree_of

from trickformer.studies.obl import operator, study


def test_the_toy_game_exactly(command):
    code, out, _ = command("obl", "exact", "--game", "toy", "--json")
    found = json.loads(out)
    assert code == 0 and found["obl"] == pytest.approx(5.0, abs=1e-9)
    assert found["levels"] == pytest.approx([5, 5, 5]) and found["k_levels"] == pytest.approx([1, 5, 5], abs=1e-6)
    assert found["self_play"]["best"] == pytest.approx(10) and found["open_cards"] == pytest.approx(10)
    assert (found["nodes"], found["information_states"], found["random"]) == (29, 6, pytest.approx(-0.875))
    assert json.loads(command("obl", "exact", "toy", "--json")[1]) == found


def test_a_table_of_levels(command):
    code, out, _ = command(
        "obl", "exact", "tiny_hanabi", "--levels", "2", "--policy", "grounded", "--temperature", "0.001"
    )
    assert code == 0 and "tiny_hanabi: 55 nodes, 8 information states" in out
    for word in (
        "level 1 with --policy grounded scores 8.0000 points",
        "k-level",
        "cognitive hierarchy, tau 1.5",
        "open cards",
    ):
        assert word in out


def test_at_temperature_0(command):
    code, out, _ = command("obl", "exact", "toy", "--temperature", "0", "--levels", "1", "--starts", "0", "--json")
    found = json.loads(out)
    assert code == 0 and found["obl"] == 5.0 and found["self_play"] is None


def test_a_target_of_beliefs(command):
    words = ["obl", "exact", SMALL_HANABI, "--levels", "1", "--temperature", "0.1", "--starts", "0", "--json"]
    found = [json.loads(command(*words, "--target", target)[1]) for target in ("histories", "beliefs")]
    assert [x["target"] for x in found] == ["histories", "beliefs"]
    tree = tree_of(SMALL_HANABI)
    for anew, one in enumerate(found):
        policy = operator.respond(tree, operator.uniform(tree), 0.1, new_belief=bool(anew)).policy
        assert one["obl"] == pytest.approx(float(operator.value(tree, policy)[0]), abs=1e-12)
    assert found[0]["obl"] != found[1]["obl"]


def test_self_play_needs_a_shared_payoff(command):
    code, out, _ = command("obl", "exact", "kuhn_poker", "--levels", "1")
    assert code == 0 and "no self-play, because the payoffs of the seats differ" in out
    found = json.loads(command("obl", "exact", "kuhn_poker", "--levels", "1", "--json")[1])
    assert found["self_play"] is None and not found["shared_payoff"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["exact"], "--game is missing"),
        (["exact", "toy", "--game", "toy"], "the game is given twice, toy and --game toy"),
        (["exact", "chess_x"], "unknown game 'chess_x'; choose from: "),
        (["exact", "toy", "--temperature", "0"], "give a temperature above 0"),
        (["exact", "toy", "--temperature", "nan"], "--temperature nan"),
        (["exact", "toy", "--levels", "0"], "--levels 0"),
        (["exact", "toy", "--starts", "0", "--seed", "2"], "--seed is for the random policies of --starts"),
        (["exact", "toy", "--limit", "10"], "the game has more than 10 nodes"),
        (["exact", "toy", "--policy", "best"], "policy"),
        (["exact", "hearts", "--checkpoint", "x"], "plays hanabi only, not hearts"),
        (["exact", SMALL_HANABI, "--checkpoint", "nowhere"], "unknown checkpoint 'nowhere'"),
        (["exact", "toy", "--checkpoint", "x"], "plays hanabi only, not toy"),
        (["exact", "matrix_pd"], "seats act at the same time"),
        (["toy", "--runs", "1"], "--runs 1"),
        (["toy", "--least", "1"], "--least 1"),
    ],
)
def test_what_is_refused(command, arguments, says):
    code, out, err = command("obl", *arguments)
    assert code == 2 and not out
    assert err.startswith("error: ") and says in err and err.count("\n") == 1


def test_who_guesses_after_a_light():
    tree = tree_of("toy")
    policy = operator.respond(tree, operator.uniform(tree), 0.01).policy
    assert not study.guesses(tree, policy)
    slot = tree.first[tree.keys.index((1, "light off"))]
    policy[slot : slot + 3] = np.log([0.3, 0.3, 0.4])
    assert study.guesses(tree, policy)


def test_figure_2(command, tmp_path):
    out = tmp_path / "toy"
    arguments = ["obl", "toy", "--runs", "4", "--games", "300", "--levels", "2", "--out", out]
    code, said, _ = command(*arguments, "--json")
    found = json.loads(said)
    assert code == 0
    names = [method["name"] for method in found["methods"]]
    assert names == ["SP", "OBL 1", "OBL 2", "CH 1", "CH 2", "K 1", "K 2"]
    known = {method["name"]: method["exact"] for method in found["methods"]}
    assert [known[n] for n in ("SP", "OBL 1", "OBL 2", "CH 1", "K 1", "K 2")] == pytest.approx(
        [10, 5, 5, 1, 1, 5], abs=1e-6
    )
    assert all(len(method["matrix"]) == 4 for method in found["methods"])
    report = (out / "report.md").read_text()
    assert "| CH 1 |" in report and "![Cross-play](toy.png)" in report
    assert (out / "toy.png").read_bytes().startswith(b"\x89PNG")
    again = tmp_path / "again"
    assert command("obl", "toy", "--config", out / "config.toml", "--out", again)[0] == 0
    assert (again / "config.toml").read_text() == (out / "config.toml").read_text()
    assert (again / "report.md").read_text() == report


def test_the_toy_study_spares_the_runs_of_other_commands(command, tmp_path):
    code, _, _ = command(
        "belief", "train", "--steps", 2, "--games", 1, "--targets", 1, "--hidden", 8, "--out", tmp_path
    )
    before = (tmp_path / "config.toml").read_text()
    assert code == 0
    code, _, err = command("obl", "toy", "--games", 20, "--runs", 2, "--levels", 1, "--out", tmp_path)
    assert code == 2 and "belongs to a run of another command" in err
    assert (tmp_path / "config.toml").read_text() == before
