"""Differential test of a game's rules: random hands, step by step, in the C++ core and in OpenSpiel.

`python -m trickformer.audit.differential [--game GAME] [--hands N] [--seed S]` compares Hearts under all combinations
of its rule options, or Hanabi in its three variants and with further settings.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from trickformer import _core
from trickformer.base import deal_seed
from trickformer.games import hanabi
from trickformer.games.hearts import Hearts, load
from trickformer.plumbing.progress import progress

_CHANCE_ACTIONS = 53  # chance actions of Hearts: the pass direction and 52 dealt cards


def compare_hand(game: Hearts, seed: int, index: int, strings: float, rules: _core.hearts.Rules) -> int:
    """Play one random hand of Hearts in both implementations and compare them at each step.

    The function compares the seat on turn and the legal actions, at some steps the information state strings of all
    seats, and at the end the scores.

    Args:
        game: Hearts.
        seed: The series.
        index: Number of the hand in the series.
        strings: Probability that a step compares information state strings.
        rules: The game's rule options for the core.

    Returns:
        The number of decisions.

    Raises:
        DifferenceError: The games differ; the message names the seed and the hand.
    """
    rng = random.Random(deal_seed(seed, index))
    where = f"seed {seed}, hand {index}, {game.spiel}"
    spiel = game.deal(seed, index)
    chance = spiel.history()
    core_state = _core.hearts.State(rules, chance[0], np.array(chance[1:_CHANCE_ACTIONS], dtype=np.uint8))
    decisions = 0
    while not spiel.is_terminal():
        legal = spiel.legal_actions()
        _require_equal(core_state.current_player(), spiel.current_player(), f"{where}, seat on turn")
        _require_equal(core_state.legal_actions(), legal, f"{where}, legal actions at\n{spiel}")
        if rng.random() < strings:
            for seat in range(game.players):
                ours, theirs = core_state.information_state_string(seat), spiel.information_state_string(seat)
                _require_equal(ours, theirs, f"{where}, information state of seat {seat}")
        action = rng.choice(legal)
        spiel.apply_action(action)
        core_state.apply_action(action)
        decisions += 1
    _require_equal(core_state.is_terminal(), True, f"{where}, end")
    _require_equal(core_state.scores(), game.scores(spiel), f"{where}, scores")
    return decisions


def compare_hands(game: Hearts, seed: int, hands: int, strings: float = 0.05, first: int = 0) -> int:
    """Compare hands of a series; see `compare_hand`.

    Args:
        game: Hearts.
        seed: The series.
        hands: Number of hands.
        strings: Probability that a step compares information state strings.
        first: Number of the first hand in the series.

    Returns:
        The number of decisions compared.
    """
    rules = _core.hearts.Rules(**game.rules)
    return sum(compare_hand(game, seed, index, strings, rules) for index in range(first, first + hands))


def all_options() -> Iterator[Hearts]:
    """Yield Hearts under each of the 256 combinations of its eight rule options."""
    names = tuple(load("hearts").rules)
    for values in itertools.product((False, True), repeat=len(names)):
        yield load(f"hearts({','.join(f'{k}={v}' for k, v in zip(names, values))})")


class DifferenceError(Exception):
    """The two implementations of a game differ. The message names the seed and the hand."""


class GameComparison(NamedTuple):
    """Number of games of Hanabi that were compared."""

    games: int
    decisions: int
    drew_last: int  # games in which the last card of the deck was drawn


# Game strings beyond the three variants. Each is compared on a tenth of a variant's number of games.
OTHERS = (
    "hanabi(players=3)",
    "hanabi(players=4)",
    "hanabi(players=5)",
    "hanabi(players=3,colors=2,ranks=3,hand_size=2,max_information_tokens=3,max_life_tokens=5)",
    "hanabi(colors=3,ranks=4,hand_size=7,max_information_tokens=16,max_life_tokens=1)",
)


def compare_games(
    game: hanabi.Hanabi,
    seed: int,
    games: int,
    careful: bool,
    first: int = 0,
    on_game: Callable[[], None] = lambda: None,
) -> GameComparison:
    """Play random games of Hanabi in both implementations and compare them at each decision.

    The function compares the seat on turn, the legal actions, each seat's observation bit for bit and the reward, and
    at the end the score.

    Args:
        game: Hanabi.
        seed: The series.
        games: Number of games.
        careful: Whether to avoid moves that cost a life, so that most games last until the deck is empty.
        first: Number of the first game in the series.
        on_game: Called after each game.

    Raises:
        DifferenceError: The games differ; the message names the seed and the game.
    """
    from open_spiel.python.observation import make_observation

    records = _core.hanabi.random_games(game.rules, seed, first, games, careful)
    decks, actions = records[:2]  # actions uint8 [games, moves], padded with 255
    scores = records[2]
    observer = make_observation(game.spiel)
    decisions = drew_last = 0
    for i, deck in enumerate(decks):
        where = f"seed {seed}, game {first + i}, careful {careful}, {game.spiel}"
        core_state = _core.hanabi.State(game.rules, deck)
        spiel, remaining_deck = game.spiel.new_initial_state(), iter(deck.tolist())
        for action in actions[i][actions[i] != 255].tolist():
            _draw(spiel, remaining_deck)
            _compare_states(core_state, spiel, observer, where)
            harmless = core_state.harmless_actions()
            if careful and harmless and action not in harmless:
                raise DifferenceError(f"{where}: action {action} costs a life")
            before = core_state.score()
            spiel.apply_action(action)
            core_state.apply_action(action)
            _require_equal([core_state.score() - before] * game.players, spiel.rewards(), f"{where}, rewards")
            decisions += 1
        _draw(spiel, remaining_deck)
        _compare_states(core_state, spiel, observer, where)
        _require_equal((core_state.is_terminal(), spiel.is_terminal()), (True, True), f"{where}, end")
        _require_equal([core_state.score()] * game.players, spiel.returns(), f"{where}, returns")
        _require_equal(core_state.score(), scores[i], f"{where}, score of the game and of its replay")
        drew_last += not core_state.deck
        on_game()
    return GameComparison(games, decisions, drew_last)


def _require_equal(ours: object, theirs: object, what: str) -> None:
    """Raise DifferenceError if the core and OpenSpiel differ."""
    if ours != theirs:
        raise DifferenceError(f"{what}: {ours} in the core, {theirs} in OpenSpiel")


def _draw(spiel: Any, deck: Iterator[int]) -> None:
    """Apply chance actions from a deck, up to the next decision."""
    while spiel.is_chance_node():
        spiel.apply_action(next(deck))


def _compare_states(core_state: _core.hanabi.State, spiel: Any, observer: Any, where: str) -> None:
    """Raise DifferenceError if the seat on turn, the legal actions or a seat's observation differ."""
    _require_equal(core_state.current_player(), spiel.current_player(), f"{where}, seat on turn")
    _require_equal(core_state.legal_actions(), spiel.legal_actions(), f"{where}, legal actions at\n{spiel}")
    for seat in range(spiel.num_players()):
        observer.set_from(spiel, seat)
        ours = core_state.observation(seat)
        _require_equal(ours.shape, observer.tensor.shape, f"{where}, shape of the observation of seat {seat}")
        if ours.tobytes() != observer.tensor.tobytes():
            differ = np.flatnonzero(ours != observer.tensor).tolist()
            raise DifferenceError(f"{where}, seat {seat}: numbers {differ} of the observation differ\n{spiel}")


def main() -> None:
    """Compare hands of one series; exit with 1 and the difference if there is one.

    The hands of Hearts are shared evenly among the settings of the options. Hanabi plays that many games of each
    variant, half of them by random moves and half by random moves that cost no life.
    """
    parser = argparse.ArgumentParser(prog="python -m trickformer.audit.differential", description=main.__doc__)
    parser.add_argument(
        "--game", choices=("hearts", "hanabi"), default="hearts", help="Game to compare (default: %(default)s)."
    )
    parser.add_argument(
        "--hands", type=int, default=20_000, help="Hands, or games of each variant of Hanabi (default: %(default)s)."
    )
    parser.add_argument("--seed", type=int, default=0, help="Seed of the deals and the moves (default: %(default)s).")
    parser.add_argument(
        "--strings",
        type=float,
        default=0.01,
        help="Hearts: share of decisions that compare information strings (default: %(default)s).",
    )
    arguments = parser.parse_args()
    if arguments.hands < 1 or arguments.seed < 0:
        parser.error("--hands is at least 1, --seed at least 0")
    began = time.perf_counter()
    try:
        if arguments.game == "hearts":
            _hearts(arguments.hands, arguments.seed, arguments.strings)
        else:
            _hanabi(arguments.hands, arguments.seed)
    except DifferenceError as difference:
        print(difference, file=sys.stderr)
        sys.exit(1)
    print(f"seconds                  {time.perf_counter() - began:,.0f}")
    print("no difference")


def _hearts(hands: int, seed: int, strings: float) -> None:
    options = list(all_options())
    bounds = [hands * i // len(options) for i in range(len(options) + 1)]
    decisions = 0
    with progress("differential", "hands", 0, hands) as advance:
        for game, first, end in zip(options, bounds, bounds[1:]):
            decisions += compare_hands(game, seed, end - first, strings, first)
            if end > first:
                advance(end - first)
    print(f"settings of the options  {min(hands, len(options))}")
    print(f"hands                    {hands:,}")
    print(f"decisions                {decisions:,}")


def _hanabi(games: int, seed: int) -> None:
    plan = [(spec, games) for spec in hanabi.VARIANTS] + [(spec, max(1, games // 10)) for spec in OTHERS]
    results: dict[str, GameComparison] = {}
    with progress("differential", "games", 0, sum(n for _, n in plan)) as advance:
        for spec, n in plan:
            game, half = hanabi.load(spec), n // 2
            parts = (
                compare_games(game, seed, half, False, 0, lambda: advance(1)),
                compare_games(game, seed, n - half, True, half, lambda: advance(1)),
            )
            results[spec] = GameComparison(*map(sum, zip(*parts)))
    width = max(map(len, results))
    print(f"{'':{width}}  {'games':>9}  {'decisions':>11}  drew the last card")
    for spec, f in results.items():
        print(f"{spec:{width}}  {f.games:9,}  {f.decisions:11,}  {f.drew_last:18,}")


if __name__ == "__main__":
    main()
