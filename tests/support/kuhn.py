"""A small game for tests: three-player Kuhn poker, where higher scores are better. With a belief for it."""

import numpy as np
import pyspiel

from trickformer.base import CHANCE, Belief, Event, Game, Outcomes, View

PLAYERS = 3


class Kuhn(Game):
    name = "kuhn_poker"
    players = PLAYERS
    higher_is_better = True

    def __init__(self):
        self.spiel = pyspiel.load_game("kuhn_poker(players=3)")
        self.outcomes = Outcomes((), np.zeros((0, PLAYERS), dtype=np.float32))

    def view(self, state, viewer):
        events = []
        for i, step in enumerate(state.full_history()):
            if i < PLAYERS:
                if i == viewer:
                    events.append(Event(CHANCE, step.action))
            else:
                events.append(Event(step.player, step.action))
        legal = tuple(state.legal_actions()) if state.current_player() == viewer else ()
        return View(viewer, tuple(events), legal)

    def chance(self, state, seed, index):
        return int(np.random.default_rng([seed, index]).permutation(PLAYERS + 1)[state.move_number()])


class KuhnBelief(Belief):
    """Uniform over the cards of the others."""

    consistent = True

    def __init__(self, game):
        self.game = game
        self.worlds = []

    def reset(self, view):
        self.seen = view

    def sample(self, n, rng):
        mine = self.seen.events[0].action
        self.cards = []
        for _ in range(n):
            rest = iter(rng.permutation([c for c in range(PLAYERS + 1) if c != mine]).tolist())
            self.cards.append([mine if seat == self.seen.viewer else next(rest) for seat in range(PLAYERS)])
        return self

    def state(self, i):
        state = self.game.spiel.new_initial_state()
        for action in self.cards[i] + [e.action for e in self.seen.events[1:]]:
            state.apply_action(action)
        assert self.game.view(state, self.seen.viewer) == self.seen
        self.worlds.append(state)
        return state

    def log_prob(self, worlds):
        return np.zeros(len(worlds.cards))
