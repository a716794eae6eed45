#!/usr/bin/env bash
# Level 1 of off-belief learning on full Hanabi for two, two seeds, and who understands whom, with strangers. $STEPS (30,000)
# gradient steps, 20 minutes a seed on one core with bfloat16; the shipped network is seed 0 of STEPS=100000. Many steps with
# small batches learn faster than the defaults (docs/results/obl.md).
# Stopped anywhere, the same command goes on. More words are options of both trainings.
set -euo pipefail
cd "$(dirname "$0")/.."
obl() { "${TRICKFORMER:-.venv/bin/trickformer}" obl "$@"; }
steps="${STEPS:-30000}" out="${OUT:-out/results/obl-full${STEPS:+-$STEPS}}"
going() { [[ -e "$1/run.json" ]] && echo --resume || true; }  # what is begun is gone on with
for seed in 0 1; do
  [[ -e "$out/$seed/model.safetensors" ]] ||
    obl train hanabi --preset full --seed "$seed" --steps "$steps" --evaluate-every $((steps < 60000 ? 2500 : 5000)) --out "$out/$seed" $(going "$out/$seed") "$@"
done
obl crossplay --players "obl:checkpoint=$out/0" "obl:checkpoint=$out/1" partner:style={smart,holmes,simple,piers,iggi} \
  --methods obl obl smart holmes simple piers iggi --games "${GAMES:-1000}" --seed 1 --out "$out/cross" $(going "$out/cross")
