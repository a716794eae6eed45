"""Speed of The Crew's core on one CPU thread: random games of all missions, and batches of games with their tokens.

The baselines are uniformly random games of `trickformer_crew`, an OpenSpiel game in Python. For the batches, the
baseline also encodes the view of the seat on turn at each decision, as a player does. Every figure is CPU time of the
thread.
"""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np

from benchmarks import Row, arguments, emit, measure
from trickformer import _core, tokenizers
from trickformer.games import crew


def main() -> None:
    options = arguments(__doc__ or "")
    quick = options.quick
    repeats = 3 if quick else 7
    game = crew.load()
    rows = [
        random_games(game, 100_000 if quick else 500_000, 50 if quick else 300, repeats),
        tables(game, 1000 if quick else 4000, 5 if quick else 30, repeats),
    ]
    emit(rows, options.json)


def random_games(game: crew.Crew, ours: int, theirs: int, repeats: int) -> Row:
    """Measure uniformly random games a second. Mission, deal and tasks are random, too."""
    book = _core.crew.Logbook(list(game.missions.values()))

    def core() -> float:
        start = time.thread_time()
        _core.crew.random_games(book, 1, 0, ours)
        return ours / (time.thread_time() - start)

    rng = random.Random(1)

    def openspiel() -> float:
        start = time.thread_time()
        for _ in range(theirs):
            state = game.spiel.new_initial_state()
            while not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
        return theirs / (time.thread_time() - start)

    median, spread = measure(core, repeats)
    return Row("random games", median, measure(openspiel, repeats)[0], "games/s", spread)


def tables(game: crew.Crew, ours: int, theirs: int, repeats: int) -> Row:
    """Measure uniformly random games a second that also keep the tokens of each seat's view."""
    tokenizer = tokenizers.make(game)

    def core() -> float:
        rng = np.random.default_rng(1)
        start = time.thread_time()
        many = tokenizers.fast(game).tables(1, 0, ours)
        while (on := np.flatnonzero(many.current() >= 0)).size:
            legal = many.legal()[on]
            many.step(on.astype(np.int32), np.argmax(legal * rng.random(legal.shape), 1).astype(np.int32))
        return ours / (time.thread_time() - start)

    rng = random.Random(1)

    def python() -> float:
        start = time.thread_time()
        for i in range(theirs):
            state: Any = game.deal(1, i)
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(game.chance(state, i, 0))
                    continue
                tokenizer.encode(game.view(state, state.current_player()))
                state.apply_action(rng.choice(state.legal_actions()))
        return theirs / (time.thread_time() - start)

    median, spread = measure(core, repeats)
    return Row("tables", median, measure(python, repeats)[0], "games/s", spread)


if __name__ == "__main__":
    main()
