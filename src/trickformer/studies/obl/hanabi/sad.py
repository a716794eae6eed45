"""Simplified action decoder (SAD; Hu & Foerster 2020).

In training, all seats also observe which action the last seat on turn would have taken without exploration. This greedy
action is encoded like the observation's section for the last move (`Layout.last`); below, `size` is the length of that
section.
"""

from __future__ import annotations

import numpy as np

from trickformer import _core
from trickformer.models.hanabi_observation import Layout
from trickformer.studies.obl.hanabi import beliefs


def blank_observations(rules: _core.hanabi.Rules, n: int) -> np.ndarray:
    """Return the observation of the greedy action before the first move: zeros.

    Args:
        rules: Rules of the games.
        n: Number of tables.

    Returns:
        float32 [n, players, size].
    """
    last = Layout.for_rules(rules).last
    return np.zeros((n, rules.players, last.stop - last.start), dtype=np.float32)


def observe_actions(tables: _core.hanabi.Tables, actions: np.ndarray) -> np.ndarray:
    """Compute how all seats would observe an action at each table as the last move.

    Args:
        tables: n tables before the move.
        actions: int64 [n].

    Returns:
        float32 [n, players, size]. Rows of games that are over are meaningless.
    """
    n, players = len(tables), tables.rules.players
    after = tables.take(np.repeat(np.arange(n), players))
    after.step(np.repeat(actions, players))
    # Each table's copies are observed by seats 0, 1, and so on.
    return after.observe(beliefs.seats(tables, 1))[:, Layout.for_rules(tables.rules).last].reshape(n, players, -1)


def observe_greedy_actions(
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
    observations = [blank_observations(rules, k)]
    for taken, greedy_actions in zip(actions.T[: longest - 1], greedy.T):
        observations.append(observe_actions(tables, greedy_actions.astype(np.int64)))
        tables.step(taken.astype(np.int64))
    return np.stack(observations, axis=1)[np.arange(longest) < lengths[:, None]]
