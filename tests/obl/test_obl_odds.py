"""Odds that a network is given with its observation: against counting on the core's states."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trickformer import _core
from trickformer.models.hanabi_observation import Layout, card_probabilities
from trickformer.models.hanabi_values import ActionValues, NetworkSizes
from trickformer.studies.obl.hanabi.training import rules_of

pytestmark = pytest.mark.slow

TWO = "hanabi(colors=2,ranks=5,hand_size=3,max_information_tokens=4,max_life_tokens=3)"
THREE = "hanabi(players=3)"


def counted(state, seat):
    """From the definition, by loops over cards."""
    rules = state.rules
    found = []
    order = [(seat + i) % rules.players for i in range(rules.players)]
    there = [rules.copies(kind % rules.ranks) - state.discards[kind] for kind in range(rules.kinds)]
    for color, height in enumerate(state.fireworks):
        for rank in range(height):
            there[color * rules.ranks + rank] -= 1
    fits = [float(state.fireworks[k // rules.ranks] == k % rules.ranks) for k in range(rules.kinds)]
    gone = [float(state.fireworks[k // rules.ranks] > k % rules.ranks) for k in range(rules.kinds)]
    for whose in order:
        left = list(there)
        for other in order[1:] if whose == seat else ():
            for card in state.hand(other):
                left[card] -= 1
        for slot in range(rules.hand):
            ways = [0.0] * rules.kinds
            if slot < len(state.hand(whose)):
                colors, ranks, _ = state.knowledge(whose)[slot]
                for kind in range(rules.kinds):
                    if colors >> kind // rules.ranks & 1 and ranks >> kind % rules.ranks & 1:
                        ways[kind] = left[kind]
            total = sum(ways) or 1.0
            found += [np.dot(ways, fits) / total, np.dot(ways, gone) / total]
    for whose in order[1:]:
        for slot in range(rules.hand):
            held = state.hand(whose)
            found += [fits[held[slot]], gone[held[slot]]] if slot < len(held) else [0.0, 0.0]
    return found


@pytest.mark.parametrize("spec", [TWO, THREE])
def test_odds_are_those_of_counting(spec):
    rules, rng = rules_of(spec), np.random.default_rng(2)
    layout, kinds_of_answer = Layout.for_rules(rules), set()
    for number in range(12):
        state = _core.hanabi.Tables(rules, 3, number, 1)[0]
        while not state.is_terminal():
            for seat in range(rules.players):
                seen = torch.from_numpy(state.observation(seat, True))[None]
                found = card_probabilities(layout, seen)[0]
                assert len(found) == layout.n_probabilities
                assert found.numpy() == pytest.approx(counted(state, seat), abs=1e-5), (number, state.moves, seat)
                kinds_of_answer |= set(found.round(decimals=1).tolist())
            state.apply_action(int(rng.choice(state.harmless_actions())))
    assert len(kinds_of_answer) > 8


@pytest.mark.parametrize("n", [1, 511, 512, 700])
def test_layers_in_bfloat16_have_almost_the_values_and_gradients_of_float32(n):
    rules = rules_of(TWO)
    torch.manual_seed(1)
    network = ActionValues(NetworkSizes.for_rules(rules, 32, 2, False, odds=True))
    tables = _core.hanabi.Tables(rules, 5, 0, n)
    seen, legal = torch.from_numpy(tables.observe(None, True)), torch.from_numpy(tables.legal())
    results = {}
    for rounded in (False, True):
        network.rounded = rounded
        network.zero_grad()
        q, waiting = network(seen, torch.ones(n, 1), legal)
        assert q.dtype == waiting.dtype == torch.float32 and len(q) == len(waiting) == n
        (q[legal].square().sum() + waiting.sum()).backward()
        results[rounded] = [q, waiting, *(weight.grad for weight in network.parameters())]
    assert not torch.equal(results[False][0], results[True][0])
    for exact, rounded in zip(results[False], results[True]):
        assert (exact - rounded).abs().max() < 0.03 * exact.abs().max()
