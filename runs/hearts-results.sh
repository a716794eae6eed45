#!/usr/bin/env bash
# The tournaments behind docs/results/hearts.md. The numbers of deals are fixed here. Hours on two cores.
# Run the script again to continue a stopped run.
set -euo pipefail
cd "$(dirname "$0")/.."
game=hearts
. runs/match.bash
model=checkpoint=hearts-small
match argmax-random "argmax:$model" random 200
match rules-random rules random 100
match argmax-rules "argmax:$model" rules 200
match pimc-rules pimc:eval=uct,runs=200,worlds=50 rules 100
match argmax-pimc200 "argmax:$model" pimc:eval=uct,runs=200,worlds=50 200
match argmax-pimc2000 "argmax:$model" pimc:eval=uct,runs=2000,worlds=50 40
use_bfloat16
for settings in "" ,runs=100,steps=2,c=0.4,wave=1; do  # the default; the paper's runs, steps and C (not its leaves)
  name=gomcts${settings:+-paper}
  match "$name-argmax" "gomcts:$model$settings" "argmax:$model" 200
  match "$name-pimc200" "gomcts:$model$settings" pimc:eval=uct,runs=200,worlds=50 200
  match "$name-pimc2000" "gomcts:$model$settings" pimc:eval=uct,runs=2000,worlds=50 40
done
match gomcts-rules "gomcts:$model" rules 100
match gomcts-random "gomcts:$model" random 100
