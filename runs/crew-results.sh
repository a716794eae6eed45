#!/usr/bin/env bash
# The evaluations behind docs/results/crew.md: every player on the same 200 deals of each mission, GO-MCTS on the first 12, ArgmaxVal* on
# 2,000 besides. The number of games is fixed here; a run that was stopped goes on where it was. Two hours on two cores, most of it GO-MCTS.
set -euo pipefail
cd "$(dirname "$0")/.."
evaluate() {  # FOLDER OPTION ...
  local out="out/results/$1" resume=()
  [ -e "$out/config.toml" ] && resume=(--resume)
  .venv/bin/trickformer crew evaluate --seed 1 --workers 2 --out "$out" "${@:2}" "${resume[@]}"
}
argmax=argmax:checkpoint=crew-small
gomcts=gomcts:checkpoint=crew-small
# Activations rounded to bfloat16 where the CPU can: half the time.
grep -qw avx512_bf16 /proc/cpuinfo 2>/dev/null && export TRICKFORMER_ISA=avx512bf16
grep -qw amx_bf16 /proc/cpuinfo 2>/dev/null && export TRICKFORMER_ISA=amx
evaluate crew-pimc-rules --games 200 --player pimc --player rules --ceiling 200000
# Few tables a process: the trees of a search then stay in the cache.
evaluate crew-gomcts-argmax --games 12 --player "$gomcts" --player "$argmax" --tables 24
evaluate crew-argmax --games 2000 --player "$argmax"
