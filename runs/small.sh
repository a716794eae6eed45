#!/usr/bin/env bash
# Trains a model of a game from nothing by the preset small, or continues a run: hours on one core. None of the shipped
# checkpoints comes from this script alone: docs/reproduce.md has their chains of commands.
# Usage: runs/small.sh hearts|skat|crew|hanabi [ITERATION to save in bfloat16; the last by default]
set -euo pipefail
cd "$(dirname "$0")/.."
game=${1:?which game: hearts, skat, crew or hanabi} iteration=${2:-}
out=out/$game-small
OMP_NUM_THREADS=1 "${VENV:-.venv}"/bin/trickformer train "$game" --preset small --seed 20261122 --out "$out" --resume
# In bfloat16, as checkpoints are shipped; their model cards are written by hand.
"${VENV:-.venv}"/bin/python - "$out" "$iteration" <<'PYTHON'
import sys
from pathlib import Path

import torch

from trickformer.models.gpt2 import GPT2PolicyValueModel, save

run, iteration = Path(sys.argv[1]), sys.argv[2]
last = max(int(p.name.removeprefix("model-")) for p in run.glob("model-*"))
shipped = run / f"model-{iteration or last}"
save(GPT2PolicyValueModel.from_pretrained(shipped), run / "bf16", torch.bfloat16)
PYTHON
