"""Print the scores of Hanabi's scripted players in self-play and cross-play: `python runs/hanabi_players.py`.

Each player plays N games of self-play in each variant, and each pair N / 10 games of two players, on decks 0, 1, ... of
the series. The output is tables in Markdown, or one JSON object on each line. Intervals are 95%, from the normal
approximation of the mean.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from trickformer import _core

CORE = _core.hanabi
VARIANTS = {
    "2 players, 5 cards, 8 hints": CORE.Rules(),
    "2 players, 5 cards, 2 hints": CORE.Rules(hints=2),
    "2 players, 7 cards, 4 hints": CORE.Rules(hand=7, hints=4),
    "3 players, 5 cards, 8 hints": CORE.Rules(players=3),
    "4 players, 4 cards, 8 hints": CORE.Rules(players=4, hand=4),
    "5 players, 4 cards, 8 hints": CORE.Rules(players=5, hand=4),
}


@dataclass(frozen=True, slots=True)
class Tally:
    """Results of the games of one combination of players."""

    variant: str
    seats: tuple[str, ...]
    games: int
    mean: float
    half: float  # half width of the 95% interval of the mean
    perfect: float  # share of games with the highest score
    lost: float  # share of games that ended without lives, with score 0
    piled: float  # mean number of cards on the piles at the end, lost games included


def play_games(variant: str, seats: Sequence[str], seed: int, n: int) -> Tally:
    """Play games 0 to n - 1 of the series `seed`."""
    rules = VARIANTS[variant]
    bots = np.array([CORE.BOTS.index(name) for name in seats], np.int8)
    tables = CORE.Tables(rules, seed, 0, n)
    while not tables.over().all():
        tables.step(tables.choose(bots[np.maximum(tables.current(), 0)], seed))
    ends = [tables[i] for i in range(n)]
    scores = tables.scores().astype(float)
    return Tally(
        variant=variant,
        seats=tuple(seats),
        games=n,
        mean=float(scores.mean()),
        half=float(1.959964 * scores.std(ddof=1) / math.sqrt(n)),
        perfect=float(np.mean(scores == rules.kinds)),
        lost=float(np.mean([end.lives == 0 for end in ends])),
        piled=float(np.mean([sum(end.fireworks) for end in ends])),
    )


def format_self_play(rows: Iterable[Tally]) -> str:
    """Format self-play as a table in Markdown."""
    lines = ["| variant | player | mean | 95% | perfect | lost | piled |", "|---|---|---|---|---|---|---|"]
    for r in rows:
        interval = f"{r.mean - r.half:.2f} - {r.mean + r.half:.2f}"
        shares = f"{100 * r.perfect:.1f}% | {100 * r.lost:.2f}%"
        lines.append(f"| {r.variant} | `{r.seats[0]}` | {r.mean:.2f} | {interval} | {shares} | {r.piled:.2f} |")
    return "\n".join(lines)


def format_cross_play(rows: Iterable[Tally]) -> str:
    """Format cross-play as a table in Markdown: the first seat by rows, the second by columns."""
    means = {r.seats: f"{r.mean:.2f} ± {r.half:.2f}" for r in rows}
    lines = ["| first seat | " + " | ".join(f"`{b}`" for b in CORE.BOTS) + " |", "|---" * (len(CORE.BOTS) + 1) + "|"]
    lines += [f"| `{a}` | " + " | ".join(means[a, b] for b in CORE.BOTS) + " |" for a in CORE.BOTS]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--games",
        type=int,
        default=10_000,
        help="games of each player and variant. A pair plays a tenth of them (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=1, help="series of the decks (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object on each line")
    options = parser.parse_args(arguments)
    if options.games < 20 or options.seed < 0:  # a pair needs two games for an interval
        parser.exit(2, "error: --games or --seed is too small; use --games 20 or more and --seed 0 or more\n")
    same = [
        play_games(v, [bot] * rules.players, options.seed, options.games)
        for v, rules in VARIANTS.items()
        for bot in CORE.BOTS
    ]
    pairs = [
        play_games(next(iter(VARIANTS)), (a, b), options.seed, options.games // 10)
        for a in CORE.BOTS
        for b in CORE.BOTS
    ]
    if options.json:
        for row in same + pairs:
            print(json.dumps(asdict(row)))
    else:
        print(format_self_play(same), format_cross_play(pairs), sep="\n\n")


if __name__ == "__main__":
    main()
