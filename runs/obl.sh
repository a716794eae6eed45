#!/usr/bin/env bash
# What docs/results/obl.md reports. A quarter of an hour on one core.
set -euo pipefail
cd "$(dirname "$0")/.."
obl() { "${VENV:-.venv}"/bin/trickformer obl "$@"; }
for temperature in 0.01 0.1 0.5 1 2; do obl exact --game toy --levels 10 --temperature "$temperature" --json; done
for tau in 1 1.4 1.5 2; do obl exact --game toy --levels 4 --temperature 0.001 --tau "$tau" --json; done
for games in 100000 10000 3000; do obl toy --games "$games" --out "out/results/obl-toy-$games"; done
obl toy --least 0.05 --out out/results/obl-toy-least
for sizes in "2 1 1" "2 1 2" "2 2 2" "3 1 1" "3 2 1" "3 2 2"; do
  read -r ranks hand hints <<<"$sizes"
  game="hanabi(colors=1,ranks=$ranks,hand_size=$hand,max_information_tokens=$hints,max_life_tokens=1)"
  for past in uniform grounded; do obl exact "$game" --levels 5 --temperature 0.001 --policy "$past" --json; done
done
