#!/usr/bin/env bash
# Trains the shipped checkpoint hearts-small from nothing, or goes on where a run stopped. About an hour and a half on
# one core. The report is docs/results/hearts-small.md. On processors with AVX512-BF16 set TRICKFORMER_ISA=avx512bf16:
# hands are generated twice as fast, and the shipped weights were made so.
set -euo pipefail
cd "$(dirname "$0")/.."
OMP_NUM_THREADS=1 .venv/bin/trickformer train --config runs/hearts-small.toml --out out/hearts-small
# In bfloat16, as it is shipped; the model card beside it is written by hand.
.venv/bin/python - <<'PYTHON'
from pathlib import Path

import torch

from trickformer.models.gpt2 import GPT2PolicyValueModel
from trickformer.selfplay.nfsp import save

save(GPT2PolicyValueModel.from_pretrained("out/hearts-small/model-5"), Path("out/hearts-small/bf16"), torch.bfloat16)
PYTHON
