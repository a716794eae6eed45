"""Search that improves on a blueprint by playing on with it, in any game: what a decision brings along, and how the
best of its actions is found."""

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
    blueprint: int  # its action
    searches: bool  # False: the blueprint is played
    rng: np.random.Generator  # what the search draws by

    def sample_worlds(self, n: int, rng: np.random.Generator) -> SampledWorlds:
        """n worlds of the belief that is searched."""
        ...

    def exact(self, n: int, rng: np.random.Generator) -> SampledWorlds:
        """n worlds of the exact belief; of the one that is searched, where no better one is known."""
        ...


class Positions(Protocol):
    """What a game brings along to be searched."""

    @property
    def unit(self) -> float:
        """Points that are one unit of v(o)."""
        ...

    @property
    def knows_better(self) -> bool:
        """Whether its decisions have worlds of an exact belief."""
        ...

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> Position:
        """The decision of a view. Raises ValueError on a view that no deal explains."""
        ...


class RaceParameters(Protocol):
    """How actions are compared (search/options.py says what each is)."""

    @property
    def threshold(self) -> float: ...
    @property
    def ucb(self) -> bool: ...


class Settings(RaceParameters, Protocol):
    """Of a player that improves on a blueprint."""

    @property
    def worlds(self) -> int: ...
    @property
    def assess(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """Values of `Settings`, by which the actions of a decision are compared."""

    worlds: int
    threshold: float
    ucb: bool
    assess: int


@dataclass(frozen=True, slots=True)
class SpartaResult:
    """What a search of a decision found."""

    best: RaceResult | None  # None: no world explains what the others did
    illegal: int
    searched: int

    def action(self, position: Position) -> int:
        """What is done: without a world, nothing is known of what the others will do."""
        return position.blueprint if self.best is None else self.best.choice


def search(position: Position, worlds: int, how: RaceParameters, asked: int | None = None) -> SpartaResult:
    """The action after which games played on with the blueprint end best, in so many worlds, the same for all.

    asked: an action of which it is to be known only whether it is that one."""
    rng = position.rng
    drawn = position.sample_worlds(worlds, rng)
    if not len(drawn):
        return SpartaResult(None, drawn.illegal, drawn.searched)
    seed = int(rng.integers(2**63))
    actions = [position.blueprint, *(action for action in position.legal if action != position.blueprint)]

    def play(rows: slice, racing: list[int]) -> np.ndarray:
        return drawn.play(rows, racing, seed + rows.start)

    best = race(len(drawn), actions, play, how.threshold, how.ucb, asked)
    return SpartaResult(best, drawn.illegal, drawn.searched)


def exact_gain(position: Position, action: int, worlds: int, rng: np.random.Generator) -> float | None:
    """By how many points an action is better than the blueprint's in worlds of `Position.exact`, by which it was not
    chosen; None where none is found."""
    if action == position.blueprint:
        return 0.0
    drawn = position.exact(worlds, rng)
    if not len(drawn):
        return None
    scores = drawn.play(slice(0, len(drawn)), [position.blueprint, action], int(rng.integers(2**63)))
    return float((scores[:, 1].astype(np.float64) - scores[:, 0]).mean())


class BlueprintSearchPlayer(Player):
    """Seats of one player that improve on a blueprint; at any number of tables, one decision after the other."""

    batch = 1

    def __init__(self, options: Settings, positions: Positions):
        self.options, self.positions = options, positions
        # What a reader of results must know.
        judged = "its gains are judged by other samples of the belief that it searched, which is not exact"
        self.caveats = (judged,) if options.assess and not positions.knows_better else ()

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view. Raises ValueError on a view that no deal explains."""
        return [self._decide(view, r, m) for view, r, m in zip(views, rng, memo)]

    def _decide(self, view: View, rng: np.random.Generator, memo: Memo) -> Decision:
        position = self.positions.position(view, rng, memo)
        if not position.searches:
            return Decision(position.blueprint)
        found = search(position, self.options.worlds, self.options)
        action, best, unit = found.action(position), found.best, self.positions.unit
        if best is None:
            return Decision(action, illegal=found.illegal, searched=found.searched)
        exact = exact_gain(position, action, self.options.assess, rng) if self.options.assess else None
        return Decision(
            action,
            value=best.value / unit,
            visits=best.tried,
            illegal=found.illegal,
            searched=found.searched,
            values={action: points / unit for action, points in best.means.items()},
            gain=best.gain,
            exact_gain=exact,
        )
