"""Players, what they decide and tell, and the beliefs that searches are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from trickformer.base.errors import TrickformerError
from trickformer.base.views import View

if TYPE_CHECKING:
    from trickformer.base.views import State

Memo: TypeAlias = MutableMapping[str, Any]  # one hand at one seat: caches, beliefs; dropped when the hand ends


class Policy(ABC):
    """Probabilities of actions, by what a seat has seen."""

    @abstractmethod
    def probs(self, views: Sequence[View]) -> np.ndarray:
        """float32 [n, A]: the probability of each OpenSpiel action; 0 on illegal ones."""


class Worlds(ABC):
    """Sampled hidden parts that may explain a view; each can become a full OpenSpiel state."""

    hidden: np.ndarray  # int16 [n, H]
    log_weight: np.ndarray  # float64 [n], up to a constant
    feasible: np.ndarray  # bool [n]

    @abstractmethod
    def state(self, i: int) -> State:
        """World i as a state whose view equals the one sampled from; raises ValueError if infeasible."""


class Belief(ABC):
    """A distribution over the hidden part, given what one viewer saw: of one view at a time, that of the last `reset`.

    Every search is given one. Those of the core ask it for the core's form of what it would draw
    (belief/samplers/_cards.py), all others for worlds."""

    consistent: bool  # True: every sample explains the view

    @abstractmethod
    def reset(self, view: View) -> None:
        """Condition on a view. Raises ValueError where nothing explains it."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Worlds:
        """n independent worlds; all randomness comes from `rng`. Raises ValueError before any view."""

    @abstractmethod
    def log_prob(self, worlds: Worlds) -> np.ndarray:
        """float64 [n], natural logarithm of the probability with which a world is drawn, up to a constant of the view
        where a belief does not count its worlds; -inf for what does not explain the view."""


@dataclass(frozen=True, slots=True)
class World:
    """One world that a player looked into."""

    cards: tuple[tuple[int, ...], ...]  # by seat the cards that it holds there, then by place those that lie elsewhere
    values: dict[int, float]  # what each action is worth there, in units of v(o)


@dataclass(frozen=True, slots=True)
class SearchNode:
    """A history that a search over observations imagined, as a node of its tree; the root comes first."""

    parent: int  # an index below the own; -1 of the root
    token: int  # that leads to it; -1 of the root
    runs: int  # legal ones that went through it
    value: float  # their mean, in units of v(o); 0 without any


@dataclass(frozen=True, slots=True)
class Thought:
    """What a player tells of a decision where it is asked to; what it has not is None or empty."""

    policy: dict[int, float] | None = None  # a model's probability of each legal action
    imagined: tuple[SearchNode, ...] = ()
    worlds: tuple[World, ...] = ()


# An external program ended, answered with an illegal action, was silent for too long, or broke the protocol otherwise.
FaultKind: TypeAlias = Literal["crash", "illegal", "timeout", "protocol"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a player did, and what it thought while doing so."""

    action: int
    value: float | None = None  # the player's own estimate, in units of v(o)
    visits: dict[int, int] | None = None  # simulations by action, where there was a search
    illegal: int = 0  # histories or worlds that the search generated and no deal explains
    searched: int = 0  # all that it generated; 0: none, or they explain the view by the way they are drawn
    values: dict[int, float] | None = None  # the same estimate of each action that was looked at
    # Of a search that improves on a blueprint: by how many points a game the action promises more than the blueprint's
    # does, and what the same comparison says in exact samples of the position, where the player was asked to look.
    gain: float | None = None
    exact_gain: float | None = None
    thought: Thought | None = None  # where memo["explain"] is true and the player can tell
    faults: tuple[FaultKind, ...] = ()  # of an external program, which was started again after each, then decided


MANY = 112  # most views in a call of a player that takes any number


class Player(ABC):
    """Anything that can sit at a table. Batch-first: many tables share one forward pass.

    Derive from it. Only `act` must be given; every other member has a default.

    Before a decision the table fills in the memo: memo["state"] if `needs_state`, memo["clock"], the seconds for each
    decision, if decisions have a clock, and memo["explain"]. If memo["explain"] is true, a decision may bring a
    `Thought`; the decision itself is the same without."""

    # Largest number of views that speeds up one call; no call brings more. A player that decides one view after the
    # other has 1. None: any number.
    batch: int | None = None
    needs_state: bool = False  # the table puts the true state, hidden cards included, into memo["state"] before a call
    caveats: Sequence[str] = ()  # remarks that a report of results prints beside the player
    # Whether games that continue from one position may get copies (`copy.copy`) of what the memos hold there. `look`
    # then fills the memos of seats that have not decided yet. False: these games begin with empty memos.
    memo_is_copyable: bool = False
    has_likelihood: bool = False  # whether `log_likelihood` is given

    @abstractmethod
    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """Decide each view.

        Args:
            views: Views of seats on turn.
            rng: One generator for each view; all randomness comes from it.
            memo: One memo for each view, that of the seat in this hand.

        Returns:
            One decision for each view; it must not depend on which other views share the call.
        """

    def end(self, views: Sequence[View], scores: tuple[int, ...], memo: Sequence[Memo]) -> None:
        """Receive the end of a hand in which the player held seats. Hands that were broken off have no such call.

        Args:
            views: Last views of the player's seats, by ascending seat.
            scores: Scores of all seats.
            memo: Memos of the player's seats.
        """
        return

    def look(self, views: Sequence[View], memo: Sequence[Memo]) -> None:
        """Take in views without deciding; for players whose `memo_is_copyable`."""
        return

    def log_likelihood(self, views: Sequence[View], slip: float) -> np.ndarray:
        """Compute how likely the player would have done what each viewer has done (belief/policy.py).

        Args:
            views: Views of one seat each.
            slip: Share of the player's moves that are taken to be random.

        Returns:
            float64 [n], natural logarithms.

        Raises:
            TrickformerError: The player has no such probabilities; see `has_likelihood`.
        """
        raise TrickformerError(f"{type(self).__name__} does not report how likely its actions are")
