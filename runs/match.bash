# Functions for the scripts of results, which source this file.
# match plays a tournament of $game, or continues it. use_bfloat16 rounds activations to bfloat16 too, in half the time, where
# the CPU can.
match() {  # FOLDER A B DEALS [OPTIONS]
  "${VENV:-.venv}"/bin/trickformer tournament "$game" --a "$2" --b "$3" --deals "$4" --seed 1 --workers 2 --out "out/results/$1" --resume \
    --json "${@:5}"
}
use_bfloat16() {
  local set
  for set in avx512bf16:avx512_bf16 amx:amx_bf16; do  # the last one that the CPU has
    if grep -qw "${set#*:}" /proc/cpuinfo 2>/dev/null; then export TRICKFORMER_ISA=${set%:*}; fi
  done
}
