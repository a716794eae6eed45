"""SPARTA for both seats of two-player Hanabi: a searched move of one seat informs the other seat about its hand.

This is multi-agent search (Lerer et al. 2020). Seat A is on turn, and seat B waits. A's search depends on the public
events and on B's hand, which A sees and B does not. So B repeats A's search for each hand that B might hold, and rules
out the hands for which the search chooses another move. Both seats run identical searches, because a search seeds its
randomness by the option `seed`, the public events and B's hand. If B might hold more than `range_max` hands, A plays
the blueprint. `HandFilter` (belief/hanabi/exact.py) stores such moves and evaluates them once few enough hands remain
to list them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trickformer import _core
from trickformer.base import Memo, View
from trickformer.belief.hanabi.exact import count_kinds, log_ways
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables, at_seat
from trickformer.belief.hanabi.public import PublicWorlds
from trickformer.belief.samplers import resample
from trickformer.games.hanabi import Hanabi
from trickformer.search.hanabi.public import FollowedGame, Games
from trickformer.search.options import RaceOptions
from trickformer.search.sparta import Position, search


@dataclass(frozen=True, slots=True)
class MultiSettings:
    """Settings of both seats' searches."""

    process: HanabiProcess  # in the form fosg (belief/hanabi/process.py)
    bot: int  # number of the blueprint in `_core.hanabi.BOTS`
    worlds: int  # number of worlds of a search
    options: RaceOptions
    range_max: int  # if the waiting seat may hold more hands than this, nobody searches; each hand costs a search
    seed: int


class MultiSampledWorlds:
    """Sampled worlds, stored as tables of the core.

    All have the same legal actions, because they differ only in cards that the seat on turn does not see.
    """

    searched = 0
    illegal = 0

    def __init__(self, tables: Tables, bot: int, threads: int):
        self._tables = tables
        self._bot, self._threads = bot, threads

    def __len__(self) -> int:
        return len(self._tables)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        selected = self._tables.take(np.arange(rows.start, rows.stop))
        scores = [selected.play_out(np.full(len(selected), a), self._bot, seed, self._threads) for a in actions]
        return np.stack(scores, axis=1)


class MultiPosition(Position):
    """The decision of the seat on turn, given the hand of the waiting seat, int8 [hand]."""

    def __init__(self, game: MultiGame, hand: np.ndarray, searches: bool, rng: np.random.Generator):
        self._game, self._hand = game, hand
        self.searches, self.rng = searches, rng
        table = game.assume_hand(hand)
        self.legal = tuple(np.flatnonzero(table.legal()[0]).tolist())
        self.blueprint = int(table.choose(np.full(1, game.multi.bot, dtype=np.int8), int(rng.integers(2**62)))[0])

    def sample_worlds(self, n: int, rng: np.random.Generator) -> MultiSampledWorlds:
        return self._game.sample_worlds(self._hand, n, rng)

    def exact(self, n: int, rng: np.random.Generator) -> MultiSampledWorlds:
        """Sample worlds of the same belief, which is exact.

        Args:
            n: Number of worlds.
            rng: Generator of the draws.
        """
        return self.sample_worlds(n, rng)


class MultiGame(FollowedGame):
    """A game whose moves are made by a search for each hand of the waiting seat.

    Attributes:
        multi: Settings of the searches.
        belief: The public belief over both hands.
    """

    def __init__(self, multi: MultiSettings, x: Tables):
        super().__init__(x)
        self.multi = multi
        listed = max(multi.options.listed, multi.range_max)  # up to `range_max` hands are searched one by one
        self.belief = PublicWorlds(multi.process, listed, multi.options.tries)
        self.belief.begin(x)
        self._turn_hands: tuple[np.ndarray, np.ndarray] | None = None  # hands of the seat on turn, and log weights

    def hands(self) -> np.ndarray | None:
        """List the hands that the waiting seat may hold according to the public events.

        Returns:
            int8 [m, hand]; None if there are more than `range_max`, so that the seat on turn does not search.
        """
        hands = self.belief.enumerate_hands(1 - self._turn)
        return None if hands is None or len(hands) > self.multi.range_max else hands

    def position(self, hand: np.ndarray, rng: np.random.Generator | None = None) -> MultiPosition:
        """Return the decision of the seat on turn, given the waiting seat's hand.

        Args:
            hand: Hand of the waiting seat, int8 [hand].
            rng: Generator of the blueprint if there is no search; None: a generator that both seats can compute.
        """
        hands = self.hands()
        searches = hands is not None and bool((hands == hand).all(axis=1).any())
        if searches or rng is None:
            rng = self._rng(self.multi.seed, hand)
        return MultiPosition(self, hand, searches, rng)

    def assume_hand(self, hand: np.ndarray) -> Tables:
        """Return the present table, with another hand of the waiting seat.

        Args:
            hand: Hand of the waiting seat, int8 [hand].

        Raises:
            ValueError: Cards or hints rule out the hand.
        """
        table = self._x.take(np.zeros(1, dtype=np.int64))
        if not table.suppose(at_seat(hand[None], 1 - self._turn, 2)).all():
            raise ValueError("cards or hints rule out this hand")
        return table

    def sample_worlds(self, hand: np.ndarray, n: int, rng: np.random.Generator) -> MultiSampledWorlds:
        """Sample hands of the seat on turn and decks, given the waiting seat's hand.

        Args:
            hand: Hand of the waiting seat, int8 [hand].
            n: Number of worlds.
            rng: Source of all randomness.
        """
        process, counts = self.multi.process, self.belief.counts()
        if self._turn_hands is None:
            self._turn_hands = self.belief.hand_weights(self._turn, self._rng(self.multi.seed))
        hands, log_weight = self._turn_hands
        # The weights count the ways to deal a hand from all unseen cards. Count them again without the waiting seat's
        # cards.
        hand_counts = count_kinds(hands, len(counts))
        unseen = counts - count_kinds(hand[None], len(counts))[0]
        log_weight = log_weight + log_ways(hand_counts, unseen) - log_ways(hand_counts, counts)
        if not np.isfinite(log_weight).any():
            return MultiSampledWorlds(self._x.take(np.zeros(0, dtype=np.int64)), self.multi.bot, 1)
        hidden = np.empty((n, 2, len(hand)), dtype=np.int8)
        hidden[:, self._turn] = hands[rng.permutation(resample(log_weight, n, rng))]
        hidden[:, 1 - self._turn] = hand
        tables = process.possible(self._x, hidden.reshape(n, -1), int(rng.integers(2**62)))
        return MultiSampledWorlds(tables, self.multi.bot, self.multi.options.threads)

    def _observe(self, action: int, after: Tables) -> None:
        """Update the belief by a move. If the seat on turn searched, rule out hands by repeating its search."""
        control, hands = np.array([self.multi.bot]), self.hands()
        likelihood: SearchedMoveLikelihood | None = None
        if hands is not None:
            is_chosen = np.array([self._is_search_choice(hand, action) for hand in hands], bool)
            likelihood = SearchedMoveLikelihood(hands, is_chosen)
        self.belief.observe(self._x, control, np.array([action]), after, likelihood)
        self._turn_hands = None

    def _is_search_choice(self, hand: np.ndarray, action: int) -> bool:
        """Return whether the search chooses an action if the waiting seat holds this hand."""
        position = self.position(hand)
        if action not in position.legal:
            return False
        return search(position, self.multi.worlds, self.multi.options, action).action(position) == action

    @property
    def _turn(self) -> int:
        """The seat on turn."""
        return int(self._x.current()[0])


@dataclass(frozen=True)
class SearchedMoveLikelihood:
    """Log-likelihood of a searched move given the waiting seat's hand (`exact.MoveLikelihood`): 0 or -inf.

    Attributes:
        hands: int8 [m, hand], the possible hands.
        is_chosen: bool [m], whether the search chooses the move for each hand.
    """

    hands: np.ndarray
    is_chosen: np.ndarray
    _consistent: frozenset[bytes] = field(init=False)  # hands for which the search chooses the move

    def __post_init__(self) -> None:
        object.__setattr__(self, "_consistent", frozenset(hand.tobytes() for hand in self.hands[self.is_chosen]))

    def __call__(self, hidden: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of the move for each hand, int8 [k, hand]."""
        return np.array([0.0 if hand.tobytes() in self._consistent else -np.inf for hand in hidden], dtype=np.float64)


class MultiPositions:
    """Positions of both seats. Each game is followed once for both."""

    def __init__(self, game: Hanabi, style: str, worlds: int, options: RaceOptions, range_max: int, seed: int):
        process = HanabiProcess(game.rules, Form.FOSG, [style, style])
        multi = MultiSettings(process, _core.hanabi.BOTS.index(style), worlds, options, range_max, seed)
        self.games = Games(game, lambda x: MultiGame(multi, x))
        self.unit, self.has_exact_belief = float(game.rules.kinds), True

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> MultiPosition:
        game, table = self.games.follow(view)
        return game.position(table.hands()[0, 1 - view.viewer], rng)
