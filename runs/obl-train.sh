#!/usr/bin/env bash
# What docs/results/obl.md reports of policies learned on Hanabi. Some minutes a seed on one core.
set -euo pipefail
cd "$(dirname "$0")/.."
obl() { "${VENV:-.venv}"/bin/trickformer obl "$@"; }
train() { obl train "$game" "${@:2}" --out "out/results/$1" --resume; }  # FOLDER OPTION ...
game="hanabi(colors=1,ranks=3,hand_size=2,max_information_tokens=2,max_life_tokens=1)"
exact() { obl exact "$game" --levels 1 --temperature 0.1 --policy grounded --starts 0 --json "$@"; }
exact
exact --target beliefs # what learning tends to
for seed in 0 1 2; do
  train "obl-train-$seed" --temperature 0.1 --discount 1 --exploration 0.9 --exploration-power 30 --steps 6000 \
    --averaging 0 --evaluate-every 2000 --games 10000 --seed "$seed"
done
# Nearer to the limit, judged exactly; some ten minutes of a core.
train obl-train-wide --temperature 0.1 --discount 1 --exploration 0.9 --exploration-power 30 --steps 7000 --hidden 512 \
  --batch 128 --buffer 16384 --target-every 50 --learning-rate 0.002 --fall 0.2 --evaluate-every 1000 --games 10000 \
  --seed 0
exact --checkpoint out/results/obl-train-wide
# At a higher temperature the policy depends less on small errors; some five minutes a seed.
warm() { exact --temperature 0.3 "$@"; }
warm
warm --target beliefs
for seed in 0 1 2; do
  train "obl-warm-$seed" --temperature 0.3 --discount 1 --exploration 0.5 --exploration-power 3 --steps 10000 --hidden 256 --odds \
    --batch 128 --tables 512 --buffer 16384 --reuse 2 --target-every 50 --learning-rate 0.002 --burn-in 4096 \
    --evaluate-every 2000 --games 10000 --seed "$seed"
  warm --checkpoint "out/results/obl-warm-$seed"
done
