"""Learning in tables, against the exact operator."""

import numpy as np
import pytest
from support.obl import SMALL_HANABI, random_policy, tree_of

from trickformer.studies.obl import exact, operator
from trickformer.studies.obl.learning import QLearner


def learner(tree, runs=4, temperature=0.3, least=0.0, seed=0):
    return QLearner(tree, runs, temperature, least, np.random.default_rng(seed))


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "games", "error"), [("toy", 60_000, 0.5), ("tiny_hanabi", 30_000, 0.3)])
def test_q_obl_converges_to_the_operator(spec, games, error):
    """Whatever the past is, if it tries everything; the longer, the closer."""
    tree = tree_of(spec)
    for past in (operator.uniform(tree), random_policy(tree, np.random.default_rng(1), 0.7)):
        expected = operator.respond(tree, past, 0.3).q
        found = []
        for n in (games // 100, games):
            learned = learner(tree)
            learned.learn(n, learned.fixed_policy(past[None]), learned.softmax)
            found.append(float(np.abs(learned.q - expected).mean(1).max()))
        assert found[1] < error and found[1] < found[0] / 2, (spec, found)


def test_q_obl_converges_in_hanabi():
    """Hundreds of information states, chance in between, points on the way."""
    tree = tree_of(SMALL_HANABI)
    answer = operator.respond(tree, operator.uniform(tree), 0.3)
    learned = learner(tree, runs=2)
    learned.learn(30_000, learned.fixed_policy(operator.uniform(tree)[None]), learned.softmax)
    assert np.abs(learned.q - answer.q).mean() < 0.03
    worth = operator.value(tree, answer.policy)[0]
    for policy in learned.policies():
        assert operator.value(tree, policy)[0] == pytest.approx(worth, abs=0.03)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_best_response_is_learned_one_seat_at_a_time(seat):
    tree = tree_of("kuhn_poker")
    others = random_policy(tree, np.random.default_rng(2), 0.7)
    learned = learner(tree, temperature=0.1)
    before = learned.q.copy()
    past = np.where(tree.owner == seat, operator.uniform(tree), others)
    learned.learn(40_000, learned.fixed_policy(past[None]), learned.fixed_policy(others[None]), seat)
    expected = operator.respond(tree, others, 0.1, others, seat).q
    mine = tree.owner == seat
    assert (learned.q[:, ~mine] == before[:, ~mine]).all()
    assert np.abs(learned.q[:, mine] - expected[mine]).mean() < 0.04


def test_self_play_makes_handshakes_that_strangers_do_not_know():
    tree = tree_of("toy")
    learned = learner(tree, runs=8, temperature=0.01)
    play = learned.exploration_policy(0.1)
    learned.learn(4_000, play, play)
    table = exact.cross_play(tree, list(learned.policies()))
    assert table.diagonal().mean() > 6 and table.diagonal().max() > 9.9
    assert table.min() < -9.9 and exact.off_diagonal(table) < 4


def test_a_least_share_keeps_noise():
    """Bob's guess after the light is worth 0 on the average, and swings by 10 from game to game."""
    tree = tree_of("toy")
    past = operator.uniform(tree)[None]
    guess = [i for i, name in enumerate(tree.keys) if name == (1, "light on")]
    slots = [int(tree.first[guess[0]]), int(tree.first[guess[0]]) + 1]
    spread = []
    for least in (0.0, 0.1):
        learned = learner(tree, runs=50, least=least)
        learned.learn(6_000, learned.fixed_policy(past), learned.fixed_policy(past))
        spread.append(learned.q[:, slots].std())
    assert spread[0] < 0.5 and 1.5 < spread[1] < 3.5  # 10 sqrt(0.1 / 1.9) = 2.3 of single targets


def test_runs_follow_from_the_seed_and_differ():
    tree = tree_of("toy")
    tables = []
    for seed in (0, 0, 1):
        learned = learner(tree, seed=seed)
        learned.learn(100, learned.exploration_policy(0.5), learned.softmax)
        tables.append(learned.q)
    assert (tables[0] == tables[1]).all() and (tables[0] != tables[2]).any()
    assert (tables[0][0] != tables[0][1]).any()


def test_at_temperature_0_a_policy_takes_the_best_action():
    tree = tree_of("toy")
    learned = learner(tree, temperature=0)
    policy = np.exp(learned.policies())
    for i in range(len(tree.keys)):
        slots = slice(tree.first[i], tree.first[i + 1])
        assert (policy[:, slots].argmax(1) == learned.q[:, slots].argmax(1)).all()
        assert (np.sort(policy[:, slots], axis=1)[:, -2:] == [0, 1]).all()
