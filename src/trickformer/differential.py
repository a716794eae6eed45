"""Is the C++ twin of a game the same game? Random hands, step by step, against OpenSpiel."""

from __future__ import annotations

import random

import numpy as np

from trickformer import _core
from trickformer.base import deal_seed
from trickformer.games.hearts import Hearts

_FIRST_DECISION = 53  # actions of the direction and the deal


def compare_hand(game: Hearts, seed: int, index: int, strings: float, rules: _core.hearts.Rules) -> int:
    """Play one random hand on both and compare, at each step, whose turn it is and what is legal; with
    probability `strings` what each seat knows, in OpenSpiel's words; at the end the scores.

    Returns the number of decisions. Raises AssertionError naming the seed and the hand."""
    rng = random.Random(deal_seed(seed, index))
    where = f"seed {seed}, hand {index}, {game.spiel}"
    spiel = game.deal(seed, index)
    dealt = spiel.history()
    twin = _core.hearts.State(rules, dealt[0], np.array(dealt[1:_FIRST_DECISION], dtype=np.uint8))
    decisions = 0
    while not spiel.is_terminal():
        legal = spiel.legal_actions()
        assert twin.current_player() == spiel.current_player(), where
        assert twin.legal_actions() == legal, f"{where}: {twin.legal_actions()} != {legal}\n{spiel}"
        if rng.random() < strings:
            for seat in range(game.players):
                ours, theirs = twin.information_state_string(seat), spiel.information_state_string(seat)
                assert ours == theirs, f"{where}, seat {seat}:\n{ours}\n!=\n{theirs}"
        action = rng.choice(legal)
        spiel.apply_action(action)
        twin.apply_action(action)
        decisions += 1
    assert twin.is_terminal(), where
    assert twin.scores() == game.scores(spiel), f"{where}: {twin.scores()} != {game.scores(spiel)}"
    return decisions


def compare_hands(game: Hearts, seed: int, hands: int, strings: float = 0.05) -> int:
    """`compare_hand` on hands 0 .. hands - 1 of a series. Returns the number of decisions compared."""
    rules = _core.hearts.Rules(**game.rules)
    return sum(compare_hand(game, seed, index, strings, rules) for index in range(hands))
