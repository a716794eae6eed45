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
    """A game that is played to its end in a world."""

    world: int
    seed: int
    state: State
    chance: np.random.Generator
    memos: list[Memo]  # memos of the policy, by seat
    decisions: list[int]  # number of its decisions, by seat

    def play_chance(self) -> bool:
        """Play the chance events up to the next decision; return False if the game is over."""
        while self.state.is_chance_node():
            actions, probs = zip(*self.state.chance_outcomes())
            self.state.apply_action(actions[int(self.chance.choice(len(actions), p=probs))])
        return not self.state.is_terminal()

    def apply(self, action: int) -> None:
        """Play an action of the seat on turn.

        Args:
            action: The action.
        """
        self.decisions[self.state.current_player()] += 1
        self.state.apply_action(action)

    def result(self, game: Game, viewer: int) -> float:
        """Return v(o) of a seat at the end of the game.

        Args:
            game: The game.
            viewer: The seat.
        """
        return float(game.outcomes.values[game.outcomes.of(game.scores(self.state), viewer), 0])


def _sample_consistent_states(belief: Belief, view: View, n: int, rng: np.random.Generator) -> list[State]:
    """Sample n worlds of a belief, and return the ones that explain the view.

    Raises:
        ValueError: No deal explains the view.
    """
    belief.reset(view)
    worlds = belief.sample(n, rng)
    return [worlds.state(i) for i in range(n) if worlds.feasible[i]]


class Branches:
    """Worlds of a decision, and the games that start in them.

    A world is a state that the viewer cannot tell from the true one.
    """

    def __init__(self, game: Game, policy: Player, worlds: Sequence[State], viewer: int, own: Memo):
        """Begin with worlds in which no game was played.

        Args:
            game: The game.
            policy: Player that finishes the games.
            worlds: The worlds.
            viewer: Seat of the decision.
            own: The policy's memo of the decision.
        """
        self._game, self._policy = game, policy
        self._viewer, self._own = viewer, own
        self._worlds = worlds
        self._looked: dict[int, list[Memo]] = {}  # by world, the memos of the seats before the action

    def __len__(self) -> int:
        return len(self._worlds)

    def begin(self, starts: Sequence[tuple[int, int]], seed: int) -> list[Line]:
        """Begin a game for each world and action. In a world, chance and all seats draw alike after each action.

        Args:
            starts: Pairs of a world's index and an action.
            seed: Seed of chance and of the seats.
        """
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
        """Show a policy with copyable memos what the other seats see before the action, once for all actions.

        The viewer's memo already includes it.
        """
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


def _query_policy(game: Game, policy: Player, lines: Sequence[Line]) -> list[Decision]:
    """Return the policy's decisions for the seats on turn."""
    if not lines:
        return []
    seats = [line.state.current_player() for line in lines]
    return policy.act(
        [game.view(line.state, seat) for line, seat in zip(lines, seats)],
        [decision_rng(line.seed, line.world, seat, line.decisions[seat]) for line, seat in zip(lines, seats)],
        [line.memos[seat] for line, seat in zip(lines, seats)],
    )


class StateWorlds:
    """Worlds in which the actions of a decision are tried."""

    def __init__(self, positions: StatePositions, branches: Branches, viewer: int, searched: int):
        self._positions, self._branches = positions, branches
        self._viewer = viewer
        self.searched, self.illegal = searched, searched - len(branches)

    def __len__(self) -> int:
        return len(self._branches)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        """Play games after actions.

        Args:
            rows: Worlds to use.
            actions: Actions to try.
            seed: In a world, chance and all seats draw alike after each action.

        Returns:
            Points, [rows, actions].
        """
        worlds = range(len(self))[rows]
        lines = self._branches.begin([(world, action) for world in worlds for action in actions], seed)
        # At most MANY games run in lockstep, which bounds the policy's batch and its memory.
        results = [
            result for first in range(0, len(lines), MANY) for result in self._finish(lines[first : first + MANY])
        ]
        return np.array(results).reshape(len(worlds), len(actions))

    def _finish(self, lines: Sequence[Line]) -> list[float]:
        game, policy = self._positions.game, self._positions.policy
        unit = self._positions.unit
        results = [0.0] * len(lines)
        under_way = list(enumerate(lines))
        while under_way:
            going = []
            for i, line in under_way:
                if line.play_chance():
                    going.append((i, line))
                else:
                    results[i] = line.result(game, self._viewer) * unit
                    line.memos.clear()
            under_way = going
            decisions = _query_policy(game, policy, [line for _, line in under_way])
            for (_, line), decision in zip(under_way, decisions, strict=True):
                line.apply(decision.action)
        return results


class StatePosition:
    """A decision. The policy decides at forced ones too, because it may keep its observations in the memo."""

    def __init__(self, view: View, positions: StatePositions, rng: np.random.Generator, memo: Memo):
        self.legal, self.rng = view.legal, rng
        self.searches = len(view.legal) > 1
        self._view, self._positions = view, positions
        self._memo = memo.setdefault("policy", {})
        (decision,) = positions.policy.act([view], [rng], [self._memo])
        self.blueprint = decision.action

    def sample_worlds(self, n: int, rng: np.random.Generator) -> StateWorlds:
        return self._positions.draw(self._view, n, rng, self._memo)

    def exact(self, n: int, rng: np.random.Generator) -> StateWorlds:
        """Sample worlds of the same belief, because there is no exact one for every game.

        Args:
            n: Number of worlds.
            rng: Generator of the draws.
        """
        return self.sample_worlds(n, rng)


@dataclass(frozen=True, slots=True)
class StatePositions:
    """Decisions of every seat of a player, at which a search improves on a policy."""

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
        """Sample worlds.

        Args:
            view: View of the seat on turn.
            n: Number of worlds.
            rng: Generator of the draws.
            own: The policy's memo of the decision.
        """
        worlds = _sample_consistent_states(self.belief, view, n, rng)
        return StateWorlds(self, Branches(self.game, self.policy, worlds, view.viewer, own), view.viewer, n)
