#!/usr/bin/env bash
# Off-belief learning on full Hanabi for two, and who understands whom, with strangers. $SEEDS ("0 1"), $STEPS (30,000) gradient
# steps each. Many steps with small batches learn faster than the defaults (docs/results/obl.md).
# $LEVEL is 1 by default: 20 minutes a seed on one core with bfloat16. The shipped hanabi-obl-1 is seed 0 of STEPS=100000.
# LEVEL=2 takes 90 minutes a seed, 20 of them for the belief network. It begins with $BELOW, by default hanabi-obl-1.
# Stopped anywhere, the same command goes on. More words are options of all trainings.
set -euo pipefail
cd "$(dirname "$0")/.."
obl() { "${TRICKFORMER:-.venv/bin/trickformer}" obl "$@"; }
steps="${STEPS:-30000}" level="${LEVEL:-1}"
out="${OUT:-out/results/obl-full${LEVEL:+-level-$LEVEL}${STEPS:+-$STEPS}}"
options=() players=() methods=()
if ((level > 1)); then
  below="${BELOW:-hanabi-obl-1}"
  options=(--level "$level" --below "$below" --slip 0.02) players=("obl:checkpoint=$below") methods=(below)
fi
going() { [[ -e "$1/run.json" ]] && echo --resume || true; }  # what is begun is gone on with
for seed in ${SEEDS:-0 1}; do
  [[ -e "$out/$seed/model.safetensors" ]] ||
    obl train hanabi --preset full --seed "$seed" --steps "$steps" --evaluate-every $((steps < 60000 ? 2500 : 5000)) \
      --out "$out/$seed" $(going "$out/$seed") "${options[@]}" "$@"
  players+=("obl:checkpoint=$out/$seed") methods+=(obl)
done
obl crossplay --players "${players[@]}" partner:style={smart,holmes,simple,piers,iggi} \
  --methods "${methods[@]}" smart holmes simple piers iggi --games "${GAMES:-1000}" --seed 1 --out "$out/cross" $(going "$out/cross")
