#!/usr/bin/env bash
# Runs the experiments of docs/results/mines.md. The number of games is fixed here. Run the script again to continue a stopped
# run. Thinking times are CPU seconds, so that the machine may do other work. An hour on one core.
set -euo pipefail
cd "$(dirname "$0")/.."
mines() {  # COMMAND FOLDER [OPTION ...]
  "${VENV:-.venv}"/bin/trickformer mines "$1" --seed 2 --out "out/results/$2" --resume "${@:3}"
}
"${VENV:-.venv}"/bin/trickformer mines exact --board 4x4 --mines 6 --first-move no-neighbours
"${VENV:-.venv}"/bin/trickformer mines exact --board 3x3 --mines 3 --position ..1/.32/..1
mines agree mines-agree --positions 200 --draws 1000 --trials 20000
mines agree mines-agree-3 --seed 3 --positions 200 --draws 1000 --trials 20000
mines agree mines-agree-4 --seed 4 --positions 1000 --draws 1000 --trials 20000
mines table mines-4x4 --seconds 0.00025,0.0005,0.001,0.002,0.004,0.008 --games 200
mines table mines-4x4-board --domain board --seconds 0.001,0.004 --games 200
mines table mines-4x4-simulations-rule --simulations 250,500,1000 --beliefs rejection,inherited,metropolis,exact --games 100
large=(--board 7x7 --mines 11 --c 0.25)
mines table mines-7x7 "${large[@]}" --seconds 0.001,0.004,0.016 --games 60
mines table mines-7x7-long "${large[@]}" --seconds 0.064 --games 30
mines table mines-7x7-longer "${large[@]}" --seconds 0.256 --games 30
mines table mines-7x7-exact "${large[@]}" --beliefs exact --seconds 0.001,0.004 --games 100
mines table mines-7x7-longest "${large[@]}" --seconds 1.024 --games 20
# Larger boards with the defaults of bsr_uct there.
huge=(--beliefs exact --widening 0.5 --simulations 10000)
mines table mines-9x9 "${huge[@]}" --board 9x9 --mines 10 --c 0.0563 --games 40
mines table mines-16x16 "${huge[@]}" --board 16x16 --mines 40 --c 0.0185 --games 16
mines table mines-16x30 "${huge[@]}" --board 16x30 --mines 99 --c 0.0105 --games 8
# With and without the cascade, on the same boards, by simulations so that the records do not depend on the machine.
for rule in no-cascade cascade; do
  for n in 50 250 1000; do
    mines table "mines-4x4-$rule-$n" "--$rule" --simulations "$n" --beliefs rejection --games 400
    mines table "mines-7x7-$rule-$n" "--$rule" "${large[@]}" --simulations "$n" --beliefs exact --games 400
  done
done
"${VENV:-.venv}"/bin/python - out/results <<'PYTHON'
import sys
from pathlib import Path

import numpy as np

from trickformer.studies.mines.plan import MinesComparison
from trickformer.tournaments import run
from trickformer.tournaments.intervals import interval

for board in ("4x4", "7x7"):
    for n in (50, 250, 1000):
        won, moves = [], []
        for rule in ("no-cascade", "cascade"):
            games = run.load(Path(sys.argv[1], f"mines-{board}-{rule}-{n}"), MinesComparison)
            records = sorted(games.records, key=lambda record: record.deal)
            won.append(np.array([record.scores[0] == games.game.safe for record in records], dtype=float))
            moves.append(np.mean([record.decisions[0] for record in records]))
        print(board, n, "won without, with:", *[f"{w.mean():.1%}" for w in won], "difference:",
              f"{(won[1] - won[0]).mean():+.1%}", interval(won[1] - won[0], (-1.0, 1.0)), "moves:", *np.round(moves, 1))
PYTHON
# The curve over all of these thinking times.
"${VENV:-.venv}"/bin/python - out/results/mines-7x7{,-long,-longer,-longest} <<'PYTHON'
import json
import sys
from pathlib import Path

from trickformer.studies.mines.report import plot

first, *rest = (json.loads((Path(run) / "summary.json").read_text()) for run in sys.argv[1:])
plot(first | {"rows": [row for each in (first, *rest) for row in each["rows"]]}, Path(sys.argv[1], "curve.png"))
PYTHON
