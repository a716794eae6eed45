"""Games of a Hanabi of eight cards, small enough for the forward algorithm, with the exact belief at every position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from support.markov import GameProcess, forward

from trickformer import _core, games
from trickformer.base import Policy, View
from trickformer.belief.hanabi.exact import HandListBelief
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables, prefer
from trickformer.belief.samplers.hanabi import replay
from trickformer.search.hanabi.scripted import ScriptedPolicy

SMALL = games.load("hanabi(colors=2,ranks=2,hand_size=2,max_information_tokens=3,max_life_tokens=2)")
PAIR = ("smart", "piers")
BOTS = _core.hanabi.BOTS


class Position(NamedTuple):
    """Position of a game. `control` and `action` are -1 at the first position."""

    table: Tables  # 1
    control: np.ndarray  # int64 [1], as HanabiProcess has it
    action: int
    belief: dict[tuple[int, ...], float]  # hidden cards, as HanabiProcess has them: exact, by the forward algorithm
    hidden: np.ndarray  # int8 [1, slots]: what they are


class Preferring(Policy):
    """The policy of a decision rule: an action where it is legal, else another policy."""

    def __init__(self, other: ScriptedPolicy, action: int):
        self._other, self._action = other, action

    def probs(self, views: Sequence[View]) -> np.ndarray:
        """float32 [n, actions]."""
        found = self._other.probs(views)
        for row, view in zip(found, views):
            if self._action in view.legal:
                row[:] = np.arange(len(row)) == self._action
        return found


def process(form: Form, seat: int = 0) -> HanabiProcess:
    """Make the process. Both policies are fixed, except the policy of `seat` in a pomdp."""
    return HanabiProcess(SMALL.rules, form, PAIR, seat)


def play(form: Form, seed: int, seat: int = 0, policies: Sequence[Policy] | None = None) -> Iterator[Position]:
    """One game to its end. Whoever is not fixed plays at random: any legal move, or any scripted policy or
    decision rule. The fixed policies are those of PAIR by default."""
    rng = np.random.default_rng(seed)
    slow = GameProcess(SMALL, form, policies or [ScriptedPolicy(SMALL, name) for name in PAIR], seat)
    x = slow.deal(seed, 0)
    states, emissions, controls, moves = [x], [slow.emission(x)], [], [(np.full(1, -1, dtype=np.int64), -1)]
    while not x.is_terminal():
        z, control = None, np.full(1, -1, dtype=np.int64)
        if form is Form.FOSG:
            control[0] = rng.integers(len(BOTS))
            z = ScriptedPolicy(SMALL, BOTS[control[0]])
            if rng.random() < 0.5:
                action = int(rng.integers(SMALL.rules.actions))
                z, control[0] = Preferring(z, action), prefer(action, int(control[0]))
        elif form is Form.POMDP and x.current_player() == seat:
            z = int(rng.choice(x.legal_actions()))
            control[0] = z
        x = slow.sample(x, z, rng)
        states.append(x)
        emissions.append(slow.emission(x))
        controls.append(z)
        moves.append((control, [step.action for step in x.full_history() if step.player >= 0][-1]))
    for state, (control, action), listed in zip(states, moves, forward(slow, emissions, controls)):
        belief: dict[tuple[int, ...], float] = {}
        for other, p in listed:
            cards = hidden_of(other, form, seat)
            belief[cards] = belief.get(cards, 0.0) + p
        hidden = np.array([hidden_of(state, form, seat)], dtype=np.int8)
        yield Position(replay(SMALL, state.history()), control, action, belief, hidden)


def hidden_of(state, form: Form, seat: int) -> tuple[int, ...]:
    """The hidden cards of a state, by seat and the oldest first, filled up with -1."""
    hands = [SMALL.hand(state, p) for p in ([seat] if form is Form.POMDP else range(2))]
    return tuple(card for hand in hands for card in hand + [-1] * (2 - len(hand)))


def follow(belief: Any, positions: Iterable[Position]) -> Iterator[tuple[Position | None, Position]]:
    """Every position of a game, with the one before it, once a belief or an estimator has seen it."""
    before = None
    for now in positions:
        if before is None:
            belief.begin(now.table)
        else:
            # A list of hands is of one game; estimators take the actions of a batch.
            action = now.action if isinstance(belief, HandListBelief) else np.array([now.action])
            belief.observe(before.table, now.control, action, now.table)
        yield before, now
        before = now


def listed(exact: HandListBelief) -> dict[tuple[int, ...], float]:
    """The listed hands with their probabilities."""
    hidden, log_p = exact.distribution()
    return {tuple(int(card) for card in row): float(np.exp(p)) for row, p in zip(hidden, log_p)}
