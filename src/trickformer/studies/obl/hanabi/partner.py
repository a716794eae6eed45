"""k-level reasoning: one seat learns, the other seats play the level below, which does not learn."""

from __future__ import annotations

import numpy as np
import torch

from trickformer import _core
from trickformer.models.decide import draw
from trickformer.models.hanabi_values import HanabiCheckpoint, probabilities
from trickformer.studies.obl.hanabi import beliefs


def learners(games: np.ndarray, players: int) -> np.ndarray:
    """Return the seat that learns in each game.

    Args:
        games: [k], numbers of the games in the series.
        players: Number of seats.

    Returns:
        int64 [k].
    """
    return games.astype(np.int64) % players


class LowerLevel:
    """Player of the level below in all seats of n tables. Level 0, below level 1, moves uniformly at random.

    Args:
        rules: Rules of the games.
        n: Number of tables.
        below: Checkpoint of the level below; None stands for level 0.
        slip: Share of uniformly random moves.
    """

    def __init__(self, rules: _core.hanabi.Rules, n: int, below: HanabiCheckpoint | None, slip: float):
        self.below, self.slip = below, slip
        self.memory = below.model.memory(n * rules.players) if below is not None else torch.zeros(n * rules.players, 0)

    @torch.no_grad()
    def act(self, tables: _core.hanabi.Tables, rng: np.random.Generator) -> np.ndarray:
        """Choose a move at every table. Call it before every move, because the network remembers observations.

        Args:
            tables: The n tables.
            rng: Generator of the draws.

        Returns:
            int64 [n].
        """
        n, legal = len(tables), tables.legal()
        policy = legal / legal.sum(axis=1, keepdims=True)
        if self.below is not None:
            q, self.memory = evaluate_level(self.below, tables, self.memory)
            network_policy = probabilities(q, torch.from_numpy(legal).to(q.device), self.below.temperature, self.slip)
            policy = network_policy.cpu().numpy().astype(np.float64)
        return draw(policy, rng.random(n)).astype(np.int64)

    def renew(self, rows: np.ndarray) -> None:
        """Clear the memory of tables at which new games begin.

        Args:
            rows: int64 [k], numbers of the tables.
        """
        players = self.below.rules.players if self.below is not None else 1
        if self.memory.numel():
            self.memory.unflatten(0, (-1, players))[torch.from_numpy(rows)] = 0


def evaluate_level(
    level: HanabiCheckpoint, tables: _core.hanabi.Tables, memory: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute a level's action values for the seats on turn, and the new memories of all seats.

    Args:
        level: Checkpoint of the level.
        tables: n tables.
        memory: Memories [n * players, ...] before this observation.

    Returns:
        Action values, float32 [n, actions], and the memories after the observation. The values of a game that is over
        are meaningless.
    """
    n, players = len(tables), level.rules.players
    device = level.model.worth.weight.device
    seen = torch.from_numpy(beliefs.observe_all_seats(tables, level.v0)).to(device)
    actors = torch.from_numpy(np.arange(n) * players + np.maximum(tables.current(), 0)).to(device)
    contexts, memory = level.model.contexts(seen[None], memory)
    q, _ = level.model(seen[actors], contexts[0][actors], torch.from_numpy(tables.legal()).to(device))
    return q, memory
