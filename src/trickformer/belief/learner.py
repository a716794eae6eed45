"""Training of belief networks: the optimizer, the file of its state, the log and the curve of the loss."""

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
SNAPSHOTS = Snapshots((), {})  # files with the state of a training


class Learner:
    """Adam on a network, and the file that holds its state.

    Gradients are clipped to a norm. The learning rate falls along a cosine.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        learning_rate: float,
        steps: int,
        file: Path,
        clip: float = 1.0,
        fall: float = 0.1,
    ):
        """Prepare a training; `resume` reads its state.

        Args:
            model: Network to train.
            learning_rate: Learning rate of the first step.
            steps: Number of gradient steps.
            file: File for the state of the training.
            clip: Largest norm of a gradient.
            fall: Learning rate of the last step as a share of the first.
        """
        self._model = model
        self._file = file
        self._clip = clip
        self._adam = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
        self._fall = torch.optim.lr_scheduler.CosineAnnealingLR(self._adam, steps, eta_min=fall * learning_rate)

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
        self._fall.load_state_dict(state["fall"])
        return state["step"]

    def step(self) -> None:
        """Make one step by the gradients that the network holds, and clear them."""
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), self._clip)
        self._adam.step()
        self._fall.step()
        self._adam.zero_grad(set_to_none=True)

    def keep(self, steps: int) -> None:
        """Write the state to the file.

        Args:
            steps: Number of steps done so far.
        """
        parts = {"model": self._model, "adam": self._adam, "fall": self._fall}
        states = {name: dict(part.state_dict()) for name, part in parts.items()}
        SNAPSHOTS.save(self._file, states | {"step": steps}, {})


def read_step_count(file: Path) -> int:
    """Return the number of steps after which a Learner's file was written; 0 if there is no file.

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
    raise TrickformerError(f"{file} is broken; choose another --out")


@contextmanager
def log_of(out: Path, step: int) -> Generator[JsonLines]:
    """Open the log of a training, one record a step, cut back to the step at which the training continues.

    A step is logged before the state is saved. If a kill comes between the two, the surplus line is dropped on
    resumption. In the other order a line would be missing for good.

    Args:
        out: Folder of the run.
        step: Number of steps done so far.

    Yields:
        The log, open for appending.
    """
    with JsonLines(out / LOG) as lines:
        lines.keep([record for record in lines.stored if record["step"] <= step])
        yield lines


def curve(out: Path) -> None:
    """Plot the mean loss of each hundredth of the steps to loss.png. A fault is a warning.

    Args:
        out: Folder of the run; its log is read.
    """
    draw_figure(partial(_draw_curve, out), out / "loss.png")


def _draw_curve(out: Path, file: Path) -> None:
    from trickformer.plumbing.figures import plt, save

    loss = np.array([record["loss"] for record in read_lines(out / LOG)[0]], dtype=np.float64)  # NaN for null
    if len(loss) == 0:  # the log of a finished training is gone
        return
    pieces = np.array_split(np.arange(len(loss)), min(100, len(loss)))
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    axes.plot([at.mean() + 1 for at in pieces], [loss[at].mean() for at in pieces], color="#2b6cb0", linewidth=1.2)
    axes.set_xlabel("gradient step")
    axes.set_ylabel("nats a card")
    save(figure, file)
