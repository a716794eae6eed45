"""The forward algorithm against sums over whole paths, on tables and on Kuhn poker; and any game as such a system."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from support.kuhn import PLAYERS, Kuhn
from support.markov import GameProcess, Tabular, forward

from trickformer import games
from trickformer.base import PUBLIC
from trickformer.belief.hanabi.process import Form


def path_sums(start, transition, emission, ys, zs) -> list[np.ndarray]:
    """The belief after each emission by summing over every path of states."""
    found = []
    states = range(len(start))
    for t in range(len(ys)):
        total = np.zeros(len(start))
        for path in product(states, repeat=t + 1):
            p = start[path[0]] * emission[path[0], ys[0]]
            for s in range(t):
                p *= transition[zs[s], path[s], path[s + 1]] * emission[path[s + 1], ys[s + 1]]
            total[path[-1]] += p
        found.append(total / total.sum())
    return found


@pytest.mark.parametrize("seed", range(5))
def test_forward_equals_sums_over_paths(seed):
    rng = np.random.default_rng(seed)
    states, emissions, controls, steps = 3, 4, 2, 5
    start = rng.dirichlet(np.ones(states))
    transition = rng.dirichlet(np.ones(states), (controls, states))
    emission = rng.dirichlet(np.ones(emissions), states)
    ys, zs = rng.integers(emissions, size=steps).tolist(), rng.integers(controls, size=steps - 1).tolist()
    process = Tabular(start, transition, emission)
    for belief, exact in zip(forward(process, ys, zs), path_sums(start, transition, emission, ys, zs)):
        ours = np.zeros(states)
        for x, p in belief:
            ours[x] = p
        np.testing.assert_allclose(ours, exact, atol=1e-12, err_msg=f"seed {seed}")


def test_emissions_that_cannot_be():
    process = Tabular(np.array([1.0, 0.0]), np.eye(2)[None], np.eye(2))
    with pytest.raises(ValueError, match="emission 1 has probability 0"):
        list(forward(process, [0, 1], [0]))
    with pytest.raises(ValueError, match="one control between"):
        list(forward(process, [0, 1], []))


class ByCard:
    """Bets with a probability that grows with the own card."""

    def __init__(self, boldness: float):
        self.boldness = boldness

    def bets(self, card: int) -> float:
        return 0.1 + self.boldness * card

    def probs(self, views):
        bets = np.array([self.bets(next(e.action for e in v.events if e.actor < 0)) for v in views])
        return np.stack([1 - bets, bets], axis=1)


@pytest.mark.parametrize("form", Form)
def test_beliefs_of_a_game_equal_sums_over_deals(form, seed=3):
    """Three-player Kuhn poker: every deal weighed by what the players did, step by step."""
    game, policies, seat = Kuhn(), [ByCard(b) for b in (0.05, 0.15, 0.25)], 1
    process, rng, steps = GameProcess(game, form, policies, seat), np.random.default_rng(seed), 0
    for index in range(6):
        x = process.deal(seed, index)
        cards = x.history()
        likelihood = {
            deal: 1.0
            for deal in permutations(range(PLAYERS + 1), PLAYERS)
            if form is not Form.POMDP or deal[seat] == cards[seat]
        }
        emissions, controls, expected = [process.emission(x)], [], [dict(likelihood)]
        while not x.is_terminal():
            player, z = x.current_player(), None
            acts = policies[player]
            if form is Form.FOSG:
                z = acts = policies[int(rng.integers(PLAYERS))]
            elif form is Form.POMDP and player == seat:
                z = int(rng.integers(2))
            x = process.sample(x, z, rng)
            action = x.history()[-1]
            for deal in likelihood:
                if form is not Form.POMDP or player != seat:
                    likelihood[deal] *= acts.bets(deal[player]) if action else 1 - acts.bets(deal[player])
            emissions.append(process.emission(x))
            controls.append(z)
            expected.append(dict(likelihood))
        for belief, weights in zip(forward(process, emissions, controls), expected, strict=True):
            found = {tuple(state.history()[:PLAYERS]): p for state, p in belief}
            assert found == pytest.approx({d: w / sum(weights.values()) for d, w in weights.items()}), f"deal {index}"
            steps += 1
    assert steps > 20


class Uniform:
    """Any legal action."""

    def __init__(self, game):
        self.n = game.spiel.num_distinct_actions()

    def probs(self, views):
        return np.array([np.isin(np.arange(self.n), v.legal) / len(v.legal) for v in views])


@pytest.mark.parametrize("name", ["hearts", "skat", "crew", "hanabi", "mines"])
@pytest.mark.parametrize("form", Form)
def test_every_game_is_such_a_system(name, form):
    """From a deal to the end, seen by whom the form says; what may follow adds up to 1 where chance is small."""
    game, rng = games.load(name), np.random.default_rng(5)
    uniform = Uniform(game)
    process = GameProcess(game, form, [uniform] * game.players)
    x, steps, summed = process.deal(2, 0), 0, 0
    while not x.is_terminal():
        z = uniform if form is Form.FOSG else None
        if form is Form.POMDP and x.current_player() == process.seat:
            z = int(rng.choice(x.legal_actions()))
        assert process.likelihood(x, process.emission(x)) == 1
        assert process.emission(x).viewer == (process.seat if form is Form.POMDP else PUBLIC)
        if steps % 5 == 4 and name != "crew":  # whose draws have ten thousand outcomes
            assert sum(p for _, p in process.successors(x, z)) == pytest.approx(1)
            summed += 1
        x = process.sample(x, z, rng)
        steps += 1
    assert list(process.successors(x, None)) == []
    with pytest.raises(ValueError, match="nothing follows"):
        process.sample(x, None, rng)
    assert summed or name in ("crew", "mines")
