#!/usr/bin/env bash
# The evaluations behind docs/results/crew.md: every player on the same 200 deals of each mission. The number of games is fixed
# here; a run that was stopped goes on where it was. Half an hour on one core.
set -euo pipefail
cd "$(dirname "$0")/.."
evaluate() {  # FOLDER PLAYER PLAYER [OPTION ...]
  local out="out/results/$1" resume=()
  [ -e "$out/config.toml" ] && resume=(--resume)
  .venv/bin/trickformer crew evaluate --player "$2" --player "$3" --games 200 --seed 1 --workers 2 --out "$out" "${@:4}" "${resume[@]}"
}
evaluate crew-pimc-rules pimc rules --ceiling 200000
