#!/usr/bin/env bash
# Trains the shipped belief heads: some five to ten minutes each on one core. Run the script again to continue a stopped run. It installs them in
# src/trickformer/checkpoints. The report is docs/results/card-beliefs.md. Usage: runs/belief-heads.sh
set -euo pipefail
cd "$(dirname "$0")/.."
head() {
  local game=$1 out=out/belief-$1
  shift
  OMP_NUM_THREADS=1 "${VENV:-.venv}"/bin/trickformer belief head "$game" --checkpoint "$game-small" "$@" --out "$out" --resume
  install -m 644 "$out/belief.safetensors" "src/trickformer/checkpoints/$game-small/"
}
head hearts --players rules --players pimc:worlds=8,runs=100 --steps 500
head skat --players rules --steps 500
