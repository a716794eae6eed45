"""RL search in Hanabi: fine-tune a network's action values for one decision, by games from sampled worlds.

`x` is a batch of the core's tables. A is the number of actions.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import torch

from trickformer import _core
from trickformer.base import View
from trickformer.models.hanabi_values import ActionValues, action_values, any_legal, best
from trickformer.search.hanabi.blueprint import Blueprint

Tables: TypeAlias = _core.hanabi.Tables
WorldSampler: TypeAlias = Callable[[int], Tables]  # samples the given number of worlds of a decision, as tables


class FollowedNetwork(NamedTuple):
    """A network that beat the blueprint and makes the next moves of a seat."""

    network: ActionValues
    moves_left: int
    actions: tuple[int, ...]  # all actions of the seat so far; after other actions the network is not followed

    def continues(self, view: View) -> bool:
        """Return whether the network makes the next move.

        Args:
            view: View of the seat.
        """
        return self.moves_left > 0 and self.actions == view.own_actions

    def after(self, action: int) -> FollowedNetwork:
        """Return what is left after a move of the network.

        Args:
            action: The move.
        """
        return FollowedNetwork(self.network, self.moves_left - 1, (*self.actions, action))


@dataclass(frozen=True, slots=True)
class ValueTuning:
    """Fine-tuning of a network's action values for one decision, and its settings.

    In the games, the network moves for one seat while all others play the blueprint, or it moves for all seats. After
    `horizon` moves of the network, all seats play the blueprint, or a game of the tuning ends with an estimate of the
    points to come.
    """

    blueprint: Blueprint
    # Estimates the points that the blueprint still gains at n tables, [n]; None: the blueprint plays games to the end.
    bootstrap: Callable[[Tables], np.ndarray] | None
    others: int  # blueprint's moves after each of the network's: one for each other seat; 0 if it moves for all seats
    v0: bool  # whether the network reads V0 beliefs (belief/hanabi/factored.py)
    worlds: int  # worlds for tuning, and number of fresh worlds that compare the result with the blueprint
    horizon: int
    steps: int  # gradient steps
    batch: int  # games of a gradient step
    learning_rate: float
    adam_epsilon: float
    clip: float  # largest norm of a gradient
    discount: float  # discount per move of the game of the target network's values
    target_every: int  # gradient steps between two updates of the target network
    # Each game draws one of `explorations` probabilities of a random move. The largest is `exploration`, the smallest
    # is `exploration` to the power of 1 + `exploration_power`.
    exploration: float
    explorations: int
    exploration_power: float
    threads: int

    def tune(self, model: ActionValues, draw: WorldSampler, rng: np.random.Generator) -> ActionValues:
        """Tune a copy of a network by independent Q-learning: each seat learns as if it were alone.

        The target of a move is the points scored until the seat's next move by the network, plus the discounted value
        of that move. For the seat's last move by the network, it is all points scored until the blueprint has
        finished the game, or, with `bootstrap`, until the network's moves end, plus the estimate of those to come.

        Args:
            model: The network.
            draw: Samples worlds.
            rng: Source of random moves and chance.

        Returns:
            The tuned copy.
        """
        tuned, target = copy.deepcopy(model).requires_grad_(True).train(), copy.deepcopy(model)
        optimizer = torch.optim.Adam(tuned.parameters(), lr=self.learning_rate, eps=self.adam_epsilon)
        for step in range(self.steps):
            if step % self.target_every == 0:
                target.load_state_dict(tuned.state_dict())
            errors = self.td_errors(tuned, target, draw(self.batch), rng)
            optimizer.zero_grad()
            ((errors**2).mean() / 2).backward()
            torch.nn.utils.clip_grad_norm_(tuned.parameters(), self.clip)
            optimizer.step()
        return tuned.requires_grad_(False).eval()

    def td_errors(self, model: ActionValues, target: ActionValues, x: Tables, rng: np.random.Generator) -> torch.Tensor:
        """Play games from `x`, and compute the temporal-difference errors of the network's moves.

        Args:
            model: The network that moves. As in double Q-learning, it chooses the next move of a target.
            target: The target network, which values that next move.
            x: n tables at which the games begin; they are not changed.
            rng: Source of random moves and chance.

        Returns:
            float32 [m]: value minus target of every move by the network, by move number, then by game.
        """
        n, exploration = len(x), self.exploration_shares(len(x), rng)
        interval = x.rules.players - self.others  # moves of the network from one move of a seat to its next
        # By number of the network's move and by game: score before the move, the target network's value of the greedy
        # move, and whether the game still ran.
        scores, next_values = np.zeros((2, self.horizon, n), dtype=np.float32)
        was_played = np.zeros((self.horizon, n), dtype=bool)
        moves: list[
            tuple[np.ndarray, torch.Tensor]
        ] = []  # for each move: unfinished games, and Q of the actions played

        def play(move: int, x: Tables, live: np.ndarray) -> np.ndarray:
            observations, legal = _build_inputs(model, x, self.v0)
            q = action_values(model, observations, legal)
            choice = best(q.detach(), legal)
            if move >= interval:  # the seat has moved before, and this value is part of the earlier move's target
                with torch.no_grad():
                    target_q = action_values(target, observations, legal)
                    next_values[move, live] = _select(target_q, choice).cpu().numpy()
            scores[move, live], was_played[move, live] = x.scores(), True
            action = self._randomize_actions(choice.cpu().numpy(), legal.cpu().numpy(), exploration[live], rng)
            moves.append((live, _select(q, torch.from_numpy(action).to(q.device))))
            return action

        final = self._play_games(x, rng, self.horizon, play, self.bootstrap)
        errors, discount = [], self.discount**x.rules.players
        for move, (live, values) in enumerate(moves):
            targets, next_move = final[live] - scores[move, live], move + interval
            if next_move < self.horizon:
                reward = scores[next_move, live] - scores[move, live]
                bootstrapped = reward + discount * next_values[next_move, live]
                targets = np.where(was_played[next_move, live], bootstrapped, targets)
            errors.append(values - torch.from_numpy(targets.astype(np.float32)).to(values))
        return torch.cat(errors)

    @torch.no_grad()
    def actions(self, model: ActionValues, x: Tables) -> np.ndarray:
        """Choose the best action of the seat on turn at each table.

        The last digits of torch's sums depend on the number of tables. Double precision keeps the choice the same.

        Args:
            model: The network.
            x: n tables.

        Returns:
            int64 [n].
        """
        double = copy.deepcopy(model).double()
        observations, legal = _build_inputs(double, x, self.v0)
        return best(action_values(double, observations, legal), legal).cpu().numpy()

    @torch.no_grad()
    def scores(self, model: ActionValues | None, x: Tables, seed: int) -> np.ndarray:
        """Play games to the end: `horizon` moves of the network, then the blueprint in all seats.

        Args:
            model: The network; None: the blueprint plays from the start.
            x: n tables; they are not changed.
            seed: Seed of all randomness.

        Returns:
            Final scores, float32 [n].
        """

        def play(move: int, x: Tables, live: np.ndarray) -> np.ndarray:
            assert model is not None
            observations, legal = _build_inputs(model, x, self.v0)
            return best(action_values(model, observations, legal), legal).cpu().numpy()

        return self._play_games(x, np.random.default_rng(seed), self.horizon if model is not None else 0, play)

    def compare_scores(self, model: ActionValues, x: Tables, seed: int) -> tuple[float, float]:
        """Return the mean scores of the network and of the blueprint in the same worlds.

        Args:
            model: The network.
            x: Tables of the worlds.
            seed: Seed of all randomness.
        """
        return float(self.scores(model, x, seed).mean()), float(self.scores(None, x, seed).mean())

    def _play_games(
        self,
        x: Tables,
        rng: np.random.Generator,
        moves: int,
        play: Callable[[int, Tables, np.ndarray], np.ndarray],
        estimate: Callable[[Tables], np.ndarray] | None = None,
    ) -> np.ndarray:
        """Play games with `moves` moves of the network, and return their final scores, float32 [n].

        Args:
            x: n tables; they are not changed.
            rng: Source of chance.
            moves: Number of moves of the network.
            play: Returns the network's actions, int64 [k]. Its arguments are the number of the move, the k tables of
                unfinished games, and the indices of these games in x.
            estimate: Estimates the points to come after these moves, [k]; None: the blueprint plays to the end.
        """
        live, final = np.arange(len(x)), np.zeros(len(x), dtype=np.float32)
        x = x.take(live)
        for move in range(moves):
            action, seed = play(move, x, live), int(rng.integers(2**62))
            x.step(action)
            for _ in range(self.others):
                x.step(self.blueprint.choose(x, seed))
            final[live] = x.scores()
            unfinished = np.flatnonzero(~x.over())
            x, live = x.take(unfinished), live[unfinished]
        if estimate is not None:
            final[live] += estimate(x)
            return final
        seed = int(rng.integers(2**62))
        final[live] = self.blueprint.play_out(x, self.blueprint.choose(x, seed), seed, self.threads)
        return final

    def exploration_shares(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the probability of a random move for each game, from `explorations` different values.

        Args:
            n: Number of games.
            rng: Source of all randomness.

        Returns:
            float64 [n].
        """
        level = rng.integers(self.explorations, size=n) / max(self.explorations - 1, 1)  # from 0 to 1
        return self.exploration ** (1 + self.exploration_power * level)

    def _randomize_actions(
        self, action: np.ndarray, legal: np.ndarray, exploration: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Replace each action by a random legal one with the probability `exploration`, float64 [n]."""
        random_action = any_legal(legal, rng)
        return np.where(rng.random(len(action)) < exploration, random_action, action)


def _build_inputs(model: ActionValues, x: Tables, v0: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the observations of the seats on turn, and the legal actions."""
    weight = model.worth.weight  # any parameter: it has the network's dtype and device
    return torch.from_numpy(x.observe(None, v0)).to(weight), torch.from_numpy(x.legal()).to(weight.device)


def _select(q: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
    """Return the values, [n], of actions, int64 [n]."""
    return q.gather(1, action[:, None])[:, 0]
