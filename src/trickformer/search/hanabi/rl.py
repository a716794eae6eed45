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
Draw: TypeAlias = Callable[[int], Tables]  # so many worlds of a decision, as tables


@dataclass(frozen=True, slots=True)
class ValueTuning:
    """How values are tuned to a decision. A network moves for one seat, whose others all play `bot`, or for all seats;
    after `horizon` moves of its own all play `bot`."""

    bot: int
    others: int  # moves of `bot` after each of the network's: of the other seats, none where it moves for these too
    v0: bool  # whether the network reads V0 beliefs
    worlds: int  # that it is tuned in; and as many others that it is judged in
    horizon: int
    steps: int
    batch: int  # games of a gradient step
    learning_rate: float
    adam_epsilon: float
    clip: float  # largest norm of a gradient
    discount: float  # of the network's own values, by move of the game
    target_every: int  # gradient steps between two target networks
    exploration: float  # share of random moves of the first kind of game,
    explorations: int  # of so many kinds
    exploration_power: float  # the last kind's share is the first's to 1 + this power
    threads: int

    def tune(self, model: ActionValues, draw: Draw, rng: np.random.Generator) -> ActionValues:
        """A copy of a network after so many gradient steps of independent Q-learning. The target of a move is what is
        scored up to the next own move of the seat, and what the network makes of that; of a seat's last move by the
        network, all that is scored when `bot` has played on to the end."""
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
        n, share, apart = len(x), self.exploration_shares(len(x), rng), x.rules.players - self.others
        score, worth = np.zeros((2, self.horizon, n), dtype=np.float32)  # before each move, of the games that go on
        goes_on = np.zeros((self.horizon, n), dtype=bool)
        moves: list[tuple[np.ndarray, torch.Tensor]] = []  # which games they are of, and their values

        def play(move: int, x: Tables, live: np.ndarray) -> np.ndarray:
            seen, legal = _build_inputs(model, x, self.v0)
            q = action_values(model, seen, legal)
            choice = best(q.detach(), legal)
            if move >= apart:  # the seat has moved before
                with torch.no_grad():
                    worth[move, live] = _of(action_values(target, seen, legal), choice).cpu().numpy()
            score[move, live], goes_on[move, live] = x.scores(), True
            action = self._randomize_actions(choice.cpu().numpy(), legal.cpu().numpy(), share[live], rng)
            moves.append((live, _of(q, torch.from_numpy(action).to(q.device))))
            return action

        final = self._play_games(x, rng, self.horizon, play)
        errors, discount = [], self.discount**x.rules.players
        for move, (live, value) in enumerate(moves):
            wanted, then = final[live] - score[move, live], move + apart
            if then < self.horizon:
                paid = score[then, live] - score[move, live]
                wanted = np.where(goes_on[then, live], paid + discount * worth[then, live], wanted)
            errors.append(value - torch.from_numpy(wanted.astype(np.float32)).to(value))
        return torch.cat(errors)

    @torch.no_grad()
    def actions(self, model: ActionValues, x: Tables) -> np.ndarray:
        """int64 [n]: the best action of the seat on turn at each table. In double precision, so that it is the same
        however many tables are looked at together: sums of torch depend on that in the last digits."""
        exact = copy.deepcopy(model).double()
        seen, legal = _build_inputs(exact, x, self.v0)
        return best(action_values(exact, seen, legal), legal).cpu().numpy()

    @torch.no_grad()
    def scores(self, model: ActionValues | None, x: Tables, seed: int) -> np.ndarray:
        """float32 [n]: final scores where the network makes so many moves and then all play `bot`; with None, all play
        `bot` at once. What is drawn is drawn by the seed."""

        def play(move: int, x: Tables, live: np.ndarray) -> np.ndarray:
            assert model is not None
            seen, legal = _build_inputs(model, x, self.v0)
            return best(action_values(model, seen, legal), legal).cpu().numpy()

        return self._play_games(x, np.random.default_rng(seed), self.horizon if model is not None else 0, play)

    def compare_scores(self, model: ActionValues, x: Tables, seed: int) -> tuple[float, float]:
        """Mean scores of the network and of `bot` in the same worlds."""
        own, others = (float(self.scores(m, x, seed).mean()) for m in (model, None))
        return own, others

    def _play_games(
        self, x: Tables, rng: np.random.Generator, moves: int, play: Callable[[int, Tables, np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """float32 [n]: final scores of games that begin here, with so many moves by the network; x stays as it is.
        play: its actions, int64 [k], by the number of the move, the games that go on, and which of all they are."""
        x, live, final = x.take(np.arange(len(x))), np.arange(len(x)), np.zeros(len(x), dtype=np.float32)
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
        """Draw the share of random moves of n games, float64 [n], each game of a kind drawn at random."""
        kind = rng.integers(self.explorations, size=n) / max(self.explorations - 1, 1)
        return self.exploration ** (1 + self.exploration_power * kind)

    def _randomize_actions(
        self, action: np.ndarray, legal: np.ndarray, share: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        drawn = any_legal(legal, rng)
        return np.where(rng.random(len(action)) < share, drawn, action)


def _build_inputs(model: ActionValues, x: Tables, v0: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """What the seats on turn see, and what is legal."""
    weight = model.worth.weight
    return torch.from_numpy(x.observe(None, v0)).to(weight), torch.from_numpy(x.legal()).to(weight.device)


def action_values(model: ActionValues, seen: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Compute a network's values, float [n, A], from observations and legal actions of n tables."""
    contexts, _ = model.contexts(seen[None], model.memory(len(seen)))
    return model(seen, contexts[0], legal)[0]


def _of(q: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
    """[n]: the values of these actions, int64 [n]."""
    return q.gather(1, action[:, None])[:, 0]
