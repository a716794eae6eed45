"""Games of Hearts by their options, random hands, decisions of a deal, files of the shared data."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from trickformer import games
from trickformer.base import decision_rng

RULE_OPTIONS = tuple(games.load("hearts").rules)


def hearts_with(**options: bool):
    given = ",".join(f"{k}={v}" for k, v in options.items())
    return games.load(f"hearts({given})")


def random_playout(state, rng: random.Random):
    """Yield the state at every decision of a uniformly random continuation, and the terminal state."""
    while True:
        yield state
        if state.is_terminal():
            return
        state = state.clone()
        state.apply_action(rng.choice(state.legal_actions()))


def decisions(game, seed: int, deal: int):
    """Yield the state of a deal and the view of the seat on turn, at every decision.

    The caller applies an action to the state before it requests the next decision.
    """
    state = game.deal(seed, deal)
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(game.chance(state, seed, deal))
        else:
            yield state, game.view(state, state.current_player())


def shared_file(folder: str, name: str) -> Path:
    """Return a file of the shared data, and skip the test if the file is missing.

    The data lie next to the checkout, or in the folder that TRICKFORMER_SHARED names.
    """
    path = Path(os.environ.get("TRICKFORMER_SHARED", Path(__file__).parents[3] / "shared")) / folder / name
    if not path.exists():
        pytest.skip(f"needs {folder}/{name}: set TRICKFORMER_SHARED to the folder of the shared data")
    return path


def count_blind_decisions(player, game, positions, rng) -> int:
    """Assert that a player's decision does not change if hidden cards are exchanged. Then play a random action.

    Returns the number of decisions that were compared."""
    compared = 0
    for number, (state, view) in enumerate(positions):
        twin = game.exchange(state, view, rng)
        if twin is not None and len(view.legal) > 1:
            one, other = (
                player.act([game.view(s, view.viewer)], [decision_rng(1, 0, 0, number)], [{}]) for s in (state, twin)
            )
            assert one == other, number
            compared += 1
        state.apply_action(int(rng.choice(view.legal)))
    return compared
