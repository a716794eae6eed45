"""Search for the best public rule of each move in two-player Hanabi (player `rule_search`).

Other searches share the cache of games that are followed from the public view (`Games`).

A rule is a policy for one move: a scripted player, or "this action if it is legal, else the blueprint". The search
compares rules in worlds of the public belief, the distribution over all hands given what everybody saw. All seats
compute the same rule, because the search depends on public events only. An update of the belief by a move takes the
rule that chose the move; belief/hanabi/process.py calls this rule the control, and a system with this control fosg.

In this module, `x` is a `Tables` batch of the core with a single table, also called "one table". `hidden` holds the
cards of both hands in each world: `slots` is the number of slots in both hands, those of seat 0 come first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from trickformer import _core
from trickformer.base import MANY, Decision, View
from trickformer.belief.hanabi.process import HanabiProcess, Tables, prefer
from trickformer.belief.hanabi.public import PublicWorlds
from trickformer.belief.samplers.hanabi import HanabiBelief
from trickformer.games.hanabi import Hanabi
from trickformer.search.race import RaceResult, race


class PublicBelief(Protocol):
    """Belief over both hands of one game.

    The exact belief (belief/hanabi/public.py) and estimators that sample whole hands (`estimators.WholeHandEstimator`)
    have this interface. `control` is int64 [1], the number of the rule that chose the observed move.
    """

    def begin(self, x: Tables) -> None: ...
    def observe(self, before: Tables, control: np.ndarray | None, actions: np.ndarray, after: Tables) -> None: ...
    def sample_hands(self, n: int, seed: int) -> np.ndarray:
        """Sample worlds; some may be impossible.

        Args:
            n: Number of worlds.
            seed: Seed of the draws.

        Returns:
            Cards of both hands, int8 [1, k, slots], where k is at most n.
        """
        ...


@dataclass(frozen=True, slots=True)
class Search:
    """Settings of a search for rules, and the evaluation of rules."""

    process: HanabiProcess  # in the form fosg: both hands are hidden, and rules choose the moves
    bot: int  # number of the blueprint in `_core.hanabi.BOTS`
    belief: Callable[[int], PublicBelief]  # makes the belief of a game from a seed
    exact: Callable[[], PublicWorlds]  # makes the exact belief of a game
    worlds: int  # number of worlds of a search
    threshold: float  # points by which a rule must beat the blueprint
    ucb: bool  # see `race`
    assess: int  # number of exact worlds that re-estimate gains; 0: gains are not re-estimated
    seed: int
    threads: int

    def choose_rule(self, x: Tables, hidden: np.ndarray, seed: int) -> tuple[RaceResult | None, int]:
        """Choose the rule of the next move by a race.

        Args:
            x: One table.
            hidden: Worlds, int8 [k, slots].
            seed: Seed of the games.

        Returns:
            Result of the race, None if no world is possible, and the number of impossible worlds.
        """
        tables = self.process.possible(x, hidden, seed)
        illegal = len(hidden) - len(tables)
        if not len(tables):
            return None, illegal
        bots = [self.bot, *(i for i in range(len(_core.hanabi.BOTS)) if i != self.bot)]
        actions = np.flatnonzero(tables.legal().any(axis=0))

        def play(rows: slice, rules: list[int]) -> np.ndarray:
            selected = tables.take(np.arange(rows.start, rows.stop))
            return np.stack([self._scores(selected, rule, seed + rows.start) for rule in rules], axis=1)

        candidates = [*bots, *(prefer(int(action), self.bot) for action in actions)]
        return race(len(tables), candidates, play, self.threshold, self.ucb), illegal

    def estimate_gain(self, x: Tables, hidden: np.ndarray, rule: int, seed: int) -> float | None:
        """Estimate the gain of a rule over the blueprint, in points. The rule is not the blueprint itself.

        Args:
            x: One table.
            hidden: Worlds, int8 [k, slots].
            rule: Number of the rule, as in `HanabiProcess`.
            seed: Seed of the games.

        Returns:
            The gain; None if no world is possible.
        """
        tables = self.process.possible(x, hidden, seed)
        if not len(tables):
            return None
        scores, blueprint_scores = (self._scores(tables, r, seed) for r in (rule, self.bot))
        return float((scores - blueprint_scores).mean())

    def _scores(self, tables: Tables, rule: int, seed: int) -> np.ndarray:
        """Play one move by the rule and then the blueprint, and return the final scores, float64 [n].

        With the same seed, the random draws are the same for all rules.
        """
        actions = self.process.choose(tables, np.full(len(tables), rule), seed)
        return tables.play_out(actions, self.bot, seed, self.threads).astype(np.float64)


class FollowedGame(ABC):
    """A game that is followed move by move from the public view.

    Attributes:
        digest: Hash of the public history.
    """

    def __init__(self, x: Tables):
        """Start at the first position.

        Args:
            x: One table.
        """
        self._x = x
        self.digest = digest(b"", -1, x)

    def advance(self, action: int, after: Tables) -> None:
        """Update the game by a move.

        Args:
            action: The move.
            after: One table, after the move.
        """
        self._observe(action, after)
        self._x = after
        self.digest = digest(self.digest, action, after)

    @abstractmethod
    def _observe(self, action: int, after: Tables) -> None:
        """Update what a subclass has at the position before a move."""

    def _rng(self, seed: int, *hands: np.ndarray) -> np.random.Generator:
        """Return a generator that depends on a seed, the public history and these hands, so all seats draw alike."""
        parts = [self.digest[:8], *(hand.tobytes() for hand in hands)]
        return np.random.default_rng([seed, *(int.from_bytes(part, "little") for part in parts)])


P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class PolicySearchResult(Generic[P]):
    """Result of a search for the policy of the next move."""

    policy: P
    value: float | None = None  # mean final score, in points; None if no world was possible
    gain: float | None = None  # points over the blueprint
    exact_gain: float | None = None  # gain re-estimated in worlds of the exact belief; None without an assessment
    illegal: int = 0  # number of impossible worlds
    searched: int = 0  # number of sampled worlds

    def decision(self, action: int, unit: float) -> Decision:
        """Return the decision for an action of the policy.

        Args:
            action: The action.
            unit: Number of points that count as 1 in `Decision.value`.
        """
        value = None if self.value is None else self.value / unit
        return Decision(
            action,
            value=value,
            illegal=self.illegal,
            searched=self.searched,
            gain=self.gain,
            exact_gain=self.exact_gain,
        )


class SearchedGame(FollowedGame, Generic[P]):
    """A game whose moves are made by policies that a search on the public belief finds.

    Attributes:
        belief: The public belief over both hands.
    """

    def __init__(self, x: Tables, belief: PublicBelief, exact: PublicWorlds | None):
        """Start at the first position.

        Args:
            x: One table.
            belief: Belief of a game that has not begun.
            exact: Exact belief of a game that has not begun; None: gains are not re-estimated.
        """
        super().__init__(x)
        self.belief, self._exact = belief, exact
        self._beliefs = [belief] if exact is None else [belief, exact]
        for each in self._beliefs:
            each.begin(x)
        self._result: PolicySearchResult[P] | None = None

    def search_next_move(self) -> PolicySearchResult[P]:
        """Return the policy of the next move. The first call at a position runs the search."""
        if self._result is None:
            self._result = self._run_search()
        return self._result

    def advance(self, action: int, after: Tables) -> None:
        super().advance(action, after)
        self._result = None

    @abstractmethod
    def _run_search(self) -> PolicySearchResult[P]: ...


class RuleSearchGame(SearchedGame[int]):
    """A game whose moves are made by rules: numbers of policies, as in `HanabiProcess`."""

    def __init__(self, search: Search, x: Tables):
        super().__init__(x, search.belief(search.seed), search.exact() if search.assess else None)
        self._search = search

    def _run_search(self) -> PolicySearchResult[int]:
        settings, x = self._search, self._x
        seeds = self._rng(settings.seed).integers(2**62, size=4).tolist()
        worlds = self.belief.sample_hands(settings.worlds, seeds[0])[0]
        best, illegal = settings.choose_rule(x, worlds, seeds[1])
        if best is None:
            return PolicySearchResult(settings.bot, illegal=illegal, searched=len(worlds))
        exact_gain = None
        if self._exact is not None and best.choice == settings.bot:
            exact_gain = 0.0
        elif self._exact is not None:
            exact_worlds = self._exact.sample_hands(settings.assess, seeds[2])[0]
            exact_gain = settings.estimate_gain(x, exact_worlds, best.choice, seeds[3])
        return PolicySearchResult(best.choice, best.value, best.gain, exact_gain, illegal, len(worlds))

    def _observe(self, action: int, after: Tables) -> None:
        control = np.array([self.search_next_move().policy], dtype=np.int64)
        for belief in self._beliefs:
            belief.observe(self._x, control, np.array([action]), after)


G = TypeVar("G", bound=FollowedGame)


class _PublicHistory(NamedTuple):
    """Public events of a game."""

    moves: list[int]
    tables: list[Tables]  # one table before each move and after the last
    digests: list[bytes]  # digest of the history up to each table


class Games(Generic[G]):
    """Cache of followed games, which all seats of a game share.

    A followed game depends on public events only, so it is the same for all seats.
    """

    def __init__(self, game: Hanabi, begin: Callable[[Tables], G], kept: int = MANY):
        """Make an empty cache.

        Args:
            game: The game.
            begin: Starts to follow a game from its first position, which is one table.
            kept: Largest number of games in the cache, by default as many as are played at once. A game of tuned
                networks holds some megabytes. The least recently used game is dropped, and it is followed from its
                beginning again if it continues.
        """
        self._begin, self._kept = begin, kept
        self._uniform = HanabiBelief(game)
        self._games: OrderedDict[bytes, G] = OrderedDict()  # by digest of the public history

    def __len__(self) -> int:
        """Return the number of games in the cache."""
        return len(self._games)

    def follow(self, view: View) -> tuple[G, Tables]:
        """Return the game of a view, followed up to the view.

        Args:
            view: The view.

        Returns:
            The game, and one table in some world that is consistent with the view.

        Raises:
            ValueError: No deal explains the view.
        """
        history = self._history(view)
        digests, tables = history.digests, history.tables
        # Continue from the cached game with the most moves of this history.
        cached = next((i for i in reversed(range(len(digests))) if digests[i] in self._games), None)
        followed = self._begin(tables[0]) if cached is None else self._games.pop(digests[cached])
        for i in range(cached or 0, len(history.moves)):
            followed.advance(history.moves[i], tables[i + 1])
        self._games[followed.digest] = followed
        if len(self._games) > self._kept:
            self._games.popitem(last=False)
        return followed, tables[-1]

    def drop(self, view: View) -> None:
        """Drop a finished game from the cache.

        Args:
            view: A view at the end of the game.
        """
        for key in self._history(view).digests:
            self._games.pop(key, None)

    def _history(self, view: View) -> _PublicHistory:
        self._uniform.reset(view)
        tables = self._uniform.tables()
        moves = [event.action for event in view.events if event.actor >= 0 and event.action is not None]
        digests = [digest(b"", -1, tables[0])]
        for action, table in zip(moves, tables[1:]):
            digests.append(digest(digests[-1], action, table))
        return _PublicHistory(moves, tables, digests)


def digest(before: bytes, action: int, x: Tables) -> bytes:
    """Hash the public history after one more move.

    Args:
        before: Digest before the move; `b""` at the start.
        action: The move; -1 at the start.
        x: One table, after the move.

    Returns:
        16 bytes.
    """
    public = before + action.to_bytes(2, "little", signed=True) + x.possible().tobytes() + x.unseen_counts().tobytes()
    return blake2b(public, digest_size=16).digest()
