"""The simplified action decoder (SAD; Hu & Foerster 2020): in training, all seats also see what the one that moved
would have done without exploring, as they would see that move."""

from __future__ import annotations

import numpy as np

from trickformer import _core
from trickformer.models.hanabi_odds import Layout
from trickformer.studies.obl.hanabi import beliefs


def nothing(rules: _core.hanabi.Rules, n: int) -> np.ndarray:
    """float32 [n, players, size]: what all seats of n tables see before the first move."""
    last = Layout.of(rules).last
    return np.zeros((n, rules.players, last.stop - last.start), dtype=np.float32)


def observe_actions(tables: _core.hanabi.Tables, actions: np.ndarray) -> np.ndarray:
    """float32 [n, players, size]: what all seats of n tables would see of these actions, int64 [n], as the last move.
    What stands where a game is over means nothing."""
    n, players = len(tables), tables.rules.players
    after = tables.take(np.repeat(np.arange(n), players))
    after.step(np.repeat(actions, players))
    return after.observe(beliefs.seats(tables, 1))[:, Layout.of(tables.rules).last].reshape(n, players, -1)


def beside(
    rules: _core.hanabi.Rules,
    seed: int,
    games: np.ndarray,
    actions: np.ndarray,
    greedy: np.ndarray,
    lengths: np.ndarray,
) -> np.ndarray:
    """Compute what all seats see of the greedy actions before each move of finished games.

    Args:
        rules: Rules of the games.
        seed: Series of the games.
        games: uint64 [k], numbers of the games in the series.
        actions: uint8 [k, T], the moves.
        greedy: uint8 [k, T], the moves without exploration.
        lengths: int64 [k], moves of each game.

    Returns:
        float32 [m, players, size], game by game; m is the sum of the lengths.
    """
    k, longest = len(lengths), int(lengths.max())
    tables = _core.hanabi.Tables(rules, seed, 0, k)
    for row, number in enumerate(games):
        tables.deal(np.array([row]), seed, int(number))
    found = [nothing(rules, k)]
    for taken, best in zip(actions.T[: longest - 1], greedy.T):
        found.append(observe_actions(tables, best.astype(np.int64)))
        tables.step(taken.astype(np.int64))
    return np.stack(found, axis=1)[np.arange(longest) < lengths[:, None]]
