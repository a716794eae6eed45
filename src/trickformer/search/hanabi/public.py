"""A game of Hanabi seen from outside, followed move by move, with the rule that a search on the public belief finds for
each. All of it follows from what everybody saw, so that all seats find the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, Protocol, TypeVar

import numpy as np

from trickformer import _core
from trickformer.base import View
from trickformer.belief.hanabi.process import HanabiProcess, Tables, choose_actions, prefer
from trickformer.belief.samplers.hanabi import HanabiBelief
from trickformer.games.hanabi import Hanabi
from trickformer.search.race import RaceResult, race


class PublicBelief(Protocol):
    """A belief over both hands of one game, which is told the rules by which it was played."""

    def begin(self, x: Tables) -> None: ...
    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None: ...
    def write(self, n: int, seed: int) -> np.ndarray:
        """int8 [1, k, slots]: worlds; some may be impossible."""
        ...


@dataclass(frozen=True, slots=True)
class Search:
    """How rules are searched."""

    process: HanabiProcess  # in the form fosg
    bot: int  # the blueprint
    belief: Callable[[int], PublicBelief]  # of a game, by a seed
    exact: Callable[[], PublicBelief]
    worlds: int
    threshold: float
    ucb: bool
    assess: int  # worlds of the exact belief in which gains are judged anew
    seed: int
    threads: int

    def rule(self, x: Tables, hidden: np.ndarray, seed: int) -> tuple[RaceResult | None, int]:
        """The best rule of the next move, None where no world is possible, and how many of the worlds, int8
        [k, slots], were not."""
        tables = self.process.possible(x, hidden, seed)
        illegal = len(hidden) - len(tables)
        if not len(tables):
            return None, illegal
        bots = [self.bot, *(i for i in range(len(_core.hanabi.BOTS)) if i != self.bot)]
        actions = np.flatnonzero(tables.legal().any(axis=0))

        def play(rows: slice, rules: list[int]) -> np.ndarray:
            some = tables.take(np.arange(rows.start, rows.stop))
            return np.stack([self._scores(some, rule, seed + rows.start) for rule in rules], axis=1)

        candidates = [*bots, *(prefer(int(action), self.bot) for action in actions)]
        return race(len(tables), candidates, play, self.threshold, self.ucb), illegal

    def gain(self, x: Tables, hidden: np.ndarray, rule: int, seed: int) -> float | None:
        """By how many points a rule is better than the blueprint in these worlds; None where there is none."""
        tables = self.process.possible(x, hidden, seed)
        if rule == self.bot or not len(tables):
            return 0.0 if rule == self.bot else None
        own, blueprint = (self._scores(tables, r, seed) for r in (rule, self.bot))
        return float((own - blueprint).mean())

    def _scores(self, tables: Tables, rule: int, seed: int) -> np.ndarray:
        """float64 [n]: one move by the rule, then the blueprint to the end. What is drawn is alike for all rules."""
        actions = choose_actions(tables, np.full(len(tables), rule), seed)
        return tables.play_out(actions, self.bot, seed, self.threads).astype(np.float64)


@dataclass(frozen=True, slots=True)
class RuleSearchResult:
    """What a search found for the next move."""

    rule: int  # a policy of the process
    value: float | None  # points; None where no world was possible
    gain: float | None
    exact_gain: float | None
    illegal: int  # worlds that could not be, of
    searched: int  # those that were drawn


class RuleSearchGame:
    """A game up to some move. What it draws follows from the search's seed and what everybody saw."""

    def __init__(self, search: Search, x: Tables):
        self._search, self._x, self.digest = search, x, digest(b"", -1, x)
        self._belief = search.belief(search.seed)
        self._exact = search.exact() if search.assess else None
        for each in self._beliefs():
            each.begin(x)
        self._found: RuleSearchResult | None = None

    def search_next_move(self) -> RuleSearchResult:
        """The rule of the next move, searched when it is asked for first."""
        if self._found is None:
            own, x = self._search, self._x
            rng = np.random.default_rng([own.seed, int.from_bytes(self.digest[:8], "little")])
            seeds = rng.integers(2**62, size=4).tolist()
            drawn = self._belief.write(own.worlds, seeds[0])[0]
            best, illegal = own.rule(x, drawn, seeds[1])
            rule, exact = (own.bot, None) if best is None else (best.choice, None)
            if best is not None and self._exact is not None:
                hidden = self._exact.write(own.assess, seeds[2])[0] if rule != own.bot else np.empty((0, 0), np.int8)
                exact = own.gain(x, hidden, rule, seeds[3])
            value, gain = (None, None) if best is None else (best.value, best.gain)
            self._found = RuleSearchResult(rule, value, gain, exact, illegal, len(drawn))
        return self._found

    def go_on(self, action: int, after: Tables) -> None:
        """A move, by the rule that was found for it."""
        control = np.array([self.search_next_move().rule], dtype=np.int64)
        for each in self._beliefs():
            each.observe(self._x, control, np.array([action]), after)
        self._x, self._found, self.digest = after, None, digest(self.digest, action, after)

    def _beliefs(self) -> list[PublicBelief]:
        return [self._belief] if self._exact is None else [self._belief, self._exact]


class PublicGame(Protocol):
    """A game that is followed from outside."""

    digest: bytes

    def go_on(self, action: int, after: Tables) -> None:
        """A move and the table after it, 1."""
        ...


G = TypeVar("G", bound=PublicGame)


class Games(Generic[G]):
    """Games that are followed, each once for all its seats: what it has come to follows from what everybody saw, so
    that nothing depends on which seat has asked before."""

    def __init__(self, game: Hanabi, begin: Callable[[Tables], G], kept: int = 64):
        """begin: what follows a game from its first position on, a table, 1. kept: games that are followed; of more,
        some are followed from their beginning again."""
        self._begin, self._uniform, self._kept = begin, HanabiBelief(game), kept
        self._known: OrderedDict[bytes, G] = OrderedDict()

    def of(self, view: View) -> tuple[G, Tables]:
        """The game of a view, up to it, and the table there, 1, in some world that explains the view. Raises ValueError
        on a view that no deal explains."""
        self._uniform.reset(view)
        tables = self._uniform.tables()
        moves = [event.action for event in view.events if event.actor >= 0 and event.action is not None]
        digests = [digest(b"", -1, tables[0])]
        for action, table in zip(moves, tables[1:]):
            digests.append(digest(digests[-1], action, table))
        at = next((i for i in reversed(range(len(digests))) if digests[i] in self._known), None)
        followed = self._begin(tables[0]) if at is None else self._known.pop(digests[at])
        for i in range(at or 0, len(moves)):
            followed.go_on(moves[i], tables[i + 1])
        self._known[followed.digest] = followed
        if len(self._known) > self._kept:
            self._known.popitem(last=False)
        return followed, tables[-1]


def digest(before: bytes, action: int, x: Tables) -> bytes:
    """Of what everybody saw, from that of the position before, a move and the table after it, 1."""
    seen = before + action.to_bytes(2, "little", signed=True) + x.possible().tobytes() + x.unseen_counts().tobytes()
    return blake2b(seen, digest_size=16).digest()
