"""Speed of the Skat solver with open cards on one thread, in games that three scripted players declare.

Rows: cards tried a second, and ms a position at the first lead and after five tricks. `61` is the question whether the
soloist makes 61 card points, `all-moves` the same question after each legal card, and `exact` the exact card points.
In null games all three ask whether the soloist takes no trick. The baseline is a plain zero-window search on the same
positions, with a table of whole positions and a simple order of moves (cpp/skat/solver_plain.hpp). It does not solve
null games, so rows with a baseline leave them out. It finds exact points by bisection. Every figure is CPU time of the
thread.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks import Row, arguments, emit, measure
from trickformer import _core

solver = _core.skat_solver
DEALS, QUICK_DEALS = 300, 30
SLOW, QUICK_SLOW = 40, 4  # games whose first lead the baseline also solves for every card and exact points, slowly
SEED = 1
WIN = 61  # card points with which the soloist wins
TRICKS = 5  # tricks before the later positions
MS = 1e3  # ms in a second
NULL = 5  # the core's number of the kind
PLAY = 5  # the core's number of the phase
POINTS = (0, 0, 0, 3, 4, 10, 11, 2)  # card points by rank: 7 8 9 Q K T A J


def main() -> None:
    options = arguments(__doc__ or "")
    starts, later = games(QUICK_DEALS if options.quick else DEALS)
    emit(rows(starts, later, QUICK_SLOW if options.quick else SLOW), options.json)


def rows(deals: list[Any], endings: list[Any], slow: int) -> list[Row]:
    """Measure all rows.

    At the first lead, the baseline solves every card and the exact points of few games only, because it is slow.

    Args:
        deals: States at the first lead.
        endings: States after TRICKS tricks, without null games.
        slow: Number of these games, which are the first that are not null.
    """
    trumps = [d for d in deals if d.kind != NULL]
    few = trumps[:slow]
    every, later = positions(deals), positions(endings)
    solver.at_least(positions(few[:1]))  # allocates the transposition table before the clock starts

    singles = [positions([d]) for d in deals]
    start = [cpu_seconds(lambda p=p: solver.at_least(p, WIN)) for p in singles]
    answers = solver.at_least(positions(trumps), WIN)
    ours = dict(zip(map(id, deals), start))
    plain, plain_nodes = [], 0
    for d in trumps:
        p = positions([d])
        begin = time.thread_time()
        _, nodes = solver.plain_at_least(p, WIN)
        plain.append(time.thread_time() - begin)
        plain_nodes += int(nodes[0])
    mine = [ours[id(d)] for d in trumps]
    rate = int(answers[1].sum()) / sum(mine)

    def mean(run: Callable[[], object], n: int) -> float:
        return cpu_seconds(run) / n

    few_positions = positions(few)
    return [
        Row("nodes", rate, plain_nodes / sum(plain), "nodes/s"),
        Row("start 61 mean", MS * statistics.mean(start), None, "ms"),
        Row("start 61 median", MS * statistics.median(start), None, "ms"),
        Row("start 61 mean, no nulls", MS * statistics.mean(mine), MS * statistics.mean(plain), "ms"),
        Row("start 61 median, no nulls", MS * statistics.median(mine), MS * statistics.median(plain), "ms"),
        Row("start all-moves mean", MS * mean(lambda: solver.moves_at_least(every, WIN), len(deals)), None, "ms"),
        Row(
            f"start all-moves mean, {len(few)} games",
            MS * mean(lambda: solver.moves_at_least(few_positions, WIN), len(few)),
            MS * mean(lambda: [solver.plain_at_least(children(d), WIN) for d in few], len(few)),
            "ms",
        ),
        Row("start exact mean", MS * mean(lambda: solver.exact(every), len(deals)), None, "ms"),
        Row(
            f"start exact mean, {len(few)} games",
            MS * mean(lambda: solver.exact(few_positions), len(few)),
            MS * mean(lambda: [bisect(d) for d in few], len(few)),
            "ms",
        ),
        Row(
            "after 5 tricks 61 mean",
            MS * measure(lambda: mean(lambda: solver.at_least(later, WIN), len(endings)), 5)[0],
            MS * mean(lambda: solver.plain_at_least(later, WIN), len(endings)),
            "ms",
        ),
        Row(
            "after 5 tricks exact mean",
            MS * measure(lambda: mean(lambda: solver.exact(later), len(endings)), 5)[0],
            MS * mean(lambda: [bisect(d) for d in endings], len(endings)),
            "ms",
        ),
    ]


def cpu_seconds(run: Callable[[], object]) -> float:
    """Return the CPU seconds of this thread for one call."""
    start = time.thread_time()
    run()
    return time.thread_time() - start


def bisect(state: Any) -> int:
    """Find the soloist's exact card points at the end by bisection with the baseline."""
    at, low = positions([state]), state.soloists_points + points(state.skat)
    high = low + sum(points(state.hand(p)) for p in range(3))
    while low < high:
        middle = (low + high + 1) // 2
        if solver.plain_at_least(at, middle)[0][0]:
            low = middle
        else:
            high = middle - 1
    return low


def positions(states: list[Any], played: Sequence[int] = ()) -> Any:
    """Convert states to the solver's positions. `played` holds the card that is led in each; empty: between tricks."""
    hands = [[sum(1 << c for c in s.hand(p)) for p in range(3)] for s in states]
    tricks = np.full((len(states), 2), -1, np.int8)
    tricks[:, 0] = played if len(played) else -1
    mine = [s.soloists_points + points(s.skat) for s in states]
    left = [sum(points(s.hand(p)) for p in range(3)) for s in states]
    left = [n + points([int(card)]) for n, card in zip(left, played)] if len(played) else left
    return solver.Positions(
        np.array([s.kind for s in states], np.int8),
        np.array([s.soloist for s in states], np.int8),
        np.array(hands, np.uint32),
        tricks,
        np.array([s.leader for s in states], np.int8),
        np.array([(m, 120 - m - n) for m, n in zip(mine, left)], np.int16),
    )


def points(cards: Sequence[int]) -> int:
    """Sum up card points."""
    return sum(POINTS[c % 8] for c in cards)


def children(state: Any) -> Any:
    """Return the solver's positions after each legal lead."""
    after = []
    for card in state.legal_actions():
        after.append(copy.copy(state))
        after[-1].apply_action(card)
    return positions(after, state.legal_actions())


def games(n: int) -> tuple[list[Any], list[Any]]:
    """Play the first n games that scripted players declare.

    Returns:
        States at the first lead, and states of the same games after TRICKS tricks, without null games.
    """
    starts: list[Any] = []
    later = []
    first = 0
    while len(starts) < n:
        history = _core.skat.mixed_games(False, SEED, first, n, 0.0)[0]
        first += n
        for actions in history.tolist():
            state = _core.skat.State(np.array(actions[:32], np.uint8))
            left = iter(actions[32:])
            while state.phase < PLAY:
                state.apply_action(next(left))
            if state.phase == PLAY and len(starts) < n:
                starts.append(copy.copy(state))
                for _ in range(3 * TRICKS):
                    if state.phase == PLAY:
                        state.apply_action(next(left))
                if state.phase == PLAY and state.kind != NULL:
                    later.append(state)
    return starts, later


if __name__ == "__main__":
    main()
