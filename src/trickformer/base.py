"""Every protocol and value that the parts of trickformer share.

Dependencies point one way: base <- games <- tokenizers <- models <- gomcts, belief <- players
<- selfplay, tournaments <- cli. This module imports neither OpenSpiel nor torch.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    import pyspiel

    State: TypeAlias = pyspiel.State  # never wrapped: OpenSpiel's tools work on our games, its games in ours

PUBLIC = -1  # the viewer that sees only what everybody sees
CHANCE = -1  # the actor of an event that no player caused (pyspiel.PlayerId.CHANCE)

Memo: TypeAlias = MutableMapping[str, Any]  # one hand at one seat: caches, beliefs; dropped when the hand ends


class TrickformerError(Exception):
    """Bad input. The message is one line that names the fault and the fix; the command line exits with 2."""


class UnknownNameError(TrickformerError):
    """A game, player, checkpoint or option that does not exist; the message lists those that do."""

    def __init__(self, kind: str, name: str, known: Sequence[str]):
        super().__init__(f"unknown {kind} {name!r}; choose from: {', '.join(sorted(known))}")


def game_name(spec: str) -> str:
    """Our name of the game of a game string: `skat` of `trickformer_skat(scores=value)`."""
    return spec.partition("(")[0].removeprefix("trickformer_")


def deal_seed(seed: int, index: int) -> int:
    """The 63-bit seed of deal `index` in the series `seed`; the deals of a series are independent."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1, np.uint64)[0] >> np.uint64(1))


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, as one viewer saw it."""

    actor: int  # the seat that acted, or CHANCE
    action: int | None  # an OpenSpiel action; None: hidden from this viewer, or no action at all
    seen: tuple[int, ...] = ()  # what it revealed to this viewer (cards ascending)


@dataclass(frozen=True, slots=True)
class View:
    """All that `viewer` knows, in order. No hidden card is in it; two states that a viewer cannot tell
    apart have equal views."""

    viewer: int  # a seat, or PUBLIC
    events: tuple[Event, ...]
    legal: tuple[int, ...]  # the viewer's own legal actions, ascending; empty where it is not on turn


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The results that a game can end with, enumerated, and what each is worth.

    An outcome is told from one seat: that seat's part comes first, then those of the seats after it. A model
    need not learn each result once for every chair, and its own value is always the first."""

    labels: tuple[tuple[int, ...], ...]  # scores, own first, in the units of the game's tables
    values: np.ndarray  # float32 [len(labels), players]: v(o) of the GO-MCTS paper, equations 1, 4, 5; own first
    index: dict[tuple[int, ...], int] = field(init=False, repr=False, compare=False)
    # Outcomes of the same own value are one class, for a value head that tells no more apart: int32 [len(labels)] the
    # class of each, by rising value; float32 [classes, 1] what each is worth. Where no two share a value, the outcomes.
    classes: np.ndarray = field(init=False, repr=False, compare=False)
    class_values: np.ndarray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {label: i for i, label in enumerate(self.labels)})
        worth, found = np.unique(self.values[:, 0], return_inverse=True)
        if len(worth) == len(self.labels):
            worth, found = self.values[:, 0], np.arange(len(self.labels))
        object.__setattr__(self, "classes", found.astype(np.int32).ravel())
        object.__setattr__(self, "class_values", np.ascontiguousarray(worth[:, None], dtype=np.float32))

    def told_by(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The `n` results that a value head tells apart, outcomes or classes: that of each outcome, int32
        [len(labels)], and what each is worth, float32 [n, players], or [n, 1] of classes.

        Raises ValueError where there are neither `n` outcomes nor `n` classes."""
        if n == len(self.labels):
            return np.arange(n, dtype=np.int32), self.values
        if n == len(self.class_values):
            return self.classes, self.class_values
        raise ValueError(
            f"{n} results are neither the {len(self.labels)} outcomes nor {len(self.class_values)} classes"
        )


@runtime_checkable
class Game(Protocol):
    """Rules and scoring. One module a game in trickformer.games."""

    name: str
    players: int
    higher_is_better: bool  # of `scores`
    spiel: pyspiel.Game
    outcomes: Outcomes

    def view(self, state: State, viewer: int) -> View:
        """What `viewer` knows of `state`: the only reader of hidden state in the project."""
        ...

    def chance(self, state: State, seed: int) -> int:
        """The action at a chance node: a pure function of the seed and the chance nodes so far."""
        ...

    def deal(self, seed: int, index: int) -> State:
        """Deal `index` of the series `seed`, ready for the first decision; the same for all seatings."""
        ...

    def scores(self, state: State) -> tuple[int, ...]:
        """Scores by seat of a terminal state, in the units of the game's tables; turned so that any seat comes
        first, they are a label of `outcomes`."""
        ...

    def seatings(self, kinds: int) -> tuple[tuple[int, ...], ...]:
        """All ways to seat `kinds` kinds of player such that each sits somewhere: one duplicate set."""
        ...


class Tracker(Protocol):
    """The simulator of GO-MCTS: it knows one seat's observations and never the deal."""

    def copy(self) -> Tracker: ...
    def my_turn(self) -> bool: ...

    def legal(self) -> np.ndarray:
        """Own legal tokens, bool [V]; all False where it is not the own turn."""
        ...

    def possible(self) -> np.ndarray:
        """Tokens that some deal allows next, bool [V]; a single True is forced and needs no sampling."""
        ...

    def push(self, token: int) -> None:
        """Append a token. An impossible one marks the history illegal; it goes on by position to an end."""
        ...

    def terminal(self) -> bool: ...

    def is_legal(self) -> bool:
        """Whether some deal explains the history so far."""
        ...

    def outcome(self) -> int | None:
        """Index of the outcome, told from the own seat, at the end; None where no deal explains the history.

        Raises ValueError before the end."""
        ...

    def facts(self) -> np.ndarray:
        """What the tokens so far say, as numbers: float32 [n_facts], of the order of 1. An input of the model; a
        function of the tokens alone, so that no hidden card is in it."""
        ...


class Tokenizer(Protocol):
    """What one seat saw <-> token ids. One own action is one token."""

    vocab: tuple[str, ...]
    n_positions: int  # the longest legal sequence, eos included
    eos: int

    def encode(self, view: View) -> np.ndarray:
        """int32 [T]; eos is there once the game has ended."""
        ...

    def decode(self, tokens: np.ndarray) -> tuple[Event, ...]:
        """The events of a view; raises ValueError on tokens that no view encodes to."""
        ...

    def token(self, action: int) -> int: ...
    def action(self, token: int) -> int: ...
    def tracker(self, tokens: np.ndarray) -> Tracker: ...

    n_facts: int  # length of its trackers' facts
    facts_version: str  # another name whenever a number's meaning changes: models of another are refused

    # What training asks for.

    table: Any  # the core's part of the game: whole hands as tokens (`encode`), results (`outcomes`), labels (`labels`)

    def features(self) -> tuple[np.ndarray, np.ndarray]:
        """What makes tokens and positions alike: float32 [V, F] and [n_positions, G], entries of the order of 1."""
        ...

    def tables(self, seed: int, first: int, n: int) -> Any:
        """Hands `first` .. `first` + n of a series, played in step by the core (selfplay/generate.py uses them)."""
        ...

    def core_hands(self, cast: Sequence[str], seed: int, first: int, n: int, tries: int = 1, noise: float = 0.0) -> Any:
        """The same hands by players of the core, or None where it does not know them all (tokenizers/_bulk.py).

        tries: of every second hand, deals tried until the team succeeds; 1 in games without success. noise: share of
        scripted players' moves that are random."""
        ...


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
    """A distribution over the hidden part, given what one viewer saw."""

    consistent: bool  # True: every sample explains the view

    def reset(self, view: View) -> None: ...
    def observe(self, view: View, policies: Sequence[Policy] | None = None) -> None: ...
    def sample(self, n: int, rng: np.random.Generator) -> Worlds: ...

    def log_prob(self, worlds: Worlds) -> np.ndarray:
        """float64 [n], natural logarithm; or per-card marginals where that is what a belief has."""
        ...


@dataclass(frozen=True, slots=True)
class Decision:
    """What a player did, and what it thought while doing so."""

    action: int
    value: float | None = None  # the player's own estimate, in units of v(o)
    visits: dict[int, int] | None = None  # simulations by action, where there was a search
    illegal: int = 0  # illegal histories that the search generated
    searched: int = 0  # histories that the search generated in all


class Player(Protocol):
    """Anything that can sit at a table. Batch-first: many tables share one forward pass."""

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view. All randomness comes from `rng`; the answer for one view must not depend
        on which others share the call."""
        ...
