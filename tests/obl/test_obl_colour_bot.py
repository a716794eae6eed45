"""The colour bot's training: a bonus for hints that name a colour, in the first half, and the last action hidden."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trickformer import _core, games
from trickformer.models.hanabi_values import ActionValues, NetworkSizes
from trickformer.studies.obl.hanabi import colours, learning, training
from trickformer.studies.obl.hanabi.config import OffBeliefTraining

CPU = torch.device("cpu")
TWO = "hanabi(colors=2,ranks=3,hand_size=2,max_information_tokens=3,max_life_tokens=2)"
THREE = "hanabi(players=3,colors=3,ranks=2,hand_size=2,max_information_tokens=3,max_life_tokens=2)"


def colour_bot(out, **given):
    settings = {"game": TWO, "method": "vdn", "hidden": 16, "tables": 8, "batch": 16, "burn_in": 16, "buffer": 64}
    return OffBeliefTraining(**settings | {"other_play": True, "colour_bonus": 0.5, "steps": 5, "out": out} | given)


def of_colours(spec):
    """Actions that name a colour, by OpenSpiel's words for them."""
    game, words, rng = games.load(spec).spiel, {}, np.random.default_rng(0)
    while len(words) < game.num_distinct_actions():
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                words |= {a: state.action_to_string(state.current_player(), a) for a in state.legal_actions()}
            state.apply_action(int(rng.choice(state.legal_actions())))
    return sorted(action for action, said in words.items() if "color" in said.lower())


@pytest.mark.parametrize("spec", [TWO, THREE])
def test_hints_that_name_a_colour(spec):
    found = colours.colour_hint_mask(training.rules_of(spec), CPU)
    assert found.nonzero()[:, 0].tolist() == of_colours(spec)


def test_the_bonus_is_paid_for_colours_in_the_first_half(tmp_path, monkeypatch):
    """Rewards that targets are made of, less what the score says of the same games; of 5 steps the first 3 begin in the
    first half."""
    rules, given, bootstrapped = training.rules_of(TWO), [], learning.bootstrap_targets
    monkeypatch.setattr(
        learning, "bootstrap_targets", lambda *arguments: given.append(arguments[2]) or bootstrapped(*arguments)
    )
    config, colour = colour_bot(tmp_path), torch.tensor(of_colours(TWO))
    going = training.TrainingProgress.begin(config, rules)
    for step in range(config.steps):
        going.learn()
        drawn = going.replay.draw(config.batch, 0.0, 1.0, np.random.default_rng([config.seed, 3, step]))
        plain = learning.frames(rules, config.seed, drawn.games, config.v0, CPU)
        named = torch.isin(plain.actions, colour)
        assert named.any() and not named.all()
        assert torch.equal(given[step].rewards - plain.rewards, 0.5 * named * (step < 3))


@pytest.mark.parametrize("recurrent", [False, True])
def test_what_the_last_action_was_makes_no_difference(recurrent):
    """To the network; observations are given the last actions of other games."""
    rules = training.rules_of(TWO)
    torch.manual_seed(1)
    hiding, seeing = (
        ActionValues(NetworkSizes.for_rules(rules, 16, 2, recurrent, True, last)) for last in ("hidden", "seen")
    )
    last = hiding.sizes.layout.last
    table = _core.hanabi.Tables(rules, 3, 0, 64)
    for step in range(4):
        table.random_step(1, step)
    on = np.flatnonzero(~table.over())
    seen = torch.from_numpy(table.take(on).observe(None, True))
    other = seen.clone()
    other[:, last] = seen[:, last].roll(1, 0)
    assert (other != seen).any(1).float().mean() > 0.5
    legal = torch.from_numpy(table.take(on).legal())

    def said(network, looks):
        with torch.no_grad():
            context, memory = network.contexts(looks[None], network.memory(len(on)))
            return [*network(looks, context[0], legal), memory]

    assert all(torch.equal(a, b) for a, b in zip(said(hiding, seen), said(hiding, other)))
    assert not torch.equal(said(seeing, seen)[0], said(seeing, other)[0])
