"""The simplified action decoder: what is seen of greedy actions is what those who moved held for best."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.games.hanabi import hint
from trickformer.models.hanabi_values import ActionValues, HanabiCheckpoint, NetworkSizes, best, load, save
from trickformer.studies.obl.hanabi import colours, learning, sad
from trickformer.studies.obl.hanabi.actors import OVER, Actors
from trickformer.studies.obl.hanabi.beliefs import CountingTableBelief
from trickformer.studies.obl.hanabi.config import OffBeliefTraining
from trickformer.studies.obl.hanabi.replay import ReplayBuffer
from trickformer.studies.obl.hanabi.training import rules_of

CPU = torch.device("cpu")
TWO = "hanabi(colors=2,ranks=3,hand_size=2,max_information_tokens=3,max_life_tokens=2)"
COLOURS = "hanabi(colors=3,ranks=3,hand_size=3,max_information_tokens=4,max_life_tokens=2)"
THREE = "hanabi(players=3,colors=2,ranks=2,hand_size=2,max_information_tokens=3,max_life_tokens=2)"


def network_of(config):
    torch.manual_seed(5)
    sizes = NetworkSizes.for_rules(rules_of(config.game), 16, 2, config.model == "lstm", config.odds, config.last)
    network = ActionValues(sizes).requires_grad_(False)
    network.advantage.weight.mul_(20)
    return network


def played(config, network, n=40):
    """Games of the actors, and as the learner sees them."""
    rules = rules_of(config.game)
    actors, replay = Actors(config, rules, CountingTableBelief()), ReplayBuffer(64, rules.longest, rules.players)
    while replay.total < n:
        replay.add(actors.step(config, network, network))
    games = replay.trajectories(np.arange(n))
    return games, learning.frames(rules, config.seed, games, config.v0, CPU, greedy=True)


def small(**given):
    return OffBeliefTraining(**{"game": TWO, "method": "vdn", "sad": True, "hidden": 16, "tables": 8} | given)


@pytest.mark.parametrize("model", ["mlp", "lstm"])
def test_without_exploration_the_greedy_action_is_the_move(model):
    config = small(model=model, exploration=0.0)
    network = network_of(config)
    games, given = played(config, network)
    rules, last = rules_of(TWO), network.sizes.layout.last
    assert torch.equal(given.seen[:, :, rules.observation :], given.seen[:, :, last])
    assert np.array_equal(games.tries[games.actions != OVER], games.actions[games.actions != OVER])
    # So that who plays need not be told.
    plain = replace(given, seen=given.seen[:, :, : rules.observation])
    for told, untold in zip(learning.values(network, given), learning.values(network, plain)):
        assert torch.equal(told, untold)


def test_the_last_move_stands_where_the_layout_says():
    rules = rules_of(THREE)
    last, found = NetworkSizes.for_rules(rules, 4, 1, False).layout.last, set()
    for number in range(20):
        state = _core.hanabi.Tables(rules, 3, number, 1)[0]
        assert not state.observation(0, False)[last].any()
        for action in state.legal_actions():
            after = _core.hanabi.Tables(rules, 3, number, 1)
            after.step(np.array([action]))
            actor, receiver = np.zeros(rules.players), np.zeros(rules.players)
            actor[0] = 1
            if action >= 2 * rules.hand:
                receiver[hint(rules, action)[0]] = 1
            seen = after[0].observation(0, False)[last]
            assert seen[: rules.players].tolist() == actor.tolist()
            assert seen[rules.players + 4 :][: rules.players].tolist() == receiver.tolist()
            if action < 2 * rules.hand:
                kinds = seen[-2 - rules.kinds : -2]
                assert kinds.argmax() == state.hand(0)[action % rules.hand] and kinds.sum() == 1
            found.add(action)
    assert len(found) == rules.actions - 2  # at the first move nothing can be discarded


@pytest.mark.parametrize("game", [TWO, THREE])
@pytest.mark.parametrize("model", ["mlp", "lstm"])
def test_the_greedy_action_seen_is_the_best_by_the_movers_values(game, model):
    """The games are played again state by state; of greedy actions that were not made a state knows nothing after."""
    config = small(game=game, model=model, exploration=0.7, exploration_power=0.0)
    network, rules = network_of(config), rules_of(game)
    games, given = played(config, network)
    last, at, strayed, close = network.sizes.layout.last, 0, 0, 0
    for row, length in enumerate(given.lengths):
        table = _core.hanabi.Tables(rules, config.seed, int(games.games[row]), 1)
        greedy, memories = np.zeros((rules.players, last.stop - last.start)), network.memory(rules.players)
        for action, kept in zip(games.actions[row, :length].astype(int), games.tries[row].astype(int)):
            state = table[0]
            looks = [[*state.observation(seat, config.v0), *greedy[seat]] for seat in range(rules.players)]
            seen, mover = torch.tensor(looks, dtype=torch.float32), [state.current_player()]
            assert torch.equal(given.seen[at], seen), (row, at)
            context, memories = network.contexts(seen[None], memories)
            legal = torch.zeros(1, rules.actions, dtype=torch.bool)
            legal[0, state.legal_actions()] = True
            q, _ = network(seen[mover], context[0][mover], legal)
            choice = int(best(q, legal))
            if choice != kept:  # where values are as good as equal, the order of a sum decides
                assert abs(float(q[0, choice] - q[0, kept])) < 1e-4
                close += 1
            strayed += kept != action
            imagined = table.take(np.zeros(1, dtype=np.int64))
            imagined.step(np.array([kept]))
            greedy = np.array([imagined[0].observation(seat, False)[last] for seat in range(rules.players)])
            table.step(np.array([action]))
            at += 1
    assert at == len(given.seen) and strayed > at / 4 and close < at / 20


@pytest.mark.parametrize("which", range(6))
def test_greedy_actions_go_by_the_same_names(which):
    """Under other names of the colours a greedy action is seen as it would be as the last move."""
    rules, rng = rules_of(COLOURS), np.random.default_rng(which)
    renaming, last = colours.renaming(rules, CPU), NetworkSizes.for_rules(rules, 4, 1, False).layout.last
    table, at = _core.hanabi.Tables(rules, 3, which, 1), torch.tensor([which])
    for _ in range(8):
        seat = int(rng.integers(2))
        before, greedy = table[0], int(rng.choice(table[0].legal_actions()))
        shown = sad.observe_actions(table, np.array([greedy]))[0, seat]
        ahead = table.take(np.zeros(1, dtype=np.int64))
        ahead.step(np.array([greedy]))
        named = renaming.rename_observations(torch.from_numpy(ahead.observe(np.array([seat], dtype=np.int8))), at)[
            :, last
        ]
        seen = np.concatenate([before.observation(seat, False), shown]).astype(np.float32)
        found = renaming.rename_observations(torch.from_numpy(seen)[None], at)
        assert torch.equal(found[:, rules.observation :], named)
        plain = torch.from_numpy(seen[None, : rules.observation])
        assert torch.equal(found[:, : rules.observation], renaming.rename_observations(plain, at))
        table.step(np.array([int(rng.choice(before.harmless_actions()))]))


def test_checkpoints_of_before_are_read(tmp_path):
    """Which said nothing of the last move, and had a layout only with odds."""
    rules = rules_of(TWO)
    for odds in (False, True):
        network = ActionValues(NetworkSizes.for_rules(rules, 8, 1, False, odds))
        save(HanabiCheckpoint(network, rules, True, 0.0, {}), tmp_path)
        said = json.loads((tmp_path / "config.json").read_text())
        kept = {name: said["shape"][name] for name in ("seen", "hands", "actions", "hidden", "layers", "recurrent")}
        old = said | {"shape": kept | {"layout": said["shape"]["layout"] if odds else None}}
        (tmp_path / "config.json").write_text(json.dumps(old))
        found = load(tmp_path).model
        assert found.sizes == network.sizes and torch.equal(found.worth.weight, network.worth.weight)
    (tmp_path / "config.json").write_text(json.dumps(said | {"shape": said["shape"] | {"last": "guessed"}}))
    with pytest.raises(TrickformerError, match="the value 'guessed' of `last` is not one of"):
        load(tmp_path)
