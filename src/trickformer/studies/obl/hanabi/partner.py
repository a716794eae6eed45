"""k-level reasoning: the others are the level below, and do not learn."""

from __future__ import annotations

import numpy as np
import torch

from trickformer import _core
from trickformer.models.decide import draw
from trickformer.models.hanabi_values import HanabiCheckpoint, probabilities
from trickformer.studies.obl.hanabi import beliefs


def learners(games: np.ndarray, players: int) -> np.ndarray:
    """int64 [k]: the seat that learns in games of these numbers."""
    return games.astype(np.int64) % players


class LowerLevel:
    """The level below in every seat of n tables; below level 1 uniformly random.

    slip: the share of uniformly random moves that it makes beside its own."""

    def __init__(self, rules: _core.hanabi.Rules, n: int, below: HanabiCheckpoint | None, slip: float):
        self.below, self.slip = below, slip
        self.memory = below.model.memory(n * rules.players) if below is not None else torch.zeros(n * rules.players, 0)

    @torch.no_grad()
    def act(self, tables: _core.hanabi.Tables, rng: np.random.Generator) -> np.ndarray:
        """int64 [n]: a move at every table. To be asked before every move of the tables, as it may remember."""
        n, legal = len(tables), tables.legal()
        odds = legal / legal.sum(axis=1, keepdims=True)
        if self.below is not None:
            q, self.memory = evaluate_level(self.below, tables, self.memory)
            may = torch.from_numpy(legal).to(q.device)
            found = probabilities(q, may, self.below.temperature, self.slip)
            odds = found.cpu().numpy().astype(np.float64)
        return draw(odds, rng.random(n)).astype(np.int64)

    def renew(self, rows: np.ndarray) -> None:
        """New games begin at these tables."""
        players = self.below.rules.players if self.below is not None else 1
        if self.memory.numel():
            self.memory.unflatten(0, (-1, players))[torch.from_numpy(rows)] = 0


def evaluate_level(
    level: HanabiCheckpoint, tables: _core.hanabi.Tables, memory: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The values of a level for the seats on turn, float32 [n, actions], of seat 0 where a game is over; and what all
    seats remember then, by what they remembered, [n * players, ...]."""
    n, players = len(tables), level.rules.players
    device = level.model.worth.weight.device
    seen = torch.from_numpy(beliefs.looks(tables, level.v0)).to(device)
    at = torch.from_numpy(np.arange(n) * players + np.maximum(tables.current(), 0)).to(device)
    contexts, memory = level.model.contexts(seen[None], memory)
    q, _ = level.model(seen[at], contexts[0][at], torch.from_numpy(tables.legal()).to(device))
    return q, memory
