"""Decisions a second of random engines that use the protocol of docs/engines.md. The baseline is the player `random`.

One engine process plays. 200 tables of Skat share each call, so that a call is one write. Times are wall time, because
two processes work.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import Row, arguments, emit, measure
from trickformer import games, players
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.play import play

EXAMPLES = Path(__file__).parents[1] / "examples" / "engines"
TABLES = 200


def main() -> None:
    options = arguments(__doc__ or "")
    deals, repeats = (200, 3) if options.quick else (1_000, 5)
    game = games.load("skat")

    def rate(spec: str) -> tuple[float, float]:
        """Return the decisions in a second of `act`, and their spread."""
        player = players.make(spec, game)

        def once() -> float:
            hands = [Hand(deal, (0,) * game.players) for deal in range(deals)]
            records = list(play(game, [player], hands, 1, TABLES))
            return sum(map(sum, (r.decisions for r in records))) / sum(map(sum, (r.seconds for r in records)))

        return measure(once, repeats)

    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "random_player"
        subprocess.run(["g++", "-O2", "-std=c++17", "-o", program, EXAMPLES / "random_player.cpp"], check=True)
        start = time.perf_counter()
        baseline, _ = rate("random")
        serve_spec = f'engine:cmd="{sys.executable} -m trickformer serve random --game skat"'
        rows = []
        for name, spec in (("round trips", f"engine:cmd={program}"), ("round trips, serve", serve_spec)):
            ours, spread = rate(spec)
            rows.append(Row(name, ours, baseline, "decisions/s", spread))
    emit(rows, options.json)
    if not options.json:
        print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
