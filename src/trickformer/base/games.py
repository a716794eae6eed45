"""A game: rules, scoring, settings, and what it brings along to be learned and searched."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import numpy as np

from trickformer.base.views import CHANCE, View

if TYPE_CHECKING:
    import pyspiel

    from trickformer.base.fast import FastGame
    from trickformer.base.players import Belief
    from trickformer.base.positions import WorldSimulator
    from trickformer.base.tokens import Tokenizer
    from trickformer.base.views import State


class MeanOfGames(TypedDict):
    """A mean over games, in the summary of a player."""

    mean: float
    se: float | None  # standard error; None for a single game
    games: int


Summary: TypeAlias = "dict[str, float | MeanOfGames | None]"


def game_name(spec: str) -> str:
    """Our name of the game of a game string: `skat` of `trickformer_skat(scores=value)`."""
    return spec.partition("(")[0].removeprefix("trickformer_")


def with_path(spec: str, change: Callable[[str], str]) -> str:
    """Change the path in the option `file` of a game string, which may hold commas."""
    return re.sub(r"(?<=[(,]file=)(.*?)(?=,\w+=|\)$)", lambda match: change(match[0]), spec)


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
    """Default settings of GO-MCTS in a game, and of ArgmaxVal*. These are the paper's for Hearts (section 9.3)."""

    runs: int = 100  # simulations a decision
    steps: int = 2  # returns to the own turn after which a rollout stops
    c: float = 0.4  # exploration constant of UCT
    threshold: float = 0.05  # own actions need a legal-normalized probability above this
    wave: int = 1  # simulations under way at once, spread by virtual loss
    argmax_threshold: float | None = None  # the same for ArgmaxVal*, at least this; None: as in a search

    @property
    def likely_enough(self) -> float:
        """Least legal-normalized probability of an action that ArgmaxVal* may choose."""
        return self.threshold if self.argmax_threshold is None else self.argmax_threshold


@dataclass(frozen=True, slots=True)
class RolloutSettings:
    """Settings by which rollouts compare the actions that a prior proposes."""

    runs: int = 400  # games per decision
    threshold: float = 0.01  # a candidate needs a legal-normalized probability above this
    margin: float = 1.0  # standard errors by which an action must beat the prior's


# Views [n] -> float64 [n, cards, places]: where each card rather is, as logarithms of odds (belief/samplers/_cards.py).
LogOdds: TypeAlias = Callable[[Sequence["View"]], np.ndarray]


class Game(ABC):
    """Rules, scoring and settings. One module a game, in trickformer.games or in a package of its own.

    Derive from it. `name`, `players`, `higher_is_better`, `spiel`, `outcomes` and `view` are the game's to give; all
    else has a default that does for a game in which every seat scores for itself."""

    name: str
    players: int
    higher_is_better: bool  # of `scores`
    spiel: pyspiel.Game
    outcomes: Outcomes

    @abstractmethod
    def view(self, state: State, viewer: int) -> View:
        """What `viewer` knows of `state`: the only reader of hidden state in the project. Later views of a hand go on
        from earlier ones: their events begin with the same."""

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

    def fast(self) -> FastGame | None:
        """Whole hands in bulk; None: trickformer.tokenizers.StateGame plays states of OpenSpiel. A game of this package
        has its fast form in trickformer.tokenizers, because it needs the tokens and games do not import tokenizers."""
        return None

    def belief(self, log_odds: LogOdds | None = None) -> Belief | None:
        """What samples worlds, by odds if they are given; None: trickformer.belief.samplers draws deals and keeps those
        that explain the view. Of a game in this package, see there."""
        return None

    def positions(self, belief: Belief) -> WorldSimulator | None:
        """Make the source of worlds and quick playouts for rollouts; None: states of OpenSpiel and the
        scripted player `baseline` do it. Of a game in this package, see trickformer.search."""
        return None

    # Settings.

    # What one unit of v(o) stands for, for people: so many of these. Their sign is that of v(o), more is better.
    worth: tuple[float, str] = (1.0, "units of v(o)")
    baseline: str = "random"  # the player that models are measured against, and learn from first; a spec
    search: SearchSettings = SearchSettings()
    valued_search: SearchSettings | None = None  # the same for a model with action values; None: no difference
    rollouts: RolloutSettings = RolloutSettings()
    # Whether labels of action values are results of games, as v(o) is. Where they are of open cards, which promise more
    # than hidden ones bring, searches do not compare Q(s, a) with ends of games unless they are told to.
    labels_are_results: bool = True
    training: Mapping[str, Mapping[str, Any]] = {}  # by preset: settings of selfplay.config.SelfPlay that differ here
    by_seats: bool = False  # a tournament's means are over seats, not over seatings
    plays_to: int | None = None  # points that end a game of many hands

    def summary(self, histories: Sequence[Sequence[int]], seats: Sequence[Sequence[int]]) -> Summary:
        """Summarize how a player played, beyond the tables of scores.

        Args:
            histories: Games as OpenSpiel actions, chance included.
            seats: Seats that the player held in each game.

        Returns:
            Numbers by name, none by default. Names that begin with "points" or "mean" are printed as numbers, all
            others as shares. None stands for a share of nothing.
        """
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
