#!/usr/bin/env bash
# What docs/results/mines.md reports. The number of games is fixed here; a run that was stopped goes on where it was. Thinking
# times are CPU seconds, so that the machine may do other work. Half an hour on one core.
set -euo pipefail
cd "$(dirname "$0")/.."
mines() {  # COMMAND FOLDER [OPTION ...]
  local out="out/results/$2" resume=()
  [ -e "$out/config.toml" ] && resume=(--resume)
  .venv/bin/trickformer mines "$1" --out "$out" "${@:3}" "${resume[@]}"
}
.venv/bin/trickformer mines exact --board 4x4 --mines 6 --first-move no-neighbours
.venv/bin/trickformer mines exact --board 3x3 --mines 3 --position ..1/.32/..1
mines agree mines-agree --positions 200 --draws 1000 --trials 20000 --seed 2
for domain in rule board; do
  mines table "mines-4x4-simulations-$domain" --simulations 250,500,1000 --beliefs rejection,inherited,metropolis,exact \
    --domain "$domain" --games 100 --seed 2
done
mines table mines-4x4-board --domain board --seconds 0.001,0.004 --games 200 --seed 2
mines table mines-4x4 --seconds 0.00025,0.0005,0.001,0.002,0.004,0.008 --games 200 --seed 2
large=(--board 7x7 --mines 11 --c 0.25 --seed 2)
mines table mines-7x7 "${large[@]}" --games 60 --seconds 0.001,0.004,0.016,0.064
mines table mines-7x7-exact "${large[@]}" --games 100 --beliefs exact --seconds 0.001,0.004
