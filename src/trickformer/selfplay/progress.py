"""Progress of a training on standard error: a live line on a terminal, else a plain line every 15 seconds.

The line has the iteration, the stage, its finished part, and the estimated time of the rest of the run. No error here
ends a run: if output fails, for example because a terminal was closed, progress stays silent.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TextIO, cast

from trickformer.plumbing.progress import Advance, Show
from trickformer.plumbing.terminal import BestEffortStream, console, say
from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.schedule import first_rollout_network, hands_of, learned_from, sequences_of

_DRAW_EVERY = 0.2  # seconds between two drawings on a terminal
_LINE_EVERY = 15.0  # seconds between two plain lines
_BAR_FROM = 120  # smallest width of a terminal, in columns, with room for a bar
# Description of each stage, and the unit of its work; "" for a stage that is a single piece of work.
_STAGES = {
    "play": ("playing", "hands"),
    "learn": ("learning", "sequences"),
    "rollout_network": ("training the rollout network", ""),
    "measure": ("measuring on held-out hands", ""),
    "previous": ("match against the previous model", "tables"),
    "baseline": ("match against the baseline", "tables"),
}


class Update(Protocol):
    """Callback that reports the progress of a stage."""

    def __call__(self, done: int, details: Callable[[], str] = ...) -> None:
        """Report that `done` units of the stage are finished. If the line is drawn, it ends with `details()`."""
        ...


def _no_details() -> str:
    return ""


def format_duration(seconds: float) -> str:
    """Format a time to two units at most, such as `2 h 13 min`.

    Args:
        seconds: The time.
    """
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


class RemainingTime:
    """Estimate of the time that the rest of a run takes, from the speeds of the stages so far.

    The unit of work depends on the stage: hands, sequences, a match or a measurement. Every stage has its own speed. So
    have the hands of the bootstrap players and the matches against each opponent.
    """

    def __init__(self, config: SelfPlay, entries: Iterable[Mapping[str, Any]]):
        """Plan the whole run.

        Args:
            config: Config of the run.
            entries: Log of the run so far. Its speeds are used until this process has measured its own.
        """
        self._left: dict[tuple[int, str], float] = {}  # work left, by iteration and stage
        for i in range(config.iterations + 1):
            learned = sum(sequences_of(config, j) for j in learned_from(config, i))
            epochs = config.epochs if i else config.bootstrap_epochs
            self._left |= {(i, "play"): hands_of(config, i), (i, "learn"): epochs * learned, (i, "measure"): 1}
            if i >= first_rollout_network(config) and not config.searches(i):
                self._left[i, "rollout_network"] = 1
            if config.match_deals:
                self._left |= {(i, "baseline"): 1} | ({(i, "previous"): 1} if i else {})
        self._earlier = {
            self._kind(e["iteration"], e["stage"]): float(e["speed"])
            for e in entries
            if e.get("stage") in ("play", "learn") and e.get("speed")
        }
        self._work: dict[str, float] = {}  # work that this process has done, by kind
        self._seconds: dict[str, float] = {}  # time that it took, by kind

    def _kind(self, iteration: int, stage: str) -> str:
        """Return the kind of work: all stages of a kind have the same speed."""
        return "bootstrap" if stage == "play" and iteration == 0 else stage

    def begin(self, iteration: int, stage: str, done: float) -> None:
        """Remove the share of a stage that an earlier process finished from the plan.

        Args:
            iteration: The iteration.
            stage: Name of the stage.
            done: Finished share, from 0 to 1.
        """
        if (iteration, stage) in self._left:
            self._left[iteration, stage] *= 1 - done

    def drop(self, iteration: int, stage: str) -> None:
        """Remove a finished stage from the plan.

        Args:
            iteration: The iteration.
            stage: Name of the stage.
        """
        self._left.pop((iteration, stage), None)

    def drop_training(self, iteration: int) -> None:
        """Remove the stages that produce an iteration's model from the plan.

        Args:
            iteration: The iteration.
        """
        for stage in ("play", "learn", "rollout_network", "measure"):
            self.drop(iteration, stage)

    def drop_matches(self, iteration: int) -> None:
        """Remove the matches of an iteration from the plan.

        Args:
            iteration: The iteration.
        """
        for opponent in ("previous", "baseline"):
            self.drop(iteration, opponent)

    def advance(self, iteration: int, stage: str, share: float, seconds: float) -> None:
        """Count a share of what is left of a stage as finished.

        Args:
            iteration: The iteration.
            stage: Name of the stage.
            share: Share of what is left, from 0 to 1.
            seconds: Time that it took.
        """
        left = self._left.get((iteration, stage), 0.0)
        kind = self._kind(iteration, stage)
        self._work[kind] = self._work.get(kind, 0.0) + share * left
        self._seconds[kind] = self._seconds.get(kind, 0.0) + seconds
        self._left[iteration, stage] = (1 - share) * left

    def estimate(self) -> tuple[float, bool]:
        """Return the seconds left, and whether they cover every stage. A stage without a known speed counts as 0."""
        seconds, covered = 0.0, True
        for (iteration, stage), left in self._left.items():
            kind = self._kind(iteration, stage)
            speed = self._earlier.get(kind, 0.0)
            if self._work.get(kind) and self._seconds[kind] > 0:
                speed = self._work[kind] / self._seconds[kind]
            if speed:
                seconds += left / speed
            elif left:
                covered = False
        return seconds, covered

    def __str__(self) -> str:
        seconds, covered = self.estimate()
        if covered:
            return f"{format_duration(seconds)} left in the run"
        return f"over {format_duration(seconds)} left in the run" if seconds >= 1 else ""


class RunProgress:
    """Progress of a run of self-play, stage by stage."""

    def __init__(self, config: SelfPlay, entries: Iterable[Mapping[str, Any]] = ()):
        """Plan a run.

        Args:
            config: Config of the run.
            entries: Log of the run so far.
        """
        self.remaining = RemainingTime(config, entries)
        self._iterations, self._visible = config.iterations, True

    def line(self, text: str) -> None:
        """Print a line that stays, between stages.

        Args:
            text: The line.
        """
        self._attempt(lambda: say(text))

    @contextmanager
    def stage(self, iteration: int, stage: str, done: int, total: int) -> Generator[Update]:
        """Show a stage while the block runs.

        Args:
            iteration: The iteration.
            stage: Stage of the log; for a match the opponent.
            done: Number of units that an earlier process finished.
            total: Number of units of the stage.

        Yields:
            The function to call with the number of finished units.
        """
        description, unit = _STAGES[stage]
        display = _Display(f"iteration {iteration} of {self._iterations}: {description}", unit, total)
        last_time, last_done = time.monotonic(), done  # values at the last update
        self.remaining.begin(iteration, stage, done / max(1, total))

        def update(done: int, details: Callable[[], str] = _no_details) -> None:
            nonlocal last_time, last_done
            now = time.monotonic()
            if total > last_done:
                share = (done - last_done) / (total - last_done)
                self.remaining.advance(iteration, stage, share, now - last_time)
            last_time, last_done = now, done
            self._attempt(lambda: display.draw(done, lambda: ", ".join(filter(None, [details(), str(self.remaining)]))))

        self._attempt(lambda: display.begin(done))
        try:
            yield update
            self.remaining.drop(iteration, stage)
        finally:
            with suppress(Exception):  # restores the cursor and the streams even if drawing has failed
                display.end()

    def show(self, iteration: int, stage: str) -> Show:
        """Return a function that shows a tournament as a stage, with the interface `Show` of plumbing/progress.py.

        Args:
            iteration: The iteration.
            stage: Name of the stage.
        """

        @contextmanager
        def show_stage(_: str, __: str, done: int, total: int) -> Generator[Advance]:
            with self.stage(iteration, stage, done, total) as update:
                count = done

                def advance(n: int = 1, where: str = "", score: Callable[[], str] | None = None) -> None:
                    nonlocal count
                    count += n
                    update(count)

                yield advance

        return show_stage

    def _attempt(self, show: Callable[[], None]) -> None:
        """Call `show`. After an error nothing is shown any more: a closed terminal must not end a long training."""
        if not self._visible:
            return
        try:
            show()
        except Exception:
            self._visible = False


class _Display:
    """Line of one stage."""

    def __init__(self, description: str, unit: str, total: int):
        self._description, self._unit = description, unit
        self._total = total
        self._bar: Any = None  # rich.progress.Progress; None without a terminal
        self._task: Any = None
        self._last_draw = time.monotonic()

    def begin(self, done: int) -> None:
        if not sys.stderr.isatty():
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        terminal = console(cast("TextIO", BestEffortStream(sys.stderr)))
        columns: list[Any] = [TextColumn("{task.description}")]
        if self._unit:
            columns += [BarColumn(bar_width=20)] if terminal.width >= _BAR_FROM else []
            columns += [MofNCompleteColumn(), TextColumn(self._unit)]
        columns.append(TextColumn("{task.fields[details]}"))
        # auto_refresh would draw in another thread, whose errors could not be caught here.
        self._bar = Progress(*columns, console=terminal, auto_refresh=False, transient=not self._unit)
        self._bar.start()
        self._task = self._bar.add_task(self._description, total=self._total, completed=done, details="")
        self._bar.refresh()

    def draw(self, done: int, details: Callable[[], str]) -> None:
        now = time.monotonic()
        if done < self._total and now - self._last_draw < (_DRAW_EVERY if self._bar else _LINE_EVERY):
            return
        self._last_draw = now
        if self._bar:
            self._bar.update(self._task, completed=done, details=details())
            self._bar.refresh()
        elif self._unit:
            parts = [f"{done:,} of {self._total:,} {self._unit}", details()]
            say(f"{self._description}: {', '.join(filter(None, parts))}")

    def end(self) -> None:
        if self._bar:
            self._bar.stop()
