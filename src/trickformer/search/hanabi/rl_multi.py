"""RL search for both seats of two-player Hanabi.

Before each move both seats tune the same network in worlds of the public belief, which are both hands and the deck. The
belief is exact or a network's (belief/hanabi/estimators.py). The tuned network moves for both seats in these games. All
randomness depends on the option `seed` and the public events only, so both seats compute the same network. This needs
one machine, the same number of torch threads and the CPU, because the last digits of torch's sums vary otherwise. If
the network scores more than the blueprint, the seat on turn plays the network's best action. That action depends on the
waiting seat's hand, which the seat on turn sees, so the move informs the waiting seat about its hand. With `follow` the
network makes the next `horizon` moves in this way, as in the games that have shown it to be better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from trickformer import _core
from trickformer.base import Decision, Memo, Player, View
from trickformer.belief.hanabi.process import Form, HanabiProcess, at_seat
from trickformer.belief.hanabi.public import PublicWorlds
from trickformer.games.hanabi import Hanabi
from trickformer.models.hanabi_values import ActionValues
from trickformer.search.hanabi.public import Games, PolicySearchResult, PublicBelief, SearchedGame
from trickformer.search.hanabi.rl import Tables, ValueTuning


class NetworkProcess(HanabiProcess):
    """Hanabi in the form fosg, whose next move a tuned network may make.

    Attributes:
        network: Network that makes the next move; None: the policy of the control makes it.
    """

    def __init__(self, rules: _core.hanabi.Rules, tuning: ValueTuning):
        """Set up the system.

        Args:
            rules: Rules of the core, for two players.
            tuning: Evaluates networks, and has the blueprint of both seats.
        """
        super().__init__(rules, Form.FOSG, [tuning.blueprint.policy] * 2)
        self.network: ActionValues | None = None
        self._tuning = tuning

    def choose(self, x: Tables, policies: np.ndarray, seed: int, first: int = 0) -> np.ndarray:
        if self.network is None:
            return super().choose(x, policies, seed, first)
        return np.where(x.over(), -1, self._tuning.actions(self.network, x))


@dataclass(frozen=True, slots=True)
class Team:
    """Settings of both seats' searches."""

    process: NetworkProcess
    model: ActionValues  # network that each search starts from
    tuning: ValueTuning
    belief: Callable[[int], PublicBelief]  # makes the belief of a game from a seed
    exact: Callable[[], PublicWorlds]  # makes the exact belief of a game
    threshold: float  # points by which the network must beat the blueprint
    follow: bool  # whether an accepted network makes its `horizon` moves without another search
    assess: int  # number of exact worlds that re-estimate gains; 0: gains are not re-estimated
    seed: int

    def move_log_likelihood(self, x: Tables, network: ActionValues, action: int, hidden: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of a network's move, given hands of the waiting seat.

        Args:
            x: One table, before the move.
            network: The network that chose the move.
            action: The move.
            hidden: Hands of the waiting seat, int8 [m, hand].

        Returns:
            float64 [m]: 0 if the network chooses the move when the waiting seat holds the hand, else -inf.
        """
        tables = x.take(np.zeros(len(hidden), dtype=np.int64))
        feasible = tables.suppose(at_seat(hidden, 1 - int(x.current()[0]), 2))
        return np.where(feasible & (self.tuning.actions(network, tables) == action), 0.0, -np.inf)


class TunedGame(SearchedGame["ActionValues | None"]):
    """A game whose moves are made by tuned networks, or by the blueprint where the network is None."""

    def __init__(self, team: Team, x: Tables):
        super().__init__(x, team.belief(team.seed), team.exact() if team.assess else None)
        self._team = team
        self._accepted: ActionValues | None = None  # network that the last search preferred to the blueprint
        self._moves_left = 0  # moves that it still makes, without another search

    def _observe(self, action: int, after: Tables) -> None:
        network = self.search_next_move().policy
        self._moves_left = max(self._moves_left - 1, 0)
        control, actions = self._team.process.players[:1], np.array([action])
        likelihood = None if network is None else partial(self._team.move_log_likelihood, self._x, network, action)
        for belief in self._beliefs:
            if isinstance(belief, PublicWorlds):
                belief.observe(self._x, control, actions, after, likelihood)
                continue
            self._team.process.network = network
            try:
                belief.observe(self._x, control, actions, after)
            finally:
                self._team.process.network = None

    def _run_search(self) -> PolicySearchResult[ActionValues | None]:
        if self._moves_left:
            return PolicySearchResult(self._accepted)
        team, tuning = self._team, self._team.tuning
        rng = self._rng(team.seed)
        tuning_hands, test_hands = (
            self.belief.sample_hands(tuning.worlds, int(rng.integers(2**62)))[0] for _ in range(2)
        )
        test_worlds = self._worlds(test_hands, rng)
        searched = len(tuning_hands) + len(test_hands)
        tuning_hands = self._possible_hands(tuning_hands)
        illegal = searched - len(tuning_hands) - len(test_worlds)
        if not len(tuning_hands) or not len(test_worlds):
            return PolicySearchResult(None, illegal=illegal, searched=searched)

        def draw(n: int) -> Tables:
            return self._worlds(tuning_hands[rng.integers(len(tuning_hands), size=n)], rng)

        tuned = tuning.tune(team.model, draw, rng)
        value, blueprint_value = tuning.compare_scores(tuned, test_worlds, int(rng.integers(2**62)))
        if value - blueprint_value <= team.threshold:
            exact_gain = 0.0 if team.assess else None
            return PolicySearchResult(None, blueprint_value, 0.0, exact_gain, illegal, searched)
        if team.follow:
            self._accepted, self._moves_left = tuned, tuning.horizon
        exact_gain = self._estimate_exact_gain(tuned, rng)
        return PolicySearchResult(tuned, value, value - blueprint_value, exact_gain, illegal, searched)

    def _estimate_exact_gain(self, tuned: ActionValues, rng: np.random.Generator) -> float | None:
        """Estimate the gain of a network in worlds of the exact belief; None without them."""
        if self._exact is None:
            return None
        worlds = self._worlds(self._exact.sample_hands(self._team.assess, int(rng.integers(2**62)))[0], rng)
        if not len(worlds):
            return None
        value, blueprint_value = self._team.tuning.compare_scores(tuned, worlds, int(rng.integers(2**62)))
        return value - blueprint_value

    def _possible_hands(self, hidden: np.ndarray) -> np.ndarray:
        """Drop the worlds that cards or hints rule out. The exact belief draws none of them."""
        if not len(hidden):
            return hidden
        _, feasible = self._team.process.worlds(self._x, np.zeros(len(hidden), dtype=np.int64), hidden, 0)
        return hidden[feasible]

    def _worlds(self, hidden: np.ndarray, rng: np.random.Generator) -> Tables:
        return self._team.process.possible(self._x, hidden, int(rng.integers(2**62)))


class BothSeats(Player):
    """Player whose seats both search."""

    batch = 1

    def __init__(self, team: Team, game: Hanabi):
        self.team, self._kinds = team, game.rules.kinds
        self.games = Games(game, lambda x: TunedGame(team, x))

    def act(self, views: Sequence[View], rng: Sequence[np.random.Generator], memo: Sequence[Memo]) -> list[Decision]:
        return [self._decide(view, r) for view, r in zip(views, rng)]

    def end(self, views: Sequence[View], scores: tuple[int, ...], memo: Sequence[Memo]) -> None:
        self.games.drop(views[0])  # it holds a network for each move

    def _decide(self, view: View, rng: np.random.Generator) -> Decision:
        tuning = self.team.tuning
        followed, table = self.games.follow(view)
        result = followed.search_next_move()
        if result.policy is None:
            actions = tuning.blueprint.choose(table, int(rng.integers(2**62)))
        else:
            actions = tuning.actions(result.policy, table)
        return result.decision(int(actions[0]), self._kinds)
