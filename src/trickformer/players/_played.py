"""SPARTA's parts of any game whose worlds can be drawn: states of OpenSpiel, which any player plays on."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import MANY, Belief, Game, Memo, Player, View
from trickformer.players import decision_rng

if TYPE_CHECKING:
    from trickformer.base import State


@dataclass(eq=False, slots=True)
class _Line:
    """A game that is played on."""

    world: int
    state: State
    chance: np.random.Generator
    memos: list[Memo]
    decisions: list[int]
    result: float = field(init=False)


class PlayedDrawn:
    """Worlds, each a state that the viewer cannot tell from the true one."""

    def __init__(self, positions: PlayedPositions, worlds: Sequence[State], viewer: int, own: Memo, searched: int):
        """own: the policy's memo of the decision."""
        self._positions, self._worlds, self._viewer, self._own = positions, worlds, viewer, own
        self._looked: dict[int, list[Memo]] = {}  # by world: what each seat's memo holds before the action
        self.searched, self.illegal = searched, searched - len(worlds)

    def __len__(self) -> int:
        return len(self._worlds)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        """Points [rows, actions]. In a world, chance and all seats draw alike after each action."""
        states = self._worlds[rows]
        self._look(range(len(self._worlds))[rows])
        lines = [
            _Line(
                world,
                state.child(action),
                np.random.default_rng([seed, world]),
                [{key: copy(value) for key, value in memo.items()} for memo in self._looked[rows.start + world]],
                [0] * self._positions.game.players,
            )
            for world, state in enumerate(states)
            for action in actions
        ]
        # Games that are played on in step: a policy's calls are as large, and so is what it keeps of them.
        for first in range(0, len(lines), MANY):
            self._to_the_end(lines[first : first + MANY], seed)
        return np.array([line.result for line in lines]).reshape(len(states), len(actions))

    def _look(self, worlds: Sequence[int]) -> None:
        """What the others see before the action is seen once, by a policy that can; the viewer has seen it."""
        game, look = self._positions.game, getattr(self._positions.policy, "look", None)
        new = [world for world in worlds if world not in self._looked]
        for world in new:
            self._looked[world] = [{} for _ in range(game.players)]
        if look is None or not new:
            return
        others = [(world, seat) for world in new for seat in range(game.players) if seat != self._viewer]
        look(
            [game.view(self._worlds[world], seat) for world, seat in others],
            [self._looked[world][seat] for world, seat in others],
        )
        for world in new:
            self._looked[world][self._viewer] = self._own

    def _to_the_end(self, lines: list[_Line], seed: int) -> None:
        game, policy = self._positions.game, self._positions.policy
        while lines := [line for line in lines if self._goes_on(line)]:
            seats = [line.state.current_player() for line in lines]
            decided = policy.act(
                [game.view(line.state, seat) for line, seat in zip(lines, seats)],
                [decision_rng(seed, line.world, seat, line.decisions[seat]) for line, seat in zip(lines, seats)],
                [line.memos[seat] for line, seat in zip(lines, seats)],
            )
            for line, seat, decision in zip(lines, seats, decided, strict=True):
                line.state.apply_action(decision.action)
                line.decisions[seat] += 1

    def _goes_on(self, line: _Line) -> bool:
        """Does what chance does; False at the end, which the result is then of."""
        state, game = line.state, self._positions.game
        while state.is_chance_node():
            actions, probs = zip(*state.chance_outcomes())
            state.apply_action(actions[int(line.chance.choice(len(actions), p=probs))])
        if not state.is_terminal():
            return True
        outcome = game.outcomes.of(game.scores(state), self._viewer)
        line.result = float(game.outcomes.values[outcome, 0]) * self._positions.unit
        line.memos.clear()
        return False


class PlayedPosition:
    """A decision. The policy is asked at forced ones too: it may keep what it saw."""

    def __init__(self, view: View, positions: PlayedPositions, rng: np.random.Generator, memo: Memo):
        self.legal, self.rng, self.searches = view.legal, rng, len(view.legal) > 1
        self._view, self._positions = view, positions
        self._memo = memo.setdefault("policy", {})
        (decision,) = positions.policy.act([view], [rng], [self._memo])
        self.blueprint = decision.action

    def drawn(self, n: int, rng: np.random.Generator) -> PlayedDrawn:
        belief = self._positions.belief
        belief.reset(self._view)
        worlds = belief.sample(n, rng)
        states = [worlds.state(i) for i in range(n) if worlds.feasible[i]]
        return PlayedDrawn(self._positions, states, self._view.viewer, self._memo, n)

    def exact(self, n: int, rng: np.random.Generator) -> PlayedDrawn:
        """Of the same belief: there is no other of any game."""
        return self.drawn(n, rng)


@dataclass(frozen=True, slots=True)
class PlayedPositions:
    """Decisions of every seat of a player, at which a policy is improved on."""

    game: Game
    policy: Player
    belief: Belief

    @property
    def unit(self) -> float:
        return self.game.worth[0]

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> PlayedPosition:
        return PlayedPosition(view, self, rng, memo)
