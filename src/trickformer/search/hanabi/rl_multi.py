"""RL search for both seats of Hanabi for two: values tuned to the public events choose the moves.

Before each move a network is tuned in worlds of the public belief, both hands and the deck, in which it moves for both
seats. The draws follow from the option `seed` and the public events, so both seats compute the same network. That holds
on one machine with the same number of torch threads, and for certain on the CPU only, because sums depend on both. If
the network promises more than the blueprint, the seat on turn plays the network's best action. The move then reveals
that the hand which this seat sees is one with which the network chooses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from trickformer.base import Decision, Memo, Player, View
from trickformer.belief.hanabi.process import HanabiProcess, at_seat
from trickformer.belief.hanabi.public import PublicWorlds
from trickformer.games.hanabi import Hanabi
from trickformer.models.hanabi_values import ActionValues
from trickformer.search.hanabi.public import Games, digest
from trickformer.search.hanabi.rl import Tables, ValueTuning
from trickformer.search.options import BeliefOptions

_KEPT = 16  # number of games to keep, each with the network of its next move


@dataclass(frozen=True, slots=True)
class Team:
    """Settings of both seats' searches."""

    process: HanabiProcess  # in the form fosg
    model: ActionValues  # network that each search starts from
    tuning: ValueTuning
    options: BeliefOptions
    seed: int

    def move_log_likelihood(self, x: Tables, network: ActionValues, action: int, hidden: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of a network's move at a table, 1, given hands of the seat that waits.

        Args:
            x: The table before the move.
            network: Action values by which the other seat moved.
            action: Its move.
            hidden: int8 [m, hand], hands of the seat that waits.

        Returns:
            float64 [m]; see `belief.hanabi.exact.MoveLikelihood`.
        """
        tables = x.take(np.zeros(len(hidden), dtype=np.int64))
        feasible = tables.suppose(at_seat(hidden, 1 - int(x.current()[0]), 2))
        return np.where(feasible & (self.tuning.actions(network, tables) == action), 0.0, -np.inf)


@dataclass(frozen=True, slots=True)
class NetworkSearchResult:
    """Result of a search for the next move."""

    network: ActionValues | None  # network that chooses the move; None: the blueprint
    value: float | None = None  # points; None if no world was possible
    gain: float | None = None  # points over the blueprint


class TunedGame:
    """A game up to some move. All of it follows from the public events; `belief` is over both hands."""

    def __init__(self, team: Team, x: Tables):
        self._team, self._x = team, x
        self.digest = digest(b"", -1, x)
        self.belief = PublicWorlds(team.process, team.options.listed, team.options.tries)
        self.belief.begin(x)
        self._result: NetworkSearchResult | None = None

    def search_next_move(self) -> NetworkSearchResult:
        """Return the network of the next move; the first call searches it."""
        if self._result is None:
            self._result = self._run_search()
        return self._result

    def advance(self, action: int, after: Tables) -> None:
        """Follow a move by the network of `search_next_move`.

        Args:
            action: The move.
            after: The table after it, 1.
        """
        network, bot = self.search_next_move().network, self._team.tuning.bot
        likelihood = None if network is None else partial(self._team.move_log_likelihood, self._x, network, action)
        self.belief.observe(self._x, np.array([bot]), np.array([action]), after, likelihood)
        self._x, self._result = after, None
        self.digest = digest(self.digest, action, after)

    def _run_search(self) -> NetworkSearchResult:
        team, tuning = self._team, self._team.tuning
        rng = np.random.default_rng([team.seed, int.from_bytes(self.digest[:8], "little")])
        hidden, others = (self.belief.write(tuning.worlds, int(rng.integers(2**62)))[0] for _ in range(2))
        fresh = self._worlds(others, rng)
        if not len(hidden) or not len(fresh):
            return NetworkSearchResult(None)
        tuned = tuning.tune(team.model, lambda k: self._worlds(hidden[rng.integers(len(hidden), size=k)], rng), rng)
        own, blueprint = tuning.compare_scores(tuned, fresh, int(rng.integers(2**62)))
        if own - blueprint > team.options.threshold:
            return NetworkSearchResult(tuned, own, own - blueprint)
        return NetworkSearchResult(None, blueprint, 0.0)

    def _worlds(self, hidden: np.ndarray, rng: np.random.Generator) -> Tables:
        return self._team.process.possible(self._x, hidden, int(rng.integers(2**62)))


class BothSeats(Player):
    """Player of a team whose seats both search, at any number of tables, one decision after the other."""

    batch = 1

    def __init__(self, team: Team, game: Hanabi):
        self.team, self._kinds = team, game.rules.kinds
        self.games = Games(game, lambda x: TunedGame(team, x), _KEPT)

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(view, r) for view, r in zip(views, rng)]

    def _decide(self, view: View, rng: np.random.Generator) -> Decision:
        tuning = self.team.tuning
        followed, table = self.games.of(view)
        result = followed.search_next_move()
        if result.network is None:
            actions = table.choose(np.full(1, tuning.bot, dtype=np.int8), int(rng.integers(2**62)))
        else:
            actions = tuning.actions(result.network, table)
        value = None if result.value is None else result.value / self._kinds
        return Decision(int(actions[0]), value=value, gain=result.gain)
