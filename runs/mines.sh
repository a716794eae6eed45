#!/usr/bin/env bash
# What docs/results/mines.md reports. The number of games is fixed here; a run that was stopped goes on where it was. Tables
# by seconds are measured one search at a time: leave the core alone. An hour on one core.
set -euo pipefail
cd "$(dirname "$0")/.."
mines() {  # COMMAND FOLDER [OPTION ...]
  local out="out/results/$2" resume=()
  [ -e "$out/config.toml" ] && resume=(--resume)
  .venv/bin/trickformer mines "$1" --out "$out" "${@:3}" "${resume[@]}"
}
.venv/bin/trickformer mines exact --board 4x4 --mines 6 --first-move no-neighbours
.venv/bin/trickformer mines exact --board 3x3 --mines 3 --position ..1/.32/..1
mines agree mines-agree --positions 200 --draws 400 --trials 100000 --seed 1
for domain in rule board; do
  mines table "mines-4x4-simulations-$domain" --simulations 250,500,1000 --beliefs rejection,inherited,metropolis,exact \
    --domain "$domain" --games 100 --seed 2
done
mines table mines-4x4-board --domain board --seconds 0.001,0.004,0.016,0.064 --games 200 --seed 2
mines table mines-4x4 --seconds 0.0005,0.001,0.002,0.004,0.008,0.016,0.032,0.064 --games 200 --seed 2
large=(--board 7x7 --mines 11 --c 0.25 --games 100 --seed 2)
mines table mines-7x7 "${large[@]}" --seconds 0.001,0.004,0.016,0.064,0.256
mines table mines-7x7-exact "${large[@]}" --beliefs exact --seconds 0.001,0.004,0.016,0.064
