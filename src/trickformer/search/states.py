"""Worlds and simulated games of `rollout` for any game: OpenSpiel states, which any player can finish."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trickformer.base import MANY, Belief, Decision, Game, Memo, Player, View, decide_in_batches, decision_rng
from trickformer.search.sparta import Position

if TYPE_CHECKING:
    from trickformer.base import State


@dataclass(eq=False, slots=True)
class SimulatedGame:
    """A game that starts in a sampled world and is played to its end."""

    world: int  # index of the world
    seed: int  # seed of the policy's decisions
    state: State
    chance: np.random.Generator  # source of chance events
    memos: list[Memo]  # memos of the policy, by seat
    decisions: list[int]  # number of decisions so far, by seat

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
    """Sample n worlds of a belief, and return those that are consistent with the view.

    Raises:
        ValueError: No deal explains the view.
    """
    belief.reset(view)
    worlds = belief.sample(n, rng)
    return [worlds.state(i) for i in range(n) if worlds.feasible[i]]


class Branches:
    """Worlds of one decision, from which simulated games start."""

    def __init__(self, game: Game, policy: Player, worlds: Sequence[State], viewer: int, viewer_memo: Memo):
        """Store the worlds.

        Args:
            game: The game.
            policy: Player that finishes the games.
            worlds: States that the viewer cannot distinguish from the true one.
            viewer: Seat of the decision.
            viewer_memo: The policy's memo of that seat.
        """
        self._game, self._policy = game, policy
        self._viewer, self._viewer_memo = viewer, viewer_memo
        self._worlds = worlds
        self._memos: dict[int, list[Memo]] = {}  # by world: memos of all seats at the decision

    def __len__(self) -> int:
        return len(self._worlds)

    def begin(self, starts: Sequence[tuple[int, int]], seed: int) -> list[SimulatedGame]:
        """Begin games. Those that start in the same world have the same random draws, whatever their action.

        Args:
            starts: Index of the world and first action of each game.
            seed: Seed of chance and of the players.
        """
        self._prepare_memos(dict.fromkeys(world for world, _ in starts))
        return [
            SimulatedGame(
                world,
                seed,
                self._worlds[world].child(action),
                np.random.default_rng([seed, world]),
                [{key: copy(value) for key, value in memo.items()} for memo in self._memos[world]],
                [0] * self._game.players,
            )
            for world, action in starts
        ]

    def _prepare_memos(self, worlds: Iterable[int]) -> None:
        """Fill the memos of all seats at the decision, once for all games of a world.

        If the policy's memos are not copyable, they stay empty. The viewer's memo comes from the caller, because the
        policy has already decided that view.
        """
        game = self._game
        new = [world for world in worlds if world not in self._memos]
        for world in new:
            self._memos[world] = [{} for _ in range(game.players)]
        if not self._policy.memo_is_copyable or not new:
            return
        others = [(world, seat) for world in new for seat in range(game.players) if seat != self._viewer]
        self._policy.look(
            [game.view(self._worlds[world], seat) for world, seat in others],
            [self._memos[world][seat] for world, seat in others],
        )
        for world in new:
            self._memos[world][self._viewer] = self._viewer_memo


def _query_policy(game: Game, policy: Player, simulations: Sequence[SimulatedGame]) -> list[Decision]:
    """Return the policy's decision for the seat on turn in each game."""
    if not simulations:
        return []
    turns = [(simulation, simulation.state.current_player()) for simulation in simulations]
    views = [game.view(simulation.state, seat) for simulation, seat in turns]
    rngs = [
        decision_rng(simulation.seed, simulation.world, seat, simulation.decisions[seat]) for simulation, seat in turns
    ]
    memos = [simulation.memos[seat] for simulation, seat in turns]
    return decide_in_batches(policy, views, rngs, memos)


class StateWorlds:
    """Sampled worlds (`base.SampledWorlds`) from which a policy finishes games of OpenSpiel states."""

    def __init__(self, positions: StatePositions, branches: Branches, viewer: int, searched: int):
        self._positions, self._branches = positions, branches
        self._viewer = viewer
        self.searched = searched
        self.illegal = searched - len(branches) if searched else 0

    def __len__(self) -> int:
        return len(self._branches)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        """Play each action in each world, and let the policy finish the game.

        Args:
            rows: Indices of the worlds to play.
            actions: First actions to compare.
            seed: Seed of chance and of the players; the draws in a world are the same after all actions.

        Returns:
            Final points of the viewer, [rows, actions].
        """
        worlds = range(len(self))[rows]
        simulations = self._branches.begin([(world, action) for world in worlds for action in actions], seed)
        # At most MANY games run in lockstep, which bounds the policy's batch and its memory.
        batches = [simulations[first : first + MANY] for first in range(0, len(simulations), MANY)]
        results = [result for batch in batches for result in self._finish(batch)]
        return np.array(results).reshape(len(worlds), len(actions))

    def _finish(self, simulations: Sequence[SimulatedGame]) -> list[float]:
        game, policy = self._positions.game, self._positions.policy
        unit = self._positions.unit
        results = [0.0] * len(simulations)
        unfinished = list(enumerate(simulations))
        while unfinished:
            at_decision = []
            for i, simulation in unfinished:
                if simulation.play_chance():
                    at_decision.append((i, simulation))
                else:
                    results[i] = simulation.result(game, self._viewer) * unit
                    simulation.memos.clear()  # frees memory before the other games end
            unfinished = at_decision
            decisions = _query_policy(game, policy, [simulation for _, simulation in unfinished])
            for (_, simulation), decision in zip(unfinished, decisions, strict=True):
                simulation.apply(decision.action)
        return results


def part_memo(memo: Memo, name: str) -> Memo:
    """Return the memo of a player that is a part of another, with the clock of the whole.

    Args:
        memo: Memo of the whole player for a seat.
        name: Name of the part.
    """
    inner = memo.setdefault(name, {})
    if "clock" in memo:
        inner["clock"] = memo["clock"]
    return inner


class StatePosition(Position):
    """A decision that SPARTA can search (`search.sparta.Position`).

    The policy is called even if only one action is legal, because it may store observations in its memo.
    """

    def __init__(self, view: View, positions: StatePositions, rng: np.random.Generator, memo: Memo):
        self.legal, self.rng = view.legal, rng
        self.searches = len(view.legal) > 1
        self._view, self._positions = view, positions
        self._policy_memo = part_memo(memo, "policy")
        policy = positions.policy
        (decision,) = decide_in_batches(policy, [view], [rng], [self._policy_memo])
        self.blueprint, self.faults = decision.action, decision.faults

    def sample_worlds(self, n: int, rng: np.random.Generator) -> StateWorlds:
        return self._positions.draw(self._view, n, rng, self._policy_memo)

    def exact(self, n: int, rng: np.random.Generator) -> StateWorlds:
        """Sample worlds of the searched belief, because not every game has an exact one.

        Args:
            n: Number of worlds.
            rng: Source of all randomness.
        """
        return self.sample_worlds(n, rng)


@dataclass(frozen=True, slots=True)
class StatePositions:
    """Positions of any game for SPARTA and rollouts. All seats may search."""

    game: Game
    policy: Player  # the blueprint, which also finishes the simulated games
    belief: Belief
    has_exact_belief: bool = False

    @property
    def unit(self) -> float:
        return self.game.worth[0]

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> StatePosition:
        return StatePosition(view, self, rng, memo)

    def can_evaluate(self, view: View) -> bool:
        return True

    def worlds(self, view: View, n: int, rng: np.random.Generator) -> StateWorlds:
        return self.draw(view, n, rng, {})

    def draw(self, view: View, n: int, rng: np.random.Generator, viewer_memo: Memo) -> StateWorlds:
        """Sample worlds.

        Args:
            view: View of the seat on turn.
            n: Number of worlds.
            rng: Source of all randomness.
            viewer_memo: The policy's memo of the seat on turn; empty if the policy has not seen the view.
        """
        worlds = _sample_consistent_states(self.belief, view, n, rng)
        branches = Branches(self.game, self.policy, worlds, view.viewer, viewer_memo)
        return StateWorlds(self, branches, view.viewer, 0 if self.belief.consistent else n)
