"""Tables in lockstep at which a network plays all seats, and the targets that it learns from.

In off-belief learning every seat gets a target at every move, from imagined moves. The seat's hand is redrawn from its
belief, and the seat on turn moves in that world. The target is the reward of the move plus the network's value of the
next position, averaged over some worlds. The seat on turn takes its real action in them, and may also try a random one:
an imagined move costs no game. If a seat waits, the move of the seat on turn is recomputed, because that seat sees
another hand now.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from trickformer import _core
from trickformer.models.hanabi_values import ActionValues, any_legal, expected_value, sample_actions
from trickformer.studies.obl.hanabi import beliefs, colours, sad
from trickformer.studies.obl.hanabi.beliefs import TableBelief
from trickformer.studies.obl.hanabi.config import OffBeliefTraining
from trickformer.studies.obl.hanabi.partner import LowerLevel, learners

OVER = 255  # in place of an action after the end


@dataclass(frozen=True, slots=True)
class Trajectories:
    """k games that have ended."""

    games: np.ndarray  # uint64 [k]: their numbers in the series
    actions: np.ndarray  # uint8 [k, T]: the moves, OVER after the last
    targets: np.ndarray  # float32 [k, T, players]: of off-belief learning, by move and seat
    tries: np.ndarray  # uint8 [k, T]: action that the seat on turn only imagined; in SAD the greedy action
    tried: np.ndarray  # float32 [k, T]: target of the imagined action


def explorations(config: OffBeliefTraining) -> np.ndarray:
    """Return the share of random moves of each kind of seat: e^(1 + a i / (n - 1)), as in Table 2.

    Args:
        config: Options with the number of kinds n, the share e and the power a.

    Returns:
        float64 [n].
    """
    n = config.explorations
    return config.exploration ** (1 + config.exploration_power * np.arange(n) / max(n - 1, 1))


class Actors:
    """Games in lockstep. Each seat of a game draws its share of random moves.

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
        self.dealt = n  # games so far
        self.moves = 0  # of every table
        self.games = np.arange(n, dtype=np.uint64)
        self.lengths = np.zeros(n, dtype=np.int64)
        self.actions = np.full((n, rules.longest), OVER, dtype=np.uint8)
        self.targets = np.zeros((n, rules.longest, rules.players), dtype=np.float32)
        self.tries = np.zeros((n, rules.longest), dtype=np.uint8)
        self.tried = np.zeros((n, rules.longest), dtype=np.float32)
        self.shares = self._shares(config, rules.players, self.games)
        self.orders = self._orders(config, rules, self.games)
        if config.sad:
            self.shown = sad.blank_observations(rules, n)  # observation of the last greedy action
        self.memories: list[torch.Tensor] = []  # of the network that plays and of the target's, [n * players, ...]

    @staticmethod
    def _shares(config: OffBeliefTraining, players: int, games: np.ndarray) -> np.ndarray:
        """Draw the share of random moves of each seat: float64 [k, players]."""
        kinds = explorations(config)
        rng = np.random.default_rng([config.seed, 1, int(games[0])])
        return kinds[rng.integers(len(kinds), size=(len(games), players))]

    @staticmethod
    def _orders(config: OffBeliefTraining, rules: _core.hanabi.Rules, games: np.ndarray) -> np.ndarray:
        """Draw the permutation of the colours of each seat: int64 [k, players]; 0 is the identity."""
        if config.other_play:
            return colours.orders(rules, config.seed, games)
        return np.zeros((len(games), rules.players), dtype=np.int64)

    @torch.no_grad()
    def step(self, config: OffBeliefTraining, online: ActionValues, target: ActionValues) -> Trajectories:
        """Make a move at every table, and deal new games at the tables whose games end.

        All draws depend only on the config's seed and on the number of moves so far.

        Args:
            config: Options of the training.
            online: Network that plays.
            target: Network that evaluates imagined positions.

        Returns:
            The games that this move ends.
        """
        t, rules = self.tables, self.tables.rules
        n, players = len(t), rules.players
        rng = np.random.default_rng([config.seed, 2, self.moves])
        seat = t.current().astype(np.int64)
        rows = np.arange(n) * players + seat  # of the seat on turn, among the seats of all tables
        contexts = self._look(config, online, target)
        # Off-belief learning imagines some worlds for each table and seat; self-play has the table alone.
        each = players * config.worlds if config.method == "obl" else 1
        viewers = beliefs.seats(t, config.worlds)
        worlds = t.take(np.repeat(np.arange(n), each))
        if config.method == "obl":
            self.belief.deal(t, worlds, config.worlds, int(rng.integers(2**63)))
        may = worlds.legal()
        looks = worlds.observe(None, config.v0)
        if config.sad:
            looks = np.concatenate([looks, self.shown[np.arange(n), seat]], axis=1)
        legal, seen = _on(online, may), _on(online, looks)
        names = colours.renaming(rules, seen.device) if config.other_play else None
        which = _on(online, self.orders[np.arange(n), seat])
        if names is not None:
            legal, seen = names.rename_legal(legal, which), names.rename_observations(seen, which)
        q, _ = online(seen, contexts[0][np.repeat(rows, each)], legal)
        answers = sample_actions(q, legal, config.temperature, rng)
        answers = (answers if names is None else names.back[which, answers]).cpu().numpy()
        # The seat on turn does not see its own hand, so it moves in its own worlds as at the table.
        at = rows * config.worlds if config.method == "obl" else rows // players
        explores = rng.random(n) < self.shares[np.arange(n), seat]
        drawn = any_legal(may[at], rng)
        actions = np.where(explores, drawn, answers[at])
        if self.partner is not None:
            actions = np.where(seat == learners(self.games, players), actions, self.partner.act(t, rng))
        now = np.arange(n), self.lengths
        if config.sad:
            self.tries[now], self.shown = answers, sad.observe_actions(t, answers)
        if config.method == "obl":
            if config.tries:
                self.tries[now] = tries = any_legal(may[at], rng)
                own = np.repeat(rows, config.worlds)
                mine = worlds.take((rows[:, None] * config.worlds + np.arange(config.worlds)).ravel())
                imagined = self._evaluate_worlds(config, online, target, mine, own, np.repeat(tries, config.worlds))
                self.tried[now] = imagined.reshape(n, config.worlds).mean(axis=1)
            answers = np.where(viewers == np.repeat(seat, each), np.repeat(actions, each), answers)
            everybody = np.repeat(np.arange(n * players), config.worlds)
            imagined = self._evaluate_worlds(config, online, target, worlds, everybody, answers)
            self.targets[now] = imagined.reshape(n, players, config.worlds).mean(axis=2)
            self.belief.follow(t, actions)
        t.step(actions)
        self.actions[np.arange(n), self.lengths] = actions
        self.lengths += 1
        self.moves += 1
        return self._restart_games(config, np.flatnonzero(t.over()))

    def _look(self, config: OffBeliefTraining, online: ActionValues, target: ActionValues) -> list[torch.Tensor]:
        """Update the memories by the observations of all seats; return both networks' contexts [n * players, ...]."""
        n = len(self.tables) * self.tables.rules.players
        if not self.memories:
            self.memories = [online.memory(n), target.memory(n)]
        if not online.shape.recurrent:
            return [_on(online, np.ones((n, 1), dtype=np.float32))] * 2
        looks = beliefs.observe_all_seats(self.tables, config.v0)
        if config.sad:
            looks = np.concatenate([looks, self.shown.reshape(n, -1)], axis=1)
        seen = _on(online, looks)
        if config.other_play:
            names = colours.renaming(self.tables.rules, seen.device)
            seen = names.rename_observations(seen, _on(online, self.orders.ravel()))
        contexts = []
        for i, network in enumerate((online, target)):
            context, self.memories[i] = network.contexts(seen[None], self.memories[i])
            contexts.append(context[0])
        return contexts

    def _evaluate_worlds(
        self,
        config: OffBeliefTraining,
        online: ActionValues,
        target: ActionValues,
        worlds: _core.hanabi.Tables,
        seats: np.ndarray,
        actions: np.ndarray,
    ) -> np.ndarray:
        """Compute the targets of actions in imagined worlds: float32 [k].

        `seats`, int64 [k], names the seat that imagines each world, among the seats of all tables.
        """
        viewers = (seats % worlds.rules.players).astype(np.int8)
        before = worlds.scores()
        worlds.step(actions)
        paid = (worlds.scores() - before).astype(np.float32)
        seen, own = _on(online, worlds.observe(viewers, config.v0)), worlds.current() == viewers
        pasts = [memory[torch.from_numpy(seats)] for memory in self.memories]
        after = [m.contexts(seen[None], past)[0][0] for m, past in zip((online, target), pasts)]
        legal = _on(online, worlds.legal() & own[:, None])
        q, waiting = target(seen, after[1], legal)
        turns = _on(online, np.flatnonzero(own))
        by, _ = online(seen[turns], after[0][turns], legal[turns])
        ahead = waiting.index_copy(0, turns, expected_value(q[turns], by, legal[turns], config.temperature))
        return paid + config.discount * ahead.cpu().numpy() * ~worlds.over()

    def _restart_games(self, config: OffBeliefTraining, rows: np.ndarray) -> Trajectories:
        """Return the games at these tables, and deal new ones there."""
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


def _on(network: ActionValues, array: np.ndarray) -> torch.Tensor:
    """Move an array to the device of a network."""
    return torch.from_numpy(array).to(network.worth.weight.device)
