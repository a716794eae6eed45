"""Speed of the Skat core on one CPU thread: random and scripted games, and sampled worlds.

Uniformly random games have two baselines, both played from Python: OpenSpiel's states of `trickformer_skat`, and
OpenSpiel's own C++ `skat`, a simpler game in which each seat bids once and nobody plays hand. The baseline of scripted
games is our player on Python states, as in a tournament. Worlds have no baseline, because OpenSpiel has no sampler of
worlds for Skat. Every figure is CPU time of the thread.
"""

from __future__ import annotations

import random
import time
from typing import Any

import pyspiel

from benchmarks import Row, arguments, emit, measure
from trickformer import _core, players
from trickformer.belief.samplers.skat import SkatBelief
from trickformer.games import skat


def main() -> None:
    options = arguments(__doc__ or "")
    quick = options.quick
    repeats = 3 if quick else 7
    game = skat.load()
    rows = [
        random_games(game.spiel, "random games", 100_000 if quick else 500_000, 50 if quick else 300, repeats),
        random_games(
            pyspiel.load_game("skat"),
            "random games (baseline: OpenSpiel's skat)",
            100_000 if quick else 500_000,
            50 if quick else 300,
            repeats,
        ),
        rules_games(game, 1000 if quick else 10_000, 5 if quick else 30, repeats),
        worlds(game, 20_000 if quick else 200_000, repeats),
    ]
    emit(rows, options.json)


def random_games(baseline: pyspiel.Game, name: str, games: int, baseline_games: int, repeats: int) -> Row:
    """Measure uniformly random games a second, deal and auction included."""

    def core() -> float:
        start = time.thread_time()
        _core.skat.random_games(True, 1, 0, games)
        return games / (time.thread_time() - start)

    rng = random.Random(1)

    def openspiel() -> float:
        start = time.thread_time()
        for _ in range(baseline_games):
            state = baseline.new_initial_state()
            while not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
        return baseline_games / (time.thread_time() - start)

    median, spread = measure(core, repeats)
    return Row(name, median, measure(openspiel, repeats)[0], "games/s", spread)


def rules_games(game: skat.Skat, games: int, baseline_games: int, repeats: int) -> Row:
    """Measure games a second of three scripted players. The baseline plays single games on Python states."""

    def core() -> float:
        start = time.thread_time()
        _core.skat.mixed_games(True, 1, 0, games, 0.0)
        return games / (time.thread_time() - start)

    player = players.make("rules", game)

    def table() -> float:
        start = time.thread_time()
        for i in range(baseline_games):
            state = game.deal(1, i)
            while not state.is_terminal():
                state.apply_action(player.act([game.view(state, state.current_player())], [], [])[0].action)
        return baseline_games / (time.thread_time() - start)

    median, spread = measure(core, repeats)
    return Row("rules games", median, measure(table, repeats)[0], "games/s", spread)


def worlds(game: skat.Skat, n: int, repeats: int) -> Row:
    """Measure worlds a second for a defender's view after four tricks of a game in which the soloist has discarded."""
    player = players.make("rules", game)
    state: Any = game.deal(1, 1)
    while len(state.core.hand(state.current_player())) > 6 or state.current_player() == state.core.soloist:
        state.apply_action(player.act([game.view(state, state.current_player())], [], [])[0].action)
    deals = _core.skat.DealSampler(SkatBelief(game).seat_view(game.view(state, state.current_player())))

    def core() -> float:
        start = time.thread_time()
        deals.sample(1, n)
        return n / (time.thread_time() - start)

    median, spread = measure(core, repeats)
    return Row("worlds", median, None, "worlds/s", spread)


if __name__ == "__main__":
    main()
