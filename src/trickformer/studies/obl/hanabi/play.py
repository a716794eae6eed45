"""Games that networks play without random moves, on the core's tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from trickformer import _core
from trickformer.models.hanabi_values import HanabiCheckpoint, sample_actions

_TABLES = 1_000  # largest number of games in lockstep


@torch.no_grad()
def scores(team: Sequence[HanabiCheckpoint], seed: int, first: int, n: int) -> np.ndarray:
    """Play games of a team and return their scores. Each network plays by its own temperature.

    Args:
        team: One network a seat.
        seed: Series of the games.
        first: Number of the first game.
        n: Number of games.

    Returns:
        int8 [n].

    Raises:
        ValueError: If the rules of the networks differ, or their number is not that of the seats.
    """
    rules = team[0].rules
    if len(team) != rules.players or any(t.rules.observation != rules.observation for t in team):
        raise ValueError("a team needs one network for each seat, all of the same rules")
    starts = range(first, first + n, _TABLES)
    return np.concatenate([_play_batch(team, seed, start, min(_TABLES, first + n - start)) for start in starts])


def _play_batch(team: Sequence[HanabiCheckpoint], seed: int, first: int, n: int) -> np.ndarray:
    """Play n games in lockstep; arguments and result as in `scores`."""
    tables = _core.hanabi.Tables(team[0].rules, seed, first, n)
    memories = [t.model.memory(n) for t in team]
    rng = np.random.default_rng([seed, first])
    while not tables.over().all():
        current, actions = tables.current(), np.zeros(n, dtype=np.int64)
        for seat, checkpoint in enumerate(team):
            rows = np.flatnonzero(current == seat)
            if not checkpoint.model.sizes.recurrent and not len(rows):
                continue  # an LSTM observes every position, also while its seat waits
            model, device = checkpoint.model, checkpoint.model.worth.weight.device
            viewers = np.full(n, seat, dtype=np.int8)
            seen = torch.from_numpy(tables.observe(viewers, checkpoint.v0)).to(device)
            context, memories[seat] = model.contexts(seen[None], memories[seat])
            at = torch.from_numpy(rows).to(device)
            legal = torch.from_numpy(tables.legal()).to(device)[at]
            q, _ = model(seen[at], context[0][at], legal)
            actions[rows] = sample_actions(q, legal, checkpoint.temperature, rng).cpu().numpy()
        tables.step(actions)
    return tables.scores()
