"""Log of a run: JSON lines, which TensorBoard shows as well."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from trickformer.plumbing.lines import JsonLines, Parse, read_lines
from trickformer.plumbing.text import json_object

LOG = "log.jsonl"
STAGES = ("play", "learn", "rollout_network", "measure", "match", "judge")  # stages of an iteration, in order
_FORMER_STAGES = {"quick": "rollout_network"}  # stages by their names in version 0.2
# Measurements of a model by their names in version 0.2 and in early runs of 0.3.
_FORMER_LOSSES = {"observation_loss": "policy_loss", "outcome_loss": "value_loss"}
_SKIPPED = ("time", "iteration", "stage", "at", "steps")  # fields that are no curves
_LIMIT = 1 << 37  # upper bound of counts and times; in seconds it is the year 6325, which datetime can represent
# Groups of curves of a match, by field of its entry. Each group has one curve for each opponent.
_MATCH_CURVES = {"difference": "match", "low": "match_low", "high": "match_high"}


def read_log(folder: Path, iterations: int) -> list[dict[str, Any]]:
    """Read the log of a run folder, which a run may be writing; empty if there is none.

    Args:
        folder: The run folder.
        iterations: Number of iterations that entries may belong to.

    Raises:
        TrickformerError: The log is broken.
    """
    return read_lines(folder / LOG, _parser(iterations))[0]


def _parser(iterations: int) -> Parse:
    def parse(_: int, line: bytes) -> dict[str, Any]:
        entry = json_object(line, finite=False)  # the log of a training that diverges has NaN
        entry = {_FORMER_LOSSES.get(key, key): value for key, value in entry.items()}
        if "stage" in entry:
            if isinstance(entry["stage"], str):
                entry["stage"] = _FORMER_STAGES.get(entry["stage"], entry["stage"])
            integers = [entry.get(key) for key in ("iteration", "at", "time")]
            if not all(type(n) is int and 0 <= n < _LIMIT for n in integers) or entry["stage"] not in STAGES:
                raise ValueError("the entry has a bad stage, iteration, position or time")
            if not 0 <= entry["iteration"] < iterations:
                raise ValueError(f"iteration {entry['iteration']} is beyond the {iterations} iterations of the run")
            if entry["stage"] == "match" and not _is_match(entry):
                raise ValueError("the entry of a match lacks its result")
            if type(entry.get("steps", 0)) is not int or not isinstance(entry.get("warnings", []), list):
                raise ValueError("the entry has bad steps or warnings")
        return entry

    return parse


def _is_match(entry: dict[str, Any]) -> bool:
    """Return whether an entry has the fields that the report of a match needs, with the right types."""
    if not entry.keys() >= {"low", "high"}:
        return False
    interval = [entry["low"], entry["high"]]
    numbers = [entry.get("difference"), entry.get("deals"), *(interval if interval != [None, None] else [])]
    return isinstance(entry.get("opponent"), str) and all(type(n) in (int, float) for n in numbers)


class Log:
    """`log.jsonl` and `tensorboard/` of a run folder.

    The entry of a stage has `iteration`, `stage` and `at`, the number of finished hands or steps of the stage.
    """

    def __init__(self, folder: Path, steps_before: list[int]):
        """Read the log of a run folder, or begin one.

        Args:
            folder: The run folder.
            steps_before: For each iteration, the number of training steps of all iterations before it. Training curves
                continue from there.

        Raises:
            TrickformerError: The log is broken or cannot be written.
        """
        self._lines, self._steps_before = JsonLines(folder / LOG, _parser(len(steps_before))), steps_before
        self.entries: list[dict[str, Any]] = self._lines.stored
        # All curves are rewritten from the log, so that a resumed run shows no step twice.
        from torch.utils.tensorboard.writer import SummaryWriter

        shutil.rmtree(folder / "tensorboard", ignore_errors=True)
        self._board = SummaryWriter(str(folder / "tensorboard"))
        for entry in self.entries:
            self._show(entry)

    def rewind(self, iteration: int, stage: str, at: int) -> None:
        """Drop the entries after the point of a stage from which the stage continues.

        Args:
            iteration: The iteration.
            stage: Name of the stage.
            at: Number of finished hands or steps.
        """
        last = iteration, STAGES.index(stage), at

        def is_valid(e: dict[str, Any]) -> bool:
            return "stage" not in e or (e["iteration"], STAGES.index(e["stage"]), e["at"]) <= last

        entries = [e for e in self.entries if is_valid(e)]
        if len(entries) < len(self.entries):
            self.entries = entries
            self._lines.replace_all(entries)

    def note(self, **entry: Any) -> None:
        """Append an entry.

        Args:
            entry: Its fields. Entries of a stage have `iteration`, `stage` and `at`.
        """
        entry = {"time": round(time.time()), **entry}
        self.entries.append(entry)
        self._lines.append(entry)
        self._show(entry)

    def sync(self) -> None:
        """Flush all entries to the disk. Call it before writing a model, because a model implies that they exist."""
        self._lines.sync()

    def stage_entries(self, stage: str, iteration: int | None = None) -> list[dict[str, Any]]:
        """Return the entries of a stage, in order.

        Args:
            stage: Name of the stage.
            iteration: Selects one iteration; None selects all.
        """
        return [e for e in self.entries if e.get("stage") == stage and iteration in (None, e["iteration"])]

    def _show(self, entry: dict[str, Any]) -> None:
        if "stage" not in entry:
            return
        stage, step = entry["stage"], entry["iteration"]
        if stage == "learn":
            step = self._steps_before[step] + entry["at"]
        elif stage == "play":
            return  # the number of hands is no informative curve
        elif stage == "match":
            for key, group in _MATCH_CURVES.items():
                if entry[key] is not None:  # a single deal has no interval
                    self._board.add_scalar(f"{group}/{entry['opponent']}", entry[key], step, walltime=entry["time"])
            return
        for key, value in entry.items():
            if key not in _SKIPPED and isinstance(value, (int, float)):
                self._board.add_scalar(f"{stage}/{key}", value, step, walltime=entry["time"])

    def close(self) -> None:
        self._board.close()
        self._lines.close()
