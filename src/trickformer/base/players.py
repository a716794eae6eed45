"""Players, what they decide and tell, and the beliefs that searches are given."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from trickformer.base.views import View

if TYPE_CHECKING:
    from trickformer.base.views import State

Memo: TypeAlias = MutableMapping[str, Any]  # one hand at one seat: caches, beliefs; dropped when the hand ends


class Policy(Protocol):
    def probs(self, views: Sequence[View]) -> np.ndarray:
        """float32 [n, A]: the probability of each OpenSpiel action; 0 on illegal ones."""
        ...


class Worlds(Protocol):
    """Sampled hidden parts that may explain a view; each can become a full OpenSpiel state."""

    hidden: np.ndarray  # int16 [n, H]
    log_weight: np.ndarray  # float64 [n], up to a constant
    feasible: np.ndarray  # bool [n]

    def state(self, i: int) -> State:
        """World i as a state whose view equals the one sampled from; raises ValueError if infeasible."""
        ...


class Belief(Protocol):
    """A distribution over the hidden part, given what one viewer saw: of one view at a time, that of the last `reset`.

    Every search is given one. Those of the core ask it for the core's form of what it would draw
    (belief/samplers/_cards.py), all others for worlds."""

    consistent: bool  # True: every sample explains the view

    def reset(self, view: View) -> None:
        """Condition on a view. Raises ValueError where nothing explains it."""
        ...

    def sample(self, n: int, rng: np.random.Generator) -> Worlds:
        """n independent worlds; all randomness comes from `rng`. Raises ValueError before any view."""
        ...

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        """float64 [n], natural logarithm of the probability with which a world is drawn, up to a constant of the view
        where a belief does not count its worlds; -inf for what does not explain the view."""
        ...


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


MANY = 112  # views in a call of a player that makes use of any number


class Player(Protocol):
    """Anything that can sit at a table. Batch-first: many tables share one forward pass.

    Beside `act` it may have (tournaments/play.py):

    - `batch: int`, as many views as one call makes use of: more are no faster a view, and no call gets more. A player
      that decides one view after the other says 1. Without it, or where it is None, any number.
    - `needs_state: bool`: where it is true, memo["state"] is the true state before each call, hidden cards included.
    - `end(views: Sequence[View], scores: tuple[int, ...], memo: Sequence[Memo]) -> None`, called once for each hand
      that has ended and in which it held seats: the last views of these, by ascending seat, the scores of all seats,
      and the memos of its own. It is not called for a hand that was broken off.
    - `look(views: Sequence[View], memo: Sequence[Memo]) -> None`: it takes in what was seen, and decides nothing. Who
      plays several games on from one place looks once, and gives each game copies of what the memos hold (`copy.copy`).
    - `log_likelihood(views: Sequence[View], slip: float) -> np.ndarray`, float64 [n]: the logarithm of how likely the
      player, were a share `slip` of its moves random, would have done what each viewer has done (belief/policy.py).

    Where memo["explain"] is true, a decision may bring a `Thought`; the decision itself is the same without.

    Where decisions have a clock, memo["clock"] is a float: the seconds for each."""

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view. All randomness comes from `rng`; the answer for one view must not depend
        on which others share the call."""
        ...
