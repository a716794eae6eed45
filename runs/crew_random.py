"""Print the success rate of uniformly random play in each mission of The Crew: runs/crew-random.sh.

Each mission is played N times without distress, from the allocation of tasks to the last card. The output is a table in
Markdown, or one JSON object on each line. The intervals are Wilson's, 95%.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from trickformer import _core, games, tokenizers
from trickformer.games import missions
from trickformer.studies.crew.statistics import wilson

NOTHING = 255  # padding of a history
BATCH = 100_000  # games of one call of the core


@dataclass(frozen=True, slots=True)
class Tally:
    """Results of the games of one mission."""

    mission: int
    tasks: int
    what: str  # tokens and rules of the mission
    games: int
    won: int
    low: float  # ends of the 95% Wilson interval of the rate
    high: float
    actions: float  # mean number of actions a game, chance included, without mission and deal


def play_mission(page: missions.Page, seed: int, n: int) -> Tally:
    """Play games 0 to n - 1 of the series `seed`."""
    book = tokenizers.make(games.load(f"crew(mission={page.id})")).codec
    won = actions = 0
    for first in range(0, n, BATCH):
        history, result = _core.crew.random_games(book, seed, first, min(BATCH, n - first))
        won += int(result.sum())
        actions += int(np.count_nonzero(history != NOTHING)) - result.size * (1 + 40)
    low, high = (float(bound) for bound in wilson(np.array(won), n))
    what = " ".join([*page.tokens, *page.rules])
    return Tally(page.id, page.tasks, what, games=n, won=won, low=low, high=high, actions=actions / n)


def format_table(rows: Iterable[Tally]) -> str:
    """Format the rows as a table in Markdown."""
    lines = ["| mission | tasks | tokens, rules | succeeded | rate | 95% | actions |", "|---|---|---|---|---|---|---|"]
    for r in rows:
        what = r.what.replace(">", "\\>")
        rate, interval = format_rate(r.won / r.games), f"{format_rate(r.low)} - {format_rate(r.high)}"
        lines.append(f"| {r.mission} | {r.tasks} | {what} | {r.won:,} | {rate} | {interval} | {r.actions:.1f} |")
    return "\n".join(lines)


def format_rate(rate: float) -> str:
    """Format a rate as a percentage, with 2 decimals from 10% on and 3 below."""
    return f"{100 * rate:.{2 if rate >= 0.1 else 3}f}%"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100_000, help="games of each mission (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="series of the deals (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object on each line")
    options = parser.parse_args(arguments)
    if options.games < 1 or options.seed < 0:
        parser.exit(2, "error: --games or --seed is too small; use --games 1 or more and --seed 0 or more\n")
    rows = (play_mission(page, options.seed, options.games) for page in missions.read())
    if options.json:
        for row in rows:
            print(json.dumps(asdict(row)))
    else:
        print(format_table(rows))


if __name__ == "__main__":
    main()
