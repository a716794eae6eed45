"""Every hidden hand that explains what a seat of Hanabi has seen, by trying all of them in OpenSpiel."""

from __future__ import annotations

import random
from itertools import product

import numpy as np

from trickformer.belief.samplers.hanabi import HanabiWorlds

SMALL = (  # two colours, few cards: all hands can be tried
    "hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=3)",
    "hanabi(colors=2,ranks=3,hand_size=3,max_information_tokens=4,max_life_tokens=4)",
    "hanabi(players=3,colors=2,ranks=3,hand_size=2,max_information_tokens=3,max_life_tokens=5)",
)


def playout(game, rng: random.Random, index: int, careful: float = 0.8):
    """Yield the state at every decision of a random game, and the terminal state.

    A move avoids the loss of a life with probability `careful`, with knowledge of all cards.
    """
    state = game.deal(5, index)
    while True:
        while state.is_chance_node():
            state.apply_action(game.chance(state, 5, index))
        yield state
        if state.is_terminal():
            return
        state = state.clone()
        legal = state.legal_actions()
        plays = range(game.rules.hand, 2 * game.rules.hand)
        harmless = [a for a in legal if a not in plays or state.child(a).rewards()[0] > 0]
        state.apply_action(rng.choice(harmless if harmless and rng.random() < careful else legal))


def explaining(game, state, viewer: int):
    """Yield (own cards, number of ways to draw them from the unseen cards, world) of each hand that fits the view."""
    rules, view = game.rules, game.view(state, viewer)
    size = len(game.hand(state, viewer))
    left = [rules.copies(kind) for kind in range(rules.kinds)]
    for event in view.events:
        shown = event.seen if event.action is None or 0 <= event.action < 2 * rules.hand else ()
        for card in (*shown, *([event.action] if event.actor < 0 and event.action is not None else ())):
            left[card] -= event.actor < 0 or event.actor == viewer  # others' cards were seen when they came
    for cards in product(range(rules.kinds), repeat=size):
        rest, ways = left.copy(), 1
        for card in cards:
            ways *= rest[card]
            rest[card] -= 1
        if ways <= 0:
            continue
        row = (*cards, *[-1] * (rules.hand - size))
        worlds = HanabiWorlds(np.array([row], dtype=np.int16), np.zeros(1), np.ones(1, dtype=bool), view, game)
        if (world := _replay(game, worlds.history(0))) is not None and game.view(world, viewer) == view:
            yield row, ways, world


def _replay(game, actions):
    state = game.spiel.new_initial_state()
    for action in actions:
        if action not in state.legal_actions():
            return None
        state.apply_action(action)
    return state
