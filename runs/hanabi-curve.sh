#!/usr/bin/env bash
# Score by time of the searches in two-player Hanabi, the curve on docs/results/hanabi.md: `rollout` of both seats by games per
# decision, `sparta` of one seat by worlds, each on the first $DEALS (150) decks of seed 1. Two core-hours, most of them for
# the two last settings. A run that was stopped goes on where it was.
set -euo pipefail
cd "$(dirname "$0")/.."
game=hanabi deals="${DEALS:-150}"
. runs/match.bash
for n in 100 400 1600 6400; do
  match "hanabi-curve-rollout-$n" "rollout:prior=\"argmax:checkpoint=hanabi-small\",runs=$n" partner:style=smart "$deals"
done
for n in 100 300 1000 3000; do
  match "hanabi-curve-sparta-$n" "sparta:worlds=$n" partner:style=smart "$deals"
done
.venv/bin/python runs/hanabi_curve.py out/results/hanabi-curve-{rollout,sparta}-*
