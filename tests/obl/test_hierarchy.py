"""Hierarchies of best responses, and self-play by best responses in turn."""

import numpy as np
import pytest
from support.obl import SMALL_HANABI, by_name, random_policy, tree_of

from trickformer.studies.obl import exact, hierarchy, operator

ALL = ("toy", "tiny_hanabi", "kuhn_poker", SMALL_HANABI)


@pytest.mark.parametrize("spec", ALL)
def test_a_mixture_is_worth_what_drawing_a_policy_before_the_game_is(spec):
    tree, weights = tree_of(spec), [0.5, 0.2, 0.3]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        policies, other = [random_policy(tree, rng) for _ in weights], random_policy(tree, rng)
        mixed = hierarchy.mixture(tree, policies, weights)
        sums = np.add.reduceat(np.exp(mixed), tree.first[:-1])
        assert sums == pytest.approx(np.ones(len(sums)), abs=1e-9), f"seed {seed}"
        for seat in range(tree.players):
            table = [other] * tree.players

            def worth(policy, table=table, seat=seat):
                return operator.value(
                    tree, operator.combine_policies(tree, [*table[:seat], policy, *table[seat + 1 :]])
                )

            expected = sum(w * worth(p) for w, p in zip(weights, policies))
            assert worth(mixed) == pytest.approx(expected, abs=1e-9), f"seed {seed}"


@pytest.mark.parametrize("spec", ALL)
def test_nothing_is_better_than_a_best_response(spec):
    tree = tree_of(spec)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        others = random_policy(tree, rng)
        for seat in range(tree.players):
            answer = operator.respond(tree, others, 0, others, seat)
            found = operator.value(tree, answer.policy)[seat]
            assert found == pytest.approx(answer.values[0, seat], abs=1e-9)
            for _ in range(30):
                table = [others] * tree.players
                table[seat] = random_policy(tree, rng, 5.0)
                assert operator.value(tree, operator.combine_policies(tree, table))[seat] <= found + 1e-9, (
                    f"seed {seed}"
                )


def test_levels_of_the_toy_game():
    """Level 1 answers random seats and bails out. Level 2 of k-level removes the barrier, for Bob at level 1 reads
    what is behind it; that of a cognitive hierarchy as soon as enough of the others are at level 1."""
    tree, t = tree_of("toy"), 1e-3

    def worth(policies):
        return [float(operator.value(tree, policy)[0]) for policy in policies]

    assert worth(hierarchy.k_levels(tree, t, 3)) == pytest.approx([1, 5, 5], abs=1e-6)
    # 5 w - 29/6 (1 - w) > 1, where w = tau / (1 + tau) of the others are at level 1
    least = (1 + 29 / 6) / 4
    assert worth(hierarchy.cognitive_hierarchy(tree, t, 2, least + 0.01)) == pytest.approx([1, 5], abs=1e-6)
    assert worth(hierarchy.cognitive_hierarchy(tree, t, 3, least - 0.01)) == pytest.approx([1, 1, 5], abs=1e-6)


def test_best_responses_in_turn_find_handshakes():
    tree = tree_of("toy")
    policies = []
    for seed in range(12):
        start = random_policy(tree, np.random.default_rng(seed), 1.0)
        before = operator.value(tree, start)[0]
        policies.append(hierarchy.climb(tree, start, 1e-3, 50))
        assert operator.value(tree, policies[-1])[0] >= before - 0.01, f"seed {seed}"
    table = exact.cross_play(tree, policies)
    assert table.diagonal().max() == pytest.approx(10)
    assert table.min() == pytest.approx(-10)


def test_the_first_seat_is_the_first_policys():
    tree = tree_of("toy")
    first, second = (random_policy(tree, np.random.default_rng(seed)) for seed in (1, 2))
    both = by_name(tree, operator.combine_policies(tree, [first, second]))
    for name, logp in both.items():
        assert logp == by_name(tree, second if name[0] else first)[name]


def test_shares_of_levels():
    assert hierarchy.poisson(1, 1.5) == [1.0]
    assert hierarchy.poisson(3, 2.0) == pytest.approx([0.2, 0.4, 0.4])
