"""How often uniformly random play succeeds in each mission of The Crew: no timing.

`python -m benchmarks.crew_random [--games N] [--seed S] [--json]`: N games of each mission, without distress, every
action as likely as any other, from the drafting of tasks to the last card; a table in Markdown, or one JSON object a
line. The intervals are Wilson's, 95%.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np

from trickformer import _core, games, tokenizers
from trickformer.games import missions

NOTHING = 255  # fills a history up
BATCH = 100_000


@dataclass(frozen=True, slots=True)
class Tally:
    """What came of the games of one mission."""

    mission: int
    tasks: int
    what: str  # its tokens and rules
    games: int
    won: int
    low: float  # of the rate, 95% Wilson interval
    high: float
    actions: float  # a game, chance's included, the deal not


def measured(page: missions.Page, seed: int, n: int) -> Tally:
    """Games 0 to n - 1 of the series `seed`."""
    book = tokenizers.make(games.load(f"crew(mission={page.id})")).codec
    won = actions = 0
    for first in range(0, n, BATCH):
        history, result = _core.crew.random_games(book, seed, first, min(BATCH, n - first))
        won += int(result.sum())
        actions += int(np.count_nonzero(history != NOTHING)) - result.size * (1 + 40)
    what = " ".join([*page.tokens, *page.rules])
    return Tally(page.id, page.tasks, what, n, won, *wilson(won, n), actions / n)


def wilson(won: int, n: int) -> tuple[float, float]:
    """The 95% interval of a rate of won in n (Wilson, 1927)."""
    z = 1.959964
    middle, half = won + z * z / 2, z * math.sqrt(won * (n - won) / n + z * z / 4)
    return max(0.0, (middle - half) / (n + z * z)), min(1.0, (middle + half) / (n + z * z))


def table(rows: Iterable[Tally]) -> str:
    """The rows in Markdown."""
    lines = ["| mission | tasks | tokens, rules | succeeded | rate | 95% | actions |", "|---|---|---|---|---|---|---|"]
    for r in rows:
        what = r.what.replace(">", "\\>")
        rate, low, high = (percent(x) for x in (r.won / r.games, r.low, r.high))
        lines.append(f"| {r.mission} | {r.tasks} | {what} | {r.won:,} | {rate} | {low} - {high} | {r.actions:.1f} |")
    return "\n".join(lines)


def percent(rate: float) -> str:
    """Three significant digits, none below a thousandth of a percent."""
    return f"{100 * rate:.{2 if rate >= 0.1 else 3}f}%"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100_000, help="of each mission")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    if options.games < 1:
        parser.error("--games is 1 or more")
    rows = (measured(page, options.seed, options.games) for page in missions.read())
    if options.json:
        for row in rows:
            print(json.dumps(asdict(row)))
    else:
        print(table(rows))


if __name__ == "__main__":
    main()
