"""The operator of off-belief learning: against its definition, and what the paper proves of it."""

import math

import numpy as np
import pyspiel
import pytest
from support.obl import HANABI_TWO_LIVES, SMALL_HANABI, Renamed, Twin, by_name, opened, random_policy, tree_of

from trickformer import games
from trickformer.base import CHANCE, TrickformerError
from trickformer.studies.obl import operator
from trickformer.studies.obl.tree import grow

SHARED = ("toy", "tiny_hanabi", SMALL_HANABI)  # games with one payoff for all
TINY = (*SHARED, HANABI_TWO_LIVES, "kuhn_poker")


@pytest.mark.slow
@pytest.mark.parametrize("spec", TINY)
@pytest.mark.parametrize("temperature", [0.05, 1.0])
@pytest.mark.parametrize("anew", [False, True])
def test_it_is_its_definition(spec, temperature, anew):
    seed = 11
    tree, rng = tree_of(spec), np.random.default_rng(seed)
    for past in (operator.uniform(tree), random_policy(tree, rng)):
        answer = operator.respond(tree, past, temperature, new_belief=anew)
        twin = Twin(spec, {name: math.exp(x) for name, x in by_name(tree, past).items()}, temperature, anew)
        for (seat, key, action), logp in by_name(tree, answer.policy).items():
            assert twin.policy((seat, key))[action] == pytest.approx(math.exp(logp), abs=1e-9), f"seed {seed}"
        assert answer.values[0] == pytest.approx(twin.value(twin.root), abs=1e-9), f"seed {seed}"
        if not anew:
            assert operator.value(tree, answer.policy) == pytest.approx(answer.values[0], abs=1e-9)


def test_a_belief_anew_is_another_policy_where_a_seat_acts_twice():
    """Equation 4 forgets what equation 2 goes on with. In the toy game nobody acts twice; with open cards there is
    nothing to believe."""
    for spec, differs in ((SMALL_HANABI, True), (HANABI_TWO_LIVES, True), ("toy", False)):
        root, _ = opened(spec)
        for tree, apart in (
            (tree_of(spec), differs),
            (grow(root, lambda state, seat: tuple(state.history()), 100_000), False),
        ):
            past = random_policy(tree, np.random.default_rng(2))
            two, four = (operator.respond(tree, past, 0.1, new_belief=anew).policy for anew in (False, True))
            assert (np.abs(np.exp(two) - np.exp(four)).max() > 1e-4) == apart, spec


@pytest.mark.slow
@pytest.mark.parametrize("spec", TINY)
@pytest.mark.parametrize("temperature", [0, 0.1])
def test_it_is_unique_whatever_the_order_and_the_names(spec, temperature):
    """Theorem 1, and none of it hangs on how states or actions are numbered."""
    tree = tree_of(spec)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        past = random_policy(tree, rng)
        root, key = opened(spec)
        numbers = np.unique(tree.action)
        names = dict(zip(numbers.tolist(), (rng.permutation(len(numbers)) + 100).tolist()))
        other = grow(Renamed(root, names, rng), lambda s, seat, key=key: ("other", key(s.state, seat)), 100_000)
        told = by_name(tree, past)
        back = {new: old for old, new in names.items()}
        same = np.array([told[seat, key, back[a]] for seat, (_, key), a in by_name(other, other.action)])
        mine = by_name(tree, operator.respond(tree, past, temperature).policy)
        theirs = by_name(other, operator.respond(other, same, temperature).policy)
        for (seat, (_, name), action), logp in theirs.items():
            expected = mine[seat, name, back[action]]
            assert math.exp(logp) == pytest.approx(math.exp(expected), abs=1e-9), f"seed {seed}"


@pytest.mark.parametrize("spec", SHARED)
def test_it_improves_but_for_the_temperature(spec):
    """Theorem 2: J(pi1) >= J(pi0) - t_max T / e."""
    tree = tree_of(spec)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        past, temperature = random_policy(tree, rng, 5.0), float(rng.choice([0, 0.01, 0.3, 2.0]))
        least = operator.value(tree, past)[0] - (len(tree.depths) - 2) * temperature / math.e
        found = operator.value(tree, operator.respond(tree, past, temperature).policy)[0]
        assert found >= least - 1e-9, f"seed {seed}"


def test_a_fixed_point_leaves_nothing_to_gain_alone():
    """Theorem 3: best responses to a policy that the operator keeps gain t_max T / e at most."""
    temperature = 0.01
    for spec in SHARED:
        tree = tree_of(spec)
        past, policy = None, operator.levels(tree, operator.uniform(tree), temperature, 30)[-1]
        past, policy = policy, operator.respond(tree, policy, temperature).policy
        assert np.exp(policy) == pytest.approx(np.exp(past), abs=1e-6), spec
        for seat in range(tree.players):
            best = operator.respond(tree, policy, 1e-4, policy, seat).values[0, seat]
            assert best <= operator.value(tree, policy)[0] + (len(tree.depths) - 2) * temperature / math.e


def test_any_past_that_looks_at_public_things_only_is_the_grounded_one():
    """Theorem 4, of policies in two games; Bob of the toy game does not act twice, so that his past is free."""
    for spec, public in (("toy", lambda key: ""), ("tiny_hanabi", lambda key: key.partition(" ")[2])):
        tree = tree_of(spec)
        expected = operator.respond(tree, operator.grounded_weights(tree), 0.1).policy
        for seed in range(10):
            rng = np.random.default_rng(seed)
            weights: dict = {}
            logs = [weights.setdefault((s, public(k), a), rng.normal(0, 2)) for s, k, a in by_name(tree, tree.action)]
            sums = np.log(np.add.reduceat(np.exp(logs), tree.first[:-1]))
            past = np.array(logs) - np.repeat(sums, tree.counts)
            assert len(weights) < len(logs)  # it does not look at all
            assert operator.respond(tree, past, 0.1).policy == pytest.approx(expected, abs=1e-9), f"seed {seed}"
        private = operator.respond(tree, random_policy(tree, np.random.default_rng(0)), 0.1).policy
        assert np.abs(private - expected).max() > 0.1


@pytest.mark.slow
def test_in_hanabi_the_grounded_belief_needs_weights():
    """How many hints are legal depends on cards that the giver sees alone, so that hardly a policy looks at public
    things only. Weights of actions can; and the uniform policy is another past."""
    tree = tree_of("hanabi(players=2,colors=2,ranks=1,hand_size=2,max_information_tokens=1,max_life_tokens=1)")
    numbers: dict = {}  # of what is public of an information state, and an action
    public = [tuple(e for e in view.events if e.actor != CHANCE) for _, view in tree.keys]
    told = np.repeat(np.arange(len(public)), tree.counts)
    which = [numbers.setdefault((public[i], a), len(numbers)) for i, a in zip(told, tree.action.tolist())]
    expected = operator.beliefs(tree, operator.grounded_weights(tree))
    for seed in range(5):
        past = np.random.default_rng(seed).normal(0, 2, len(numbers))[which]
        assert operator.beliefs(tree, past) == pytest.approx(expected, abs=1e-9), f"seed {seed}"
    assert np.abs(operator.beliefs(tree, operator.uniform(tree)) - expected).max() > 0.1


def best(state) -> np.ndarray:
    """What is paid from here on if everybody sees everything and plays for itself, by backward induction."""
    if state.is_terminal():
        return np.zeros(state.num_players())
    values = []
    for action in state.legal_actions():
        after = state.child(action)
        values.append(best(after) + np.array(after.returns()) - np.array(state.returns()))
    if state.is_chance_node():
        return sum(p * value for (_, p), value in zip(state.chance_outcomes(), values))
    return max(values, key=lambda value: value[state.current_player()])


@pytest.mark.parametrize("spec", [SMALL_HANABI, HANABI_TWO_LIVES, "toy", "nim(pile_sizes=1;2;2)"])
def test_with_perfect_information_level_1_is_optimal(spec):
    """From any past; the cards of the cooperative games lie open, Nim is against one another."""
    root, _ = opened(spec)
    tree = grow(root, lambda state, seat: tuple(state.history()), 100_000)
    expected = best(root)
    assert operator.open_cards(tree) == pytest.approx(expected, abs=1e-9)
    for seed in range(3):
        past = random_policy(tree, np.random.default_rng(seed))
        found = operator.value(tree, operator.respond(tree, past, 0).policy)
        assert found == pytest.approx(expected, abs=1e-9), f"seed {seed}"


def test_at_temperature_0_the_best_actions_share_and_what_is_never_reached_has_no_belief():
    tree = tree_of("toy")
    policy = operator.respond(tree, operator.uniform(tree), 0).policy
    assert operator.value(tree, policy) == pytest.approx([5.0, 5.0])
    flat = operator.softmax(tree, np.zeros(len(tree.owner)), slice(0, len(tree.owner)), 0)
    assert np.exp(flat) == pytest.approx(np.exp(operator.uniform(tree)))
    with pytest.raises(TrickformerError, match="2 information states have no belief"):
        operator.respond(tree, policy, 0)


def test_beliefs_far_below_what_a_number_holds():
    """Level 2 at a low temperature believes in what level 1 does once in e^50000 games."""
    tree = tree_of("toy")
    for policy in operator.levels(tree, operator.uniform(tree), 1e-4, 4):
        assert operator.value(tree, policy) == pytest.approx([5.0, 5.0])
        assert np.isfinite(policy).all()


def test_values_of_the_toy_game():
    tree = tree_of("toy")
    for temperature in (1e-3, 0.01, 0.1):
        policy = operator.respond(tree, operator.uniform(tree), temperature).policy
        assert operator.value(tree, policy)[0] == pytest.approx(5.0, abs=1e-9)
    assert operator.value(tree, operator.uniform(tree))[0] == pytest.approx(-0.875)


def test_hanabi_pays_on_the_way():
    """Points come with the cards; the last life takes them back."""
    tree, game = tree_of(SMALL_HANABI), games.load(SMALL_HANABI)
    assert {-1.0, 0.0, 1.0} <= set(tree.reward[:, 0].tolist())
    total = np.zeros(len(tree.parent))
    for _, below in tree.downwards():
        total[below] = total[tree.parent[below]] + tree.reward[below, 0]
    rng = np.random.default_rng(0)
    scores: set = set()
    for _ in range(300):
        state = game.spiel.new_initial_state()
        while not state.is_terminal():
            state.apply_action(int(rng.choice(state.legal_actions())))
        scores.add(state.returns()[0])
    assert set(total[tree.player == pyspiel.PlayerId.TERMINAL].tolist()) == scores == {0.0, 1.0, 2.0}
