"""Training loop parts that all belief networks share: optimizer, resumable state, log of steps and plot of the loss."""

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
from trickformer.plumbing.text import json_object

LOG = "log.jsonl"  # name of the log in a run folder
SNAPSHOTS = Snapshots((), {})  # a training state holds only numbers, dicts and tensors, so no classes are declared


class Learner:
    """Adam with gradient clipping and a cosine schedule of the learning rate, and a file for resuming the training."""

    def __init__(
        self,
        model: torch.nn.Module,
        learning_rate: float,
        steps: int,
        file: Path,
        clip: float = 1.0,
        fall: float = 0.1,
        adam_epsilon: float = 1e-8,
    ):
        """Set up the optimizer. Call `resume` to continue from the file.

        Args:
            model: Network to train.
            learning_rate: Learning rate of the first step.
            steps: Number of gradient steps.
            file: File for the state of the training.
            clip: Largest norm of a gradient.
            fall: Learning rate of the last step as a share of the first.
            adam_epsilon: Epsilon of Adam.
        """
        self._model = model
        self._file = file
        self._clip = clip
        self._adam = torch.optim.Adam(model.parameters(), lr=learning_rate, eps=adam_epsilon, fused=True)
        self._schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self._adam, steps, eta_min=fall * learning_rate)

    def resume(self) -> int:
        """Restore the state from the file, if it exists.

        Returns:
            The number of steps done so far.

        Raises:
            TrickformerError: The file is broken.
        """
        state = _read_state(self._file, next(self._model.parameters()).device)
        if state is None:
            return 0
        self._model.load_state_dict(state["model"])
        self._adam.load_state_dict(state["adam"])
        self._schedule.load_state_dict(state["fall"])
        return state["step"]

    def step(self) -> None:
        """Make one optimizer step by the network's gradients, and clear them."""
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), self._clip)
        self._adam.step()
        self._schedule.step()
        self._adam.zero_grad(set_to_none=True)

    def save(self, steps: int) -> None:
        """Write the state to the file.

        Args:
            steps: Number of steps done so far.
        """
        parts = {"model": self._model, "adam": self._adam, "fall": self._schedule}
        states = {name: dict(part.state_dict()) for name, part in parts.items()}
        SNAPSHOTS.save(self._file, states | {"step": steps}, {})


def read_step_count(file: Path) -> int:
    """Return the number of steps that a Learner's file has recorded; 0 if there is no file.

    Args:
        file: File for the state of a training.

    Raises:
        TrickformerError: The file is broken.
    """
    state = _read_state(file, torch.device("cpu"))
    return 0 if state is None else state["step"]


def _read_state(file: Path, device: torch.device) -> dict[str, Any] | None:
    if not file.exists():
        return None
    try:
        state = SNAPSHOTS.load(file, {}, device)
        if isinstance(state, dict) and state.keys() == {"model", "adam", "fall", "step"}:
            return state
    except ValueError:
        pass
    raise TrickformerError(f"{file} is broken; restore it from a copy, or choose another --out")


def _parse_record(_: int, line: bytes) -> dict[str, Any]:
    record = json_object(line, finite=False)
    if not isinstance(record.get("step"), int):
        raise ValueError("the record has no step")
    return record


@contextmanager
def open_log(out: Path, step: int) -> Generator[JsonLines]:
    """Open the log of a training, which has one record per step, and drop records after a step.

    A step is logged before the state is saved. If the process is killed in between, this function drops the surplus
    record when the training resumes. In the other order, a record would be missing.

    Args:
        out: Folder of the run.
        step: Number of steps of the saved state, from which the training continues.

    Yields:
        The log, open for appending.
    """
    with JsonLines(out / LOG, _parse_record) as lines:
        lines.replace_all([record for record in lines.stored if record["step"] <= step])
        yield lines


def plot_loss(out: Path) -> None:
    """Plot the loss, averaged over each hundredth of the steps, to loss.png. If that fails, print a warning.

    Args:
        out: Folder of the run, with the log.
    """
    draw_figure(partial(_draw_curve, out), out / "loss.png")


def _draw_curve(out: Path, file: Path) -> None:
    from trickformer.plumbing.figures import drawing, save

    loss = np.array([record["loss"] for record in read_lines(out / LOG)[0]], dtype=np.float64)  # null becomes NaN
    if len(loss) == 0:  # the log of a finished training was deleted
        return
    spans = np.array_split(np.arange(len(loss)), min(100, len(loss)))
    with drawing(figsize=(6, 3.6)) as (figure, axes):
        axes.plot(
            [span.mean() + 1 for span in spans], [loss[span].mean() for span in spans], color="#2b6cb0", linewidth=1.2
        )
        axes.set_xlabel("gradient step")
        axes.set_ylabel("nats a card")
        save(figure, file)
