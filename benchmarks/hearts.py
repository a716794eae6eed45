"""Speed of the Hearts core on one CPU thread: random hands, sampled worlds, and a card chosen by PIMC with UCT.

The baselines are OpenSpiel from Python on the same hands and views:

- hands: random hands played through `pyspiel`.
- worlds: `resample_from_infostate`, whose worlds may contain revokes.
- card: OpenSpiel's C++ MCTS on worlds of our sampler, with one tree for each world, one playout a simulation and our
  number of simulations. `--quick` searches 2 worlds and scales the time up to 50.

Every figure is CPU time of the thread.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel

from benchmarks import Row, arguments, emit, measure
from trickformer import _core, players
from trickformer.base import View
from trickformer.belief import sampler
from trickformer.games import hearts

# Settings of PIMC in the GO-MCTS paper.
WORLDS = 50
RUNS = 2000
C = 0.4
POINTS = 26 * 3 / 4  # one unit of v(o) in OpenSpiel's points, because c scales with the values
POSITIONS = ((1, 0), (2, 2), (3, 4), (5, 7), (7, 9))  # deal, and number of random tricks before the position


def main() -> None:
    options = arguments(__doc__ or "")
    game = hearts.load()
    quick = options.quick
    states = [position(game, deal, tricks) for deal, tricks in POSITIONS]
    rows = [
        random_hands(game, 40_000 if quick else 200_000, 100 if quick else 500, 3 if quick else 7),
        worlds(game, states[2], 50_000 if quick else 200_000, 300 if quick else 2000, 3 if quick else 7),
        uct_card(game, states, 1 if quick else 3, 2 if quick else WORLDS),
    ]
    emit(rows, options.json)


def random_hands(game: hearts.Hearts, ours: int, theirs: int, repeats: int) -> Row:
    """Measure hands a second, passes included, played uniformly at random."""
    rules = _core.hearts.Rules(**game.rules)

    def core() -> float:
        start = time.thread_time()
        _core.hearts.random_hands(rules, 1, 0, ours)
        return ours / (time.thread_time() - start)

    rng = random.Random(1)

    def openspiel() -> float:
        start = time.thread_time()
        for i in range(theirs):
            state = game.spiel.new_initial_state()
            state.apply_action(i % 4)
            while not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
        return theirs / (time.thread_time() - start)

    median, spread = measure(core, repeats)
    return Row("random hands", median, measure(openspiel, repeats)[0], "hands/s", spread)


def worlds(game: hearts.Hearts, state: Any, ours: int, theirs: int, repeats: int) -> Row:
    """Measure worlds a second for one view in the middle of a hand."""
    viewer = state.current_player()
    belief = sampler(game)
    rng = np.random.default_rng(1)
    view = game.view(state, viewer)

    def core() -> float:
        start = time.thread_time()
        belief.reset(view)
        belief.sample(ours, rng)
        return ours / (time.thread_time() - start)

    def openspiel() -> float:
        start = time.thread_time()
        for _ in range(theirs):
            state.resample_from_infostate(viewer, rng.random)
        return theirs / (time.thread_time() - start)

    median, spread = measure(core, repeats)
    return Row("worlds", median, measure(openspiel, repeats)[0], "worlds/s", spread)


def uct_card(game: hearts.Hearts, states: list[Any], repeats: int, their_worlds: int) -> Row:
    """Measure seconds a card, the mean over the positions. A smaller ratio is better, unlike in the other rows."""
    player = players.make(f"pimc:worlds={WORLDS},runs={RUNS},c={C},eval=uct", game)
    views = [game.view(s, s.current_player()) for s in states]

    def core() -> float:
        return seconds(lambda view: player.act([view], [np.random.default_rng(0)], [{}]), views)

    belief = sampler(game)

    def openspiel(view: View) -> None:
        belief.reset(view)
        sampled = belief.sample(their_worlds, np.random.default_rng(0))
        for i in range(their_worlds):
            evaluator = pyspiel.RandomRolloutEvaluator(1, i)
            bot = pyspiel.MCTSBot(
                game.spiel, evaluator, C * POINTS, RUNS, 1000, False, i, False, pyspiel.ChildSelectionPolicy.UCT
            )
            bot.mcts_search(sampled.state(i))

    median, spread = measure(core, repeats)
    baseline = seconds(openspiel, views) * WORLDS / their_worlds
    name = "uct card" if their_worlds == WORLDS else f"uct card (baseline: {their_worlds} of {WORLDS} worlds, scaled)"
    return Row(name, median, baseline, "s/card", spread)


def position(game: hearts.Hearts, deal: int, tricks: int) -> Any:
    """Play a hand at random up to the first decision after `tricks` tricks that has more than one legal card."""
    rng = random.Random(deal)
    state = game.deal(1, deal)
    first = 65 if state.history()[0] else 53  # actions before the first lead: direction, deal and 12 passed cards
    while len(state.history()) < first + 4 * tricks or len(state.legal_actions()) < 2:
        state.apply_action(rng.choice(state.legal_actions()))
    return state


def seconds(act: Callable[[View], object], views: list[View]) -> float:
    """Return the mean CPU seconds of this thread for a view."""
    start = time.thread_time()
    for view in views:
        act(view)
    return (time.thread_time() - start) / len(views)


if __name__ == "__main__":
    main()
