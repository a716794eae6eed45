"""Tables in lockstep at which a network plays all seats, and the targets that it learns from.

In off-belief learning every seat gets a target at every move, from imagined worlds. A world of a seat is the table with
that seat's hand redrawn from its belief. In its own worlds the seat on turn takes its real action, and may also try a
random one. The target is the reward plus the value of waiting after the action. In the worlds of a waiting seat the
network chooses the actions of the others until the seat is on turn, because they see another hand there. The target is
the sum of the rewards and of the value of the seat's turn. Targets are averages over a seat's worlds, and the values
tend to equation 4 of the OBL paper (docs/design/off-belief.md).

Random generators have the seed [seed, stream, number]. Stream 1 draws exploration rates and 2 moves (here), 3 the
replayed games (training.py), 4 games of the level below (below.py), and 5 permutations of colours (colours.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from trickformer import _core
from trickformer.models.hanabi_values import ActionValues, any_legal, sample_actions
from trickformer.studies.obl.hanabi import beliefs, colours, sad
from trickformer.studies.obl.hanabi.beliefs import TableBelief
from trickformer.studies.obl.hanabi.config import OffBeliefTraining
from trickformer.studies.obl.hanabi.imagination import Imagination, to_device
from trickformer.studies.obl.hanabi.partner import LowerLevel, learners

OVER = 255  # fills the arrays of actions after the end of a game


@dataclass(frozen=True, slots=True)
class Trajectories:
    """k games that have ended; T is the largest number of moves of a game."""

    games: np.ndarray  # uint64 [k]: their numbers in the series
    actions: np.ndarray  # uint8 [k, T]: the moves, OVER after the last
    targets: np.ndarray  # float32 [k, T, players]: target of each seat at each move, in off-belief learning
    tries: np.ndarray  # uint8 [k, T]: random action that the seat on turn only imagines; in SAD the greedy action
    tried: np.ndarray  # float32 [k, T]: target of the action in `tries`


def explorations(config: OffBeliefTraining) -> np.ndarray:
    """Return the exploration rates e^(1 + a i / (n - 1)), as in Table 2 of "Off-Belief Learning".

    Args:
        config: Options with the number of rates n, the largest rate e and the exponent a.

    Returns:
        float64 [n].
    """
    n = config.explorations
    return config.exploration ** (1 + config.exploration_power * np.arange(n) / max(n - 1, 1))


class Actors:
    """Games in lockstep. Each seat of a game draws its own exploration rate, the share of its random moves.

    Args:
        config: Options of the training.
        rules: Rules of the games.
        belief: Beliefs of off-belief learning.
        partner: Level below in k-level reasoning; None otherwise.
    """

    def __init__(
        self,
        config: OffBeliefTraining,
        rules: _core.hanabi.Rules,
        belief: TableBelief,
        partner: LowerLevel | None = None,
    ):
        n = config.tables
        self.belief, self.partner = belief, partner
        self.tables = _core.hanabi.Tables(rules, config.seed, 0, n)
        self.dealt = n  # number of games dealt so far
        self.moves = 0  # number of calls of `step`, each a move at every table
        # Saved states hold the names of these attributes. The arrays describe the current game of each table.
        self.games = np.arange(n, dtype=np.uint64)
        self.lengths = np.zeros(n, dtype=np.int64)
        self.actions = np.full((n, rules.longest), OVER, dtype=np.uint8)
        self.targets = np.zeros((n, rules.longest, rules.players), dtype=np.float32)
        self.tries = np.zeros((n, rules.longest), dtype=np.uint8)
        self.tried = np.zeros((n, rules.longest), dtype=np.float32)
        self.shares = self._shares(config, rules.players, self.games)
        self.orders = self._orders(config, rules, self.games)
        if config.sad:
            self.shown = sad.blank_observations(rules, n)  # each seat's observation of the last greedy action
        self.memories: list[torch.Tensor] = []  # LSTM states of the online and the target network, [n * players, ...]

    @staticmethod
    def _shares(config: OffBeliefTraining, players: int, games: np.ndarray) -> np.ndarray:
        """Draw the exploration rate of each seat of k games: float64 [k, players]."""
        rates = explorations(config)
        rng = np.random.default_rng([config.seed, 1, int(games[0])])
        return rates[rng.integers(len(rates), size=(len(games), players))]

    @staticmethod
    def _orders(config: OffBeliefTraining, rules: _core.hanabi.Rules, games: np.ndarray) -> np.ndarray:
        """Draw the number of each seat's permutation of the colours: int64 [k, players]; 0 is the identity."""
        if config.other_play:
            return colours.orders(rules, config.seed, games)
        return np.zeros((len(games), rules.players), dtype=np.int64)

    @torch.no_grad()
    def step(self, config: OffBeliefTraining, online: ActionValues, target: ActionValues) -> Trajectories:
        """Make a move at every table, and deal new games at the tables whose games end.

        All random draws depend only on the config's seed and on the number of moves so far.

        Args:
            config: Options of the training.
            online: Network that plays.
            target: Network that evaluates imagined positions.

        Returns:
            The games that this move ends.
        """
        tables, rules = self.tables, self.tables.rules
        n, players = len(tables), rules.players
        rng = np.random.default_rng([config.seed, 2, self.moves])
        seat = tables.current().astype(np.int64)  # [n]: the seat on turn
        actors = np.arange(n) * players + seat  # [n]: the seat on turn, among the n * players seats of all tables
        contexts = self._remember(config, online, target)
        # Off-belief learning imagines worlds for each seat of each table; other methods only use the table itself.
        copies = players * config.worlds if config.method == "obl" else 1
        viewers = beliefs.seats(tables, config.worlds)
        worlds = tables.take(np.repeat(np.arange(n), copies))
        if config.method == "obl":
            self.belief.deal(tables, worlds, config.worlds, int(rng.integers(2**63)))
        legal_mask = worlds.legal()
        observations = worlds.observe(None, config.v0)
        if config.sad:
            observations = np.concatenate([observations, self.shown[np.arange(n), seat]], axis=1)
        legal, seen = to_device(online, legal_mask), to_device(online, observations)
        renaming = colours.renaming(rules, seen.device) if config.other_play else None
        order = to_device(online, self.orders[np.arange(n), seat])
        if renaming is not None:
            legal, seen = renaming.rename_legal(legal, order), renaming.rename_observations(seen, order)
        q, _ = online(seen, contexts[0][np.repeat(actors, copies)], legal)
        choices = sample_actions(q, legal, config.temperature, rng)
        choices = (choices if renaming is None else renaming.back[order, choices]).cpu().numpy()
        # The worlds of the seat on turn differ only in its own hand, which it does not see. So its choice in the first
        # of them is its choice at the table.
        first_world = actors * config.worlds if config.method == "obl" else actors // players
        explores = rng.random(n) < self.shares[np.arange(n), seat]
        actions = np.where(explores, any_legal(legal_mask[first_world], rng), choices[first_world])
        if self.partner is not None:
            actions = np.where(seat == learners(self.games, players), actions, self.partner.act(tables, rng))
        now = np.arange(n), self.lengths  # index of this move in arrays [n, T]
        if config.sad:
            self.tries[now], self.shown = choices, sad.observe_actions(tables, choices)
        if config.method == "obl":
            imagination = Imagination(config, online, target, rng)
            if config.tries:
                self.tries[now] = tries = any_legal(legal_mask[first_world], rng)
                imaginer = np.repeat(actors, config.worlds)
                own_worlds = worlds.take((actors[:, None] * config.worlds + np.arange(config.worlds)).ravel())
                tried = np.repeat(tries, config.worlds)
                imagined = imagination.evaluate(own_worlds, imaginer, tried, self.memories)
                self.tried[now] = imagined.reshape(n, config.worlds).mean(axis=1)
            choices = np.where(viewers == np.repeat(seat, copies), np.repeat(actions, copies), choices)
            imaginer = np.repeat(np.arange(n * players), config.worlds)
            imagined = imagination.evaluate(worlds, imaginer, choices, self.memories)
            self.targets[now] = imagined.reshape(n, players, config.worlds).mean(axis=2)
            self.belief.follow(tables, actions)
        tables.step(actions)
        self.actions[now] = actions
        self.lengths += 1
        self.moves += 1
        return self._restart_games(config, np.flatnonzero(tables.over()))

    def _remember(self, config: OffBeliefTraining, online: ActionValues, target: ActionValues) -> list[torch.Tensor]:
        """Update the memories by the observations of all seats; return both networks' contexts [n * players, ...]."""
        n = len(self.tables) * self.tables.rules.players
        if not self.memories:
            self.memories = [online.memory(n), target.memory(n)]
        if not online.sizes.recurrent:
            return [to_device(online, np.ones((n, 1), dtype=np.float32))] * 2
        observations = beliefs.observe_all_seats(self.tables, config.v0)
        if config.sad:
            observations = np.concatenate([observations, self.shown.reshape(n, -1)], axis=1)
        seen = to_device(online, observations)
        if config.other_play:
            renaming = colours.renaming(self.tables.rules, seen.device)
            seen = renaming.rename_observations(seen, to_device(online, self.orders.ravel()))
        contexts = []
        for i, network in enumerate((online, target)):
            context, self.memories[i] = network.contexts(seen[None], self.memories[i])
            contexts.append(context[0])
        return contexts

    def _restart_games(self, config: OffBeliefTraining, rows: np.ndarray) -> Trajectories:
        """Return the games at the tables with the numbers `rows`, and deal new ones there."""
        ended = Trajectories(
            self.games[rows], self.actions[rows], self.targets[rows], self.tries[rows], self.tried[rows]
        )
        if len(rows):
            players = self.tables.rules.players
            self.tables.deal(rows, config.seed, self.dealt)
            self.games[rows] = np.arange(self.dealt, self.dealt + len(rows))
            self.shares[rows] = self._shares(config, players, self.games[rows])
            self.orders[rows] = self._orders(config, self.tables.rules, self.games[rows])
            self.dealt += len(rows)
            self.lengths[rows], self.actions[rows] = 0, OVER
            self.targets[rows] = 0
            if config.sad:
                self.shown[rows] = 0
            self.belief.renew(rows)
            if self.partner is not None:
                self.partner.renew(rows)
            for memory in self.memories:
                memory.unflatten(0, (-1, players))[torch.from_numpy(rows)] = 0
        return ended
