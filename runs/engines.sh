#!/usr/bin/env bash
# The tables of engines in docs/results/hearts.md and skat.md: our players against xinxin, XSkat and JSkat. Their adapters are not part
# of trickformer; engines.toml (docs/engines.md) names them xinxin-engine, with the options `runs` and `worlds`, xskat and jskat,
# because `xinxin` is the built-in player for an OpenSpiel that contains the program. Five hours on two cores.
# Run the script again to continue a stopped run.
# Usage: runs/engines.sh [hearts|skat]
set -euo pipefail
cd "$(dirname "$0")/.."
. runs/match.bash
hearts() {
  local quick=xinxin-engine:runs=200,worlds=50 paper=xinxin-engine:runs=2000,worlds=50 model=checkpoint=hearts-small
  game=hearts
  match engines-argmax-xinxin "argmax:$model" "$quick" 100
  match engines-gomcts-xinxin "gomcts:$model" "$quick" 100
  match engines-rules-xinxin rules "$quick" 100
  match engines-pimc-xinxin pimc:eval=uct,runs=200,worlds=50 "$quick" 100
  match engines-pimc-xinxin-2000 pimc:eval=uct,runs=2000,worlds=50 "$paper" 20
  match engines-gomcts-xinxin-2000 "gomcts:$model" "$paper" 20
}
skat() {
  local b
  game=skat
  match engines-argmax-xskat argmax:checkpoint=skat-small xskat 300
  for b in xskat jskat; do
    match "engines-rules-$b" rules "$b" 300
    match "engines-rollout-$b" rollout:prior=argmax:checkpoint=skat-small "$b" 300
    match "engines-kermit-$b" kermit "$b" 300
  done
}
case ${1:-all} in
  all) hearts; skat ;;
  hearts | skat) "$1" ;;
  *) echo "usage: runs/engines.sh [hearts|skat]" >&2; exit 2 ;;
esac
