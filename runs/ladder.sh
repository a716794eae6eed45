#!/usr/bin/env bash
# What each departure from the paper's learner brings in Skat, for docs/results/gomcts.md. Each step trains from nothing for
# $MINUTES (15) on one core, with the departures of the steps before it and one more. The matches are of its newest model:
# 500 deals against `rules`, and $DEALS (50) of GO-MCTS against ArgmaxVal*.
# Usage: runs/ladder.sh train|match [STEP ...]   steps: raw masked features script values (default: these), roles
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${MINUTES:-15} deals=${DEALS:-50} out=out/ladder
do=${1:?train or match}
shift
[ $# -gt 0 ] || set -- raw masked features script values
export OMP_NUM_THREADS=1

options() {  # STEP
  case $1 in
  raw) ;;
  masked) echo --masked ;;
  features) echo --masked --features --no-script-features ;;
  script) echo --masked --features ;;
  roles) echo --masked --features --no-script-features --roles all ;; # beside `features`, not after `script`
  values) echo --masked --features --action-weight 100 --label-share 0.33 --label-worlds ;;
  *) echo "unknown step $1" >&2; exit 2 ;;
  esac
}

newest() {  # FOLDER: its last model
  ls -d "$1"/model-* | sort -V | tail -1
}

for step; do
  run=$out/skat-$step
  if [ "$do" = train ]; then
    [ ! -e "$run" ] || { echo "$run exists; remove it to train this step again" >&2; exit 2; }
    read -ra chosen <<<"$(options "$step")"
    code=0
    .venv/bin/trickformer train skat --preset paper-small --seed 20261127 --bootstrap-hands 40000 --bootstrap-epochs 1 --sequences 12000 \
      --iterations 100 --match-deals 0 --stop-after "$minutes" --out "$run" "${chosen[@]}" || code=$?
    [ "$code" = 130 ] || exit "$code" # stopped by the clock
  else
    model=checkpoint=$(newest "$run"),preset=paper
    match() {  # NAME A B DEALS
      .venv/bin/trickformer tournament skat --a "$2" --b "$3" --deals "$4" --seed 9001 --out "$run/$1" --json
    }
    match rules "argmax:$model" rules 500
    [ "$step" != values ] || match rules-by-q "argmax:${model%,preset=paper},threshold=0.05" rules 500
    match gomcts "gomcts:$model" "argmax:$model" "$deals"
  fi
done
