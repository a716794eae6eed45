"""Networks as the players of a belief's games: they move as the player `obl` does, and beliefs about them are exact."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from support.small_hanabi import SMALL, follow, listed, play

from trickformer import _core, games, players
from trickformer.base import Policy, TrickformerError, View
from trickformer.belief.hanabi import networks, policies
from trickformer.belief.hanabi.config import BeliefTraining, Evaluation
from trickformer.belief.hanabi.estimators import ExactHandEstimator
from trickformer.belief.hanabi.exact import HandListBelief
from trickformer.belief.hanabi.policies import NetworkPolicy
from trickformer.belief.hanabi.process import Form, HanabiProcess, prefer
from trickformer.belief.hanabi.public import PublicWorlds
from trickformer.belief.samplers.hanabi import replay
from trickformer.models.hanabi_values import ActionValues, HanabiCheckpoint, NetworkSizes, load, save
from trickformer.search.hanabi.scripted import ScriptedPolicy
from trickformer.studies.belief import evaluation, training
from trickformer.studies.belief.system import process_of

SHIPPED = "obl:checkpoint=hanabi-obl-1"
LEARN = {"hidden": 8, "games": 2, "targets": 3, "steps": 2, "save_every": 1}
JUDGE = {"steps": 1, "worlds": 8, "batch": 4, "samples": 1, "particles": 20, "limit": 200, "pairs": 200}
SMART, PIERS = (_core.hanabi.BOTS.index(name) for name in ("smart", "piers"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of checkpoints with random weights: one for each kind of network that the tests name."""
    made = {}
    large = games.load("hanabi")
    for name, game, recurrent, about in (
        ("small", SMALL, False, {}),
        ("imitation", SMALL, False, {"method": "clone"}),
        ("large", large, False, {}),
        ("lstm", large, True, {}),
        ("cards", games.load("hanabi(hand_size=7,max_information_tokens=4)"), False, {}),
    ):
        torch.manual_seed(3)
        made[name] = tmp_path_factory.mktemp(name)
        model = ActionValues(NetworkSizes.for_rules(game.rules, 24, 2, recurrent, odds=True))
        with torch.no_grad():
            model.advantage.weight *= 8  # distinct values
            model.private[0].weight[:, : model.sizes.hands] *= 8  # moves depend on the hands that the seat sees
        save(HanabiCheckpoint(model, game.rules, True, 0.0, about), made[name])
    return made


class PlayerPolicy(Policy):
    """The policy of a player `obl`: the softmax of its action values, computed for each view by itself."""

    def __init__(self, folder, temperature: float):
        self._player, self._temperature = players.make(f'obl:checkpoint="{folder}"', SMALL), temperature
        self._known: dict[str, np.ndarray] = {}

    def probs(self, views: Sequence[View]) -> np.ndarray:
        for view in views:
            if repr(view) not in self._known:
                self._known[repr(view)] = self._of(view)
        return np.stack([self._known[repr(view)] for view in views])

    def _of(self, view: View) -> np.ndarray:
        legal = list(view.legal)
        values, probs = self._player.values(view)[legal], np.zeros(SMALL.rules.actions)
        weight = np.exp((values - values.max()) / (self._temperature or 1e-9))
        probs[legal] = weight / weight.sum()
        return probs


def words_of(options):
    """The options as words of a command line."""
    return [word for key, value in options.items() for word in ("--" + key.replace("_", "-"), value)]


def policy(folder, temperature: float) -> NetworkPolicy:
    return NetworkPolicy(load(folder), temperature)


def test_a_network_moves_as_its_player_does():
    game = games.load("hanabi")
    player, process = players.make(SHIPPED, game), process_of(BeliefTraining(players=[SHIPPED, SHIPPED]))
    moves = 0
    for deal in range(2):
        state = game.deal(4, deal)
        while not state.is_terminal():
            view = game.view(state, state.current_player())
            (chosen,) = player.act([view], [np.random.default_rng(0)], [{}])
            _, actions = process.move(replay(game, state.history()), None, seed=1)
            assert actions.tolist() == [chosen.action], (deal, moves)
            state.apply_action(chosen.action)
            while state.is_chance_node():
                state.apply_action(game.chance(state, 4, deal))
            moves += 1
    assert moves > 100


@pytest.mark.parametrize("name", ["small", "imitation"])
def test_probabilities_are_those_of_the_player(folders, name):
    network, looked = policy(folders[name], 0.4), 0
    player = PlayerPolicy(folders[name], 0.4)
    for deal in range(3):
        rng, state = np.random.default_rng(deal), SMALL.deal(1, deal)
        while not state.is_terminal():
            expected = player.probs([SMALL.view(state, state.current_player())])
            np.testing.assert_allclose(network.probabilities(replay(SMALL, state.history())), expected, atol=1e-5)
            looked += len(np.unique(expected.round(3))) > 2
            state.apply_action(int(rng.choice(state.legal_actions())))
            while state.is_chance_node():
                state.apply_action(SMALL.chance(state, 1, deal))
    assert looked > 10


@pytest.mark.parametrize("temperature", [0.0, 0.3])
def test_a_batch_moves_as_its_tables_do_alone(folders, temperature, monkeypatch):
    """Whatever its size, with games that are over among others, and with scripts at other tables."""
    monkeypatch.setattr(policies, "CHUNK", 7)
    network = policy(folders["large"], temperature)
    process = HanabiProcess(games.load("hanabi").rules, Form.FOSG, [network, "smart"])
    n, x = 40, process.start(3, 100, 40)
    number, rule = int(process.players[0]), prefer(2, PIERS)
    assert process.players.tolist() == [number, SMART] and number > prefer(process.rules.actions - 1, PIERS)
    mixed = np.resize([number, number, SMART, rule], n)
    differing = 0
    for step in range(70):
        chosen = process.choose(x, mixed, 5, 100)
        for i in range(step % 4, n, 4):
            assert process.choose(x.take(np.array([i])), mixed[[i]], 5, 100 + i).tolist() == [chosen[i]], (step, i)
        others = process.choose(x, mixed, 6, 100)
        differing += int((others != chosen)[mixed == number].sum())
        assert ((chosen == -1) == x.over()).all()
        for script in (SMART, rule):
            rows = mixed == script
            assert (chosen[rows] == process.choose(x, np.full(n, script), 5, 100)[rows]).all()
        x, actions = process.move(x, mixed, 5, 100)
        assert (actions == chosen).all()
    assert x.over().any() and (differing > 50 if temperature else differing == 0)


def test_draws_follow_the_probabilities(folders):
    process = HanabiProcess(SMALL.rules, Form.HMM, [policy(folders["small"], 1.5)] * 2)
    x, n = process.start(1, 0, 1), 20_000
    for _ in range(3):
        probs = process.policy_given_hands(x, 0, np.full((1, 2, 2), -1, dtype=np.int8), int(process.players[0]))[0]
        chosen = process.choose(x.take(np.zeros(n, np.int64)), np.full(n, process.players[0]), 9)
        assert (probs > 0.05).sum() > 1
        np.testing.assert_allclose(np.bincount(chosen, minlength=len(probs)) / n, probs, atol=0.015)
        x, _ = process.move(x, None, 2)


@pytest.mark.parametrize(("form", "seat"), [(Form.HMM, 0), (Form.POMDP, 0), (Form.POMDP, 1)])
@pytest.mark.parametrize(("partner", "temperature"), [("network", 0.3), ("network", 0.0), ("piers", 0.3)])
def test_listing_hands_equals_the_forward_algorithm(folders, form, seat, partner, temperature):
    """With the player's own values in every world, one by one. A network reads other hands in other worlds."""
    fast, slow = policy(folders["small"], temperature), PlayerPolicy(folders["small"], temperature)
    is_network = partner == "network"
    process = HanabiProcess(SMALL.rules, form, [fast, fast if is_network else partner], seat)
    exact, informed = HandListBelief(process), 0
    for seed in range(3):
        policies_of_seats = [slow, slow if is_network else ScriptedPolicy(SMALL, partner)]
        for _, now in follow(exact, play(form, seed, seat, policies_of_seats)):
            found = listed(exact)
            assert found.keys() == now.belief.keys(), seed
            for hand, p in now.belief.items():
                assert found[hand] == pytest.approx(p, abs=1e-5), (seed, hand)
            counting = HandListBelief(process)
            counting.begin(now.table)
            informed += max(found.values()) > 1.2 * np.exp(counting.distribution()[1]).max()
    assert informed > 2, informed


@pytest.mark.parametrize("form", [Form.HMM, Form.POMDP])
@pytest.mark.parametrize("limit", [10_000, 0], ids=["listed", "drawn"])
def test_exact_worlds_are_those_of_the_forward_algorithm(folders, form, limit):
    """Both hands, and the hand of one seat, where all play a network."""
    fast, slow = policy(folders["small"], 0.3), PlayerPolicy(folders["small"], 0.3)
    process, n, positions = HanabiProcess(SMALL.rules, form, [fast, fast], 1), 3_000, 0
    of_seat = form is Form.POMDP
    exact = ExactHandEstimator(process, limit, 8_192) if of_seat else PublicWorlds(process, limit, 8_192)
    for seed in range(2):
        for _, now in follow(exact, play(form, seed, 1, [slow, slow])):
            (worlds,) = exact.sample_hands(n, seed)
            assert worlds.shape == (n, process.slots)
            counts = Counter(map(tuple, worlds.tolist()))
            assert counts.keys() <= now.belief.keys(), seed
            for hands, p in now.belief.items():
                error = 5 * np.sqrt(p * (1 - p) / n) + (0.01 if limit else 0.04)
                assert abs(counts[hands] / n - p) < error, (seed, positions, hands)
            if of_seat and limit:
                log_probs = exact.log_probs(now.hidden)[0]
                p = np.exp(sum(log_probs[slot, card] for slot, card in enumerate(now.hidden[0]) if card >= 0))
                assert p == pytest.approx(now.belief[tuple(now.hidden[0].tolist())], abs=1e-5)
            positions += 1
    assert positions > 10


@pytest.mark.parametrize("form", Form)
def test_a_game_depends_on_its_number_alone(folders, form):
    """A training that was stopped plays the same games again, from any first game."""
    config = BeliefTraining(players=[f'obl:checkpoint="{folders["large"]}",temperature=0.3', "holmes"], form=form)
    process = process_of(config)
    whole, later = training.play(process, 3, 0, 4), training.play(process, 3, 2, 2)
    for t in range(int(later.lengths.max())):
        assert torch.equal(whole.emission[t, 2:], later.emission[t])
        assert torch.equal(whole.cards[t, 2:], later.cards[t])
    assert whole.lengths[2:].tolist() == later.lengths.tolist() and whole.lengths.min() > 5


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["obl:checkpoint={lstm}"] * 2, "the network has an LSTM"),
        (["obl:checkpoint={cards}", "smart"], "was trained on hanabi with hand_size=7, not 5"),
        (["obl:checkpoint=nowhere"] * 2, "checkpoint 'nowhere'"),
        (["obl"] * 2, "player 'obl' needs checkpoint=hanabi-obl,"),
        (["obl:checkpoint=hanabi-obl-1,temperatur=1"] * 2, "temperatur"),
        ([SHIPPED], "players takes 2 names, one for each seat, not 1"),
        (["clever", "smart"], "no player 'clever'; choose from: simple, .*, obl:checkpoint="),
        (["rules", "smart"], "no player 'rules'"),
        (["smart," + SHIPPED], "give each network as an argument of its own"),
        ([SHIPPED + ",obl:checkpoint={lstm}"], "give each network as an argument of its own"),
    ],
)
@pytest.mark.parametrize("task", ["train", "evaluate"])
def test_players_that_cannot_be_are_one_line(folders, tmp_path, command, given, says, task):
    texts = [text.format(**folders) for text in given]
    code, out, err = command("belief", task, "--players", *texts, "--out", tmp_path / "a")
    assert code == 2 and not out and not (tmp_path / "a").exists()
    assert len(err.splitlines()) == 1
    assert re.search(says, err), err


@pytest.mark.parametrize("player", [SHIPPED, "iggi"])
def test_fixed_players_make_no_moves_in_a_fosg(player):
    with pytest.raises(ValueError, match="in form fosg the scripts of --others make all moves; leave out --players"):
        Evaluation(form="fosg", players=[player, player])


def test_scripts_alone_are_drawn_for_seats_that_are_not_fixed():
    with pytest.raises(ValueError, match="no scripted player 'obl:checkpoint=hanabi-obl-1'"):
        Evaluation(others=[SHIPPED])


def test_a_belief_of_networks_is_trained_and_judged(folders, tmp_path, command, monkeypatch):
    """By command. Both runs resume from another folder, and are refused once the network has changed."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folders["large"], "policy")
    given = ["--players", "obl:checkpoint=policy", "obl:checkpoint=policy,temperature=0.2"]
    assert command("belief", "train", *given, *words_of(LEARN), "--out", "run")[0] == 0
    model, config = networks.load(tmp_path / "run")
    where = f"obl:checkpoint={tmp_path}/policy"
    assert config.players == [where, where + ",temperature=0.2"]
    judge = ["belief", "evaluate", *given, "--checkpoint", "run", "--games", 2, "--stack", 1, "--estimators"]
    names = ["v0", "v2", "particles", "seq2seq", "bft", "exact"]
    code, out, err = command(*judge, *names, *words_of(JUDGE), "--out", "judged", "--json")
    assert code == 0, err
    assert json.loads(out)["config"]["players"] == config.players
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for task, folder in (("train", "run"), ("evaluate", "judged")):
        code, _, err = command("belief", task, "--out", tmp_path / folder, "--resume")
        assert code == 0, err
    (tmp_path / "policy" / "config.json").write_text((tmp_path / "policy" / "config.json").read_text() + "\n")
    for task, folder in (("train", "run"), ("evaluate", "judged")):
        code, _, err = command("belief", task, "--out", tmp_path / folder, "--resume")
        assert code == 2 and "was begun with another" in err and "policy/config.json" in err
    shutil.rmtree(tmp_path / "policy")
    code, _, err = command("belief", "evaluate", "--out", tmp_path / "judged", "--resume")
    assert code == 2 and "checkpoint" in err and len(err.splitlines()) == 1
    assert networks.load(tmp_path / "run")[0].sizes == model.sizes  # the belief's network needs no other file
    with pytest.raises(TrickformerError, match=r"trained on obl:checkpoint=.*, not on the blueprint smart"):
        players.make(f"rule_search:belief=seq2seq,checkpoint={tmp_path}/run", games.load("hanabi"))


@pytest.mark.slow
@pytest.mark.parametrize("form", [Form.HMM, Form.POMDP])
def test_a_stack_that_was_stopped_goes_on_with_its_networks(folders, tmp_path, form, monkeypatch):
    given = [f'obl:checkpoint="{folders["large"]}",temperature=0.2', "smart"]
    trained = training.command(BeliefTraining(players=given, form=form, out=tmp_path / "run", **LEARN), resume=False)
    config = Evaluation(
        players=given,
        form=form,
        checkpoint=trained,
        estimators=["v2", "particles", "bft", "exact"],
        games=2,
        stack=2,
        out=tmp_path / "judged",
        **{name: value for name, value in JUDGE.items() if form is Form.HMM or name != "pairs"},
    )
    file, whole = tmp_path / "stack.npz", list(evaluation.play(config, 0))
    monkeypatch.setattr(evaluation, "KEEP_EVERY", 0)

    def stop(_, text):
        if text.endswith("at move 9"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(evaluation.play(config, 0, stop, file))
    again = list(evaluation.play(config, 0, None, file))
    for record in (*whole, *again):
        for entry in record["estimators"].values():
            del entry["seconds"]
    assert again == whole
