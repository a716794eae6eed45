#!/usr/bin/env bash
# The networks and evaluations behind docs/results/belief.md, on two-player Hanabi with 5 cards and 8 hints.
#   runs/belief.sh train FORM [HIDDEN [STEPS]]    a network of the form hmm (fosg uses it too) or pomdp; 128 units, 3000 steps
#   runs/belief.sh table FORM                     Table 3: every estimator, 100 games, 100 gradient steps a position
#   runs/belief.sh counting FORM                  V0, exact counting and exact hands on the games of the table
#   runs/belief.sh alpha FORM                     V2 with a tenth of V1 beside a hundredth, the games of the table, paired by game
#   runs/belief.sh long FORM                      V0, network and BFT at 1,000 gradient steps of 9,600 worlds, 30 games
#   runs/belief.sh transformer                    GPT-2 in the LSTM's place: trained in hmm, judged beside it on 30 games
#   runs/belief.sh ablation NAME FORM OPTION ...  one row of Tables 6 to 8, the table's first 20 games; --checkpoint among them
# PLAYERS names the player of both seats, by default the script smart. With PLAYERS=obl:checkpoint=hanabi-obl-1 it is a
# network, and the runs lie in out/belief/obl-checkpoint-hanabi-obl-1.
# Sizes and numbers of games are fixed here or the defaults, those of the preset `small`.
# Run the script again to continue a stopped run. One core each.
set -euo pipefail
cd "$(dirname "$0")/.."
root=out/belief players=()
if [ -n "${PLAYERS:-}" ]; then
  root+="/${PLAYERS//[^[:alnum:].]/-}" players=(--players "$PLAYERS" "$PLAYERS")
fi
begin() {  # FOLDER COMMAND OPTION ...
  local by=("${players[@]}")
  if [ "$2 $form" = "evaluate fosg" ]; then by=(); fi  # the scripts of --others make all moves
  "${VENV:-.venv}"/bin/trickformer belief "$2" --out "$root/$1" --resume "${by[@]}" "${@:3}"
}
network() { [ "$1" = fosg ] && set -- hmm "${@:2}"; echo "$1-${2:-128}-${3:-3000}"; }  # FORM [HIDDEN [STEPS]]
names() { printf -- '--estimators %s ' "$@"; }
# Torch takes and returns tens of megabytes at every gradient step: kept, and in large pages where Linux has them, they
# cost a tenth of the time less.
export THP_MEM_ALLOC_ENABLE=1
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=8589934592
# Products of fine-tuning in bfloat16 where the CPU can.
bf16=()
grep -q avx512_bf16 /proc/cpuinfo 2>/dev/null && bf16=(--bf16)
form=${2:-}
[ -n "$form" ] || [ "${1:-}" = transformer ] || set -- help
case "$1" in
  train)
    begin "$(network "$form" "${@:3}")" train --form "$form" --hidden "${3:-128}" --steps "${4:-3000}" --seed 20261121 ;;
  table)
    # shellcheck disable=SC2046
    begin "table-$form" evaluate --form "$form" --checkpoint "$root/$(network "$form")/model.safetensors" \
      $(names v0 counting v1 bb v2 particles rejection seq2seq bft exact) "${bf16[@]}" ;;
  counting)
    # shellcheck disable=SC2046
    begin "counting-$form" evaluate --form "$form" $(names v0 counting exact) ;;
  alpha)
    for alpha in 0.01 0.1; do
      begin "alpha-$form-$alpha" evaluate --form "$form" --estimators v2 --alpha "$alpha"
    done
    "${VENV:-.venv}"/bin/python - "$root/alpha-$form-"{0.01,0.1} <<'PYTHON'
import json
import sys
from pathlib import Path

import numpy as np

from trickformer.plumbing.tables import mean_and_error, plus_minus

losses = []
for run in sys.argv[1:]:
    stacks = [json.loads(line) for line in Path(run, "records.jsonl").read_text().splitlines()]
    records = sorted((record for stack in stacks for record in stack), key=lambda record: record["game"])
    losses.append(np.array([r["estimators"]["v2"]["loss"] / r["estimators"]["v2"]["cards"] for r in records]))
print("alpha 0.1 - alpha 0.01:", plus_minus(mean_and_error(losses[1] - losses[0]), signed=True), f"({len(losses[0])} games)")
PYTHON
    ;;
  long)
    # shellcheck disable=SC2046
    begin "long-$form" evaluate --form "$form" --checkpoint "$root/$(network "$form")/model.safetensors" \
      $(names v0 counting seq2seq bft) --games 30 --steps 1000 --stack 15 "${bf16[@]}" ;;
  transformer)
    begin transformer-hmm train --form hmm --model transformer --steps 1600 \
      --learning-rate 0.002 --seed 20261121 --save-every 100
    # shellcheck disable=SC2046
    begin table-transformer evaluate --form hmm --checkpoint "$root/hmm-128-3000/model.safetensors" \
      --transformer "$root/transformer-hmm/model.safetensors" $(names v0 seq2seq transformer) --games 30 --seed 99 ;;
  ablation)
    name=$form form=${3:?FORM}
    # shellcheck disable=SC2046
    begin "ablation-$name" evaluate --form "$form" $(names seq2seq bft) --games 20 "${bf16[@]}" "${@:4}" ;;
  *) sed -n '2,11p' "$0" >&2; exit 2 ;;
esac
