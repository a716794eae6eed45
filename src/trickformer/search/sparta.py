"""SPARTA: a search that improves on a blueprint policy (Lerer et al. 2020), for any game.

A simulation plays an action in a sampled world, and the blueprint finishes the game. The search plays the action with
the best mean result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from trickformer.base import Decision, FaultKind, Memo, Player, SampledWorlds, View
from trickformer.search.race import RaceResult, race


class Position(Protocol):
    """One decision, with the worlds in which its actions can be simulated."""

    legal: tuple[int, ...]
    blueprint: int  # the blueprint's action
    faults: tuple[FaultKind, ...] = ()  # faults of an external program that is the blueprint
    searches: bool  # False: the seat plays the blueprint's action without a search
    rng: np.random.Generator  # source of the search's randomness

    def sample_worlds(self, n: int, rng: np.random.Generator) -> SampledWorlds:
        """Sample worlds of the belief that the search uses.

        Args:
            n: Number of worlds.
            rng: Source of all randomness.
        """
        ...

    def exact(self, n: int, rng: np.random.Generator) -> SampledWorlds:
        """Sample worlds of the exact belief; if there is none, of the belief that the search uses.

        Args:
            n: Number of worlds.
            rng: Source of all randomness.
        """
        ...


class Positions(Protocol):
    """Factory of a game's `Position` objects."""

    @property
    def unit(self) -> float:
        """Number of points in one unit of v(o)."""
        ...

    @property
    def has_exact_belief(self) -> bool:
        """True if `Position.exact` samples from an exact belief."""
        ...

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> Position:
        """Return the position of a view.

        Args:
            view: View of the seat on turn.
            rng: Source of the decision's randomness.
            memo: The seat's memo in this hand.

        Raises:
            ValueError: No deal explains the view.
        """
        ...


class RaceParameters(Protocol):
    """Parameters of `race`; search/options.py explains each."""

    @property
    def threshold(self) -> float: ...
    @property
    def ucb(self) -> bool: ...


class Settings(RaceParameters, Protocol):
    """Settings of a player that improves on a blueprint."""

    @property
    def worlds(self) -> int: ...
    @property
    def assess(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """Plain implementation of `Settings`."""

    worlds: int
    threshold: float
    ucb: bool
    assess: int


@dataclass(frozen=True, slots=True)
class SpartaResult:
    """Result of a search."""

    best: RaceResult | None  # None: no sampled world was consistent with the others' actions
    illegal: int  # inconsistent samples
    searched: int  # all samples

    def action(self, position: Position) -> int:
        """Return the chosen action; the blueprint's if there was no consistent world.

        Args:
            position: The position that was searched.
        """
        return position.blueprint if self.best is None else self.best.choice


def search(position: Position, worlds: int, parameters: RaceParameters, target: int | None = None) -> SpartaResult:
    """Find the action with the best mean result when the blueprint finishes the games.

    Args:
        position: The position to search.
        worlds: Number of worlds. All actions are tried in the same ones.
        parameters: Parameters of the race between the actions.
        target: As in `race`.
    """
    rng = position.rng
    sample = position.sample_worlds(worlds, rng)
    if not len(sample):
        return SpartaResult(None, sample.illegal, sample.searched)
    seed = int(rng.integers(2**63))
    actions = [position.blueprint, *(action for action in position.legal if action != position.blueprint)]

    def play(rows: slice, racing: list[int]) -> np.ndarray:
        return sample.play(rows, racing, seed + rows.start)

    best = race(len(sample), actions, play, parameters.threshold, parameters.ucb, target)
    return SpartaResult(best, sample.illegal, sample.searched)


def _exact_gain(position: Position, action: int, worlds: int, rng: np.random.Generator) -> float | None:
    """Estimate the gain of an action over the blueprint's in fresh exact worlds, in points; None without a world."""
    if action == position.blueprint:
        return 0.0
    sample = position.exact(worlds, rng)
    if not len(sample):
        return None
    scores = sample.play(slice(0, len(sample)), [position.blueprint, action], int(rng.integers(2**63)))
    return float((scores[:, 1].astype(np.float64) - scores[:, 0]).mean())


class BlueprintSearchPlayer(Player):
    """Player that plays the result of `search`."""

    batch = 1

    def __init__(self, options: Settings, positions: Positions, policy: Player | None = None):
        """Set up a search.

        Args:
            options: Options of the search.
            positions: Positions that it searches.
            policy: Player whose memo lies in each seat's memo as `policy`, and which receives the ends of hands; None
                if the blueprint is no player.
        """
        self.options, self.positions = options, positions
        caveat = "the fresh samples of its gains come from the belief that it searched, which is not exact"
        self.caveats = (caveat,) if options.assess and not positions.has_exact_belief else ()
        self._policy = policy
        if policy is not None:
            self.caveats = (*self.caveats, *policy.caveats)

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(view, r, m) for view, r, m in zip(views, rng, memo)]

    def end(self, views: Sequence[View], scores: tuple[int, ...], memo: Sequence[Memo]) -> None:
        if self._policy is not None:
            self._policy.end(views, scores, [m.get("policy", {}) for m in memo])

    def _decide(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        position = self.positions.position(view, rng, memo)
        if not position.searches:
            return Decision(position.blueprint, faults=position.faults)
        result = search(position, self.options.worlds, self.options)
        action, best = result.action(position), result.best
        unit = self.positions.unit
        if best is None:
            return Decision(action, illegal=result.illegal, searched=result.searched, faults=position.faults)
        exact = _exact_gain(position, action, self.options.assess, rng) if self.options.assess else None
        return Decision(
            action,
            value=best.value / unit,
            visits=best.tried,
            illegal=result.illegal,
            searched=result.searched,
            values={action: points / unit for action, points in best.means.items()},
            gain=best.gain,
            exact_gain=exact,
            faults=position.faults,
        )
