#!/usr/bin/env bash
# Learns the evaluation that the player kermit bids by: hands solved with open cards, then games to calibrate it. Some 25
# minutes on one core. Run the script again to continue a stopped run. The report is docs/results/skat-evaluation.md.
set -euo pipefail
cd "$(dirname "$0")/.."
export OMP_NUM_THREADS=1
skat() { "${VENV:-.venv}"/bin/trickformer skat "$1" --out "$2" --resume "${@:3}"; }  # COMMAND FOLDER OPTION ...
skat learn out/skat-evaluation --seed 20261121
skat calibrate out/skat-calibration --learned out/skat-evaluation --seed 20261122
for seed in 77 78; do
  "${VENV:-.venv}"/bin/trickformer skat inference --seed "$seed" --players rules --players kermit:worlds=4 --players argmax:checkpoint=skat-small
done
echo "out/skat-calibration/skat_evaluation.npz is what src/trickformer/games/skat_evaluation.npz ships"
