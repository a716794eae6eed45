"""Every protocol and value that the parts of trickformer share.

Dependencies point one way: base <- games <- tokenizers <- models <- gomcts, belief <- players <- tournaments
<- selfplay, records <- web <- cli. This module imports neither OpenSpiel nor torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

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


def replay(spiel: pyspiel.Game, actions: Sequence[int]) -> State | None:
    """The state after `actions`, chance included; None where one of them is not legal."""
    state = spiel.new_initial_state()
    for action in actions:
        if action not in state.legal_actions():
            return None
        state.apply_action(action)
    return state


@lru_cache(maxsize=1024)
def deal_seed(seed: int, index: int) -> int:
    """The 63-bit seed of deal `index` in the series `seed`; the deals of a series are independent."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1, np.uint64)[0] >> np.uint64(1))


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, as one viewer saw it."""

    actor: int  # the seat that acted, or CHANCE
    action: int | None  # an OpenSpiel action; None: hidden from this viewer, or no action at all
    seen: tuple[int, ...] = ()  # what it revealed to this viewer (cards ascending)


@lru_cache(maxsize=1 << 16)
def acted(actor: int, action: int | None) -> Event:
    """The event of an action that reveals nothing besides: one object for all, so that views are made quickly."""
    return Event(actor, action)


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

    def of(self, scores: Sequence[int], seat: int) -> int:
        """The index of the outcome that `seat` tells of scores by seat. Raises ValueError where it is none."""
        label = (*scores[seat:], *scores[:seat])
        if label not in self.index:
            raise ValueError(f"scores {label}, told from seat {seat}, are no outcome of the game")
        return self.index[label]

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


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How GO-MCTS searches a game unless told otherwise, and which actions ArgmaxVal* looks at. The defaults are those
    of the paper for Hearts (section 9.3)."""

    runs: int = 100  # simulations a decision
    steps: int = 2  # returns to the own turn after which a rollout stops
    c: float = 0.4  # exploration constant of UCT
    threshold: float = 0.05  # own actions need a legal-normalized probability above this
    wave: int = 1  # simulations under way at once, spread by virtual loss
    argmax_threshold: float | None = None  # the same for ArgmaxVal*, at least this; None: as in a search
    imagine: Literal["model", "worlds"] = "model"  # what follows an action: players/gomcts.py
    playing: Literal["model", "script"] = "model"  # who plays on in worlds
    worlds_threshold: float = 0.01  # the threshold in worlds: games judge what is unlikely better than the model does
    margin: float = 1.0  # in worlds: standard errors by which an action must be better than that of ArgmaxVal*


# Views [n] -> float64 [n, cards, places]: where each card rather is, as logarithms of odds (belief/samplers/_cards.py).
LogOdds: TypeAlias = Callable[[Sequence["View"]], np.ndarray]


@runtime_checkable
class Game(Protocol):
    """Rules, scoring and settings. One module a game, in trickformer.games or in a package of its own.

    Derive from it. `name`, `players`, `higher_is_better`, `spiel`, `outcomes` and `view` are the game's to give; all
    else has a default that does for a game in which every seat scores for itself."""

    name: str
    players: int
    higher_is_better: bool  # of `scores`
    spiel: pyspiel.Game
    outcomes: Outcomes

    def view(self, state: State, viewer: int) -> View:
        """What `viewer` knows of `state`: the only reader of hidden state in the project. Later views of a hand go on
        from earlier ones: their events begin with the same."""
        ...

    def chance(self, state: State, seed: int, index: int) -> int:
        """The action at a chance node in deal `index` of the series `seed`: a pure function of these and of the chance
        nodes so far."""
        drawn = sum(step.player == CHANCE for step in state.full_history())
        actions, probs = zip(*state.chance_outcomes())
        cumulative = np.cumsum(probs)
        at = np.random.default_rng([deal_seed(seed, index), drawn]).random() * cumulative[-1]
        return actions[int(np.searchsorted(cumulative, at, side="right"))]

    def deal(self, seed: int, index: int) -> State:
        """Deal `index` of the series `seed`, ready for the first decision; the same for all seatings."""
        state = self.spiel.new_initial_state()
        while state.is_chance_node():
            state.apply_action(self.chance(state, seed, index))
        return state

    def scores(self, state: State) -> tuple[int, ...]:
        """Scores by seat of a terminal state, in the units of the game's tables; turned so that any seat comes
        first, they are a label of `outcomes`. Raises ValueError before the end."""
        if not state.is_terminal():
            raise ValueError("a game has scores only at its end")
        return tuple(round(x) for x in state.returns())

    def describe(self, state: State) -> str:
        """A state for people to read, hidden cards included: hands, what was said, tricks and who won them, tokens,
        scores. By default what the state says of itself."""
        return str(state)

    def words(self, action: int) -> str:
        """A player's action in words, whoever takes it and whenever."""
        return self.spiel.new_initial_state().action_to_string(0, action)

    def trick(self, state: State) -> int | None:
        """The number of the trick that a decision belongs to, counted from 1; None before the tricks, and in a game
        without."""
        return None

    def mission(self, state: State) -> int | None:
        """The number of the mission that is played; None in a game without missions."""
        return None

    def seatings(self, kinds: int) -> tuple[tuple[int, ...], ...]:
        """All ways to seat `kinds` kinds of player such that each sits somewhere: one duplicate set."""
        everyone = set(range(kinds))
        return tuple(s for s in product(range(kinds), repeat=self.players) if set(s) == everyone)

    # What a game of another package brings along; those of this one have modules of their own for it.

    def tokenizer(self) -> Tokenizer | None:
        """What turns views into tokens; None: no model plays this game. Of a game in this package, see
        trickformer.tokenizers."""
        return None

    def belief(self, log_odds: LogOdds | None = None) -> Belief | None:
        """What samples worlds, by odds if they are given; None: trickformer.belief.samplers draws deals and keeps those
        that explain the view. Of a game in this package, see there."""
        return None

    # Settings.

    # What one unit of v(o) stands for, for people: so many of these. Their sign is that of v(o), more is better.
    worth: tuple[float, str] = (1.0, "units of v(o)")
    baseline: str = "random"  # the player that models are measured against, and learn from first; a spec
    search: SearchSettings = SearchSettings()
    valued_search: SearchSettings | None = None  # the same where a model with action values imagines; None: no other
    # Whether labels of action values are results of games, as v(o) is. Where they are of open cards, which promise more
    # than hidden ones bring, searches do not compare Q(s, a) with ends of games unless they are told to.
    labels_are_results: bool = True
    training: Mapping[str, Mapping[str, Any]] = {}  # by preset: settings of selfplay.config.SelfPlay that differ here
    by_seats: bool = False  # a tournament's means are over seats, not over seatings
    plays_to: int | None = None  # points that end a game of many hands

    def summary(self, histories: Sequence[Sequence[int]], seats: Sequence[Sequence[int]]) -> dict[str, float | None]:
        """What a player did, beyond its score, in games given as histories, in which it held `seats`; empty where
        there is nothing to say."""
        return {}

    def exchange(self, state: State, view: View, rng: np.random.Generator) -> State | None:
        """A state that `view.viewer` must not be able to tell from this one, for the audit; None where none is found.

        By default two exchanged cards, both absent from the view: for games in which chance deals each card once and
        actions that show a card bear its number. At most 20 exchanges are tried."""
        seen = {e.action for e in view.events} | {c for e in view.events for c in e.seen}
        history = state.full_history()
        hidden = [step.action for step in history if step.player < 0 and step.action not in seen]
        for _ in range(20 if len(hidden) > 1 else 0):
            a, b = rng.choice(hidden, size=2, replace=False).tolist()
            twin = replay(state.get_game(), [{a: b, b: a}.get(step.action, step.action) for step in history])
            if twin is not None:
                return twin
        return None


class Tracker(Protocol):
    """The simulator of GO-MCTS: it knows one seat's observations and never the deal.

    The core's are in C++. One in Python derives from this class and is slower; it is searched and followed alike."""

    def copy(self) -> Tracker:
        """Another tracker at the same place; what is pushed to one does not change the other."""
        ...

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
        function of the tokens alone, so that no hidden card is in it. By default what may come next, and whether it is
        the own turn: [V + 1]."""
        return np.append(self.possible(), self.my_turn()).astype(np.float32)


class Tables(Protocol):
    """Many hands in step."""

    @property
    def tokens(self) -> np.ndarray:
        """int32 [n, players, n_positions]: what each seat has seen, filled up with the end token. `step` changes it in
        place."""
        ...

    @property
    def lengths(self) -> np.ndarray:
        """int32 [n, players]: how many tokens that is, the end token included. `step` changes it in place."""
        ...

    def current(self) -> np.ndarray:
        """int8 [n]: the seat on turn, -1 at the end."""
        ...

    def legal(self) -> np.ndarray:
        """bool [n, V]: the legal tokens of the seat on turn; all False at the end."""
        ...

    def step(self, tables: np.ndarray, actions: np.ndarray) -> None:
        """One decision at each of some tables: int32 [k], and the tokens chosen, int32 [k]. Raises IndexError and
        ValueError on a table or token that is none."""
        ...

    def outcomes(self) -> np.ndarray:
        """int32 [n, players]: how each hand ended, told from each seat. All hands must be over."""
        ...

    def scores(self) -> np.ndarray:
        """Integers [n, players]: the scores. All hands must be over."""
        ...

    def history(self) -> np.ndarray:
        """Integers [n, H]: the actions so far, chance included, filled up with a number that is no action."""
        ...


# What the core's part of a game can do for training beyond what any game can: label actions by playouts of a quick
# network (`quick`), or from deals that explain what a seat saw (`worlds`); try deals until a team succeeds (`tries`);
# exchange what the rules take for alike (`augment`).
Ability: TypeAlias = Literal["quick", "worlds", "tries", "augment"]


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

    # What training asks for. A game without a part in the core leaves all of it as it is.

    codec: Any = None  # the core's part of the game: whole hands as tokens (`encode`), results (`outcomes`), `labels`
    abilities: frozenset[Ability] = frozenset()

    def features(self) -> tuple[np.ndarray, np.ndarray]:
        """What makes tokens and positions alike: float32 [V, F] and [n_positions, G], entries of the order of 1. By
        default no token is like another, and positions are waves."""
        place = np.arange(self.n_positions)[:, None] * 2 * np.pi / 2.0 ** np.arange(1, 9)
        waves = np.concatenate([np.sin(place), np.cos(place)], axis=1) / 2
        return np.eye(len(self.vocab), dtype=np.float32), waves.astype(np.float32)

    def augmented(self, tokens: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Other games that are as likely, where the rules take some things for alike, such as colours; by default
        nothing is alike. A tokenizer that knows of some has the ability `augment`.

        tokens: integers [n, T], filled up with the end token. Returns them, each with a permutation of the alike drawn
        uniformly, and what becomes of each token, int64 [n, V]."""
        return tokens, np.tile(np.arange(len(self.vocab)), (len(tokens), 1))

    def tables(self, seed: int, first: int, n: int) -> Tables | None:
        """Deals `first` .. `first` + n of the series `seed` in the core, those of `Game.deal`; None:
        trickformer.tokenizers.tables plays them as states of OpenSpiel."""
        return None

    def core_hands(self, cast: Sequence[str], seed: int, first: int, n: int, tries: int = 1, noise: float = 0.0) -> Any:
        """Hands `first` .. `first` + n of a series of the core's own by its players, tokenizers/_bulk.py's Hands; None
        where it does not know them all. The core shuffles these itself: they are not the deals of `Game.deal`.

        tries: of every second hand, deals tried until the team succeeds; 1 in games without success. noise: share of
        scripted players' moves that are random."""
        return None


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
class Imagined:
    """A history that a search over observations imagined, as a node of its tree; the root comes first."""

    parent: int  # an index below the own; -1 of the root
    token: int  # that leads to it; -1 of the root
    runs: int  # legal ones that went through it
    value: float  # their mean, in units of v(o); 0 without any


@dataclass(frozen=True, slots=True)
class Thought:
    """What a player tells of a decision where it is asked to; what it has not is None or empty."""

    policy: dict[int, float] | None = None  # a model's probability of each legal action
    imagined: tuple[Imagined, ...] = ()
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
