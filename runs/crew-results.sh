#!/usr/bin/env bash
# The evaluations behind docs/results/crew.md: every player on the same 200 deals of each mission, ArgmaxVal* on 2,000 besides. The number of
# games is fixed here. Run the script again to continue a stopped run. An hour on two cores, most of it `rollout` and `argmax`.
set -euo pipefail
cd "$(dirname "$0")/.."
. runs/match.bash
evaluate() {  # FOLDER OPTION ...
  "${VENV:-.venv}"/bin/trickformer crew evaluate --seed 1 --workers 2 --out "out/results/$1" --resume "${@:2}"
}
argmax=argmax:checkpoint=crew-small
rollout=rollout:prior=argmax:checkpoint=crew-small
use_bfloat16
evaluate crew-pimc-rules --games 200 --player pimc --player rules --ceiling 200000
evaluate crew-rollout-argmax --games 200 --player "$rollout" --player "$argmax"
evaluate crew-argmax --games 2000 --player "$argmax"
