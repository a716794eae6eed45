#!/usr/bin/env bash
# The tournaments behind docs/results/skat.md. The numbers of deals are fixed here; each deal is played in six seatings.
# Five hours on two cores. Run the script again to continue a stopped run.
set -euo pipefail
cd "$(dirname "$0")/.."
game=skat
. runs/match.bash
model=checkpoint=skat-small
match skat-rules-random rules random 300
match skat-kermit-rules kermit rules 300
match skat-weighted-uniform pimc:worlds=20 pimc:worlds=20,weighted=false 1000
match skat-argmax-rules "argmax:$model" rules 3000
match skat-argmax-kermit "argmax:$model" kermit 500 --seed 9001
use_bfloat16
match skat-gomcts-kermit "gomcts:$model,preset=paper" kermit 500 --seed 9001
match skat-rollout-argmax "rollout:prior=argmax:$model" "argmax:$model" 100
match skat-rollout-rules "rollout:prior=argmax:$model" rules 100
# The same search without a model.
match skat-script-rollout-argmax rollout:prior=rules "argmax:$model" 100
match skat-script-rollout-rules rollout:prior=rules rules 100
match skat-script-rollout-kermit rollout:prior=rules kermit 200
match skat-rollout-kermit "rollout:prior=argmax:$model" kermit 200
match skat-rollout-4000-kermit "rollout:prior=argmax:$model,runs=4000" kermit 200
