"""Recorded games on which an evaluation compares beliefs, instead of playing new ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from trickformer import _core, games
from trickformer.base import TrickformerError
from trickformer.belief.hanabi.config import VARIANTS, Evaluation
from trickformer.belief.hanabi.process import Tables
from trickformer.games.hanabi import Hanabi, core_options, split_history
from trickformer.records import files
from trickformer.records.played import AnyRecord
from trickformer.records.skat.record import SkatRecord

_MAX_NAMED = 4  # largest number of players in an error message


@dataclass(frozen=True)
class RecordedGames:
    """Games of Hanabi, in the order of their file.

    Attributes:
        starts: Tables at which the games begin. Each deck has the recorded cards in the order in which they are drawn.
        moves: Actions of the seats, int64 [games, longest + 1]; -1 after the last one of a game.
    """

    starts: Tables
    moves: np.ndarray

    def stack(self, first: int, n: int) -> Self:
        """Return `n` games, from game `first` on.

        Args:
            first: Number of the first game.
            n: Number of games.
        """
        rows = np.arange(first, first + n)
        return type(self)(self.starts.take(rows), self.moves[rows])


def load(config: Evaluation) -> RecordedGames:
    """Read the first `config.games` games of `config.games_from` in which `config.played_by` has its seat.

    Args:
        config: Config of the evaluation.

    Raises:
        TrickformerError: There are too few games, or one is damaged or of another game than the variant.
    """
    assert config.games_from is not None
    rules = _core.hanabi.Rules(**VARIANTS[config.variant])
    path = config.games_from
    states: list[_core.hanabi.State] = []
    moves: list[list[int]] = []
    others: list[str] = []  # players of the seat in games that are left out, each once
    for number, record in enumerate(files.read(files.place(path)), 1):
        try:
            start, actions = _split(record, rules)
        except TrickformerError as e:
            raise TrickformerError(f"{path}, game {number}: {e}") from None
        seated = record.names[config.seat : config.seat + 1]  # empty if the record does not name this seat's player
        if config.played_by is not None and config.played_by not in seated:
            others += [name for name in seated if name not in others]
            continue
        states.append(start)
        moves.append(actions)
        if len(moves) == config.games:
            break
    if len(moves) < config.games:
        which = "" if config.played_by is None else f" with {config.played_by} in seat {config.seat}"
        players = f"--played-by {' or '.join(map(repr, others[:_MAX_NAMED]))}" if others else "another file"
        remedy = f"give --games {len(moves)}" if moves else f"give {players}"
        raise TrickformerError(f"{path} holds {len(moves)} games{which}, not {config.games}; {remedy}")
    padded = np.full((len(moves), max(map(len, moves)) + 1), -1, dtype=np.int64)
    for row, actions in zip(padded, moves):
        row[: len(actions)] = actions
    starts = Tables(rules, 0, 0, len(states))
    for i, start in enumerate(states):
        starts[i] = start
    return RecordedGames(starts, padded)


def _split(record: AnyRecord, rules: _core.hanabi.Rules) -> tuple[_core.hanabi.State, list[int]]:
    """Return the first state and the moves of a game. Raises TrickformerError if it is damaged or of other rules."""
    if isinstance(record, SkatRecord):
        raise TrickformerError("it is of Skat, not of Hanabi")
    game = games.load(record.rules)
    if not isinstance(game, Hanabi) or core_options(game.rules) != core_options(rules):
        raise TrickformerError(f"it is of {record.rules}, not of the Hanabi of --variant")
    record.end()
    start, actions = split_history(rules, record.history)
    if not actions:  # on hanab.live players may end a game before the first move
        raise TrickformerError("it has no move; leave it out")
    return start, actions
