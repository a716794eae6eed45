"""SPARTA for both seats of Hanabi for two: a searched move of one seat tells the other seat about its hand.

This is multi-agent search (Lerer et al. 2020). A seat's search follows from the public events and from the other's
hand, which the seat sees. The other seat does not see its hand. It runs the search for each hand that it might hold,
and drops the hands for which the search would have chosen another move. A search draws by the option `seed`, the public
events and the hand, so both seats run the same search. If the other seat might hold more than `range_max` hands, the
seat on turn plays the blueprint. The information in such a move is kept, and applied once few enough hands remain to
list them (`HandFilter`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trickformer import _core
from trickformer.base import Memo, View
from trickformer.belief.hanabi.exact import held_of, log_ways
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables, at_seat
from trickformer.belief.hanabi.public import PublicWorlds
from trickformer.belief.samplers import resample
from trickformer.games.hanabi import Hanabi
from trickformer.search.hanabi.public import Games, digest
from trickformer.search.options import RaceOptions
from trickformer.search.sparta import search


@dataclass(frozen=True, slots=True)
class Multi:
    """Settings of both seats' searches."""

    process: HanabiProcess  # in the form fosg
    bot: int  # the blueprint
    worlds: int
    options: RaceOptions
    range_max: int  # largest number of hands for which a search is run each
    seed: int


class MultiSampledWorlds:
    """Worlds as tables.

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
        some = self._tables.take(np.arange(rows.start, rows.stop))
        scores = [some.play_out(np.full(len(some), a), self._bot, seed, self._threads) for a in actions]
        return np.stack(scores, axis=1)


class MultiPosition:
    """The decision of the seat on turn if the other seat holds this hand, int8 [hand]."""

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


class MultiGame:
    """A game up to some move. All of it follows from the public events; `belief` is over both hands."""

    def __init__(self, multi: Multi, x: Tables):
        self.multi, self._x = multi, x
        self.digest = digest(b"", -1, x)
        self.belief = PublicWorlds(multi.process, multi.options.listed, multi.options.tries)
        self.belief.begin(x)
        self._own: tuple[np.ndarray, np.ndarray] | None = None  # hands of the seat on turn, and their weights

    def hands(self) -> np.ndarray | None:
        """List the hands that the waiting seat may hold by the public events.

        Returns:
            int8 [m, hand]; None if there are too many for a search of each, so that the seat on turn does not search.
        """
        hands = self.belief.enumerate_hands(1 - self._turn)
        return None if hands is None or len(hands) > self.multi.range_max else hands

    def position(self, hand: np.ndarray, rng: np.random.Generator | None = None) -> MultiPosition:
        """Return the decision if the waiting seat holds a hand.

        Args:
            hand: int8 [hand].
            rng: Generator of the blueprint, if there is no search.
        """
        hands = self.hands()
        searches = hands is not None and bool((hands == hand).all(axis=1).any())
        public = [self.multi.seed, int.from_bytes(self.digest[:8], "little"), int.from_bytes(hand.tobytes(), "little")]
        return MultiPosition(self, hand, searches, np.random.default_rng(public) if searches or rng is None else rng)

    def assume_hand(self, hand: np.ndarray) -> Tables:
        """Return the table with a hand of the waiting seat.

        Args:
            hand: int8 [hand].

        Raises:
            ValueError: Cards or hints rule out the hand.
        """
        table = self._x.take(np.zeros(1, dtype=np.int64))
        if not table.suppose(at_seat(hand[None], 1 - self._turn, 2)).all():
            raise ValueError("cards or hints rule out this hand")
        return table

    def sample_worlds(self, hand: np.ndarray, n: int, rng: np.random.Generator) -> MultiSampledWorlds:
        """Sample worlds in which the waiting seat holds a hand: hands of the seat on turn, and decks.

        Args:
            hand: int8 [hand].
            n: Number of worlds.
            rng: Generator of the draws.
        """
        process, counts = self.multi.process, self.belief.counts()
        if self._own is None:
            self._own = self.belief.hand_weights(
                self._turn, np.random.default_rng([self.multi.seed, int.from_bytes(self.digest[:8], "little")])
            )
        own, weight = self._own
        held = held_of(own, len(counts))
        left = counts - held_of(hand[None], len(counts))[0]
        log_weight = weight + log_ways(held, left) - log_ways(held, counts)
        if not np.isfinite(log_weight).any():
            return MultiSampledWorlds(self._x.take(np.zeros(0, dtype=np.int64)), self.multi.bot, 1)
        hidden = np.empty((n, 2, len(hand)), dtype=np.int8)
        hidden[:, self._turn] = own[rng.permutation(resample(log_weight, n, rng))]
        hidden[:, 1 - self._turn] = hand
        tables = process.possible(self._x, hidden.reshape(n, -1), int(rng.integers(2**62)))
        return MultiSampledWorlds(tables, self.multi.bot, self.multi.options.threads)

    def advance(self, action: int, after: Tables) -> None:
        """Follow a move. After a searched move, compute the hands for which the search chooses it.

        Args:
            action: The move.
            after: The table after it, 1.
        """
        control, hands = np.array([self.multi.bot]), self.hands()
        likelihood: Answers | None = None
        if hands is not None:
            likelihood = Answers(hands, np.array([self._is_search_choice(hand, action) for hand in hands], bool))
        self.belief.observe(self._x, control, np.array([action]), after, likelihood)
        self._x, self._own = after, None
        self.digest = digest(self.digest, action, after)

    def _is_search_choice(self, hand: np.ndarray, action: int) -> bool:
        position = self.position(hand)
        if action not in position.legal:
            return False
        return search(position, self.multi.worlds, self.multi.options, action).action(position) == action

    @property
    def _turn(self) -> int:
        return int(self._x.current()[0])


@dataclass(frozen=True)
class Answers:
    """Likelihood of a searched move, given the hand of the waiting seat.

    Attributes:
        hands: int8 [m, hand], the possible hands.
        made: bool [m], whether the search chooses the move for each hand.
    """

    hands: np.ndarray
    made: np.ndarray
    _known: frozenset[bytes] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", frozenset(hand.tobytes() for hand in self.hands[self.made]))

    def __call__(self, hidden: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of the move given hands, int8 [k, hand]; see `exact.MoveLikelihood`."""
        return np.array([0.0 if hand.tobytes() in self._known else -np.inf for hand in hidden], dtype=np.float64)


class MultiPositions:
    """Decisions of both seats. Games are followed once for both."""

    def __init__(self, game: Hanabi, style: str, worlds: int, options: RaceOptions, range_max: int, seed: int):
        process = HanabiProcess(game.rules, Form.FOSG, [style, style])
        multi = Multi(process, _core.hanabi.BOTS.index(style), worlds, options, range_max, seed)
        self.games = Games(game, lambda x: MultiGame(multi, x))
        self.unit, self.knows_better = float(game.rules.kinds), True

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> MultiPosition:
        game, table = self.games.of(view)
        return game.position(table.hands()[0, 1 - view.viewer], rng)
