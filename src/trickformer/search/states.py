"""Worlds and playouts of `rollout` in any game: states of OpenSpiel, which any player finishes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import MANY, Belief, Decision, Game, Memo, Player, View, decision_rng

if TYPE_CHECKING:
    from trickformer.base import State


@dataclass(eq=False, slots=True)
class Line:
    """A game that is played on in a world."""

    world: int
    seed: int
    state: State
    chance: np.random.Generator
    memos: list[Memo]  # of the policy, by seat
    decisions: list[int]  # that it has made, by seat

    def goes_on(self) -> bool:
        """Does what chance does; False at the end."""
        while self.state.is_chance_node():
            actions, probs = zip(*self.state.chance_outcomes())
            self.state.apply_action(actions[int(self.chance.choice(len(actions), p=probs))])
        return not self.state.is_terminal()

    def apply(self, action: int) -> None:
        """What the seat on turn does."""
        self.decisions[self.state.current_player()] += 1
        self.state.apply_action(action)

    def result(self, game: Game, viewer: int) -> float:
        """v(o) of a seat, at the end."""
        return float(game.outcomes.values[game.outcomes.of(game.scores(self.state), viewer), 0])


def sample_consistent_states(belief: Belief, view: View, n: int, rng: np.random.Generator) -> list[State]:
    """Of n worlds drawn by a belief, those that explain the view. Raises ValueError where nothing does."""
    belief.reset(view)
    worlds = belief.sample(n, rng)
    return [worlds.state(i) for i in range(n) if worlds.feasible[i]]


class Branches:
    """Worlds of a decision, each a state that the viewer cannot tell from the true one, and the games that go on from
    them."""

    def __init__(self, game: Game, policy: Player, worlds: Sequence[State], viewer: int, own: Memo):
        """own: the policy's memo of the decision."""
        self._game, self._policy, self._viewer, self._own = game, policy, viewer, own
        self._worlds = worlds
        self._looked: dict[int, list[Memo]] = {}  # by world: what each seat's memo holds before the action

    def __len__(self) -> int:
        return len(self._worlds)

    def begin(self, starts: Sequence[tuple[int, int]], seed: int) -> list[Line]:
        """A game for each (world, action). In a world, chance and all seats draw alike after each action."""
        self._look(dict.fromkeys(world for world, _ in starts))
        return [
            Line(
                world,
                seed,
                self._worlds[world].child(action),
                np.random.default_rng([seed, world]),
                [{key: copy(value) for key, value in memo.items()} for memo in self._looked[world]],
                [0] * self._game.players,
            )
            for world, action in starts
        ]

    def _look(self, worlds: Iterable[int]) -> None:
        """What the others see before the action is seen once, by a policy that can; the viewer has seen it."""
        game = self._game
        new = [world for world in worlds if world not in self._looked]
        for world in new:
            self._looked[world] = [{} for _ in range(game.players)]
        if not self._policy.memo_is_copyable or not new:
            return
        others = [(world, seat) for world in new for seat in range(game.players) if seat != self._viewer]
        self._policy.look(
            [game.view(self._worlds[world], seat) for world, seat in others],
            [self._looked[world][seat] for world, seat in others],
        )
        for world in new:
            self._looked[world][self._viewer] = self._own


def query_policy(game: Game, policy: Player, lines: Sequence[Line]) -> list[Decision]:
    """What the policy does in games that go on, each of the seat on turn there."""
    if not lines:
        return []
    seats = [line.state.current_player() for line in lines]
    return policy.act(
        [game.view(line.state, seat) for line, seat in zip(lines, seats)],
        [decision_rng(line.seed, line.world, seat, line.decisions[seat]) for line, seat in zip(lines, seats)],
        [line.memos[seat] for line, seat in zip(lines, seats)],
    )


class StateWorlds:
    """Worlds that a decision's actions are played on in."""

    def __init__(self, positions: StatePositions, branches: Branches, viewer: int, searched: int):
        self._positions, self._branches, self._viewer = positions, branches, viewer
        self.searched, self.illegal = searched, searched - len(branches)

    def __len__(self) -> int:
        return len(self._branches)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        """Points [rows, actions]. In a world, chance and all seats draw alike after each action."""
        worlds = range(len(self))[rows]
        lines = self._branches.begin([(world, action) for world in worlds for action in actions], seed)
        # Games that are played on in step: a policy's calls are as large, and so is what it keeps of them.
        found = [
            result for first in range(0, len(lines), MANY) for result in self._to_the_end(lines[first : first + MANY])
        ]
        return np.array(found).reshape(len(worlds), len(actions))

    def _to_the_end(self, lines: Sequence[Line]) -> list[float]:
        game, policy, unit = self._positions.game, self._positions.policy, self._positions.unit
        results = [0.0] * len(lines)
        under_way = list(enumerate(lines))
        while under_way:
            going = []
            for i, line in under_way:
                if line.goes_on():
                    going.append((i, line))
                else:
                    results[i] = line.result(game, self._viewer) * unit
                    line.memos.clear()
            under_way = going
            for (_, line), decision in zip(
                under_way, query_policy(game, policy, [line for _, line in under_way]), strict=True
            ):
                line.apply(decision.action)
        return results


class StatePosition:
    """A decision. The policy is asked at forced ones too: it may keep what it saw."""

    def __init__(self, view: View, positions: StatePositions, rng: np.random.Generator, memo: Memo):
        self.legal, self.rng, self.searches = view.legal, rng, len(view.legal) > 1
        self._view, self._positions = view, positions
        self._memo = memo.setdefault("policy", {})
        (decision,) = positions.policy.act([view], [rng], [self._memo])
        self.blueprint = decision.action

    def sample_worlds(self, n: int, rng: np.random.Generator) -> StateWorlds:
        return self._positions.draw(self._view, n, rng, self._memo)

    def exact(self, n: int, rng: np.random.Generator) -> StateWorlds:
        """Of the same belief: there is no other of any game."""
        return self.sample_worlds(n, rng)


@dataclass(frozen=True, slots=True)
class StatePositions:
    """Decisions of every seat of a player, at which a policy is improved on."""

    game: Game
    policy: Player
    belief: Belief
    knows_better: bool = False

    @property
    def unit(self) -> float:
        return self.game.worth[0]

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> StatePosition:
        return StatePosition(view, self, rng, memo)

    def can_evaluate(self, view: View) -> bool:
        return True

    def worlds(self, view: View, n: int, rng: np.random.Generator) -> StateWorlds:
        return self.draw(view, n, rng, {})

    def draw(self, view: View, n: int, rng: np.random.Generator, own: Memo) -> StateWorlds:
        """n worlds. own: the policy's memo of the decision."""
        branches = Branches(
            self.game, self.policy, sample_consistent_states(self.belief, view, n, rng), view.viewer, own
        )
        return StateWorlds(self, branches, view.viewer, n)
