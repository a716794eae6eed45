"""Interfaces of players, policies and beliefs, and the decisions and explanations that players return."""

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

# Storage of a player for one seat during one hand, such as caches and beliefs. It is dropped when the hand ends.
Memo: TypeAlias = MutableMapping[str, Any]


class Policy(ABC):
    """Function from what a seat has seen to probabilities of its actions."""

    @abstractmethod
    def probs(self, views: Sequence[View]) -> np.ndarray:
        """Return the probability of each action.

        Args:
            views: One view for each row.

        Returns:
            float32 [n, A]: column a is OpenSpiel action a, 0 if it is illegal.
        """


class Worlds(ABC):
    """n sampled worlds of a view, stored as what the viewer does not see. Each can become a full OpenSpiel state."""

    hidden: np.ndarray  # int16 [n, H], hidden cards; the game's belief defines the meaning of the H columns
    log_weight: np.ndarray  # float64 [n], logarithm of each world's weight, up to a constant
    feasible: np.ndarray  # bool [n], whether the world is consistent with the view

    @abstractmethod
    def state(self, i: int) -> State:
        """Return a world as a state whose view equals the one sampled from.

        Args:
            i: Index of the world.

        Raises:
            ValueError: The world is infeasible.
        """


class Belief(ABC):
    """Distribution over worlds, given what one viewer saw. It belongs to the view of the last `reset`.

    Every search samples from a belief. Searches in Python call `sample`. Searches in the C++ core pass the belief's
    sampler to the core, which draws the worlds itself (belief/samplers/_cards.py).
    """

    consistent: bool  # True: every sampled world is consistent with the view

    @abstractmethod
    def reset(self, view: View) -> None:
        """Condition on a view.

        Args:
            view: View of a seat.

        Raises:
            ValueError: No world is consistent with the view.
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
        """Return the natural logarithm of the probability that `sample` draws each world.

        Args:
            worlds: Worlds of the same view.

        Returns:
            float64 [n]; -inf for a world that is inconsistent with the view. A belief that does not normalize its
            distribution adds the same constant to all worlds of a view.
        """


@dataclass(frozen=True, slots=True)
class World:
    """One world that a player examined, as part of an explanation."""

    cards: tuple[tuple[int, ...], ...]  # the hand of each seat, then the cards at each other place
    values: dict[int, float]  # value of each action in this world, in units of v(o)


@dataclass(frozen=True, slots=True)
class SearchNode:
    """Node in the tree of a search over observations (GO-MCTS): one possible continuation of what the seat has seen."""

    parent: int  # index of the parent in `Thought.imagined`; -1 for the root, which comes first
    token: int  # token that leads from the parent to this node; -1 for the root
    runs: int  # legal simulations that passed through the node
    value: float  # mean value of these simulations, in units of v(o); 0 if there are none


@dataclass(frozen=True, slots=True)
class Thought:
    """Explanation of a decision, made on request. A part that a player does not have is None or empty."""

    policy: dict[int, float] | None = None  # a model's probability of each legal action
    imagined: tuple[SearchNode, ...] = ()  # tree of a search over observations
    worlds: tuple[World, ...] = ()  # worlds that a search examined


# Faults of an external program: it exited, chose an illegal action, exceeded its time, or broke the protocol otherwise.
FaultKind: TypeAlias = Literal["crash", "illegal", "timeout", "protocol"]


@dataclass(frozen=True, slots=True)
class Decision:
    """A player's action, and the numbers behind it."""

    action: int
    value: float | None = None  # the player's own estimate, in units of v(o)
    visits: dict[int, int] | None = None  # simulations by action; None without a search
    illegal: int = 0  # histories or worlds that the search generated and that are inconsistent with the view
    searched: int = 0  # all histories or worlds that it generated; 0: none, or they are consistent by construction
    values: dict[int, float] | None = None  # the player's estimate of each action that it examined, in units of v(o)
    # For a search that improves on a blueprint: estimated gain over the blueprint's action, in points per game.
    gain: float | None = None
    exact_gain: float | None = None  # gain re-estimated in worlds of the exact belief, if the options request it
    thought: Thought | None = None  # only if memo["explain"] is true and the player can explain itself
    faults: tuple[FaultKind, ...] = ()  # faults of an external program, which was restarted after each


# Caveat of a player whose decisions do not follow from the generators that it is given.
UNSEEDED = "does not follow seeds: a match against itself is not zero"

# Largest number of views that callers pass by default in one call to a player whose `batch` is None. Options such as
# --tables allow more. It bounds the memory of a call and the wait for the first finished hand.
MANY = 112


class Player(ABC):
    """Base class of players. A call decides many views at once, so that many tables share one forward pass.

    A subclass must define `act`; every other member has a default.

    Before each decision the caller writes entries into the memo, the player's storage for one seat in one hand:

    - memo["state"]: the true state, if `needs_state`.
    - memo["clock"]: seconds for each decision, if decisions have a time limit.
    - memo["explain"]: true if the decision should have a `Thought`. The chosen action must not depend on it.
    """

    # Largest number of views in one call. A player that decides one view after the other has 1. None: any number.
    batch: int | None = None
    needs_state: bool = False  # True: the player reads the true state, hidden cards included, from memo["state"]
    caveats: Sequence[str] = ()  # remarks on the player that a report of results prints
    made_from: str | None = None  # spec from which `trickformer.make_player` made it; None: its class was called
    # A search may play several games from one position. True: each of these games gets copies (`copy.copy`) of the
    # memos' entries at that position, and `look` fills the memos of seats that have not decided yet. False: the games
    # begin with empty memos.
    memo_is_copyable: bool = False
    has_likelihood: bool = False  # True: `log_likelihood` is implemented
    wrapped: Player | None = None  # player to which this one passes its calls; messages about decisions name its class

    @abstractmethod
    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """Decide each view.

        Args:
            views: Views of seats on turn.
            rng: One generator for each view; all randomness comes from it.
            memo: One memo for each view; calls for the same seat in the same hand get the same memo.

        Returns:
            One decision for each view. A decision must not depend on the other views of the call.
        """

    def end(self, views: Sequence[View], scores: tuple[int, ...], memo: Sequence[Memo]) -> None:
        """Receive the result of a finished hand. It is not called for interrupted hands.

        Args:
            views: Last views of the player's seats, by ascending seat.
            scores: Scores of all seats.
            memo: Memos of the player's seats.
        """
        return

    def look(self, views: Sequence[View], memo: Sequence[Memo]) -> None:
        """Update memos from views without deciding, for players with `memo_is_copyable`.

        Args:
            views: Views of the player's seats.
            memo: One memo for each view.
        """
        return

    def log_likelihood(self, views: Sequence[View], slip: float) -> np.ndarray:
        """Compute the likelihood of each viewer's actions under the player's policy (belief/policy.py).

        Args:
            views: Views of one seat each.
            slip: Share of the player's moves that are assumed to be uniformly random.

        Returns:
            float64 [n], natural logarithm of each view's likelihood.

        Raises:
            TrickformerError: The player has no such probabilities; see `has_likelihood`.
        """
        raise TrickformerError(f"{type(self).__name__} does not report how likely its actions are")
