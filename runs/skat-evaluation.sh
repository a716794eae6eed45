#!/usr/bin/env bash
# Learns the evaluation that the player kermit bids by: hands solved with open cards, then games to calibrate it. Some 25
# minutes on one core; a run that was stopped goes on where it was. The report is docs/results/skat-evaluation.md.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-out/skat-evaluation}
export OMP_NUM_THREADS=1
"${PYTHON:-.venv/bin/python}" -m trickformer.selfplay.skat_evaluation --out "$out" --seed 20261121
"${PYTHON:-.venv/bin/python}" -m trickformer.selfplay.skat_calibration --out "$out" --seed 20261122
echo "$out/skat_evaluation.npz is what src/trickformer/belief/skat_evaluation.npz ships"
