"""Stacks of Hanabi games that advance in lockstep, with the losses of belief estimators at every position.

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
from trickformer.belief.hanabi.process import Form, HanabiProcess, Tables
from trickformer.belief.hanabi.seat_tokens import SeatTokens
from trickformer.plumbing.snapshot import Snapshots
from trickformer.studies.belief.recorded import RecordedGames

BINS = 20  # number of bins of the calibration, of equal width in probability


@dataclass(slots=True)
class _Sum:
    """Totals of one estimator, for each of the G games of a stack. Saved stacks hold the names of the fields."""

    loss: np.ndarray  # float64 [G]: -log b in nats, summed over positions and hidden cards
    cards: np.ndarray  # int64 [G]: hidden cards in that sum
    missing: np.ndarray  # int64 [G]: positions without a belief
    judged: np.ndarray  # float64 [G]: the loss at positions that have an exact belief
    seconds: float  # wall time of the estimator for the whole stack
    bins: np.ndarray  # float64 [3, BINS], over pairs of a hidden card and a kind: sum of b(kind), true kinds, pairs

    @classmethod
    def zeros(cls, games: int) -> _Sum:
        """Return totals of zero for a number of games."""
        ints = np.zeros((2, games), np.int64)
        return cls(np.zeros(games), ints[0], ints[1], np.zeros(games), 0.0, np.zeros((3, BINS)))


class Stack:
    """Games `first` to `first` + n - 1 of the series config.seed or a file, and the estimators in `cast`, by name."""

    _recorded_moves: np.ndarray | None = None  # int64 [G, longest + 1], -1 after the last move; None: the games are new

    def __init__(
        self,
        config: Evaluation,
        process: HanabiProcess,
        cast: dict[str, Estimator],
        first: int,
        n: int,
        recorded: RecordedGames | None = None,
    ):
        """Begin the games.

        Args:
            config: Config of the evaluation.
            process: The Markov system.
            cast: Estimators by name.
            first: Number of the first game.
            n: Number of games.
            recorded: Games of a file; None: new games.
        """
        self.first = first
        self._config = config
        self._process = process
        self._cast = cast
        self._rng = np.random.default_rng([config.seed, first])
        if recorded is None:
            self._x = process.start(config.seed, first, n)  # tables of the live games
        else:
            chosen = recorded.stack(first, n)
            self._x, self._recorded_moves = chosen.starts, chosen.moves
        self._sums = {name: _Sum.zeros(n) for name in cast}
        self._judged_cards = np.zeros(n, np.int64)  # [G]: hidden cards at positions that have an exact belief
        self._live = np.arange(n)  # games that have not ended, by number in the stack
        self._positions = np.zeros(n, np.int64)  # [G]: positions so far
        for name, each in cast.items():
            self._sums[name].seconds -= time.perf_counter()
            each.begin(self._x)
            self._sums[name].seconds += time.perf_counter()

    def __len__(self) -> int:
        return len(self._positions)

    def moves(self) -> Iterator[int]:
        """Play the games to the end. After each move, when the stack can be saved, yield the number of moves so far."""
        while len(self._live):
            self._move()
            yield int(self._positions.max())

    def _move(self) -> None:
        """Add up the estimators' losses at the current positions, then make a move in each live game."""
        process, tables = self._process, self._x
        cast, sums = self._cast, self._sums
        live = self._live
        self._positions[live] += 1
        hidden = process.hidden_cards(tables)
        losses = {name: _add_loss(each, hidden, live, sums[name]) for name, each in cast.items()}
        if "exact" in losses:
            has_exact = ~np.isnan(losses["exact"])
            self._judged_cards[live[has_exact]] += (hidden >= 0).sum(axis=1)[has_exact]
            for name, loss in losses.items():
                sums[name].judged[live[has_exact]] += np.nan_to_num(loss[has_exact], posinf=np.inf)
        recorded = None if self._recorded_moves is None else self._recorded_moves[live, self._positions[live] - 1]
        control = self._draw_control(recorded)
        after, actions = self._make_move(control, recorded)
        for name, each in cast.items():
            sums[name].seconds -= time.perf_counter()
            each.observe(tables, control, actions, after)
            sums[name].seconds += time.perf_counter()
        has_move = after.current() >= 0
        if self._recorded_moves is not None:  # a record may end before the game does
            has_move &= self._recorded_moves[live, self._positions[live]] >= 0
        rows = np.flatnonzero(has_move)
        self._live, self._x = live[rows], after.take(rows)
        for each in cast.values() if len(rows) else ():
            each.keep(rows)

    def _make_move(self, control: np.ndarray | None, recorded: np.ndarray | None) -> tuple[Tables, np.ndarray]:
        """Return the tables of the live games after the next move, and the actions, int64 [n]."""
        if recorded is None:
            return self._process.move(self._x, control, int(self._rng.integers(2**62)))
        after = self._x.take(np.arange(len(self._x)))
        after.step(recorded)
        return after, recorded

    def _draw_control(self, recorded: np.ndarray | None) -> np.ndarray | None:
        """Draw the control of the next move: scripts in a fosg, actions in a pomdp, None in an hmm.

        `recorded`, int64 [n], are the actions of recorded games; None: the games are new.
        """
        process, tables = self._process, self._x
        if process.form is Form.HMM:
            return None
        actions = recorded
        if actions is None:
            others = np.array([_core.hanabi.BOTS.index(name) for name in self._config.others], dtype=np.int8)
            bots = others[self._rng.integers(len(others), size=len(tables))]
            if process.form is Form.FOSG:
                return bots.astype(np.int64)
            actions = tables.choose(bots, int(self._rng.integers(2**62)))
        return np.where(tables.current() == process.seat, actions, -1)

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
                        # Bins and notes belong to the whole stack; the record of its first game holds them.
                        **({"bins": s.bins.tolist(), "notes": self._cast[name].notes()} if g == 0 else {}),
                    }
                    for name, s in self._sums.items()
                },
            }


def _add_loss(estimator: Estimator, hidden: np.ndarray, live: np.ndarray, total: _Sum) -> np.ndarray:
    """Compute an estimator's loss at the current positions of n live games, and add it to `total`.

    `hidden`, int [n, cards], holds the kinds of the hidden cards, -1 for no card; `live` holds the games' numbers.
    Returns float64 [n], -log b summed over the hidden cards; NaN if the estimator has no belief there.
    """
    total.seconds -= time.perf_counter()
    log_p = np.asarray(estimator.log_probs(hidden), dtype=np.float64)  # [n, cards, kinds]
    total.seconds += time.perf_counter()
    is_card = hidden >= 0
    true_log_p = np.take_along_axis(log_p, np.maximum(hidden, 0)[..., None].astype(np.int64), axis=-1)[..., 0]
    loss = -np.where(is_card, true_log_p, 0.0).sum(axis=1)
    has_belief = ~np.isnan(loss)
    total.loss[live[has_belief]] += loss[has_belief]
    total.cards[live[has_belief]] += is_card[has_belief].sum(axis=1)
    total.missing[live[~has_belief]] += 1
    p = np.exp(log_p[has_belief][is_card[has_belief]])
    is_true = np.zeros_like(p)
    is_true[np.arange(len(p)), hidden[has_belief][is_card[has_belief]]] = 1
    bins = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    for row, weight in enumerate((p, is_true, np.ones_like(p))):
        total.bins[row] += np.bincount(bins.ravel(), weight.ravel(), BINS)
    return loss


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
_FORMER_NAMES = {  # classes by their names in stacks that version 0.2 saved
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
        shared: Objects that the file only names, instead of holding them; `load` needs the same names.
        file: File to write.

    Raises:
        TrickformerError: If the file cannot be written.
    """
    _SNAPSHOTS.save(file, stack, shared)


def load(file: Path, shared: Mapping[str, object]) -> Stack:
    """Load a stack that `save` wrote.

    Args:
        file: File to read.
        shared: Objects that the file only names, under the same names as for `save`.

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
        pass  # reported below
    raise TrickformerError(f"{file} is broken, or of another build; delete it to restart its games")
