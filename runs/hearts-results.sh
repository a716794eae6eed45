#!/usr/bin/env bash
# The tournaments behind docs/results/hearts.md. The number of deals is fixed here. Half an hour on two cores; a run that
# was stopped goes on where it was.
set -euo pipefail
cd "$(dirname "$0")/.."
match() {  # NAME A B DEALS
  local out="out/results/$1" resume=()
  [ -e "$out/config.toml" ] && resume=(--resume)
  .venv/bin/trickformer tournament hearts --a "$2" --b "$3" --deals "$4" --seed 1 --workers 2 --out "$out" --json "${resume[@]}"
}
model=checkpoint=hearts-small
match argmax-random "argmax:$model" random 200
match rules-random rules random 100
match argmax-rules "argmax:$model" rules 200
match pimc-rules pimc:eval=uct,runs=200,worlds=50 rules 100
# Activations rounded to bfloat16 too, where the processor has AVX512-BF16: half the time.
grep -qw avx512_bf16 /proc/cpuinfo && export TRICKFORMER_ISA=avx512bf16
match gomcts-argmax "gomcts:$model" "argmax:$model" 300
