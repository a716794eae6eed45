"""Other-Play: what a seat sees under other names of the colours is what it would see in the game with these colours."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch

from trickformer import _core
from trickformer.models.hanabi_values import ActionValues, NetworkSizes, best
from trickformer.studies.obl.hanabi import colours, learning
from trickformer.studies.obl.hanabi.actors import Actors
from trickformer.studies.obl.hanabi.beliefs import CountingTableBelief
from trickformer.studies.obl.hanabi.config import OffBeliefTraining
from trickformer.studies.obl.hanabi.replay import ReplayBuffer
from trickformer.studies.obl.hanabi.training import rules_of

CPU = torch.device("cpu")
TWO = "hanabi(colors=3,ranks=3,hand_size=3,max_information_tokens=4,max_life_tokens=2)"
THREE = "hanabi(players=3,colors=2,ranks=5,hand_size=2)"


@pytest.mark.parametrize("spec", [TWO, THREE])
@pytest.mark.parametrize("v0", [False, True])
def test_a_game_of_other_colours_is_seen_under_other_names(spec, v0):
    rules, rng = rules_of(spec), np.random.default_rng(3)
    renaming = colours.renaming(rules, CPU)
    orders = list(permutations(range(rules.colors)))
    assert len(renaming.seen) == len(orders)
    hints = 0
    for which, order in enumerate(orders):
        cards = rng.permutation(np.repeat(np.arange(rules.kinds), [rules.copies(k) for k in range(rules.kinds)]))
        other = np.array(order)[cards // rules.ranks] * rules.ranks + cards % rules.ranks
        plain, renamed = (_core.hanabi.State(rules, deck.astype(np.uint8)) for deck in (cards, other))
        while not plain.is_terminal():
            at = torch.tensor([which])
            for seat in range(rules.players):
                seen = torch.from_numpy(plain.observation(seat, v0))[None]
                assert torch.equal(
                    renaming.rename_observations(seen, at)[0], torch.from_numpy(renamed.observation(seat, v0))
                )
            legal = torch.zeros(1, rules.actions, dtype=torch.bool)
            legal[0, plain.legal_actions()] = True
            assert renaming.rename_legal(legal, at)[0].nonzero()[:, 0].tolist() == sorted(renamed.legal_actions())
            action = int(rng.choice(plain.legal_actions()))
            called = int(renaming.actions[which, action])
            assert int(renaming.back[which, called]) == action
            hints += called != action
            plain.apply_action(action)
            renamed.apply_action(called)
    assert hints > 0
    assert renaming.actions[0].tolist() == list(range(rules.actions))


def test_each_seat_of_a_game_has_names_of_its_own():
    rules = rules_of(TWO)
    drawn = colours.orders(rules, 7, np.arange(6_000, dtype=np.uint64))
    assert np.array_equal(drawn[40:50], colours.orders(rules, 7, np.arange(40, 50, dtype=np.uint64)))
    pairs = np.bincount(drawn[:, 0] * 6 + drawn[:, 1], minlength=36)
    assert abs(pairs - 6_000 / 36).max() < 5 * np.sqrt(6_000 / 36)


@pytest.mark.parametrize("spec", [TWO, THREE])
@pytest.mark.parametrize("model", ["mlp", "lstm"])
def test_actors_and_learner_name_the_colours_alike(spec, model):
    config = OffBeliefTraining(
        game=spec, method="vdn", other_play=True, model=model, hidden=16, tables=8, exploration=0.0
    )
    rules = rules_of(spec)
    torch.manual_seed(5)
    network = ActionValues(NetworkSizes.for_rules(rules, 16, 2, model == "lstm", True)).requires_grad_(False)
    network.advantage.weight.mul_(20)
    actors, replay = Actors(config, rules, CountingTableBelief()), ReplayBuffer(64, rules.longest, rules.players)
    while replay.total < 40:
        replay.add(actors.step(config, network, network))
    games = replay.trajectories(np.arange(40))
    plain = learning.frames(rules, config.seed, games, config.v0, CPU)
    orders = torch.from_numpy(colours.orders(rules, config.seed, games.games))
    agree = []
    for given in (plain, learning.rename_colours(plain, colours.renaming(rules, CPU), orders)):
        q, _ = learning.values(network, given)
        two = q.masked_fill(~given.legal, -torch.inf).topk(2, dim=2).values[given.own]
        clear = (two[:, 0] - two[:, 1]) > 1e-4
        agree.append((best(q[given.own], given.legal[given.own]) == given.actions)[clear])
    assert agree[1].all() and len(agree[1]) > 100
    assert not agree[0].all(), "the names make no difference"
