"""Players, their decisions and explanations, and the beliefs that searches sample from."""

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
    """Probabilities of actions, given what a seat has seen."""

    @abstractmethod
    def probs(self, views: Sequence[View]) -> np.ndarray:
        """Return the probability of each action.

        Args:
            views: One view for each row.

        Returns:
            float32 [n, A] by OpenSpiel action; 0 for illegal ones.
        """


class Worlds(ABC):
    """Sampled hidden parts that may explain a view. Each can become a full OpenSpiel state."""

    hidden: np.ndarray  # int16 [n, H]
    log_weight: np.ndarray  # float64 [n], up to a constant
    feasible: np.ndarray  # bool [n]

    @abstractmethod
    def state(self, i: int) -> State:
        """Return a world as a state whose view equals the one sampled from.

        Args:
            i: Index of the world.

        Raises:
            ValueError: The world is infeasible.
        """


class Belief(ABC):
    """Distribution over the hidden part, given what one viewer saw. It belongs to one view, that of the last `reset`.

    Every search samples from a belief. The searches of the core request the core's form of its distribution
    (belief/samplers/_cards.py), all others request worlds.
    """

    consistent: bool  # True: every sample explains the view

    @abstractmethod
    def reset(self, view: View) -> None:
        """Condition on a view.

        Args:
            view: View of a seat.

        Raises:
            ValueError: Nothing explains the view.
        """

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Worlds:
        """Draw independent worlds.

        Args:
            n: Number of worlds.
            rng: Source of all randomness.

        Raises:
            ValueError: `reset` was not called before.
        """

    @abstractmethod
    def log_prob(self, worlds: Worlds) -> np.ndarray:
        """Return the natural logarithm of the probability with which each world is drawn.

        Args:
            worlds: Worlds of the same view.

        Returns:
            float64 [n], up to a constant of the view if the belief does not count its worlds; -inf for a world that
            does not explain the view.
        """


@dataclass(frozen=True, slots=True)
class World:
    """One world that a player examined."""

    cards: tuple[tuple[int, ...], ...]  # the hand of each seat, then the cards at each other place
    values: dict[int, float]  # value of each action in this world, in units of v(o)


@dataclass(frozen=True, slots=True)
class SearchNode:
    """A history that a search over observations imagined, as a node of its tree; the root comes first."""

    parent: int  # index of an earlier node; -1 for the root
    token: int  # token that leads to the node; -1 for the root
    runs: int  # legal simulations that passed through the node
    value: float  # mean of their values, in units of v(o); 0 without any


@dataclass(frozen=True, slots=True)
class Thought:
    """Explanation of a decision, made on request. A part that a player does not have is None or empty."""

    policy: dict[int, float] | None = None  # a model's probability of each legal action
    imagined: tuple[SearchNode, ...] = ()
    worlds: tuple[World, ...] = ()


# An external program ended, answered with an illegal action, was silent for too long, or broke the protocol otherwise.
FaultKind: TypeAlias = Literal["crash", "illegal", "timeout", "protocol"]


@dataclass(frozen=True, slots=True)
class Decision:
    """A player's action, and the numbers behind it."""

    action: int
    value: float | None = None  # the player's own estimate, in units of v(o)
    visits: dict[int, int] | None = None  # simulations by action; None without a search
    illegal: int = 0  # histories or worlds that the search generated and no deal explains
    searched: int = 0  # all histories or worlds that it generated; 0: none, or each explains the view by construction
    values: dict[int, float] | None = None  # the player's estimate of each action that it examined, in units of v(o)
    # For a search that improves on a blueprint: the estimated gain over the blueprint's action in points a game, and
    # the same estimate in exact samples of the position if the player's options request one.
    gain: float | None = None
    exact_gain: float | None = None
    thought: Thought | None = None  # only if memo["explain"] is true and the player can explain itself
    faults: tuple[FaultKind, ...] = ()  # faults of an external program, which was restarted after each


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
    caveats: Sequence[str] = ()  # remarks on the player that a report of results prints
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
        """Receive the end of a hand in which the player held seats. It is not called for interrupted hands.

        Args:
            views: Last views of the player's seats, by ascending seat.
            scores: Scores of all seats.
            memo: Memos of the player's seats.
        """
        return

    def look(self, views: Sequence[View], memo: Sequence[Memo]) -> None:
        """Take in views without deciding; for players whose `memo_is_copyable`.

        Args:
            views: Views of the player's seats.
            memo: One memo for each view.
        """
        return

    def log_likelihood(self, views: Sequence[View], slip: float) -> np.ndarray:
        """Compute the likelihood of each viewer's actions under the player's policy (belief/policy.py).

        Args:
            views: Views of one seat each.
            slip: Share of the player's moves that are taken to be random.

        Returns:
            float64 [n], natural logarithms.

        Raises:
            TrickformerError: The player has no such probabilities; see `has_likelihood`.
        """
        raise TrickformerError(f"{type(self).__name__} does not report how likely its actions are")
