"""The general form of belief modelling (Belief Fine-Tuning, section 2.4), and the forward algorithm for small systems.

Tests compare the estimators with the forward algorithm.

A Markov variable X moves on by X' ~ dynamics(X, Z), where a control Z comes from outside; each X shows an emission Y.
The belief is the distribution of X given all Y and Z so far. `Form` says which games are such systems."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from trickformer.base import PUBLIC, Game, Policy, View
from trickformer.belief.hanabi.process import Form

if TYPE_CHECKING:
    from trickformer.base import State

X = TypeVar("X")
Y = TypeVar("Y", contravariant=True)
Z = TypeVar("Z", contravariant=True)


class Process(Protocol[X, Y, Z]):
    """A Markov system that is small enough to list what may come next. `key` tells values of X apart."""

    def starts(self) -> Iterator[tuple[X, float]]:
        """Every first X with its probability."""
        ...

    def successors(self, x: X, z: Z) -> Iterator[tuple[X, float]]:
        """Every next X with its probability; nothing where x is an end or z cannot be."""
        ...

    def likelihood(self, x: X, y: Y) -> float:
        """The probability that x shows y."""
        ...

    def key(self, x: X) -> Hashable: ...


def forward(
    process: Process[X, Y, Z], emissions: Sequence[Y], controls: Sequence[Z]
) -> Iterator[list[tuple[X, float]]]:
    """The exact belief after each emission, by the forward algorithm (Rabiner 1989): values of X with their
    probabilities, those of probability 0 left out.

    emissions: T; controls: T - 1, each the one between two emissions. Raises ValueError at an emission that cannot
    be."""
    if len(controls) != len(emissions) - 1:
        raise ValueError("there is one control between every two emissions")
    before: Iterator[tuple[X, float]] = process.starts()
    for t, y in enumerate(emissions):
        belief: dict[Hashable, tuple[X, float]] = {}
        for x, p in before:
            if weight := p * process.likelihood(x, y):
                key = process.key(x)
                belief[key] = (x, weight + (belief[key][1] if key in belief else 0.0))
        total = sum(weight for _, weight in belief.values())
        if not total:
            raise ValueError(f"emission {t} has probability 0")
        found = [(x, weight / total) for x, weight in belief.values()]
        yield found
        if t < len(controls):
            before = _moved(process, found, controls[t])


def _moved(process: Process[X, Y, Z], belief: list[tuple[X, float]], z: Z) -> Iterator[tuple[X, float]]:
    for x, p in belief:
        for follower, q in process.successors(x, z):
            yield follower, p * q


class Tabular:
    """A hidden Markov model given by its tables, with a control that picks the table of transitions.

    start: [S]; transition: [C, S, S], by control and state; emission: [S, O]; rows add up to 1."""

    def __init__(self, start: np.ndarray, transition: np.ndarray, emission: np.ndarray):
        self._start, self._transition, self._emission = start, transition, emission

    def starts(self) -> Iterator[tuple[int, float]]:
        """Every state that a run may begin in."""
        return ((int(x), float(self._start[x])) for x in np.flatnonzero(self._start))

    def successors(self, x: int, z: int) -> Iterator[tuple[int, float]]:
        """Row x of table z."""
        row = self._transition[z, x]
        return ((int(to), float(row[to])) for to in np.flatnonzero(row))

    def likelihood(self, x: int, y: int) -> float:
        """Entry of the table of emissions."""
        return float(self._emission[x, y])

    def key(self, x: int) -> int:
        """A state is its number."""
        return x


class GameProcess(Generic[Z]):
    """Any of our games in one of the three forms. A step is one decision and the chance events after it.

    `policies` has one fixed policy for each seat. In a pomdp, the policy of `seat` is not used, and the control is the
    action of `seat`. In a fosg, no policy is used, and the control is the policy of the seat that acts. All other
    controls are None.
    """

    def __init__(self, game: Game, form: Form, policies: Sequence[Policy | None], seat: int = 0):
        self.game, self.form, self.policies, self.seat = game, form, policies, seat

    def starts(self) -> Iterator[tuple[State, float]]:
        """Every deal: only for games of few cards."""
        return _chance(self.game.spiel.new_initial_state(), 1.0)

    def deal(self, seed: int, index: int) -> State:
        """Deal `index` of the series `seed`, at its first decision."""
        return self.game.deal(seed, index)

    def emission(self, x: State) -> View:
        """What the form's observer sees. Legal actions of a seat follow from the rest of its view."""
        return self.game.view(x, self.seat if self.form is Form.POMDP else PUBLIC)

    def likelihood(self, x: State, y: View) -> float:
        """1 where x shows y, else 0: our games have no noise in what is seen."""
        return float(self.emission(x) == y)

    def key(self, x: State) -> Hashable:
        """A state is its history."""
        return tuple(x.history())

    def successors(self, x: State, z: Any) -> Iterator[tuple[State, float]]:
        """Every decision that may follow, and every outcome of chance after it."""
        if x.is_terminal():
            return
        for action, p in self._actions(x, z):
            yield from _chance(x.child(action), p)

    def sample(self, x: State, z: Any, rng: np.random.Generator) -> State:
        """One X' ~ dynamics(x, z). Raises ValueError at an end, or where z cannot be."""
        actions = list(self._actions(x, z)) if not x.is_terminal() else []
        if not actions:
            raise ValueError("nothing follows: the game is over, or the action is not legal in this state")
        probs = np.array([p for _, p in actions])
        state = x.child(actions[rng.choice(len(actions), p=probs / probs.sum())][0])
        while state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes())
            state.apply_action(outcomes[rng.choice(len(outcomes), p=np.array(chances) / sum(chances))])
        return state

    def _actions(self, x: State, z: Any) -> Iterator[tuple[int, float]]:
        player = x.current_player()
        if self.form is Form.POMDP and player == self.seat:
            if z is None:
                raise ValueError("in a pomdp the control is the action of the seat, where it acts")
            if z in x.legal_actions():
                yield z, 1.0
            return
        policy = z if self.form is Form.FOSG else self.policies[player]
        if policy is None:
            raise ValueError(f"nothing says how seat {player} plays")
        probs = policy.probs([self.game.view(x, player)])[0]
        yield from ((int(a), float(probs[a])) for a in np.flatnonzero(probs))


def _chance(state: State, p: float) -> Iterator[tuple[State, float]]:
    """Every decision or end that chance leads to from here."""
    if not state.is_chance_node():
        yield state, p
        return
    for outcome, q in state.chance_outcomes():
        yield from _chance(state.child(outcome), p * q)
