"""The auxiliary task of self-play: what own cards are good for, against OpenSpiel's states, and how it is learned."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trickformer import _core, games
from trickformer.models.hanabi_observation import Layout
from trickformer.models.hanabi_values import load
from trickformer.studies.obl.hanabi import auxiliary, learning, training
from trickformer.studies.obl.hanabi.actors import Actors
from trickformer.studies.obl.hanabi.beliefs import CountingTableBelief
from trickformer.studies.obl.hanabi.config import OffBeliefTraining
from trickformer.studies.obl.hanabi.replay import ReplayBuffer

CPU = torch.device("cpu")
TWO = "hanabi(colors=2,ranks=3,hand_size=3,max_information_tokens=3,max_life_tokens=2)"
THREE = "hanabi(players=3,colors=3,ranks=2,hand_size=2,max_information_tokens=3,max_life_tokens=2)"


def self_play(spec, **given):
    return OffBeliefTraining(**{"game": spec, "method": "vdn", "hidden": 16, "tables": 8, "auxiliary": 0.25} | given)


def played(config, n=40):
    """Games of a network of random weights, as the learner sees them."""
    torch.manual_seed(2)
    rules = training.rules_of(config.game)
    network = training.ActionValues(training.NetworkSizes.for_rules(rules, 16, 2, False)).requires_grad_(False)
    actors, replay = Actors(config, rules, CountingTableBelief()), ReplayBuffer(64, rules.longest, rules.players)
    while replay.total < n:
        replay.add(actors.step(config, network, network))
    kept = replay.trajectories(np.arange(n))
    return kept, learning.frames(rules, config.seed, kept, config.v0, CPU)


@pytest.mark.parametrize("spec", [TWO, THREE])
def test_what_own_cards_are_good_for(spec):
    """By the fireworks of OpenSpiel's state, as it prints them, and the cards in its hands."""
    config, game = self_play(spec), games.load(spec)
    kept, given = played(config)
    rules = game.rules
    found, at, seen = auxiliary.answers(Layout.for_rules(rules), given.seen), 0, set()
    for number, actions, length in zip(kept.games.astype(int), kept.actions, given.lengths):
        table = _core.hanabi.Tables(rules, config.seed, number, 1)[0]
        hands = [card for player in range(rules.players) for card in table.hand(player)]
        state, drawn = game.spiel.new_initial_state(), iter([*hands, *table.deck])
        moves = iter(actions[:length].astype(int))
        for _ in range(length):
            while state.is_chance_node():
                state.apply_action(next(drawn))
            said = next(line for line in str(state).splitlines() if line.startswith("Fireworks"))
            heights = [int(pile[1:]) for pile in said.removeprefix("Fireworks: ").split()]
            for seat in range(rules.players):
                cards = game.hand(state, seat)
                for slot in range(rules.hand):
                    wanted = -1
                    if slot < len(cards):
                        color, rank = divmod(cards[slot], rules.ranks)
                        wanted = 0 if rank == heights[color] else 1 if rank < heights[color] else 2
                    assert found[at, seat, slot] == wanted, (number, at, seat, slot)
                    seen.add(wanted)
            state.apply_action(next(moves))
            at += 1
    assert at == len(found) and seen == {-1, 0, 1, 2}


def test_answers_do_not_depend_on_names_of_colours():
    config = self_play(TWO, other_play=True)
    kept, given = played(config)
    rules = training.rules_of(TWO)
    orders = torch.from_numpy(training.colours.orders(rules, config.seed, kept.games))
    renamed = learning.rename_colours(given, training.colours.renaming(rules, CPU), orders)
    layout = Layout.for_rules(rules)
    assert not torch.equal(renamed.seen, given.seen)
    assert torch.equal(auxiliary.answers(layout, renamed.seen), auxiliary.answers(layout, given.seen))


def test_the_loss_is_the_mean_over_moves_seats_and_cards():
    _, given = played(self_play(TWO), 6)
    layout, rng = Layout.for_rules(training.rules_of(TWO)), np.random.default_rng(0)
    known = auxiliary.answers(layout, given.seen).numpy()
    said = rng.normal(size=(*known.shape, 3)).astype(np.float32)
    weights = rng.random(len(given.lengths)).astype(np.float32)
    total = 0.0
    for move, game in enumerate(np.repeat(np.arange(6), given.lengths)):
        for seat in range(2):
            off = [np.log(np.exp(x).sum()) - x[a] for x, a in zip(said[move, seat], known[move, seat]) if a >= 0]
            total += weights[game] * (np.mean(off) if off else 0.0)
    found = auxiliary.loss(torch.from_numpy(said), given, layout, torch.from_numpy(weights))
    assert float(found) == pytest.approx(total / known[..., 0].size, rel=1e-5)


def test_a_weight_of_0_changes_nothing_and_others_do(tmp_path):
    """All other weights begin alike with the task and without it."""
    made = {}
    for weight in (0.0, 0.25):
        config = self_play(TWO, auxiliary=weight, steps=4, batch=4, burn_in=8, buffer=32, out=tmp_path / str(weight))
        config.out.mkdir()
        begun = training.TrainingProgress.begin(config, training.rules_of(TWO))
        made[weight] = [begun.online.state_dict()["private.0.weight"].clone()]
        for _ in training.run(begun):
            pass
        made[weight].append(load(config.out).model.state_dict())
    assert torch.equal(made[0.0][0], made[0.25][0])
    assert made[0.25][1].keys() - made[0.0][1].keys() == {"cards.weight", "cards.bias"}
    assert not torch.equal(made[0.0][1]["private.0.weight"], made[0.25][1]["private.0.weight"])


@pytest.mark.slow
def test_the_task_is_learned():
    """What was hinted says much of the cards: their answers are found more often than by the commonest of them."""
    mixed = {"exploration": 0.5, "exploration_power": 3.0}  # games that differ
    sizes = {"hidden": 64, "steps": 150, "batch": 32, "burn_in": 64, "buffer": 512, "learning_rate": 5e-3}
    config = self_play(TWO, auxiliary=4.0, **sizes, **mixed)
    begun = training.TrainingProgress.begin(config, training.rules_of(TWO))
    for _ in range(config.steps):
        begun.learn()
    _, given = played(self_play(TWO, seed=9, **mixed), 60)
    layout = begun.online.sizes.layout
    known = auxiliary.answers(layout, given.seen)
    with torch.no_grad():
        said = begun.online.cards(learning.units(begun.online, given)).view(*known.shape, 3)
    there = known >= 0
    right = (said.argmax(3) == known)[there].float().mean()
    commonest = torch.bincount(known[there]).max() / there.sum()
    assert right > commonest + 0.05, (right, commonest)
