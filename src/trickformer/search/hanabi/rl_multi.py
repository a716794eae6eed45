"""RL search for both seats of Hanabi for two: values tuned to what everybody saw, by which the seat on turn moves.

Before each move a network is tuned in worlds of the public belief, both hands and the deck, where it moves for both
seats. What is drawn follows from the option `seed` and what everybody saw, so that both seats come to the same network
(on one machine, with as many threads of torch, and for certain on the CPU only: sums depend on that). Where it
promises more than the blueprint, the seat on turn does what is best by it, and that says of the hand which the seat
sees that it is one of those with which the network would have done so."""

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

_KEPT = 16  # games that are followed: each keeps the networks of its moves


@dataclass(frozen=True, slots=True)
class Team:
    """How both seats search."""

    process: HanabiProcess  # in the form fosg
    model: ActionValues  # where each search begins
    tuning: ValueTuning
    how: BeliefOptions
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
    """What a search found for the next move."""

    network: ActionValues | None  # by which it is made; None: as the blueprint has it
    value: float | None = None  # points; None where no world was possible
    gain: float | None = None  # of them, over the blueprint


class TunedGame:
    """A game up to some move. All of it follows from what everybody saw; `belief` is over both hands."""

    def __init__(self, team: Team, x: Tables):
        self._team, self.digest, self._x = team, digest(b"", -1, x), x
        self.belief = PublicWorlds(team.process, team.how.listed, team.how.tries)
        self.belief.begin(x)
        self._found: NetworkSearchResult | None = None

    def search_next_move(self) -> NetworkSearchResult:
        """By which network the next move is made, searched when it is asked for first."""
        if self._found is None:
            self._found = self._run_search()
        return self._found

    def go_on(self, action: int, after: Tables) -> None:
        """A move, by the network that was found for it."""
        network, bot = self.search_next_move().network, self._team.tuning.bot
        said = None if network is None else partial(self._team.move_log_likelihood, self._x, network, action)
        self.belief.observe(self._x, np.array([bot]), np.array([action]), after, said)
        self._x, self._found, self.digest = after, None, digest(self.digest, action, after)

    def _run_search(self) -> NetworkSearchResult:
        team, tuning = self._team, self._team.tuning
        rng = np.random.default_rng([team.seed, int.from_bytes(self.digest[:8], "little")])
        drawn, others = (self.belief.write(tuning.worlds, int(rng.integers(2**62)))[0] for _ in range(2))
        judged = self._worlds(others, rng)
        if not len(drawn) or not len(judged):
            return NetworkSearchResult(None)
        tuned = tuning.tune(team.model, lambda k: self._worlds(drawn[rng.integers(len(drawn), size=k)], rng), rng)
        own, blueprint = tuning.compare_scores(tuned, judged, int(rng.integers(2**62)))
        if own - blueprint > team.how.threshold:
            return NetworkSearchResult(tuned, own, own - blueprint)
        return NetworkSearchResult(None, blueprint, 0.0)

    def _worlds(self, hidden: np.ndarray, rng: np.random.Generator) -> Tables:
        return self._team.process.possible(self._x, hidden, int(rng.integers(2**62)))


class BothSeats(Player):
    """A team whose seats both search; at any number of tables, one decision after the other."""

    batch = 1

    def __init__(self, team: Team, game: Hanabi):
        self.team, self._kinds = team, game.rules.kinds
        self.games = Games(game, lambda x: TunedGame(team, x), _KEPT)

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        """One decision a view. Raises ValueError on a view that no deal explains."""
        return [self._decide(view, r) for view, r in zip(views, rng)]

    def _decide(self, view: View, rng: np.random.Generator) -> Decision:
        tuning, (followed, table) = self.team.tuning, self.games.of(view)
        found = followed.search_next_move()
        if found.network is None:
            actions = table.choose(np.full(1, tuning.bot, dtype=np.int8), int(rng.integers(2**62)))
        else:
            actions = tuning.actions(found.network, table)
        return Decision(
            int(actions[0]), value=None if found.value is None else found.value / self._kinds, gain=found.gain
        )
