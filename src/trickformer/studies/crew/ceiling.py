"""Ceiling of an evaluation: which deals could be won at all, by a solver that sees all hands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from trickformer import _core, players
from trickformer.base import TrickformerError
from trickformer.games import crew
from trickformer.plumbing import parallel
from trickformer.plumbing.folder import resumable
from trickformer.plumbing.lines import JsonLines
from trickformer.plumbing.progress import progress
from trickformer.studies.crew.plan import CrewEvaluation
from trickformer.tournaments.store import HandRecord

FILE = "ceiling.jsonl"
_PLAYING = (crew.RADIO, crew.PLAY)  # phases after the allocation of tasks

Job = tuple[CrewEvaluation, list[tuple[int, tuple[int, ...]]]]  # plan; deals with the histories of their games


def answers(config: CrewEvaluation, records: Sequence[HandRecord]) -> dict[int, bool | None]:
    """Solve the deals of the first player's games, each with its tasks allocated as in the game.

    A file in `config.out` keeps the answers; deals in it are not solved again.

    Args:
        config: Options of the evaluation; `ceiling` limits the nodes of a search.
        records: Records of the games.

    Returns:
        By deal, whether the team can succeed; None if the search ran out of nodes.

    Raises:
        TrickformerError: The answers cannot be written.
    """
    path = None if config.out is None else config.out / FILE
    with JsonLines(path) if path else nullcontext() as file:
        try:
            lines = file.stored if file else []
            solved = {line["deal"]: line["answer"] for line in lines if line["nodes"] == config.ceiling}
        except (KeyError, TypeError):
            raise TrickformerError(f"{path} is broken; delete it to solve its deals again") from None
        open_deals = [(r.deal, r.history) for r in records if set(r.seating) == {0} and r.deal not in solved]
        slots = min(parallel.slots(config.workers, config.ray), len(open_deals))
        jobs: list[Job] = [(config, open_deals[i::slots]) for i in range(slots)]
        typed, state = players.to_type(config), (lambda: f"after {len(solved)} answers of the solver")
        with (
            resumable(config.COMMAND, config, typed, progress=state),
            progress("ceiling", "deals", 0, len(open_deals)) as advance,
        ):
            for deal, answer in parallel.stream(_solve, jobs, config.workers, config.ray):
                solved[deal] = answer
                if file:
                    file.append({"deal": deal, "nodes": config.ceiling, "answer": answer})
                advance()
    return solved


def _solve(job: Job) -> Iterator[tuple[int, bool | None]]:
    """Yield each deal of a job with its answer."""
    config, deals = job
    game: Any = config.rules()
    solver = _core.crew.Solver()
    for deal, history in deals:
        state = _replay_allocation(game.missions[history[0]], history)
        yield deal, solver.can_succeed(state, config.ceiling, game.draws(config.seed, deal))


def _replay_allocation(mission: Any, history: Sequence[int]) -> Any:
    """Return the core's state after the tasks are allocated and the distress cards are passed."""
    deck, actions = history[1 : crew.PREAMBLE], iter(history[crew.PREAMBLE :])
    state = _core.crew.State(mission, np.array(deck, dtype=np.uint8))
    while state.phase not in _PLAYING:
        state.apply_action(next(actions))
    return state
