"""Stacks of Hanabi games that advance in lockstep, with estimators that judge every position.

A stack may take hours, so it can be saved to disk and loaded between two moves.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.belief.hanabi import estimators
from trickformer.belief.hanabi.config import Evaluation
from trickformer.belief.hanabi.estimators import Estimator
from trickformer.belief.hanabi.exact import HandFilter, HandList, HandListBelief
from trickformer.belief.hanabi.finetune import FilterState, FineTunedBelief, Finetuning
from trickformer.belief.hanabi.learned import CardConstraints
from trickformer.belief.hanabi.native import NATIVES
from trickformer.belief.hanabi.particles import Particles
from trickformer.belief.hanabi.process import Form, HanabiProcess
from trickformer.belief.hanabi.seat_tokens import SeatTokens
from trickformer.plumbing.snapshot import Snapshots

BINS = 20  # of the calibration, by probability


@dataclass(slots=True)
class _Sum:
    """Totals of one estimator over the games of a stack."""

    loss: np.ndarray  # float64 [G], summed over hidden cards
    cards: np.ndarray  # int64 [G]
    missing: np.ndarray  # int64 [G]: positions without a belief
    judged: np.ndarray  # float64 [G]: the loss at positions that have an exact belief
    seconds: float
    bins: np.ndarray  # float64 [3, BINS]: probabilities, hits, numbers

    @classmethod
    def of(cls, games: int) -> _Sum:
        """Return zeros for a number of games."""
        ints = np.zeros((2, games), np.int64)
        return cls(np.zeros(games), ints[0], ints[1], np.zeros(games), 0.0, np.zeros((3, BINS)))


class Stack:
    """Games `first` to `first` + n - 1 of the series config.seed, judged by the estimators in `cast`."""

    def __init__(self, config: Evaluation, process: HanabiProcess, cast: dict[str, Estimator], first: int, n: int):
        self.first = first
        self._config = config
        self._process = process
        self._cast = cast
        self._rng = np.random.default_rng([config.seed, first])
        self._x = process.start(config.seed, first, n)
        self._sums = {name: _Sum.of(n) for name in cast}
        # If the hands can be listed, all estimators are also compared on the positions that have an exact belief.
        self._judged_cards = np.zeros(n, np.int64)
        self._live, self._positions = np.arange(n), np.zeros(n, np.int64)
        for name, each in cast.items():
            self._sums[name].seconds -= time.perf_counter()
            each.begin(self._x)
            self._sums[name].seconds += time.perf_counter()

    def __len__(self) -> int:
        return len(self._positions)

    def moves(self) -> Iterator[int]:
        """Play the games to the end and yield the number of moves after each.

        Between two moves the stack can be saved.
        """
        while len(self._live):
            self._move()
            yield int(self._positions.max())

    def _move(self) -> None:
        """Judge the current positions, then make a move in each live game."""
        process, x = self._process, self._x
        cast, sums = self._cast, self._sums
        live = self._live
        self._positions[live] += 1
        losses = {name: _judge(each, process.hidden_cards(x), live, sums[name]) for name, each in cast.items()}
        if "exact" in losses:
            good = ~np.isnan(losses["exact"])
            cards = (process.hidden_cards(x) >= 0).sum(axis=1)
            self._judged_cards[live[good]] += cards[good]
            for name, loss in losses.items():
                sums[name].judged[live[good]] += np.nan_to_num(loss[good])
        control = _control(self._config, process, x, self._rng)
        after, actions = process.move(x, control, int(self._rng.integers(2**62)))
        for name, each in cast.items():
            sums[name].seconds -= time.perf_counter()
            each.observe(x, control, actions, after)
            sums[name].seconds += time.perf_counter()
        rows = np.flatnonzero(after.current() >= 0)
        self._live, self._x = live[rows], after.take(rows)
        for each in cast.values() if len(rows) else ():
            each.keep(rows)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one record a game. Call it when all games have ended."""
        n = len(self)
        for g in range(n):
            yield {
                "game": self.first + g,
                "positions": int(self._positions[g]),
                "exact_cards": int(self._judged_cards[g]),
                "estimators": {
                    name: {
                        "loss": float(s.loss[g]),
                        "cards": int(s.cards[g]),
                        "missing": int(s.missing[g]),
                        "loss_where_exact": float(s.judged[g]),
                        "seconds": s.seconds / n,
                        **({"bins": s.bins.tolist(), "notes": self._cast[name].notes()} if g == 0 else {}),
                    }
                    for name, s in self._sums.items()
                },
            }


def _judge(each: Estimator, hidden: np.ndarray, live: np.ndarray, into: _Sum) -> np.ndarray:
    """Judge one estimator at the current positions and add the result to `into`.

    Returns float64 [G], -log b summed over the hidden cards; NaN if the estimator has no belief there.
    """
    into.seconds -= time.perf_counter()
    log_p = np.asarray(each.log_probs(hidden), dtype=np.float64)
    into.seconds += time.perf_counter()
    is_card = hidden >= 0
    of_truth = np.take_along_axis(log_p, np.maximum(hidden, 0)[..., None].astype(np.int64), axis=-1)[..., 0]
    loss = -np.where(is_card, of_truth, 0.0).sum(axis=1)
    good = ~np.isnan(loss)
    into.loss[live[good]] += loss[good]
    into.cards[live[good]] += is_card[good].sum(axis=1)
    into.missing[live[~good]] += 1
    p = np.exp(log_p[good][is_card[good]])
    hit = np.zeros_like(p)
    hit[np.arange(len(p)), hidden[good][is_card[good]]] = 1
    at = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    for row, weight in enumerate((p, hit, np.ones_like(p))):
        into.bins[row] += np.bincount(at.ravel(), weight.ravel(), BINS)
    return loss


def _control(config: Evaluation, process: HanabiProcess, x: Any, rng: np.random.Generator) -> np.ndarray | None:
    """Draw the control of the next move: scripted players in a fosg, their moves in a pomdp, None in an hmm."""
    if process.form is Form.HMM:
        return None
    drawn = np.array([_core.hanabi.BOTS.index(name) for name in config.others], dtype=np.int8)
    bots = drawn[rng.integers(len(drawn), size=len(x))]
    if process.form is Form.FOSG:
        return bots.astype(np.int64)
    return np.where(x.current() == process.seat, x.choose(bots, int(rng.integers(2**62))), -1)


_ESTIMATORS = (
    estimators.V0,
    estimators.CountingEstimator,
    estimators.V1,
    estimators.V2,
    estimators.Recurrent,
    estimators.TransformerEstimator,
    estimators.BFT,
    estimators.ExactEstimator,
    Particles,
    HandListBelief,
    HandFilter,
    HandList,
    FineTunedBelief,
    Finetuning,
    FilterState,
    CardConstraints,
    SeatTokens,
    Form,
)
_FORMER_NAMES = {  # of version 0.2
    "Counting": estimators.CountingEstimator,
    "Reader": estimators.TransformerEstimator,
    "Exact": estimators.ExactEstimator,
    "ExactBelief": HandListBelief,
    "Hands": HandList,
    "Finetuned": FineTunedBelief,
    "Tuning": Finetuning,
    "Step": FilterState,
    "Known": CardConstraints,
}
_SNAPSHOTS = Snapshots((Stack, _Sum, *_ESTIMATORS), NATIVES, _FORMER_NAMES)


def save(stack: Stack, shared: Mapping[str, object], file: Path) -> None:
    """Write the state of a stack to a file, atomically.

    Args:
        stack: Stack between two moves.
        shared: Objects by name that the file leaves out; `load` needs the same names.
        file: File to write.

    Raises:
        TrickformerError: If the file cannot be written.
    """
    _SNAPSHOTS.save(file, stack, shared)


def load(file: Path, shared: Mapping[str, object]) -> Stack:
    """Load a stack that `save` wrote.

    Args:
        file: File to read.
        shared: Objects that the file leaves out, by the names given to `save`.

    Returns:
        The stack, ready for its next move.

    Raises:
        TrickformerError: If the file is broken or of another build.
    """
    try:
        stack = _SNAPSHOTS.load(file, shared)
        if isinstance(stack, Stack):
            return stack
    except ValueError:
        pass
    raise TrickformerError(f"{file} is broken, or of another build; delete it to restart its games")
