"""Game interface: rules, scoring, settings, and the parts that models and searches need."""

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
    """Return our name of the game of a game string: `skat` for `trickformer_skat(scores=value)`.

    Args:
        spec: A game string of OpenSpiel.
    """
    return spec.partition("(")[0].removeprefix("trickformer_")


def with_path(spec: str, change: Callable[[str], str]) -> str:
    """Change the path in the option `file` of a game string. The path may hold commas.

    Args:
        spec: A game string of OpenSpiel.
        change: Returns the new path for the old one.
    """
    return re.sub(r"(?<=[(,]file=)(.*?)(?=,\w+=|\)$)", lambda match: change(match[0]), spec)


def replay(spiel: pyspiel.Game, actions: Sequence[int]) -> State | None:
    """Return the state after a history.

    Args:
        spiel: A game of OpenSpiel.
        actions: All actions, chance included.

    Returns:
        The state; None if one of the actions is illegal.
    """
    state = spiel.new_initial_state()
    for action in actions:
        if action not in state.legal_actions():
            return None
        state.apply_action(action)
    return state


@lru_cache(maxsize=1024)
def deal_seed(seed: int, index: int) -> int:
    """Return the 63-bit seed of a deal. The deals of a series are independent.

    Args:
        seed: The series.
        index: Number of the deal in the series.
    """
    return int(np.random.SeedSequence([seed, index]).generate_state(1, np.uint64)[0] >> np.uint64(1))


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The results that a game can end with, enumerated, and the value of each.

    An outcome is seen from one seat: that seat's part comes first, then those of the seats after it. So a model need
    not learn each result once for every seat, and its own value is always the first.
    """

    labels: tuple[tuple[int, ...], ...]  # scores, own first, in the units of the game's tables
    values: np.ndarray  # float32 [len(labels), players]: v(o) of the GO-MCTS paper, equations 1, 4, 5; own first
    index: dict[tuple[int, ...], int] = field(init=False, repr=False, compare=False)
    # Outcomes of the same own value are one class, for a value head that predicts the own value only. Classes rise with
    # the value. If all values differ, the classes are the outcomes in their order.
    classes: np.ndarray = field(init=False, repr=False, compare=False)  # int32 [len(labels)], class of each outcome
    class_values: np.ndarray = field(init=False, repr=False, compare=False)  # float32 [classes, 1], own value of each

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {label: i for i, label in enumerate(self.labels)})
        worth, class_of = np.unique(self.values[:, 0], return_inverse=True)
        if len(worth) == len(self.labels):
            worth, class_of = self.values[:, 0], np.arange(len(self.labels))
        object.__setattr__(self, "classes", class_of.astype(np.int32).ravel())
        object.__setattr__(self, "class_values", np.ascontiguousarray(worth[:, None], dtype=np.float32))

    def of(self, scores: Sequence[int], seat: int) -> int:
        """Return the index of the outcome of a game for one seat.

        Args:
            scores: Scores by seat.
            seat: The seat whose score comes first in the outcome.

        Raises:
            ValueError: No outcome has these scores.
        """
        label = (*scores[seat:], *scores[:seat])
        if label not in self.index:
            raise ValueError(f"scores {label}, from seat {seat} on, are no outcome of the game")
        return self.index[label]

    def told_by(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what the outputs of a value head of size `n` stand for: outcomes or classes.

        Args:
            n: Number of outputs.

        Returns:
            The output of each outcome, int32 [len(labels)], and the value of each output: float32 [n, players] for
            outcomes, [n, 1] for classes.

        Raises:
            ValueError: There are neither `n` outcomes nor `n` classes.
        """
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

    Derive from it. A game must define `name`, `players`, `higher_is_better`, `spiel`, `outcomes` and `view`. All other
    members have a default that fits a game in which every seat scores for itself.
    """

    name: str
    players: int
    higher_is_better: bool  # of `scores`
    spiel: pyspiel.Game
    outcomes: Outcomes

    @abstractmethod
    def view(self, state: State, viewer: int) -> View:
        """Return all that a seat knows of a state. No other function in the project reads hidden state.

        Args:
            state: A state at or past its first decision.
            viewer: The seat, or PUBLIC.

        Returns:
            The view. The events of an earlier view of the same hand are its first events.
        """

    def chance(self, state: State, seed: int, index: int) -> int:
        """Return the action at a chance node: a pure function of the deal's name and of the chance nodes before it.

        Args:
            state: The chance node.
            seed: The series.
            index: Number of the deal in the series.
        """
        drawn = sum(step.player == CHANCE for step in state.full_history())
        actions, probs = zip(*state.chance_outcomes())
        cumulative = np.cumsum(probs)
        at = np.random.default_rng([deal_seed(seed, index), drawn]).random() * cumulative[-1]
        return actions[int(np.searchsorted(cumulative, at, side="right"))]

    def deal(self, seed: int, index: int) -> State:
        """Return a deal, ready for the first decision; the same for all seatings.

        Args:
            seed: The series.
            index: Number of the deal in the series.
        """
        state = self.spiel.new_initial_state()
        while state.is_chance_node():
            state.apply_action(self.chance(state, seed, index))
        return state

    def scores(self, state: State) -> tuple[int, ...]:
        """Return the scores by seat, in the units of the game's tables.

        If they are rotated so that any seat comes first, they are a label of `outcomes`.

        Args:
            state: A terminal state.

        Raises:
            ValueError: The game is not over.
        """
        if not state.is_terminal():
            raise ValueError("a game has scores only at its end")
        return tuple(round(x) for x in state.returns())

    def describe(self, state: State) -> str:
        """Describe a state for people, hidden cards included. By default the text is the state's own.

        Args:
            state: Any state.

        Returns:
            Lines with the hands, announcements, tricks and their winners, tokens and scores.
        """
        return str(state)

    def words(self, action: int) -> str:
        """Return a player's action in words, independent of who takes it and when.

        Args:
            action: OpenSpiel action.
        """
        return self.spiel.new_initial_state().action_to_string(0, action)

    def trick(self, state: State) -> int | None:
        """Return the number of the trick that a decision belongs to.

        Args:
            state: A state at a decision.

        Returns:
            A number from 1; None before the first trick, and in a game without tricks.
        """
        return None

    def mission(self, state: State) -> int | None:
        """Return the number of the mission that is played; None in a game without missions.

        Args:
            state: A state at or past its first decision.
        """
        return None

    def seatings(self, kinds: int) -> tuple[tuple[int, ...], ...]:
        """List all ways to seat some players so that each sits somewhere: one duplicate set.

        Args:
            kinds: Number of different players.

        Returns:
            Tuples with the index of the player at each seat.
        """
        everyone = set(range(kinds))
        return tuple(s for s in product(range(kinds), repeat=self.players) if set(s) == everyone)

    # Parts that a game of another package defines here. Games of this package have modules of their own for them.

    def tokenizer(self) -> Tokenizer | None:
        """Return the tokenizer; None: no model plays this game.

        The tokenizers of this package's games are in trickformer.tokenizers.
        """
        return None

    def fast(self) -> FastGame | None:
        """Return the fast form, which plays whole hands; None: trickformer.tokenizers.StateGame takes its place.

        The fast forms of this package's games are in trickformer.tokenizers, because they need the tokens, and games do
        not import tokenizers.
        """
        return None

    def belief(self, log_odds: LogOdds | None = None) -> Belief | None:
        """Return the belief; None: trickformer.belief.samplers draws deals and keeps those that explain the view.

        The beliefs of this package's games are in trickformer.belief.samplers.

        Args:
            log_odds: Odds of where each card lies, by which worlds are drawn; None: uniformly.
        """
        return None

    def positions(self, belief: Belief) -> WorldSimulator | None:
        """Return the source of worlds and quick playouts for rollouts.

        The simulators of this package's games are in trickformer.search.

        Args:
            belief: Belief that worlds are sampled from.

        Returns:
            The source; None: rollouts use OpenSpiel states and the scripted player `baseline`.
        """
        return None

    # Settings.

    # One unit of v(o) in a unit that people use: a number and its unit. More is better, as for v(o).
    worth: tuple[float, str] = (1.0, "units of v(o)")
    baseline: str = "random"  # the player that models are measured against, and learn from first; a spec
    search: SearchSettings = SearchSettings()
    valued_search: SearchSettings | None = None  # the same for a model with action values; None: no difference
    rollouts: RolloutSettings = RolloutSettings()
    # Whether labels of action values are results of games, as v(o) is. If they come from play with open cards, they are
    # too optimistic, and searches compare Q(s, a) with ends of games only if an option demands it.
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
        """Return a state that the viewer must not be able to distinguish from this one, for the audit.

        By default two chance outcomes that are absent from the view are exchanged. This fits games in which chance
        deals each card once and an action that shows a card bears its number. At most 20 exchanges are tried.

        Args:
            state: The true state.
            view: A seat's view of it.
            rng: Draws the cards to exchange.

        Returns:
            The other state; None if none was found.
        """
        seen = {e.action for e in view.events} | {c for e in view.events for c in e.seen}
        history = state.full_history()
        hidden = [step.action for step in history if step.player < 0 and step.action not in seen]
        for _ in range(20 if len(hidden) > 1 else 0):
            a, b = rng.choice(hidden, size=2, replace=False).tolist()
            twin = replay(state.get_game(), [{a: b, b: a}.get(step.action, step.action) for step in history])
            if twin is not None:
                return twin
        return None
