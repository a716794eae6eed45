"""Speed of The Crew's solver on one thread. It decides after the allocation of tasks if open hands can succeed.

Deals, tasks and the draws of mission 12 are random. The rows of each group of missions are ms a position (median, mean,
99th percentile), the share of positions that the solver cannot decide within its limit of cards, and the share that can
be fulfilled. The baseline tries every card in order, without a table or bounds (cpp/crew/solver_plain.hpp), on the
first positions and within the same limit. A position that it cannot decide counts with the time spent. Every figure is
CPU time of the thread.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import Row, arguments, emit
from trickformer import _core
from trickformer.games import missions
from trickformer.games.crew import RADIO

SEED = 1
LIMIT = 200_000  # largest number of cards tried in a position
MS = 1e3  # ms in a second
MISSIONS = {page.id: page.mission() for page in missions.read()}
GROUPS = {
    "1-10": range(1, 11),
    "11-30": range(11, 31),
    "31-50": range(31, 51),
    "balance 29 34": (29, 34),
    "rockets 44": (44,),
    "all pink 46": (46,),
    "ten tasks 47 49": (47, 49),
    "roles 50": (50,),
}


def main() -> None:
    options = arguments(__doc__ or "")
    rows: list[Row] = []
    for name, numbers in GROUPS.items():
        n, few = (400, 40) if options.quick else (2000, 200)
        rows += group(name, [position(numbers[i % len(numbers)], i) for i in range(n)], few)
    emit(rows, options.json)


def position(number: int, index: int) -> tuple[Any, list[float]]:
    """Return a random state after the allocation of tasks, and each seat's draw as a number from 0 to 1."""
    rng = np.random.default_rng([SEED, number, index])
    state = _core.crew.State(MISSIONS[number], rng.permutation(40).astype(np.uint8))
    while state.phase < RADIO:
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state, rng.random(4).tolist()


def group(name: str, positions: list[tuple[Any, list[float]]], few: int) -> list[Row]:
    """Measure the rows of a group of missions. The baseline solves the first `few` positions."""
    solver = _core.crew.Solver()
    solver.can_succeed(positions[0][0], LIMIT, positions[0][1])  # allocates the table before the clock starts
    answers, ours = solve_positions(lambda state, draws: solver.can_succeed(state, LIMIT, draws), positions)
    plain, theirs = solve_positions(
        lambda state, draws: _core.crew.plain_can_succeed(state, LIMIT, draws)[0], positions[:few]
    )
    n = len(answers)
    ours_known = sum(answer is not None for answer in answers[:few]) / few
    plain_known = sum(answer is not None for answer in plain) / few
    return [
        Row(f"{name} median", MS * statistics.median(ours), None, "ms"),
        Row(f"{name} mean", MS * statistics.mean(ours), None, "ms"),
        Row(f"{name} p99", MS * float(np.percentile(ours, 99)), None, "ms"),
        Row(f"{name} not known", answers.count(None) / n, None, "share"),
        Row(f"{name} can succeed", answers.count(True) / n, None, "share"),
        Row(f"{name} known, first {few}", ours_known, plain_known, "share"),
        Row(f"{name} mean, first {few}", MS * statistics.mean(ours[:few]), MS * statistics.mean(theirs), "ms"),
    ]


def solve_positions(
    solve: Callable[[Any, list[float]], bool | None], positions: list[tuple[Any, list[float]]]
) -> tuple[list[bool | None], list[float]]:
    """Solve positions. Return the answers (None: not decided), and the CPU seconds of each."""
    answers, seconds = [], []
    for state, draws in positions:
        start = time.thread_time()
        answers.append(solve(state, draws))
        seconds.append(time.thread_time() - start)
    return answers, seconds


if __name__ == "__main__":
    main()
