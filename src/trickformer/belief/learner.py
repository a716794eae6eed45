"""What trainings of belief networks share: optimizer, the file that holds where it stands, the log and its curve."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trickformer.base import TrickformerError
from trickformer.plumbing.lines import JsonLines, read_lines
from trickformer.plumbing.report import draw_figure
from trickformer.plumbing.snapshot import Snapshots

LOG = "log.jsonl"  # file of a run
SNAPSHOTS = Snapshots((), {})  # of a training's state


class Learner:
    """Adam on a network, gradients clipped to a norm, a rate that falls to a share of it along a cosine; and the file
    that holds where all of it stands."""

    def __init__(
        self,
        model: torch.nn.Module,
        learning_rate: float,
        steps: int,
        file: Path,
        clip: float = 1.0,
        fall: float = 0.1,
    ):
        self._model, self._file, self._clip = model, file, clip
        self._adam = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
        self._fall = torch.optim.lr_scheduler.CosineAnnealingLR(self._adam, steps, eta_min=fall * learning_rate)

    def resume(self) -> int:
        """Takes what the file holds, if there is one; returns the steps that it has seen."""
        held = _read_state(self._file, next(self._model.parameters()).device)
        if held is None:
            return 0
        self._model.load_state_dict(held["model"])
        self._adam.load_state_dict(held["adam"])
        self._fall.load_state_dict(held["fall"])
        return held["step"]

    def step(self) -> None:
        """One step by the gradients that are there, which it takes away."""
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), self._clip)
        self._adam.step()
        self._fall.step()
        self._adam.zero_grad(set_to_none=True)

    def keep(self, steps: int) -> None:
        """Writes the file, after so many steps."""
        held = {"model": self._model, "adam": self._adam, "fall": self._fall}
        states = {name: dict(part.state_dict()) for name, part in held.items()}
        SNAPSHOTS.save(self._file, states | {"step": steps}, {})


def read_step_count(file: Path) -> int:
    """The steps that a Learner's file has seen; 0 where there is none. Raises TrickformerError where it is broken."""
    held = _read_state(file, torch.device("cpu"))
    return 0 if held is None else held["step"]


def _read_state(file: Path, device: torch.device) -> dict[str, Any] | None:
    if not file.exists():
        return None
    try:
        held = SNAPSHOTS.load(file, {}, device)
        if isinstance(held, dict) and held.keys() == {"model", "adam", "fall", "step"}:
            return held
    except ValueError:
        pass
    raise TrickformerError(f"{file} is broken; choose another --out")


@contextmanager
def log_of(out: Path, step: int) -> Generator[JsonLines]:
    """log.jsonl of a training, a record a step, cut back to the step at which it goes on.

    A step is logged before it is kept: where a kill comes between the two, a line too many is dropped on going on, and
    one too few would be missing for good."""
    with JsonLines(out / LOG) as lines:
        lines.keep([record for record in lines.known if record["step"] <= step])
        yield lines


def curve(out: Path) -> None:
    """Draw loss.png from a training's log: the mean loss of each hundredth of the steps. A fault is a warning."""
    draw_figure(partial(_draw_curve, out), out / "loss.png")


def _draw_curve(out: Path, file: Path) -> None:
    from trickformer.plumbing.figures import plt, save

    loss = np.array([record["loss"] for record in read_lines(out / LOG)[0]], dtype=np.float64)  # NaN for null
    if len(loss) == 0:  # of steps that are done, and whose log is gone
        return
    pieces = np.array_split(np.arange(len(loss)), min(100, len(loss)))
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    axes.plot([at.mean() + 1 for at in pieces], [loss[at].mean() for at in pieces], color="#2b6cb0", linewidth=1.2)
    axes.set_xlabel("gradient step")
    axes.set_ylabel("nats a card")
    save(figure, file)
