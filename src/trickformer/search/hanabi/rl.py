"""Action values of Hanabi, tuned to one decision by games from worlds of a belief (RL search)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch

from trickformer import _core
from trickformer.models.hanabi_values import ActionValues, any_legal, best

Tables: TypeAlias = _core.hanabi.Tables
Draw: TypeAlias = Callable[[int], Tables]  # samples a number of worlds of a decision, as tables


@dataclass(frozen=True, slots=True)
class ValueTuning:
    """Settings of the tuning of values to a decision.

    A network moves for one seat while all others play `bot`, or it moves for all seats. After `horizon` moves of the
    network all seats play `bot`.
    """

    bot: int
    others: int  # moves of `bot` after each of the network's moves: one for each other seat; 0 if it moves for all
    v0: bool  # whether the network reads V0 beliefs
    worlds: int  # worlds for tuning, and number of fresh worlds that compare the result with `bot`
    horizon: int
    steps: int
    batch: int  # games of a gradient step
    learning_rate: float
    adam_epsilon: float
    clip: float  # largest norm of a gradient
    discount: float  # discount of the network's own values, for each move of the game
    target_every: int  # gradient steps between two target networks
    exploration: float  # share of random moves in games of the first kind
    explorations: int  # number of kinds of games
    exploration_power: float  # the last kind's share is the first's to the power of 1 + this
    threads: int

    def tune(self, model: ActionValues, draw: Draw, rng: np.random.Generator) -> ActionValues:
        """Tune a copy of a network by independent Q-learning.

        The target of a move is the score up to the seat's next own move plus the network's value there. For the seat's
        last move by the network it is the whole score after `bot` has finished the game.

        Args:
            model: The network.
            draw: Samples worlds.
            rng: Generator of explored moves and chance.

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
        """Compute how far the values of the network's moves are from their targets, in games that begin at `x`.

        Args:
            model: The network that moves; it also chooses the next move of a target.
            target: The network that values that next move, as in double Q-learning.
            x: Tables where the games begin, which stay as they are.
            rng: Draws explored moves and chance.

        Returns:
            float32 [m]: value minus target of every move by the network, by move number, then by game.
        """
        n, share = len(x), self.exploration_shares(len(x), rng)
        apart = x.rules.players - self.others  # moves of the network from one move of a seat to its next
        score, worth = np.zeros((2, self.horizon, n), dtype=np.float32)  # before each move of the network
        goes_on = np.zeros((self.horizon, n), dtype=bool)
        moves: list[tuple[np.ndarray, torch.Tensor]] = []  # games of each move, and its values

        def play(move: int, x: Tables, live: np.ndarray) -> np.ndarray:
            seen, legal = _build_inputs(model, x, self.v0)
            q = action_values(model, seen, legal)
            choice = best(q.detach(), legal)
            if move >= apart:  # the seat has moved before
                with torch.no_grad():
                    worth[move, live] = _select(action_values(target, seen, legal), choice).cpu().numpy()
            score[move, live], goes_on[move, live] = x.scores(), True
            action = self._randomize_actions(choice.cpu().numpy(), legal.cpu().numpy(), share[live], rng)
            moves.append((live, _select(q, torch.from_numpy(action).to(q.device))))
            return action

        final = self._play_games(x, rng, self.horizon, play)
        errors, discount = [], self.discount**x.rules.players
        for move, (live, value) in enumerate(moves):
            targets, then = final[live] - score[move, live], move + apart
            if then < self.horizon:
                reward = score[then, live] - score[move, live]
                targets = np.where(goes_on[then, live], reward + discount * worth[then, live], targets)
            errors.append(value - torch.from_numpy(targets.astype(np.float32)).to(value))
        return torch.cat(errors)

    @torch.no_grad()
    def actions(self, model: ActionValues, x: Tables) -> np.ndarray:
        """Choose the best action of the seat on turn at each table.

        The computation is in double precision, so that the choice is the same for any number of tables: the last digits
        of torch's sums depend on it.

        Args:
            model: The network.
            x: n tables.

        Returns:
            int64 [n].
        """
        exact = copy.deepcopy(model).double()
        seen, legal = _build_inputs(exact, x, self.v0)
        return best(action_values(exact, seen, legal), legal).cpu().numpy()

    @torch.no_grad()
    def scores(self, model: ActionValues | None, x: Tables, seed: int) -> np.ndarray:
        """Play games to the end: `horizon` moves of the network, then `bot` in all seats.

        Args:
            model: The network; with None `bot` plays from the start.
            x: n tables, which stay as they are.
            seed: Seed of the draws.

        Returns:
            Final scores, float32 [n].
        """

        def play(move: int, x: Tables, live: np.ndarray) -> np.ndarray:
            assert model is not None
            seen, legal = _build_inputs(model, x, self.v0)
            return best(action_values(model, seen, legal), legal).cpu().numpy()

        return self._play_games(x, np.random.default_rng(seed), self.horizon if model is not None else 0, play)

    def compare_scores(self, model: ActionValues, x: Tables, seed: int) -> tuple[float, float]:
        """Return the mean scores of the network and of `bot` in the same worlds.

        Args:
            model: The network.
            x: Tables.
            seed: Seed of the draws.
        """
        own, others = (float(self.scores(m, x, seed).mean()) for m in (model, None))
        return own, others

    def _play_games(
        self, x: Tables, rng: np.random.Generator, moves: int, play: Callable[[int, Tables, np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Play games with `moves` moves of the network, and return their final scores, float32 [n]; x stays as it is.

        Args:
            x: n tables.
            rng: Generator of chance.
            moves: Number of moves of the network.
            play: Returns the network's actions, int64 [k], from the number of the move, the tables of the games that
                are not over, and the indices of these games.
        """
        live, final = np.arange(len(x)), np.zeros(len(x), dtype=np.float32)
        x = x.take(live)
        for move in range(moves):
            action, seed = play(move, x, live), int(rng.integers(2**62))
            x.step(action)
            for _ in range(self.others):
                x.step(x.choose(np.full(len(x), self.bot, dtype=np.int8), seed))
            final[live] = x.scores()
            on = np.flatnonzero(~x.over())
            x, live = x.take(on), live[on]
        seed = int(rng.integers(2**62))
        action = x.choose(np.full(len(x), self.bot, dtype=np.int8), seed)
        final[live] = x.play_out(action, self.bot, seed, self.threads)
        return final

    def exploration_shares(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the share of random moves of each game, by a random kind of game.

        Args:
            n: Number of games.
            rng: Generator of the draws.

        Returns:
            float64 [n].
        """
        kind = rng.integers(self.explorations, size=n) / max(self.explorations - 1, 1)
        return self.exploration ** (1 + self.exploration_power * kind)

    def _randomize_actions(
        self, action: np.ndarray, legal: np.ndarray, share: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        random_action = any_legal(legal, rng)
        return np.where(rng.random(len(action)) < share, random_action, action)


def _build_inputs(model: ActionValues, x: Tables, v0: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the observations of the seats on turn, and the legal actions."""
    weight = model.worth.weight
    return torch.from_numpy(x.observe(None, v0)).to(weight), torch.from_numpy(x.legal()).to(weight.device)


def action_values(model: ActionValues, seen: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Compute a network's values without a memory of earlier moves.

    Args:
        model: The network.
        seen: Observations of n tables.
        legal: bool [n, A].

    Returns:
        float [n, A].
    """
    contexts, _ = model.contexts(seen[None], model.memory(len(seen)))
    return model(seen, contexts[0], legal)[0]


def _select(q: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
    """Return the values, [n], of actions, int64 [n]."""
    return q.gather(1, action[:, None])[:, 0]
