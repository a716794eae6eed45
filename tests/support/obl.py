"""Off-belief learning from its definition, and games under other names, for the tests of trickformer.studies.obl."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pyspiel

from trickformer import games
from trickformer.studies.obl import tree as trees
from trickformer.studies.obl.listing import load_tree

SMALL_HANABI = "hanabi(players=2,colors=1,ranks=2,hand_size=1,max_information_tokens=1,max_life_tokens=1)"
HANABI_TWO_LIVES = "hanabi(players=2,colors=1,ranks=2,hand_size=1,max_information_tokens=1,max_life_tokens=2)"


@cache
def tree_of(spec: str) -> trees.Tree:
    """A tree, listed once."""
    return load_tree(spec, 100_000)


def opened(spec: str):
    """The root of a game, and what names its information states."""
    if spec.startswith("hanabi"):
        game = games.load(spec)
        return game.spiel.new_initial_state(), game.view
    spiel = pyspiel.load_game("trickformer_toy" if spec == "toy" else spec)
    return spiel.new_initial_state(), lambda state, seat: state.information_state_string(seat)


def random_policy(tree, rng, spread: float = 2.0) -> np.ndarray:
    """Each information state's own probabilities, all above 0."""
    weights = np.exp(rng.normal(0, spread, len(tree.owner)))
    sums = np.add.reduceat(weights, tree.first[:-1])
    return np.log(weights / np.repeat(sums, tree.counts))


def by_name(tree, values) -> dict:
    """A value of each slot by seat, name of the information state, and action."""
    return {
        (*tree.keys[i], int(tree.action[slot])): float(values[slot])
        for i in range(len(tree.keys))
        for slot in range(tree.first[i], tree.first[i + 1])
    }


class Twin:
    """pi1 of pi0 by recursion over histories, from equations 1 to 3 of the paper: nothing is shared with the package.

    `past` holds the probabilities of pi0 by seat, name of the information state, and action. If `anew`, equation 4
    replaces equation 2.
    """

    def __init__(self, spec: str, past: dict, temperature: float, anew: bool = False):
        self.root, self.key = opened(spec)
        self.past, self.temperature, self.anew = past, temperature, anew
        self.believed: dict = {}  # what each information state is worth to its seat
        self.histories: dict = {}
        self.found: dict = {}
        self._collect(self.root, 1.0)

    def _name(self, state):
        seat = state.current_player()
        return seat, self.key(state, seat)

    def _collect(self, state, reach: float) -> None:
        if state.is_terminal():
            return
        if state.is_chance_node():
            for action, p in state.chance_outcomes():
                self._collect(state.child(action), reach * p)
            return
        name = self._name(state)
        self.histories.setdefault(name, []).append((state, reach))
        for action in state.legal_actions():
            self._collect(state.child(action), reach * self.past[(*name, action)])

    def policy(self, name) -> dict[int, float]:
        """pi1 in an information state."""
        if name not in self.found:
            members, seat = self.histories[name], name[0]
            total = sum(reach for _, reach in members)
            q = {
                action: sum(reach / total * self._worth(state, action)[seat] for state, reach in members)
                for action in members[0][0].legal_actions()
            }
            best = max(q.values())
            odds = {action: math.exp((x - best) / self.temperature) for action, x in q.items()}
            self.found[name] = {action: p / sum(odds.values()) for action, p in odds.items()}
            self.believed[name] = sum(self.found[name][action] * x for action, x in q.items())
        return self.found[name]

    def _worth(self, state, action) -> np.ndarray:
        """Everything that is paid from here on, for each seat."""
        after = state.child(action)
        return self.value(after) + np.array(after.returns()) - np.array(state.returns())

    def value(self, state) -> np.ndarray:
        """V of pi1 after a history."""
        if state.is_terminal():
            return np.zeros(state.num_players())
        if state.is_chance_node():
            return sum(p * self._worth(state, action) for action, p in state.chance_outcomes())
        name = self._name(state)
        policy = self.policy(name)
        found = sum(policy[action] * self._worth(state, action) for action in state.legal_actions())
        if self.anew:
            found[name[0]] = self.believed[name]
        return found


class Renamed:
    """A state whose actions have other numbers, and whose chance lists its outcomes in another order."""

    def __init__(self, state, names: dict[int, int], order: np.random.Generator):
        self.state, self.names, self.order = state, names, order
        self.back = {new: old for old, new in names.items()}

    def __getattr__(self, name):
        return getattr(self.state, name)

    def legal_actions(self) -> list[int]:
        return sorted(self.names[action] for action in self.state.legal_actions())

    def chance_outcomes(self) -> list[tuple[int, float]]:
        outcomes = self.state.chance_outcomes()
        return [outcomes[i] for i in self.order.permutation(len(outcomes))]

    def child(self, action: int) -> Renamed:
        old = action if self.state.is_chance_node() else self.back[action]
        return Renamed(self.state.child(old), self.names, self.order)
