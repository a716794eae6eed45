#!/usr/bin/env bash
# The tournaments behind docs/results/skat.md. The numbers of deals are fixed here; each deal is played in six seatings.
# An hour and a half on two cores; a run that was stopped goes on where it was.
set -euo pipefail
cd "$(dirname "$0")/.."
match() {  # NAME A B DEALS
  local out="out/results/skat-$1" resume=()
  [ -e "$out/config.toml" ] && resume=(--resume)
  .venv/bin/trickformer tournament skat --a "$2" --b "$3" --deals "$4" --seed 1 --workers 2 --out "$out" --json "${resume[@]}"
}
model=checkpoint=skat-small
match rules-random rules random 300
match kermit-rules kermit rules 300
match weighted-uniform pimc:worlds=20 pimc:worlds=20,weighted=false 1000
match argmax-rules "argmax:$model" rules 300
match argmax-kermit "argmax:$model" kermit 40
# Activations rounded to bfloat16 too, where the processor has AVX512-BF16: half the time.
grep -qw avx512_bf16 /proc/cpuinfo && export TRICKFORMER_ISA=avx512bf16
match gomcts-argmax "gomcts:$model" "argmax:$model" 600
match gomcts-rules "gomcts:$model" rules 60
match gomcts-kermit "gomcts:$model" kermit 40
