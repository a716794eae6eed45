"""Speed of Hanabi's core on one CPU thread: random moves in a batch of 1,000 games, and states with a new hidden hand.

The baseline is OpenSpiel's `hanabi` from Python. It plays random games, without and with OpenSpiel's observation of the
seat on turn. For a new hand, it replays the history with other cards. Every figure is CPU time of the thread.
"""

from __future__ import annotations

import random
import time
from functools import partial

import numpy as np
from open_spiel.python.observation import make_observation

from benchmarks import Row, arguments, emit, measure
from trickformer import _core
from trickformer.belief import sampler
from trickformer.games import hanabi

TABLES = 1000  # games in the batch
MOVES = 40  # moves before the state whose hidden hand is replaced


def main() -> None:
    options = arguments(__doc__ or "")
    quick = options.quick
    repeats = 5 if quick else 7
    rows = []
    for spec in hanabi.VARIANTS[:1] if quick else hanabi.VARIANTS:
        game = hanabi.load(spec)
        label = spec.removeprefix("hanabi").replace("(", ", ").rstrip(")")
        rows += moves(game, label, 200 if quick else 400, 40 if quick else 100, repeats)
    rows.append(redeal(hanabi.load(), 100 if quick else 400, repeats))
    emit(rows, options.json)


def moves(game: hanabi.Hanabi, label: str, steps: int, games: int, repeats: int) -> list[Row]:
    """Measure moves a second, with new games in place of finished ones.

    The rows are moves alone, moves with the observation of the seat on turn, and moves with the observation that has V0
    beliefs, which OpenSpiel lacks.
    """
    many = _core.hanabi.Tables(game.rules, 1, 0, TABLES)
    out = np.empty((TABLES, game.rules.observation), dtype=np.float32)
    observer, rng = make_observation(game.spiel), random.Random(1)

    def core(observe: bool, v0: bool) -> float:
        start = time.thread_time()
        for step in range(steps):
            many.random_step(1, step)
            if observe:
                many.observe(v0=v0, out=out)
        return TABLES * steps / (time.thread_time() - start)

    def openspiel(observe: bool) -> float:
        start, made = time.thread_time(), 0
        for _ in range(games):
            state = game.spiel.new_initial_state()
            while not state.is_terminal():
                if not state.is_chance_node():
                    made += 1
                    if observe:
                        observer.set_from(state, state.current_player())
                state.apply_action(rng.choice(state.legal_actions()))
        return made / (time.thread_time() - start)

    plain = measure(lambda: openspiel(False), repeats)[0]
    observed = measure(lambda: openspiel(True), repeats)[0]
    rows = []
    for name, run, baseline in (
        ("moves", partial(core, False, False), plain),
        ("moves with observations", partial(core, True, False), observed),
        ("moves with V0 observations", partial(core, True, True), None),
    ):
        median, spread = measure(run, repeats)
        rows.append(Row(name + label, median, baseline, "moves/s", spread))
    return rows


def redeal(game: hanabi.Hanabi, calls: int, repeats: int) -> Row:
    """Measure states a second that replace the hand of the seat on turn and leave its view unchanged."""
    decks, actions = _core.hanabi.random_games(game.rules, 1, 0, 1, careful=True)[:2]
    state = game.spiel.new_initial_state()
    twin = _core.hanabi.State(game.rules, decks[0])
    deck = iter(decks[0].tolist())
    for action in [None, *actions[0, :MOVES].tolist()]:
        if action is not None:
            state.apply_action(action)
            twin.apply_action(action)
        while state.is_chance_node():
            state.apply_action(next(deck))
    seat, hand = state.current_player(), game.rules.hand
    belief = sampler(game)
    belief.reset(game.view(state, seat))
    worlds = belief.sample(TABLES, np.random.default_rng(1))
    hidden = np.full((TABLES, game.players, hand), -1, dtype=np.int8)
    hidden[:, seat] = worlds.hidden
    many = _core.hanabi.Tables(game.rules, 1, 0, TABLES)
    for i in range(TABLES):
        many[i] = twin
    histories = [worlds.history(i) for i in range(calls)]

    def core() -> float:
        start = time.thread_time()
        for call in range(10):
            assert many.redeal(hidden, call).all()
        return 10 * TABLES / (time.thread_time() - start)

    def openspiel() -> float:
        start = time.thread_time()
        for history in histories:
            world = game.spiel.new_initial_state()
            for action in history:
                world.apply_action(action)
        return calls / (time.thread_time() - start)

    median, spread = measure(core, repeats)
    return Row(f"new hands after {MOVES} moves", median, measure(openspiel, repeats)[0], "states/s", spread)


if __name__ == "__main__":
    main()
