#!/usr/bin/env bash
# Trains the checkpoint GAME-small from nothing, or goes on where a run stopped: hours on one core. The reports are
# docs/results/GAME-training.md. Usage: runs/small.sh hearts|skat|crew|hanabi [ITERATION to ship; the last]
set -euo pipefail
cd "$(dirname "$0")/.."
game=${1:?which game: hearts, skat, crew or hanabi} iteration=${2:-} resume=()
out=out/$game-small
[ -e "$out/config.toml" ] && resume=(--resume)
OMP_NUM_THREADS=1 .venv/bin/trickformer train "$game" --preset small --seed 20261122 --out "$out" "${resume[@]}"
# In bfloat16, as it is shipped; the model card beside it is written by hand.
.venv/bin/python - "$out" "$iteration" <<'PYTHON'
import sys
from pathlib import Path

import torch

from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.selfplay.nfsp import save

run, iteration = Path(sys.argv[1]), sys.argv[2]
last = max(int(p.name.removeprefix("model-")) for p in run.glob("model-*"))
shipped = run / f"model-{iteration or last}"
save(GPT2PolicyValueModel.from_pretrained(shipped), run / "bf16", torch.bfloat16)
PYTHON
