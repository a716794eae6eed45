"""Is the C++ twin of a game the same game? Random hands, step by step, against OpenSpiel.

`python -m trickformer.differential [--hands N] [--seed S]` compares over all settings of the rule options.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections.abc import Iterator

import numpy as np

from trickformer import _core
from trickformer.base import deal_seed
from trickformer.games.hearts import Hearts, load
from trickformer.progress import progress

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


def compare_hands(game: Hearts, seed: int, hands: int, strings: float = 0.05, first: int = 0) -> int:
    """`compare_hand` on hands first .. first + hands - 1 of a series. Returns the number of decisions compared."""
    rules = _core.hearts.Rules(**game.rules)
    return sum(compare_hand(game, seed, index, strings, rules) for index in range(first, first + hands))


def all_options() -> Iterator[Hearts]:
    """Hearts under each of the 256 settings of its eight rule options."""
    names = tuple(load("hearts").rules)
    for values in itertools.product((False, True), repeat=len(names)):
        yield load(f"hearts({','.join(f'{k}={v}' for k, v in zip(names, values))})")


def main() -> None:
    """Compare so many hands of one series, shared evenly among the settings of the options; each hand is dealt once.

    Exits with 1 and the difference where there is one."""
    parser = argparse.ArgumentParser(prog="python -m trickformer.differential", description=main.__doc__)
    parser.add_argument("--hands", type=int, default=20_000, help="hands in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the deals and the plays (default: %(default)s)")
    parser.add_argument("--strings", type=float, default=0.01, help="share of decisions with all information strings")
    given = parser.parse_args()
    if given.hands < 1 or given.seed < 0:
        parser.error("--hands is at least 1, --seed at least 0")
    options = list(all_options())
    bounds = [given.hands * i // len(options) for i in range(len(options) + 1)]
    decisions, began = 0, time.perf_counter()
    with progress("differential", "hands", 0, given.hands) as advance:
        for game, first, end in zip(options, bounds, bounds[1:]):
            try:
                decisions += compare_hands(game, given.seed, end - first, given.strings, first)
            except AssertionError as difference:
                print(difference, file=sys.stderr)
                sys.exit(1)
            if end > first:
                advance(end - first)
    print(f"settings of the options  {min(given.hands, len(options))}")
    print(f"hands                    {given.hands:,}")
    print(f"decisions                {decisions:,}")
    print(f"seconds                  {time.perf_counter() - began:,.0f}")
    print("no difference")


if __name__ == "__main__":
    main()
