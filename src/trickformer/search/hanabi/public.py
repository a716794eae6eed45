"""A game of Hanabi followed move by move from the public view.

A search on the public belief chooses the rule of each move. Everything follows from the public events, so all seats
compute the same.
"""

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
    """A belief over both hands of one game, which is updated with the rules that chose the moves."""

    def begin(self, x: Tables) -> None: ...
    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None: ...
    def write(self, n: int, seed: int) -> np.ndarray:
        """Sample worlds; some may be impossible.

        Args:
            n: Number of worlds.
            seed: Seed of the draws.

        Returns:
            int8 [1, k, slots].
        """
        ...


@dataclass(frozen=True, slots=True)
class Search:
    """Settings of a search for rules."""

    process: HanabiProcess  # in the form fosg
    bot: int  # the blueprint
    belief: Callable[[int], PublicBelief]  # makes the belief of a game from a seed
    exact: Callable[[], PublicBelief]
    worlds: int
    threshold: float
    ucb: bool
    assess: int  # worlds of the exact belief that re-estimate gains
    seed: int
    threads: int

    def rule(self, x: Tables, hidden: np.ndarray, seed: int) -> tuple[RaceResult | None, int]:
        """Choose the rule of the next move.

        Args:
            x: The table, 1.
            hidden: Worlds, int8 [k, slots].
            seed: Seed of the games.

        Returns:
            The result, None if no world is possible, and the number of impossible worlds.
        """
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
        """Estimate the gain of a rule over the blueprint, in points.

        Args:
            x: The table, 1.
            hidden: Worlds, int8 [k, slots].
            rule: The rule.
            seed: Seed of the games.

        Returns:
            The gain; None if no world is possible.
        """
        tables = self.process.possible(x, hidden, seed)
        if rule == self.bot or not len(tables):
            return 0.0 if rule == self.bot else None
        own, blueprint = (self._scores(tables, r, seed) for r in (rule, self.bot))
        return float((own - blueprint).mean())

    def _scores(self, tables: Tables, rule: int, seed: int) -> np.ndarray:
        """Play one move by the rule and then the blueprint, and return the scores, float64 [n].

        All rules have the same draws.
        """
        actions = choose_actions(tables, np.full(len(tables), rule), seed)
        return tables.play_out(actions, self.bot, seed, self.threads).astype(np.float64)


@dataclass(frozen=True, slots=True)
class RuleSearchResult:
    """Result of a search for the next move."""

    rule: int  # a policy of the process
    value: float | None  # points; None if no world was possible
    gain: float | None
    exact_gain: float | None
    illegal: int  # impossible worlds
    searched: int  # sampled worlds


class RuleSearchGame:
    """A game up to some move. Its draws follow from the search's seed and the public events."""

    def __init__(self, search: Search, x: Tables):
        self._search, self._x = search, x
        self.digest = digest(b"", -1, x)
        self._belief = search.belief(search.seed)
        self._exact = search.exact() if search.assess else None
        for each in self._beliefs():
            each.begin(x)
        self._result: RuleSearchResult | None = None

    def search_next_move(self) -> RuleSearchResult:
        """Return the rule of the next move; the first call searches it."""
        if self._result is None:
            own, x = self._search, self._x
            rng = np.random.default_rng([own.seed, int.from_bytes(self.digest[:8], "little")])
            seeds = rng.integers(2**62, size=4).tolist()
            worlds = self._belief.write(own.worlds, seeds[0])[0]
            best, illegal = own.rule(x, worlds, seeds[1])
            rule, exact = (own.bot, None) if best is None else (best.choice, None)
            if best is not None and self._exact is not None:
                hidden = self._exact.write(own.assess, seeds[2])[0] if rule != own.bot else np.empty((0, 0), np.int8)
                exact = own.gain(x, hidden, rule, seeds[3])
            value, gain = (None, None) if best is None else (best.value, best.gain)
            self._result = RuleSearchResult(rule, value, gain, exact, illegal, len(worlds))
        return self._result

    def advance(self, action: int, after: Tables) -> None:
        control = np.array([self.search_next_move().rule], dtype=np.int64)
        for each in self._beliefs():
            each.observe(self._x, control, np.array([action]), after)
        self._x, self._result = after, None
        self.digest = digest(self.digest, action, after)

    def _beliefs(self) -> list[PublicBelief]:
        return [self._belief] if self._exact is None else [self._belief, self._exact]


class PublicGame(Protocol):
    """A game that is followed from the public view."""

    digest: bytes

    def advance(self, action: int, after: Tables) -> None:
        """Follow a move.

        Args:
            action: The move.
            after: The table after it, 1.
        """
        ...


G = TypeVar("G", bound=PublicGame)


class Games(Generic[G]):
    """Games that are followed, each once for all its seats.

    The state of a game follows from the public events, so no result depends on which seat was on turn before.
    """

    def __init__(self, game: Hanabi, begin: Callable[[Tables], G], kept: int = 64):
        """Begin without games.

        Args:
            game: The game.
            begin: Makes the follower of a game from its first position, a table, 1.
            kept: Number of games to keep. The least recently used one beyond them is followed from its beginning again.
        """
        self._begin, self._kept = begin, kept
        self._uniform = HanabiBelief(game)
        self._known: OrderedDict[bytes, G] = OrderedDict()

    def of(self, view: View) -> tuple[G, Tables]:
        """Return the game of a view, followed up to the view.

        Args:
            view: The view.

        Returns:
            The game, and the table, 1, in some world that explains the view.

        Raises:
            ValueError: No deal explains the view.
        """
        self._uniform.reset(view)
        tables = self._uniform.tables()
        moves = [event.action for event in view.events if event.actor >= 0 and event.action is not None]
        digests = [digest(b"", -1, tables[0])]
        for action, table in zip(moves, tables[1:]):
            digests.append(digest(digests[-1], action, table))
        at = next((i for i in reversed(range(len(digests))) if digests[i] in self._known), None)
        followed = self._begin(tables[0]) if at is None else self._known.pop(digests[at])
        for i in range(at or 0, len(moves)):
            followed.advance(moves[i], tables[i + 1])
        self._known[followed.digest] = followed
        if len(self._known) > self._kept:
            self._known.popitem(last=False)
        return followed, tables[-1]


def digest(before: bytes, action: int, x: Tables) -> bytes:
    """Hash the public history after one more move.

    Args:
        before: Digest before the move; `b""` at the start.
        action: The move; -1 at the start.
        x: The table after the move, 1.

    Returns:
        16 bytes.
    """
    seen = before + action.to_bytes(2, "little", signed=True) + x.possible().tobytes() + x.unseen_counts().tobytes()
    return blake2b(seen, digest_size=16).digest()
