"""Games of Skat by the plain twin, and the same as states of OpenSpiel."""

from __future__ import annotations

import numpy as np
from support import skat_oracle as oracle

from trickformer import _core
from trickformer.games.skat import ACTIONS, CARDS

ACTION = {name: number for number, name in enumerate(ACTIONS)}


def cards(text: str) -> list[int]:
    """Cards by their names, such as `CJ S7`."""
    return [CARDS.index(name) for name in text.split()]


def started(game, twin):
    state = game.spiel.new_initial_state()
    for card in [c for hand in twin.hands for c in hand] + twin.skat:
        state.apply_action(ACTION[card])
    return state


def games_of(game, seeds, policies=oracle.POLICIES):
    """(name, twin, state) at every decision of a game of each policy and seed, and at its end."""
    for policy in policies:
        for seed in seeds:
            state = None
            for twin, action in oracle.playout(policy, seed):
                state = started(game, twin) if state is None else state
                yield f"policy {policy}, seed {seed}", twin, state
                if action:
                    state.apply_action(ACTION[action])


def numbers(words):
    return [ACTION[w] for w in words]


def core_of(deck):
    return _core.skat.State(np.array(numbers(deck), dtype=np.uint8))


def replay(game, actions):
    state = game.spiel.new_initial_state()
    for action in actions:
        assert action in state.legal_actions(), f"{ACTIONS[action]} is not legal after {state}"
        state.apply_action(int(action))
    return state
