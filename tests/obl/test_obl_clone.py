"""The clone bot: it learns what a scripted player does, and is seated like any other network."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from trickformer import _core, games, players
from trickformer.base import TrickformerError
from trickformer.models.hanabi_values import best, load
from trickformer.studies.obl.hanabi import clone, colours, learning, play, training
from trickformer.studies.obl.hanabi.actors import OVER
from trickformer.studies.obl.hanabi.config import OffBeliefTraining

CPU = torch.device("cpu")
ONE = "hanabi(colors=1,ranks=3,hand_size=2,max_information_tokens=2,max_life_tokens=1)"
TWO = "hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=2,max_life_tokens=2)"
THREE = "hanabi(players=3,colors=2,ranks=2,hand_size=2,max_information_tokens=3,max_life_tokens=2)"


def of(spec, out, **given):
    settings = {"method": "clone", "games_of": "partner:style=smart", "batch": 16, "games": 50, "evaluate_every": 1_000}
    return OffBeliefTraining(**{"game": spec, "out": out} | settings | given)


@pytest.mark.parametrize("spec", [TWO, THREE])
def test_games_on_record_are_those_of_the_scripted_player(spec):
    rules, n = training.rules_of(spec), 50
    found = clone.play_scripted_games(rules, "holmes", 7, n)
    table = _core.hanabi.Tables(rules, 7, 0, n)
    bots = np.full(n, _core.hanabi.BOTS.index("holmes"), dtype=np.int8)
    for actions in found.actions.T:
        on = ~table.over()
        chosen = table.choose(bots, 7)
        assert np.array_equal(actions[on], chosen[on]) and (actions[~on] == OVER).all()
        table.step(chosen)
    assert table.over().all()


def test_the_cross_entropy_is_that_of_legal_actions():
    rules, rng = training.rules_of(TWO), np.random.default_rng(0)
    kept = clone.play_scripted_games(rules, "smart", 7, 10)
    given = learning.frames(rules, 7, kept, True, CPU)
    q = torch.from_numpy(rng.normal(size=given.legal.shape).astype(np.float32))
    found = clone.surprise(given, q)
    for move in range(len(found)):
        seat = int(given.own[move].nonzero()[0, 0])
        logits, legal = q[move, seat].numpy().astype(float), given.legal[move, seat].numpy()
        wanted = np.log(np.exp(logits[legal]).sum()) - logits[int(given.actions[move])]
        assert float(found[move]) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.slow
def test_a_scripted_player_is_learned(tmp_path):
    """On games of another series: what it does where the scripted player plays, and what comes of it."""
    folder = training.command(of(ONE, tmp_path / "clone", steps=400), resume=False)
    trained, n = load(folder), 1_000
    table = _core.hanabi.Tables(trained.rules, 99, 0, n)
    bots = np.full(n, _core.hanabi.BOTS.index("smart"), dtype=np.int8)
    agree = []
    while not table.over().all():
        on = np.flatnonzero(~table.over())
        wanted, legal = table.choose(bots, 1), torch.from_numpy(table.legal()[on])
        q, _ = trained.model(torch.from_numpy(table.observe(None, trained.v0)[on]), torch.ones(len(on), 1), legal)
        agree.append(best(q, legal).numpy() == wanted[on])
        table.step(wanted)
    assert np.concatenate(agree).mean() > 0.97
    found, theirs = play.scores([trained] * 2, 99, 0, n).astype(float), table.scores().astype(float)
    assert abs((found - theirs).mean()) < 3 * (found - theirs).std() / np.sqrt(n) + 0.02
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert log[-1]["loss"] < 0.1 < log[0]["loss"] and {r["games"] for r in log} == {2_048}


def test_games_on_record_are_drawn_alike(tmp_path):
    """Whatever priorities would be given."""
    config = of(TWO, tmp_path, buffer=8).model_copy(update={"priority_exponent": 0.9})
    begun = training.TrainingProgress.begin(config, training.rules_of(TWO))
    for _ in range(3):
        begun.learn()
    assert begun.replay.total == 8 and set(begun.replay.priorities) == {1.0}


@pytest.mark.parametrize("shuffle", [False, True])
def test_colours_are_shuffled_anew_at_every_step(tmp_path, shuffle):
    rules = training.rules_of(TWO)
    begun = training.TrainingProgress.begin(of(TWO, tmp_path, shuffle_colours=shuffle, buffer=8), rules)
    kept, names = begun.replay.trajectories(np.arange(8)), colours.renaming(rules, CPU)
    plain, found = learning.frames(rules, 0, kept, True, CPU), set()
    for step in range(20):
        given = begun.make_frames(kept, np.random.default_rng(step))
        for game in range(8):
            rows = given.games == game
            for seat in range(2):
                fits = []
                for which in range(2):
                    seen = names.rename_observations(plain.seen[rows, seat], torch.full((int(rows.sum()),), which))
                    moved = names.actions[which, plain.actions[rows & given.own[:, seat]]]
                    if torch.equal(given.seen[rows, seat], seen):
                        assert torch.equal(given.actions[rows & given.own[:, seat]], moved)
                        fits.append(which)
                assert len(fits) == 1, (step, game, seat)
                found.add((game, seat, fits[0]))
    assert found == {(game, seat, which) for game in range(8) for seat in range(2) for which in range(1 + shuffle)}


def test_a_clone_bot_sits_at_tables(tmp_path, command):
    folder = training.command(of(TWO, tmp_path / "clone", steps=2, buffer=64, model="mlp"), resume=False)
    spec, game = f"obl:checkpoint={folder}", games.load(TWO)
    state, rng = game.spiel.new_initial_state(), np.random.default_rng(0)
    while state.is_chance_node():
        state.apply_action(int(rng.choice(state.legal_actions())))
    decision = players.make(spec, game).act([game.view(state, 0)], [rng], [{}])[0]
    assert decision.action in state.legal_actions() and decision.value is None  # its numbers are no points
    words = ["--players", spec, "partner:style=smart", "--games", "2", "--json"]
    code, out, err = command("obl", "crossplay", "--game", TWO, *words)
    assert code == 0 and len(json.loads(out)["matrix"]) == 2, err
    code, out, err = command("tournament", TWO, "--a", spec, "--b", "partner", "--deals", "2", "--json")
    assert code == 0 and json.loads(out), err
    with pytest.raises(TrickformerError, match="tunes action values"):
        players.make(f"rl_search:checkpoint={folder}", game)
