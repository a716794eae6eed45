"""Leduc poker of OpenSpiel, as another package would add it.

Bets and cards share action numbers, so that the game needs a belief and an exchange of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyspiel

from trickformer import openspiel
from trickformer.base import CHANCE, PUBLIC, Belief, Event, Game, Outcomes, View, Worlds, replay


def load(spec: str) -> Leduc:
    """`leduc_poker`, without options."""
    openspiel.options(spec, "leduc_poker", ())  # refuses every option
    return Leduc()


class Leduc(Game):
    """Chips that a seat wins; higher is better."""

    name = "leduc_poker"
    players = 2
    higher_is_better = True

    def __init__(self):
        self.spiel = pyspiel.load_game("leduc_poker")
        labels = tuple((won, -won) for won in range(-13, 14))
        self.outcomes = Outcomes(labels, np.array(labels, np.float32) / 13)

    def view(self, state, viewer):
        """The own card, then bets, the card turned up, and at a showdown the cards that the viewer has not seen."""
        steps = state.full_history()
        dealt, acts = [step.action for step in steps[:2]], steps[2:]
        events = [] if viewer == PUBLIC else [Event(CHANCE, None, (dealt[viewer],))]
        events += [Event(step.player, step.action) for step in acts]
        if state.is_terminal() and acts[-1].action != 0:  # nobody has folded
            events.append(Event(CHANCE, None, tuple(sorted(c for p, c in enumerate(dealt) if p != viewer))))
        on_turn = viewer != PUBLIC and state.current_player() == viewer
        return View(viewer, tuple(events), tuple(state.legal_actions()) if on_turn else ())

    def belief(self, log_odds=None):
        return LeducBelief(self) if log_odds is None else None

    def exchange(self, state, view, rng):
        """Another card for the other seat."""
        actions = [step.action for step in state.full_history()]
        seen = [e.action for e in view.events if e.actor == CHANCE and e.action is not None]
        left = [card for card in range(6) if card not in (*actions[:2], *seen)]
        actions[1 - view.viewer] = int(rng.choice(left))
        return replay(self.spiel, actions)


@dataclass
class LeducWorlds(Worlds):
    """Cards that the other seat may hold: hidden int16 [n, 1]. All are as likely, and all explain the view."""

    game: Game
    view: View
    hidden: np.ndarray
    log_weight: np.ndarray = field(init=False)
    feasible: np.ndarray = field(init=False)

    def __post_init__(self):
        self.log_weight, self.feasible = np.zeros(len(self.hidden)), np.ones(len(self.hidden), bool)

    def state(self, i):
        cards = [self.view.events[0].seen[0], int(self.hidden[i, 0])]
        acts = [e.action for e in self.view.events if e.action is not None]  # the card turned up among them
        return replay(self.game.spiel, [*(cards if self.view.viewer == 0 else cards[::-1]), *acts])


class LeducBelief(Belief):
    """Uniform over the cards that the seat has not seen."""

    consistent = True

    def __init__(self, game):
        self.game, self.left = game, []

    def reset(self, view):
        own, *shown = [card for e in view.events for card in e.seen]
        turned = [e.action for e in view.events if e.actor == CHANCE and e.action is not None]
        self.view, self.left = view, shown or [card for card in range(6) if card not in (own, *turned)]

    def sample(self, n, rng):
        if not self.left:
            raise ValueError("a belief needs a view first; call reset")
        return LeducWorlds(self.game, self.view, rng.choice(self.left, size=(n, 1)).astype(np.int16))

    def log_prob(self, worlds):
        return np.where(np.isin(worlds.hidden[:, 0], self.left), -np.log(len(self.left)), -np.inf)
