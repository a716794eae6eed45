#!/usr/bin/env bash
# Score by time of the searches in two-player Hanabi, the curve on docs/results/hanabi.md: `rollout` of both seats by games per
# decision, `sparta` of one seat by worlds, each on the first $DEALS (150) decks of seed 1. An hour of one core, half of it for
# the last setting. Run the script again to continue a stopped run.
set -euo pipefail
cd "$(dirname "$0")/.."
game=hanabi deals="${DEALS:-150}" runs=()
. runs/match.bash
for n in 100 400 1600; do
  runs+=("hanabi-curve-rollout-$n")
  match "${runs[-1]}" "rollout:prior=\"argmax:checkpoint=hanabi-small\",runs=$n" partner:style=smart "$deals"
done
for n in 100 300 1000; do
  runs+=("hanabi-curve-sparta-$n")
  match "${runs[-1]}" "sparta:worlds=$n" partner:style=smart "$deals"
done
"${VENV:-.venv}"/bin/python runs/hanabi_curve.py "${runs[@]/#/out/results/}"
