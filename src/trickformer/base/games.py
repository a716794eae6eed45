"""Interface of a game: rules, scoring, default settings, and what models and searches need from it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import numpy as np

from trickformer.base.errors import TrickformerError
from trickformer.base.views import CHANCE, PUBLIC, View

if TYPE_CHECKING:
    import pyspiel

    from trickformer.base.fast import FastGame
    from trickformer.base.players import Belief
    from trickformer.base.positions import WorldSimulator
    from trickformer.base.tokens import Tokenizer
    from trickformer.base.views import State


class MeanOfGames(TypedDict):
    """Mean of a quantity over games, as an entry of a player's `Summary`."""

    mean: float
    se: float | None  # standard error; None for a single game
    games: int


Summary: TypeAlias = "dict[str, float | MeanOfGames | None]"  # statistics of a player by name, see `Game.summary`


def game_name(spec: str) -> str:
    """Return the name that trickformer uses for a game: `skat` for `trickformer_skat(scores=value)`.

    Args:
        spec: A game string of OpenSpiel.
    """
    return spec.partition("(")[0].removeprefix("trickformer_")


def with_path(spec: str, change: Callable[[str], str]) -> str:
    """Change the path in the option `file` of a game string. The path may contain commas.

    Args:
        spec: A game string of OpenSpiel.
        change: Maps the old path to the new one.
    """
    return re.sub(r"(?<=[(,]file=)(.*?)(?=,\w+=|\)$)", lambda match: change(match[0]), spec)


def replay(spiel: pyspiel.Game, actions: Sequence[int]) -> State | None:
    """Return the state after a sequence of actions.

    Args:
        spiel: A game of OpenSpiel.
        actions: All actions from the start, chance included.

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
    """Return the 63-bit seed of a deal.

    Args:
        seed: The series.
        index: Number of the deal in the series.
    """
    return int(np.random.SeedSequence([seed, index]).generate_state(1, np.uint64)[0] >> np.uint64(1))


@dataclass(frozen=True, slots=True)
class Outcomes:
    """All results that a game can end with, and the value of each.

    An outcome is described from one seat: that seat's score comes first, then the scores of the seats after it in
    turn. So a model learns each result once, not once for every seat, and its own value is always the first.
    """

    labels: tuple[tuple[int, ...], ...]  # scores of each outcome, own score first, in the game's own points
    values: np.ndarray  # float32 [len(labels), players]: v(o) of the GO-MCTS paper, equations 1, 4, 5; own first
    index: dict[tuple[int, ...], int] = field(init=False, repr=False, compare=False)  # position of a label in `labels`
    # A class is the set of outcomes with one own value, for a value head that predicts the own value only. Classes are
    # sorted by value. If all own values differ, class i is outcome i.
    classes: np.ndarray = field(init=False, repr=False, compare=False)  # int32 [len(labels)], class of each outcome
    class_values: np.ndarray = field(init=False, repr=False, compare=False)  # float32 [classes, 1], own value of each

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {label: i for i, label in enumerate(self.labels)})
        class_values, classes = np.unique(self.values[:, 0], return_inverse=True)
        if len(class_values) == len(self.labels):
            class_values, classes = self.values[:, 0], np.arange(len(self.labels))
        object.__setattr__(self, "classes", classes.astype(np.int32).ravel())
        object.__setattr__(self, "class_values", np.ascontiguousarray(class_values[:, None], dtype=np.float32))

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

    def head_outputs(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Map outcomes to the outputs of a value head, which has one output for each outcome or for each class.

        Args:
            n: Number of outputs.

        Returns:
            The index of each outcome's output, int32 [len(labels)], and the value of each output: float32 [n, players]
            if outputs are outcomes, [n, 1] if they are classes.

        Raises:
            ValueError: There are neither `n` outcomes nor `n` classes.
        """
        if n == len(self.labels):
            return np.arange(n, dtype=np.int32), self.values
        if n == len(self.class_values):
            return self.classes, self.class_values
        raise ValueError(
            f"a value head with {n} outputs fits neither the game's {len(self.labels)} outcomes nor its "
            f"{len(self.class_values)} classes"
        )


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """A game's default settings of GO-MCTS, and of ArgmaxVal*, which plays the likely action of the highest value.

    The defaults of this class are the paper's settings for Hearts (section 9.3). Thresholds apply to the policy's
    probability of an action, normalized over the legal actions.
    """

    runs: int = 100  # simulations per decision
    steps: int = 2  # own turns after which a rollout stops
    c: float = 0.4  # exploration constant of UCT
    threshold: float = 0.05  # GO-MCTS considers own actions whose probability is above this
    wave: int = 1  # simulations in flight at once; virtual loss keeps them apart in the tree
    argmax_threshold: float | None = None  # ArgmaxVal* considers actions of at least this probability; None: threshold

    @property
    def least_argmax_probability(self) -> float:
        """Least probability of an action that ArgmaxVal* may choose."""
        return self.threshold if self.argmax_threshold is None else self.argmax_threshold


@dataclass(frozen=True, slots=True)
class RolloutSettings:
    """Settings of the player `rollout`, which compares the actions that a prior policy proposes."""

    runs: int = 400  # simulated games per decision
    threshold: float = 0.01  # a candidate's prior probability, normalized over legal actions, is above this
    margin: float = 1.0  # standard errors by which an action must beat the prior's choice


# Maps n views to float64 [n, cards, places]: log-odds of each card to lie at each place (belief/samplers/_cards.py).
LogOdds: TypeAlias = Callable[[Sequence["View"]], np.ndarray]


class Game(ABC):
    """Rules, scoring and settings of one game. Each game is a subclass, in trickformer.games or in another package.

    A game must define `name`, `players`, `higher_is_better`, `spiel`, `outcomes` and `view`. All other members have a
    default that fits a game in which every seat scores for itself.
    """

    name: str
    players: int
    higher_is_better: bool  # whether a high score is good
    spiel: pyspiel.Game  # the game in OpenSpiel
    outcomes: Outcomes

    @abstractmethod
    def view(self, state: State, viewer: int) -> View:
        """Return all that a seat knows in a state. Players see a state only through this function.

        Args:
            state: A state at or past its first decision.
            viewer: The seat, or PUBLIC.

        Returns:
            The view. Its events begin with all events of earlier views of the same hand.

        Raises:
            TrickformerError: There is no such seat (`check_viewer`).
        """

    def check_viewer(self, viewer: int) -> None:
        """Refuse a viewer that is neither a seat nor PUBLIC. A game's `view` calls this first.

        Args:
            viewer: Number of the seat, or PUBLIC.

        Raises:
            TrickformerError: There is no such seat.
        """
        if viewer != PUBLIC:
            self.check_seat(viewer)

    def check_seat(self, seat: int) -> None:
        """Refuse a seat that does not exist.

        Args:
            seat: Number of the seat.

        Raises:
            TrickformerError: There is no such seat.
        """
        if not 0 <= seat < self.players:
            raise TrickformerError(f"there is no seat {seat} in {self.name}: seats are 0 to {self.players - 1}")

    def chance(self, state: State, seed: int, index: int) -> int:
        """Draw the action at a chance node, the same each time for the same deal and number of earlier chance nodes.

        Args:
            state: The chance node.
            seed: The series.
            index: Number of the deal in the series.
        """
        earlier = sum(step.player == CHANCE for step in state.full_history())
        actions, probs = zip(*state.chance_outcomes())
        cumulative = np.cumsum(probs)
        point = np.random.default_rng([deal_seed(seed, index), earlier]).random() * cumulative[-1]
        return actions[int(np.searchsorted(cumulative, point, side="right"))]

    def deal(self, seed: int, index: int) -> State:
        """Return the state at the first decision of a deal. It does not depend on the players.

        Args:
            seed: The series.
            index: Number of the deal in the series.
        """
        state = self.spiel.new_initial_state()
        while state.is_chance_node():
            state.apply_action(self.chance(state, seed, index))
        return state

    def scores(self, state: State) -> tuple[int, ...]:
        """Return the scores by seat, in the game's own points.

        Rotated so that any seat comes first, they are one of `outcomes.labels`.

        Args:
            state: A terminal state.

        Raises:
            ValueError: The game is not over.
        """
        if not state.is_terminal():
            raise ValueError("a game has scores only at its end")
        return tuple(round(x) for x in state.returns())

    def describe(self, state: State) -> str:
        """Describe a state for people, hidden cards included. By default the text is OpenSpiel's.

        Args:
            state: Any state.

        Returns:
            Lines with the hands, announcements, tricks and their winners, tokens and scores.
        """
        return str(state)

    def words(self, action: int) -> str:
        """Return a text for a player's action, such as the card's name. It does not depend on the state or seat.

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
        """List all assignments of players to seats in which each player has a seat.

        A tournament plays each deal once in each of them.

        Args:
            kinds: Number of different players.

        Returns:
            Tuples with the index of the player at each seat.
        """
        everyone = set(range(kinds))
        return tuple(s for s in product(range(kinds), repeat=self.players) if set(s) == everyone)

    # The next methods let a game of another package supply its own parts. The games of this package do not override
    # them; trickformer.tokenizers, belief.samplers and search have a module for each of those games.

    def tokenizer(self) -> Tokenizer | None:
        """Return the tokenizer; None: no model plays this game."""
        return None

    def fast(self) -> FastGame | None:
        """Return the game's bulk functions; None: trickformer.tokenizers.StateGame takes their place."""
        return None

    def belief(self, log_odds: LogOdds | None = None) -> Belief | None:
        """Return the belief; None: trickformer.belief.samplers draws deals and keeps those that explain the view.

        Args:
            log_odds: Function whose log-odds weight the worlds; None: all worlds are equally likely.
        """
        return None

    def positions(self, belief: Belief) -> WorldSimulator | None:
        """Return the simulator that samples worlds and plays fast playouts for the player `rollout`.

        Args:
            belief: Belief that worlds are sampled from.

        Returns:
            The simulator; None: rollouts use OpenSpiel states and the scripted player `baseline`.
        """
        return None

    # Settings.

    # Size of one unit of v(o) in the unit of reports, and that unit's name. In Skat v(o) = 1 is 100 points. As in v(o),
    # more must be better: in Hearts the unit is the others' mean points minus the own.
    worth: tuple[float, str] = (1.0, "units of v(o)")
    score_unit: str = "points a hand"  # of a mean score, for reports
    baseline: str = "random"  # spec of the player that models are measured against and imitate first
    search: SearchSettings = SearchSettings()
    valued_search: SearchSettings | None = None  # replaces `search` for a model with action values; None: no difference
    # Settings of the GO-MCTS paper for this game (section 9.3), the option preset=paper; None: the paper has none.
    paper_search: SearchSettings | None = None
    rollouts: RolloutSettings = RolloutSettings()
    # Whether training labels of action values are results of games, as v(o) is. False: they come from playouts with
    # open cards and are too optimistic, so searches mix Q(s, a) with results only if an option demands it.
    labels_are_results: bool = True
    training: Mapping[str, Mapping[str, Any]] = {}  # by preset: this game's defaults for selfplay.config.SelfPlay
    by_seats: bool = False  # whether a match also has the row `Seats`, means over all of a player's seats
    rotates: bool = False  # whether the players of a match move one seat on after each deal, as the dealer's place does
    plays_to: int | None = None  # points at which a match of many hands ends; None: every hand is a game of its own

    def summary(self, histories: Sequence[Sequence[int]], seats: Sequence[Sequence[int]]) -> Summary:
        """Compute statistics of a player's games, for a tournament's report.

        Args:
            histories: Games as OpenSpiel actions, chance included.
            seats: Seats that the player held in each game.

        Returns:
            Numbers by name, none by default. Names that begin with "points" or "mean" are printed as numbers, all
            others as percentages. None stands for a share whose denominator is 0.
        """
        return {}

    def exchange(self, state: State, view: View, rng: np.random.Generator) -> State | None:
        """Return another state that must have the same view. The audit uses it to find views that leak hidden cards.

        By default two cards that the viewer has not seen are exchanged. This fits games in which chance deals each card
        once and an action that shows a card has the card's number. At most 20 pairs are tried.

        Args:
            state: The true state.
            view: A seat's view of it.
            rng: Draws the cards to exchange.

        Returns:
            The other state; None if none was found.
        """
        seen = {event.action for event in view.events} | {card for event in view.events for card in event.seen}
        history = state.full_history()
        hidden = [step.action for step in history if step.player < 0 and step.action not in seen]
        for _ in range(20 if len(hidden) > 1 else 0):
            a, b = rng.choice(hidden, size=2, replace=False).tolist()
            other = replay(state.get_game(), [{a: b, b: a}.get(step.action, step.action) for step in history])
            if other is not None:
                return other
        return None
