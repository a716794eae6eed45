#!/usr/bin/env bash
# Off-belief learning on full Hanabi for two, and who understands whom, with strangers. $SEEDS ("0 1"), $STEPS (30,000) gradient
# steps each. Many steps with small batches learn faster than the defaults (docs/results/obl.md).
# $LEVEL is 1 by default: 20 minutes a seed on one core with bfloat16. The shipped hanabi-obl-1 is seed 0 of STEPS=100000.
# LEVEL=2 and 3 begin with the shipped hanabi-obl-1 and hanabi-obl-2 and take some two hours a seed, 30 to 45 minutes of
# them for the belief network. $BELOW names another checkpoint or run folder to begin with; levels above 3 need it.
# $GAMES (1,000) are played by each pair, and $OUT is the folder. Run the script again to continue a stopped run. More words
# are options of all trainings. $LABEL (obl) names these in the table of cross-play, so
# LABEL=other-play OUT=out/results/obl-full-op runs/obl-full.sh --method vdn --other-play trains Other-Play.
set -euo pipefail
cd "$(dirname "$0")/.."
obl() { "${VENV:-.venv}"/bin/trickformer obl "$@"; }
steps="${STEPS:-30000}" level="${LEVEL:-1}" name=obl-full options=() players=() methods=()
if ((level > 1)); then
  name+="-level-$level" below="${BELOW:-hanabi-obl-$((level - 1))}"
  ((level <= 3)) || : "${BELOW:?give the run folder of level $((level - 1))}"
  options=(--level "$level" --below "$below" --slip 0.02) players=("obl:checkpoint=$below") methods=(below)
fi
out="${OUT:-out/results/$name${STEPS:+-$STEPS}}" cross=cross${SEEDS:+-${SEEDS// /-}}
for seed in ${SEEDS:-0 1}; do
  obl train hanabi --preset full --seed "$seed" --steps "$steps" --evaluate-every $((steps < 60000 ? 2500 : 5000)) \
    --out "$out/$seed" --resume "${options[@]}" "$@"
  players+=("obl:checkpoint=$out/$seed") methods+=("${LABEL:-obl}")
done
obl crossplay --players "${players[@]}" partner:style={smart,holmes,simple,piers,iggi} \
  --methods "${methods[@]}" smart holmes simple piers iggi --games "${GAMES:-1000}" --seed 1 --out "$out/$cross" --resume
