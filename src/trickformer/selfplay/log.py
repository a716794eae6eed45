"""The log of a run: JSON lines that are never counted twice, shown by TensorBoard as well."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

from trickformer.base import TrickformerError
from trickformer.folder import replace

STAGES = ("play", "learn", "quick", "measure", "match", "judge")  # of an iteration, in order
_SKIPPED = ("time", "iteration", "stage", "at", "steps")


class Log:
    """`log.jsonl` and `tensorboard/` of a run folder. An entry has its iteration, its stage, and `at`: how many
    hands or steps of the stage are done."""

    def __init__(self, folder: Path, steps_before: list[int]):
        """steps_before: training steps of all iterations before each, the horizontal axis of training curves."""
        self._path, self._steps_before = folder / "log.jsonl", steps_before
        self.entries: list[dict[str, Any]] = []
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").split("\n")[:-1]:  # what has no end was cut off
                try:
                    self.entries.append(json.loads(line))
                except ValueError:
                    raise TrickformerError(f"{self._path} is damaged: {line[:40]!r} is no JSON") from None
        self._rewrite()
        # Curves are drawn anew from the lines: what a run counted before it was stopped is not there twice.
        from torch.utils.tensorboard.writer import SummaryWriter

        shutil.rmtree(folder / "tensorboard", ignore_errors=True)
        self._board = SummaryWriter(str(folder / "tensorboard"))
        for entry in self.entries:
            self._show(entry)

    def _rewrite(self) -> None:
        replace(self._path, "".join(json.dumps(e) + "\n" for e in self.entries))

    def rewind(self, iteration: int, stage: str, at: int) -> None:
        """Drops what comes after: the stage goes on from there."""
        place = iteration, STAGES.index(stage), at

        def keep(e: dict[str, Any]) -> bool:
            return "stage" not in e or (e["iteration"], STAGES.index(e["stage"]), e["at"]) <= place

        kept = [e for e in self.entries if keep(e)]
        if len(kept) < len(self.entries):
            self.entries = kept
            self._rewrite()

    def note(self, **entry: Any) -> None:
        """Appends a line; entries of a stage give iteration, stage and at."""
        entry = {"time": round(time.time()), **entry}
        self.entries.append(entry)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        self._show(entry)

    def of(self, stage: str, iteration: int | None = None) -> list[dict[str, Any]]:
        """The entries of a stage, in order; of one iteration, or of all."""
        return [e for e in self.entries if e.get("stage") == stage and iteration in (None, e["iteration"])]

    def _show(self, entry: dict[str, Any]) -> None:
        if "stage" not in entry:
            return
        stage, step = entry["stage"], entry["iteration"]
        if stage == "learn":
            step = self._steps_before[step] + entry["at"]
        elif stage == "play":
            return  # hands of an iteration say little as a curve
        for key, value in entry.items():
            if key not in _SKIPPED and isinstance(value, (int, float)):
                self._board.add_scalar(f"{stage}/{key}", value, step, walltime=entry["time"])

    def close(self) -> None:
        self._board.close()
