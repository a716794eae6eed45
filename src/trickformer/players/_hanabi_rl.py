"""Action values of Hanabi, tuned to one decision by games from worlds of a seat's belief (RL search)."""

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
class Tuning:
    """How values are tuned to a decision of `seat`, whose others all play `bot`. After `horizon` moves of its own the
    seat plays `bot` as well."""

    seat: int
    bot: int
    v0: bool  # whether the network reads V0 beliefs
    horizon: int
    steps: int
    batch: int  # worlds of a gradient step
    exploration: float  # share of random moves
    learning_rate: float
    threads: int

    def tune(self, model: ActionValues, draw: Draw, rng: np.random.Generator) -> ActionValues:
        """A copy of a network after so many gradient steps of Q-learning. A target is what a move and those of the
        others after it pay, and what the network makes of the next own move; after the last one, what playing on with
        `bot` pays."""
        tuned = copy.deepcopy(model).requires_grad_(True).train()
        optimizer = torch.optim.Adam(tuned.parameters(), lr=self.learning_rate)
        for _ in range(self.steps):
            errors = torch.cat(self._errors(tuned, draw(self.batch), rng))
            optimizer.zero_grad()
            ((errors**2).mean() / 2).backward()
            optimizer.step()
        return tuned.requires_grad_(False).eval()

    def _errors(self, model: ActionValues, x: Tables, rng: np.random.Generator) -> list[torch.Tensor]:
        """Of the values of all own moves of games that begin here."""
        errors: list[torch.Tensor] = []
        waiting: torch.Tensor | None = None  # values of the moves before, less what they paid, in games that go on
        for _ in range(self.horizon):
            seen, legal = self._seen(model, x)
            q = _values(model, seen, legal)
            choice = best(q.detach(), legal)
            if waiting is not None:
                errors.append(waiting - q.detach().gather(1, choice[:, None])[:, 0])
            action = self._explored(choice.cpu().numpy(), legal.cpu().numpy(), rng)
            paid, on = self._after(x, action, rng)
            value = q.gather(1, torch.from_numpy(action).to(q.device)[:, None])[:, 0]
            left = value - torch.from_numpy(paid).to(q.device)
            errors.append(left[torch.from_numpy(~on).to(q.device)])
            x, waiting = x.take(np.flatnonzero(on)), left[torch.from_numpy(on).to(q.device)]
        assert waiting is not None
        return [*errors, waiting - torch.from_numpy(self._played_out(x, rng) - x.scores()).to(waiting)]

    @torch.no_grad()
    def action(self, model: ActionValues, x: Tables) -> int:
        """The best action in a position that is the same to the seat in all worlds."""
        seen, legal = self._seen(model, x.take(np.zeros(1, dtype=np.int64)))
        return int(best(_values(model, seen, legal), legal))

    @torch.no_grad()
    def scores(self, model: ActionValues | None, x: Tables, seed: int) -> np.ndarray:
        """float64 [n]: final scores where the seat plays by the values for so many moves and then as `bot`; with None,
        as `bot` at once. What is drawn is drawn by the seed."""
        rng, x = np.random.default_rng(seed), x.take(np.arange(len(x)))
        found, live = np.zeros(len(x)), np.arange(len(x))
        for _ in range(self.horizon if model is not None else 0):
            assert model is not None
            seen, legal = self._seen(model, x)
            _, on = self._after(x, best(_values(model, seen, legal), legal).cpu().numpy(), rng)
            found[live] = x.scores()
            x, live = x.take(np.flatnonzero(on)), live[on]
        found[live] = self._played_out(x, rng)
        return found

    def _after(self, x: Tables, action: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Makes the moves, and those of the others after them. float32 [n]: by how much the scores have changed; bool
        [n]: whether the games go on."""
        before, seed = x.scores().astype(np.float32), int(rng.integers(2**62))
        x.step(action)
        for _ in range(x.rules.players - 1):
            x.step(x.choose(np.full(len(x), self.bot, dtype=np.int8), seed))
        return x.scores() - before, ~x.over()

    def _played_out(self, x: Tables, rng: np.random.Generator) -> np.ndarray:
        seed = int(rng.integers(2**62))
        action = x.choose(np.full(len(x), self.bot, dtype=np.int8), seed)
        return x.play_out(action, self.bot, seed, self.threads).astype(np.float32)

    def _explored(self, action: np.ndarray, legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        drawn = any_legal(legal, rng)
        return np.where(rng.random(len(action)) < self.exploration, drawn, action)

    def _seen(self, model: ActionValues, x: Tables) -> tuple[torch.Tensor, torch.Tensor]:
        device = model.worth.weight.device
        seen = x.observe(np.full(len(x), self.seat, dtype=np.int8), self.v0)
        return torch.from_numpy(seen).to(device), torch.from_numpy(x.legal()).to(device)


def _values(model: ActionValues, seen: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    contexts, _ = model.contexts(seen[None], model.memory(len(seen)))
    return model(seen, contexts[0], legal)[0]
