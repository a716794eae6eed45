#!/usr/bin/env bash
# What docs/results/obl.md reports of policies learned on Hanabi. Some minutes a seed on one core.
set -euo pipefail
cd "$(dirname "$0")/.."
obl() { .venv/bin/trickformer obl "$@"; }
game="hanabi(colors=1,ranks=3,hand_size=2,max_information_tokens=2,max_life_tokens=1)"
obl exact "$game" --levels 1 --temperature 0.1 --policy grounded --starts 0 --json
for seed in 0 1 2; do
  obl train "$game" --temperature 0.1 --discount 1 --exploration 0.9 --exploration-power 30 --steps 6000 \
    --evaluate-every 2000 --games 10000 --seed "$seed" --out "out/results/obl-train-$seed"
done
