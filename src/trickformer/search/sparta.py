"""Search that improves on a blueprint, in any game: the interface of a decision, and the choice of its best action.

A simulation plays an action in a sampled world, and the blueprint finishes the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from trickformer.base import Decision, Memo, Player, SampledWorlds, View
from trickformer.search.race import RaceResult, race


class Position(Protocol):
    """A decision."""

    legal: tuple[int, ...]
    blueprint: int  # the blueprint's action
    searches: bool  # False: the seat plays the blueprint
    rng: np.random.Generator  # generator of the search

    def sample_worlds(self, n: int, rng: np.random.Generator) -> SampledWorlds:
        """Sample worlds of the belief that is searched.

        Args:
            n: Number of worlds.
            rng: Generator of the draws.
        """
        ...

    def exact(self, n: int, rng: np.random.Generator) -> SampledWorlds:
        """Sample worlds of the exact belief, or of the searched one if there is no better one.

        Args:
            n: Number of worlds.
            rng: Generator of the draws.
        """
        ...


class Positions(Protocol):
    """The decisions of a game, for a search."""

    @property
    def unit(self) -> float:
        """Points in one unit of v(o)."""
        ...

    @property
    def knows_better(self) -> bool:
        """True if its decisions have worlds of an exact belief."""
        ...

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> Position:
        """Return the decision of a view.

        Args:
            view: View of the seat on turn.
            rng: Generator of the decision.
            memo: Memo of the hand and seat.

        Raises:
            ValueError: No deal explains the view.
        """
        ...


class RaceParameters(Protocol):
    """Parameters of the comparison of actions; search/options.py explains each."""

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
    """Values of `Settings`."""

    worlds: int
    threshold: float
    ucb: bool
    assess: int


@dataclass(frozen=True, slots=True)
class SpartaResult:
    """Result of a search."""

    best: RaceResult | None  # None: no world explains the others' actions
    illegal: int
    searched: int

    def action(self, position: Position) -> int:
        """Return the chosen action: the blueprint's if no world explains the others' actions.

        Args:
            position: The decision.
        """
        return position.blueprint if self.best is None else self.best.choice


def search(position: Position, worlds: int, parameters: RaceParameters, target: int | None = None) -> SpartaResult:
    """Search the action with the best mean result if the blueprint finishes the games, in the same worlds for all.

    Args:
        position: The decision.
        worlds: Number of worlds.
        parameters: Parameters of the comparison.
        target: An action; the search may stop once this action cannot win. None searches to the end.
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
    """Estimate the gain of an action over the blueprint's in fresh worlds of `Position.exact`, in points.

    Returns:
        The gain; None if there are no worlds.
    """
    if action == position.blueprint:
        return 0.0
    sample = position.exact(worlds, rng)
    if not len(sample):
        return None
    scores = sample.play(slice(0, len(sample)), [position.blueprint, action], int(rng.integers(2**63)))
    return float((scores[:, 1].astype(np.float64) - scores[:, 0]).mean())


class BlueprintSearchPlayer(Player):
    """Player of seats that improve on a blueprint, at any number of tables, one decision after the other."""

    batch = 1

    def __init__(self, options: Settings, positions: Positions):
        self.options, self.positions = options, positions
        # A reader of results must know this.
        caveat = "its gains are judged by other samples of the belief that it searched, which is not exact"
        self.caveats = (caveat,) if options.assess and not positions.knows_better else ()

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(view, r, m) for view, r, m in zip(views, rng, memo)]

    def _decide(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        position = self.positions.position(view, rng, memo)
        if not position.searches:
            return Decision(position.blueprint)
        result = search(position, self.options.worlds, self.options)
        action, best = result.action(position), result.best
        unit = self.positions.unit
        if best is None:
            return Decision(action, illegal=result.illegal, searched=result.searched)
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
        )
