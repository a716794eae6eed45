"""Pages of puzzles. A worker process finds the puzzles, and all pages get the same ones.

A page receives what the seat that decided had seen. The server keeps the rating, and sends it after the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from trickformer.base import TrickformerError
from trickformer.plumbing.progress import Show, silent_progress
from trickformer.review import puzzles
from trickformer.review.puzzles import Puzzle, PuzzleScore
from trickformer.review.rating import seats_share_score
from trickformer.review.result import DecisionRating
from trickformer.web import messages, scenes
from trickformer.web.config import PuzzleSettings
from trickformer.web.desk import ReportProgress, throttle_progress
from trickformer.web.offers import short
from trickformer.web.pages import HOST, Access, Pages, describe_work
from trickformer.web.worker import CancellationError, Worker

REMEDY = "lower --margin, name more games, or choose another analyst"  # if there are no puzzles
AHEAD = 1  # puzzles that are found before a page requests them


class FoundPuzzle(NamedTuple):
    """Puzzle in parts: a page gets `question` first, and `solution` after its answer."""

    question: dict[str, Any]
    solution: dict[str, Any]
    rating: DecisionRating
    solutions: tuple[int, ...]


def find_by_settings(settings: PuzzleSettings, show: Show = silent_progress) -> Iterator[Puzzle]:
    """Find the puzzles that the command line chooses; `puzzles.find` raises the errors.

    Args:
        settings: Settings of the command.
        show: Shows the progress; silent by default.
    """
    every = puzzles.find(
        settings.run,
        settings.analyse,
        games=settings.games,
        worst=settings.worst,
        seats=settings.seats,
        margin=settings.margin,
        repeats=settings.repeats,
        seed=settings.seed,
        show=show,
    )
    return islice(every, settings.most)


def describe_question(puzzle: Puzzle) -> dict[str, Any]:
    """Describe a puzzle for a page, with nothing but what the seat knew.

    Args:
        puzzle: The puzzle.
    """
    game, seat = puzzle.hand.game, puzzle.turn.seat
    return {
        "game": game.name,
        "me": seat,
        "turn": seat,
        "seats": [short(name) for name in puzzle.hand.names],
        "scene": scenes.to_json(scenes.show(game, puzzle.state, seat)),
        "log": [scenes.to_json(entry) for entry in scenes.log(game, puzzle.state, seat)],
        "shared": seats_share_score(game),
        "unit": puzzle.unit,
        "judge": short(puzzle.judge),
    }


def describe_solution(puzzle: Puzzle) -> dict[str, Any]:
    """Describe the rating of a puzzle, and its place in the record.

    Args:
        puzzle: The puzzle.
    """
    rows = [
        {
            "action": rated.action,
            "words": rated.words,
            "value": rated.value,
            "error": rated.error,
            "loss": rated.loss,
            "loss_error": rated.loss_error,
            "verdict": puzzles.describe_answer(rated, puzzle),
        }
        for rated in puzzle.rating.actions
    ]
    return {
        "rows": rows,
        "solutions": list(puzzle.solutions),
        "played": puzzle.turn.action,
        "record": puzzle.game_number,
        "decision": puzzle.turn.number,
    }


class PuzzleFinder:
    """Finds puzzles in a worker process."""

    def __init__(self, settings: PuzzleSettings):
        """Prepare the search.

        Args:
            settings: Settings of the command.
        """
        self._report: ReportProgress | None = None
        self._rest = find_by_settings(settings, throttle_progress(self._forward))
        self._found: list[FoundPuzzle] = []

    def get(self, index: int, report: ReportProgress) -> FoundPuzzle | None:
        """Find a puzzle.

        Args:
            index: Number of the puzzle, from 0.
            report: Receives the progress.

        Returns:
            The puzzle; None if there are no more.

        Raises:
            TrickformerError: `puzzles.find` raises it.
        """
        self._report = report
        while index >= len(self._found):
            puzzle = next(self._rest, None)
            if puzzle is None:
                return None
            question, solution = describe_question(puzzle), describe_solution(puzzle)
            self._found.append(FoundPuzzle(question, solution, puzzle.rating, puzzle.solutions))
        return self._found[index]

    def _forward(self, progress: tuple[str, str, int, int]) -> None:
        if self._report is not None:
            self._report(progress)


@dataclass
class _Solver:
    """Person at a page."""

    at: int = 0  # index of the puzzle that the page shows or waits for
    is_waiting: bool = False  # whether that puzzle is not found yet
    is_answered: bool = False
    is_over: bool = False
    score: PuzzleScore = field(default_factory=PuzzleScore)


class PuzzlePages(Pages):
    """Pages of the puzzles of one path."""

    def __init__(self, settings: PuzzleSettings, worker: Worker | None = None):
        """Open the room.

        Args:
            settings: Settings of the command.
            worker: Worker with a PuzzleFinder; a new one if None.
        """
        super().__init__()
        self._settings = settings
        self._worker = worker or Worker(PuzzleFinder, settings)
        self._found: list[FoundPuzzle] = []
        self._is_complete = False  # whether all puzzles are found
        self._fault = ""  # why the search has ended early
        self._search: asyncio.Task[None] | None = None
        self._solvers: dict[object, _Solver] = {}

    def enter(self, page: object, access: Access = HOST) -> asyncio.Queue[str]:
        queue = super().enter(page, access)
        self._solvers[page] = _Solver()
        self._show(page, self._solvers[page])
        return queue

    def leave(self, page: object) -> None:
        self.pages.pop(page, None)
        self._solvers.pop(page, None)
        if not self.pages and self._worker.busy:  # nobody waits for a puzzle
            self._worker.cancel()

    async def close(self) -> None:
        self._worker.cancel()

    async def receive(self, page: object, text: str) -> None:
        message, solver = messages.PUZZLE.validate_json(text), self._solvers.get(page)
        if solver is None:  # the page was removed, because it did not read its messages
            return
        match message:
            case messages.Solve():
                self._check(solver, message.puzzle, must_be_answered=False)
                puzzle = self._found[solver.at]
                chosen = next((rated for rated in puzzle.rating.actions if rated.action == message.action), None)
                if chosen is None:
                    raise TrickformerError("that action is not legal there")
                solver.is_answered = True
                solver.score.add(chosen, puzzle.solutions)
                about = {"type": "solution", "number": solver.at + 1, "chosen": chosen.action}
                self.send(page, about | puzzle.solution | self._describe_score(solver))
            case messages.Proceed():
                self._check(solver, message.puzzle, must_be_answered=True)
                solver.at, solver.is_answered = solver.at + 1, False
                self._show(page, solver)
            case messages.Cancel():
                if solver.is_waiting:
                    self._end(page, solver)
                    if not any(other.is_waiting for other in self._solvers.values()) and self._worker.busy:
                        self._worker.cancel()

    def _check(self, solver: _Solver, number: int, must_be_answered: bool) -> None:
        is_open = not (solver.is_waiting or solver.is_over) and number == solver.at + 1
        if not is_open or solver.is_answered != must_be_answered:
            raise TrickformerError("the page shows another puzzle; look again")

    def _show(self, page: object, solver: _Solver) -> None:
        """Send the puzzle of a page, or the end, or let the page wait. Then look for the next puzzles."""
        solver.is_waiting = False
        if solver.at < len(self._found):
            about = {"type": "puzzle", "number": solver.at + 1, "most": self._settings.most}
            self.send(page, about | self._found[solver.at].question | self._describe_score(solver))
        elif self._is_complete:
            self._end(page, solver)
        else:
            solver.is_waiting = True
            self.send(page, {"type": "working", "what": "puzzles"})
        if self._is_needed() and (self._search is None or self._search.done()):
            self._search = asyncio.create_task(self._find())

    def _end(self, page: object, solver: _Solver) -> None:
        solver.is_waiting, solver.is_over = False, True
        is_empty = self._is_complete and not self._found and not self._fault
        about = {"type": "end", "none": f"There are no puzzles; {REMEDY}." if is_empty else ""}
        self.send(page, about | self._describe_score(solver))
        if self._fault:
            self.send(page, {"type": "error", "text": self._fault})

    def _describe_score(self, solver: _Solver) -> dict[str, Any]:
        units = {puzzle.question["unit"] for puzzle in self._found[: solver.at + 1]}
        words = puzzles.describe_score(solver.score, units.pop() if len(units) == 1 else None)
        return {"score": words if solver.score.answered else ""}

    def _is_needed(self) -> bool:
        """Test whether a page waits for a puzzle, or will soon."""
        last = max((solver.at for solver in self._solvers.values() if not solver.is_over), default=-AHEAD - 1)
        return not self._is_complete and len(self._found) <= last + AHEAD

    async def _find(self) -> None:
        """Find puzzles until no page needs more."""
        while self._is_needed():
            try:
                puzzle = await self._worker.do("get", len(self._found), report=self._report)
            except CancellationError:
                continue
            except TrickformerError as e:
                self._is_complete, self._fault = True, str(e)
            else:
                if puzzle is None:
                    self._is_complete = True
                else:
                    self._found.append(puzzle)
            for page, solver in list(self._solvers.items()):
                if solver.is_waiting:
                    self._show(page, solver)

    def _report(self, progress: tuple[str, str, int, int]) -> None:
        for page, solver in list(self._solvers.items()):
            if solver.is_waiting:
                self.send(page, describe_work(progress))
