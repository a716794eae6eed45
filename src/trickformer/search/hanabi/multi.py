"""SPARTA for both seats of Hanabi for two: what a seat did by search tells the other what it saw.

Multi-agent search (Lerer et al. 2020). A seat's search follows from what everybody saw and from the other's hand,
which it sees. So the other, who does not, runs the search for each hand that it might hold, and drops those for which
the search would have done something else. A search draws by the option `seed`, what everybody saw and the hand, so that
both seats run the same. Where the other's hands are more than `range_max`, the blueprint is played. What that says of a
hand is kept, and asked of the hands that are left once they are few enough to list (`HandFilter`)."""

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
    """How both seats search."""

    process: HanabiProcess  # in the form fosg
    bot: int  # the blueprint
    worlds: int
    how: RaceOptions
    range_max: int  # hands up to which a search is run for each
    seed: int


class MultiSampledWorlds:
    """Worlds as tables. All have the same legal actions, for they differ in what the seat on turn does not see."""

    searched = 0
    illegal = 0

    def __init__(self, tables: Tables, bot: int, threads: int):
        self._tables, self._bot, self._threads = tables, bot, threads

    def __len__(self) -> int:
        return len(self._tables)

    def play(self, rows: slice, actions: Sequence[int], seed: int) -> np.ndarray:
        some = self._tables.take(np.arange(rows.start, rows.stop))
        scores = [some.play_out(np.full(len(some), a), self._bot, seed, self._threads) for a in actions]
        return np.stack(scores, axis=1)


class MultiPosition:
    """The decision of the seat on turn where the other holds this hand, int8 [hand]."""

    def __init__(self, game: MultiGame, hand: np.ndarray, searches: bool, rng: np.random.Generator):
        self._game, self._hand, self.searches, self.rng = game, hand, searches, rng
        table = game.assume_hand(hand)
        self.legal = tuple(np.flatnonzero(table.legal()[0]).tolist())
        self.blueprint = int(table.choose(np.full(1, game.multi.bot, dtype=np.int8), int(rng.integers(2**62)))[0])

    def sample_worlds(self, n: int, rng: np.random.Generator) -> MultiSampledWorlds:
        return self._game.sample_worlds(self._hand, n, rng)

    def exact(self, n: int, rng: np.random.Generator) -> MultiSampledWorlds:
        """The belief is exact as it is."""
        return self.sample_worlds(n, rng)


class MultiGame:
    """A game up to some move. All of it follows from what everybody saw; `belief` is over both hands."""

    def __init__(self, multi: Multi, x: Tables):
        self.multi, self.digest, self._x = multi, digest(b"", -1, x), x
        self.belief = PublicWorlds(multi.process, multi.how.listed, multi.how.tries)
        self.belief.begin(x)
        self._own: tuple[np.ndarray, np.ndarray] | None = None  # hands of the seat on turn, and their weights

    def hands(self) -> np.ndarray | None:
        """int8 [m, hand]: what the seat that waits may hold as everybody sees it; None where that is too much for a
        search of each, so that there is none."""
        hands = self.belief.enumerate_hands(1 - self._turn)
        return None if hands is None or len(hands) > self.multi.range_max else hands

    def position(self, hand: np.ndarray, rng: np.random.Generator | None = None) -> MultiPosition:
        """The decision where the seat that waits holds this hand. rng: what the blueprint draws by, where there is no
        search."""
        hands = self.hands()
        searches = hands is not None and bool((hands == hand).all(axis=1).any())
        public = [self.multi.seed, int.from_bytes(self.digest[:8], "little"), int.from_bytes(hand.tobytes(), "little")]
        return MultiPosition(self, hand, searches, np.random.default_rng(public) if searches or rng is None else rng)

    def assume_hand(self, hand: np.ndarray) -> Tables:
        """The table, with this hand at the seat that waits."""
        table = self._x.take(np.zeros(1, dtype=np.int64))
        if not table.suppose(at_seat(hand[None], 1 - self._turn, 2)).all():
            raise ValueError("cards or hints rule out this hand")
        return table

    def sample_worlds(self, hand: np.ndarray, n: int, rng: np.random.Generator) -> MultiSampledWorlds:
        """n worlds in which the seat that waits holds this hand: hands of the seat on turn, and decks."""
        process, counts = self.multi.process, self.belief.counts()
        if self._own is None:
            self._own = self.belief.hand_weights(
                self._turn, np.random.default_rng([self.multi.seed, int.from_bytes(self.digest[:8], "little")])
            )
        own, weight = self._own
        held = held_of(own, len(counts))
        left = counts - held_of(hand[None], len(counts))[0]
        given = weight + log_ways(held, left) - log_ways(held, counts)
        if not np.isfinite(given).any():
            return MultiSampledWorlds(self._x.take(np.zeros(0, dtype=np.int64)), self.multi.bot, 1)
        hidden = np.empty((n, 2, len(hand)), dtype=np.int8)
        hidden[:, self._turn] = own[rng.permutation(resample(given, n, rng))]
        hidden[:, 1 - self._turn] = hand
        tables = process.possible(self._x, hidden.reshape(n, -1), int(rng.integers(2**62)))
        return MultiSampledWorlds(tables, self.multi.bot, self.multi.how.threads)

    def go_on(self, action: int, after: Tables) -> None:
        """A move. Of one by search it is found out now for which hands it would have been made."""
        control, hands = np.array([self.multi.bot]), self.hands()
        said = (
            None
            if hands is None
            else Answers(hands, np.array([self._is_search_choice(hand, action) for hand in hands], bool))
        )
        self.belief.observe(self._x, control, np.array([action]), after, said)
        self._x, self._own, self.digest = after, None, digest(self.digest, action, after)

    def _is_search_choice(self, hand: np.ndarray, action: int) -> bool:
        position = self.position(hand)
        if action not in position.legal:
            return False
        return search(position, self.multi.worlds, self.multi.how, action).action(position) == action

    @property
    def _turn(self) -> int:
        return int(self._x.current()[0])


@dataclass(frozen=True)
class Answers:
    """For which hands, int8 [m, hand], a search would have done what was done, bool [m]; no other hand was possible."""

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

    def __init__(self, game: Hanabi, style: str, worlds: int, how: RaceOptions, range_max: int, seed: int):
        process = HanabiProcess(game.rules, Form.FOSG, [style, style])
        multi = Multi(process, _core.hanabi.BOTS.index(style), worlds, how, range_max, seed)
        self.games = Games(game, lambda x: MultiGame(multi, x))
        self.unit, self.knows_better = float(game.rules.kinds), True

    def position(self, view: View, rng: np.random.Generator, memo: Memo) -> MultiPosition:
        game, table = self.games.of(view)
        return game.position(table.hands()[0, 1 - view.viewer], rng)
