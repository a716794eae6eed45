"""Print contracts, win rates and scores of the scripted player of Skat in self-play: runs/skat-rules.sh.

The output is a table in Markdown. A file of games, such as a log of XSkat or ISS records, adds a column.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trickformer import _core
from trickformer.base import TrickformerError
from trickformer.games.skat import GRAND, NULL, NUM_CARDS
from trickformer.records import files
from trickformer.records.skat.record import SkatRecord
from trickformer.records.skat.replay import replay

NOTHING = 255  # padding of a history
KINDS = ("diamonds", "hearts", "spades", "clubs", "grand", "null")


@dataclass(frozen=True, slots=True)
class GameResult:
    """Result of one game."""

    kind: int  # index of KINDS; -1 if all passed
    hand: bool  # whether it was a hand game
    won: bool
    schneider: bool  # whether the soloist has 90 card points
    points: float  # Seeger-Fabian, mean of the three seats


def play_games(seed: int, n: int) -> Iterable[GameResult]:
    """Play games 0 to n - 1 of the series `seed` with the scripted player in every seat."""
    for row in _core.skat.mixed_games(True, seed, 0, n, 0.0)[0]:
        actions = row[row != NOTHING].tolist()
        state = _core.skat.State(row[:NUM_CARDS].copy())
        for action in actions[NUM_CARDS:]:
            state.apply_action(action)
        yield summarize(state)


def read_games(path: Path) -> Iterable[GameResult]:
    """Read the games of a file. Raises TrickformerError if a game cannot be read."""
    for number, record in enumerate(files.read(path), 1):
        if not isinstance(record, SkatRecord):
            raise TrickformerError(f"{path}, game {number} is of {record.rules}, not of Skat; use ISS or XSkat records")
        state = replay(record).state
        if not state.is_terminal():
            raise TrickformerError(f"{path}, game {number} was not played to its end; leave it out of the file")
        yield summarize(state)


def summarize(state: _core.skat.State) -> GameResult:
    """Return the result of a finished game."""
    result = state.result()
    if result.soloist < 0:
        return GameResult(-1, False, False, False, 0.0)
    points = float(np.mean(result.scores(True)))
    return GameResult(state.kind, state.is_hand, result.won, result.points >= 90 and state.kind != NULL, points)


def format_table(columns: dict[str, list[GameResult]]) -> str:
    """Format the figures of each column's games as a table in Markdown."""
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]

    def row(name: str, cells: Iterable[str]) -> None:
        lines.append(f"| {name} | " + " | ".join(cells) + " |")

    played = {name: [g for g in all_games if g.kind >= 0] for name, all_games in columns.items()}
    row("games", (f"{len(g):,}" for g in columns.values()))
    row("all passed", (f"{1 - len(played[name]) / len(g):.1%}" for name, g in columns.items()))
    row("soloist wins", (format_share(g, [x for x in g if x.won]) for g in played.values()))
    suits_and_grand = [[x for x in g if x.kind <= GRAND] for g in played.values()]
    row("soloist wins, suit and grand", (format_share(g, [x for x in g if x.won]) for g in suits_and_grand))
    row("hand games", (format_share(g, [x for x in g if x.hand]) for g in played.values()))
    for kind, name in enumerate(KINDS):
        of_kind = [(g, [x for x in g if x.kind == kind]) for g in played.values()]
        row(f"{name}, of all played", (format_share(g, own) for g, own in of_kind))
        row(f"{name}, won", (format_share(own, [x for x in own if x.won]) for _, own in of_kind))
        if kind != NULL:
            row(
                f"{name}, soloist at 90 or more",
                (format_share(own, [x for x in own if x.schneider]) for _, own in of_kind),
            )
    row("points a seat in 36 games", (f"{36 * np.mean([x.points for x in g]):.0f}" for g in columns.values()))
    return "\n".join(lines)


def format_share(of: list[GameResult], part: list[GameResult]) -> str:
    """Format the share of `part` in `of`; "-" if `of` is empty."""
    return f"{len(part) / len(of):.1%}" if of else "-"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=10_000, help="games of the scripted player (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="series of the deals (default: %(default)s)")
    parser.add_argument("--log", type=Path, default=None, help="file of games for another column (default: none)")
    options = parser.parse_args(arguments)
    if options.games < 1 or options.seed < 0:
        parser.exit(2, "error: --games or --seed is too small; use --games 1 or more and --seed 0 or more\n")
    columns = {"rules": list(play_games(options.seed, options.games))}
    if options.log:
        try:
            columns[options.log.stem] = list(read_games(options.log))
        except (TrickformerError, OSError) as error:
            parser.exit(2, f"error: {error}\n")
    print(format_table(columns))


if __name__ == "__main__":
    main()
