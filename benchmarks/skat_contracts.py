"""Contracts, win rates and scores of the scripted player of Skat in self-play. Nothing is timed.

The output is a table in Markdown. A file of games, such as a log of XSkat or ISS records, adds a column.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trickformer import _core
from trickformer.games.skat import GRAND, NULL, NUM_CARDS

NOTHING = 255  # padding of a history
KINDS = ("diamonds", "hearts", "spades", "clubs", "grand", "null")


@dataclass(frozen=True, slots=True)
class Game:
    """Result of one game."""

    kind: int  # index of KINDS; -1 if all passed
    hand: bool  # whether it was a hand game
    won: bool
    schneider: bool  # whether the soloist has 90 card points
    points: float  # Seeger-Fabian, mean of the three seats


def scripted(seed: int, n: int) -> Iterable[Game]:
    """Play games 0 to n - 1 of the series `seed` with the scripted player in every seat."""
    for row in _core.skat.mixed_games(True, seed, 0, n, 0.0)[0]:
        actions = row[row != NOTHING].tolist()
        state = _core.skat.State(row[:NUM_CARDS].copy())
        for action in actions[NUM_CARDS:]:
            state.apply_action(action)
        yield ended(state)


def logged(path: Path) -> Iterable[Game]:
    """Read the games of a file. Raises TrickformerError if a game cannot be read."""
    from trickformer.records import files
    from trickformer.records.skat.replay import replay

    for record in files.read(path):
        yield ended(replay(record).state)


def ended(state: _core.skat.State) -> Game:
    """Return the result of a finished game."""
    result = state.result()
    if result.soloist < 0:
        return Game(-1, False, False, False, 0.0)
    points = float(np.mean(result.scores(True)))
    return Game(state.kind, state.is_hand, result.won, result.points >= 90 and state.kind != NULL, points)


def table(columns: dict[str, list[Game]]) -> str:
    """Format the figures of each column's games as a table in Markdown."""
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]

    def row(name: str, cells: Iterable[str]) -> None:
        lines.append(f"| {name} | " + " | ".join(cells) + " |")

    played = {name: [g for g in all_games if g.kind >= 0] for name, all_games in columns.items()}
    row("games", (f"{len(g):,}" for g in columns.values()))
    row("all passed", (f"{1 - len(played[name]) / len(g):.1%}" for name, g in columns.items()))
    row("soloist wins", (share(g, [x for x in g if x.won]) for g in played.values()))
    suits_and_grand = [[x for x in g if x.kind <= GRAND] for g in played.values()]
    row("soloist wins, suit and grand", (share(g, [x for x in g if x.won]) for g in suits_and_grand))
    row("hand games", (share(g, [x for x in g if x.hand]) for g in played.values()))
    for kind, name in enumerate(KINDS):
        of_kind = [(g, [x for x in g if x.kind == kind]) for g in played.values()]
        row(f"{name}, of all played", (share(g, own) for g, own in of_kind))
        row(f"{name}, won", (share(own, [x for x in own if x.won]) for _, own in of_kind))
        if kind != NULL:
            row(f"{name}, soloist at 90 or more", (share(own, [x for x in own if x.schneider]) for _, own in of_kind))
    row("points a seat in 36 games", (f"{36 * np.mean([x.points for x in g]):.0f}" for g in columns.values()))
    return "\n".join(lines)


def share(of: list[Game], part: list[Game]) -> str:
    """Format the share of `part` in `of`; "-" if `of` is empty."""
    return f"{len(part) / len(of):.1%}" if of else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=10_000, help="number of scripted games (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, default=None, help="file of games for another column")
    options = parser.parse_args()
    columns = {"rules": list(scripted(options.seed, options.games))}
    if options.log:
        columns[options.log.stem] = list(logged(options.log))
    print(table(columns))


if __name__ == "__main__":
    main()
