"""Listing a game, the toy game, and what cannot be listed."""

import numpy as np
import pyspiel
import pytest
from support.obl import SMALL_HANABI, opened, tree_of

from trickformer.base import TrickformerError
from trickformer.studies.obl import toy
from trickformer.studies.obl.listing import load_tree
from trickformer.studies.obl.tree import TERMINAL, grow

ALICE, BOB = {name: i for i, name in enumerate(toy.ALICE)}, {name: i for i, name in enumerate(toy.BOB)}


@pytest.mark.parametrize("spec", ["toy", "kuhn_poker", SMALL_HANABI])
def test_a_tree_is_the_game(spec):
    """Node by node: the children of a node are what its actions lead to, in their order."""
    tree, (root, key) = tree_of(spec), opened(spec)
    children, kids = 0, {}
    for node in range(1, len(tree.parent)):
        kids.setdefault(int(tree.parent[node]), []).append(node)
    reached = {0: root}
    for node in range(len(tree.parent)):
        state = reached[node]
        if state.is_terminal():
            assert tree.player[node] == TERMINAL and node not in kids
            continue
        below = kids[node]
        assert below == list(range(below[0], below[-1] + 1)) and tree.player[node] == state.current_player()
        if state.is_chance_node():
            actions, odds = zip(*state.chance_outcomes())
            assert tree.chance[below] == pytest.approx(odds) and (tree.slot[below] == -1).all()
        else:
            actions = state.legal_actions()
            seat, found = state.current_player(), int(tree.state[node])
            assert tree.keys[found] == (seat, key(state, seat))
            assert tree.slot[below].tolist() == list(range(tree.first[found], tree.first[found + 1]))
            assert tree.action[tree.slot[below]].tolist() == actions and (tree.owner[tree.slot[below]] == seat).all()
        for action, child in zip(actions, below):
            reached[child] = state.child(action)
            paid = np.array(reached[child].returns()) - np.array(state.returns())
            assert tree.reward[child] == pytest.approx(paid)
            children += 1
    assert children == len(tree.parent) - 1


def test_the_seat_chose_last_what_before_says():
    tree = tree_of("kuhn_poker")
    for i, (seat, key) in enumerate(tree.keys):
        last = tree.before[i]
        assert (last == -1) == (len(key) < 3)  # "0pb": its second turn, after its own pass
        if last >= 0:
            assert tree.owner[last] == seat and tree.action[last] == 0
            assert tree.keys[np.searchsorted(tree.first, last, side="right") - 1] == (seat, key[0])


@pytest.mark.parametrize(
    ("pet", "alice", "bob", "paid"),
    [
        ("cat", "light on", "guess cat", 10),
        ("dog", "light off", "guess cat", -10),
        ("dog", "light on", "bail", 0.5),
        ("dog", "remove the barrier", "guess dog", 5),
        ("cat", "remove the barrier", "guess dog", -15),
        ("cat", "remove the barrier", "bail", -4.5),
        ("cat", "bail", None, 1),
    ],
)
def test_what_the_toy_game_pays(pet, alice, bob, paid):
    state = pyspiel.load_game(toy.NAME).new_initial_state()
    for action in (toy.PETS.index(pet), ALICE[alice], *([BOB[bob]] if bob else [])):
        assert not state.is_terminal() and state.returns() == [0, 0]
        state.apply_action(action)
    assert state.is_terminal() and state.returns() == [paid, paid]


def test_bob_sees_the_pet_where_the_barrier_is_gone():
    game = pyspiel.load_game(toy.NAME)
    for alice in (toy.ON, toy.OFF, toy.BARRIER):
        told = []
        for pet in range(2):
            state = game.new_initial_state()
            state.apply_action(pet)
            assert state.information_state_string(0) == toy.PETS[pet]
            assert state.information_state_string(1) == ""
            state.apply_action(alice)
            told.append(state.information_state_string(1))
        assert (told[0] != told[1]) == (alice == toy.BARRIER)


def test_openspiel_plays_the_toy_game():
    game = pyspiel.load_game(toy.NAME)
    pyspiel.random_sim_test(game, num_sims=20, serialize=False, verbose=False)
    assert game.min_utility() == -15 and game.max_utility() == 10


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("nonsense", "unknown game 'nonsense'; choose from: "),
        ("matrix_pd", "in matrix_pd seats act at the same time"),
        ("2048", "OpenSpiel's 2048 has no information states"),
        ("toy(x=1)", "unknown option of toy 'x'"),
        ("kuhn_poker(cards=3)", "unknown option of kuhn_poker 'cards'; .*players"),
        ("kuhn_poker(", "Missing closing bracket"),
        ("hanabi(colors=9)", "game 'hanabi"),
        ("phantom_ttt", "of seat . holds histories of .* moves"),
        ("hanabi", "more than 3,000 nodes; .*--limit"),
    ],
)
def test_what_is_refused(spec, says):
    with pytest.raises(TrickformerError, match=says) as raised:
        load_tree(spec, 100_000 if spec == "phantom_ttt" else 3_000)
    assert "\n" not in str(raised.value)


def test_games_that_forget_or_confuse_are_refused():
    root, key = opened("kuhn_poker")

    def forgets(state, seat):
        return key(state, seat)[1:] if len(state.history()) == 4 else key(state, seat)

    with pytest.raises(TrickformerError, match="seat 0 forgets an observation or an action"):
        grow(root, forgets, 1_000)
    with pytest.raises(TrickformerError, match="holds histories of 2 and of 4 moves"):
        grow(root, lambda state, seat: "", 1_000)
    root, _ = opened("hanabi(colors=1,ranks=3,hand_size=1,max_information_tokens=1,max_life_tokens=1)")
    with pytest.raises(TrickformerError, match="holds histories with different legal actions"):
        grow(root, lambda state, seat: len(state.history()), 100_000)


def test_the_limit_is_how_many_nodes_there_may_be():
    assert len(load_tree("toy", 29).parent) == 29
    with pytest.raises(TrickformerError, match="more than 28 nodes"):
        load_tree("toy", 28)
