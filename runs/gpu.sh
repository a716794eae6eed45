#!/usr/bin/env bash
# Trains on a GPU machine that nothing can be fetched from, in steps of under ten minutes, back to back.
#
#   runs/gpu.sh pack 3.12 open_spiel transformers ...   where there is a network: wheels, for that version of Python, of the
#                                                       packages that the machine lacks, into out/wheels
#   runs/gpu.sh step [OPTIONS of trickformer train]     on the machine, in a checkout with out/wheels: builds once, trains
#                                                       for $MINUTES (8), stops; the next call continues it
#
# The run folder is $RUN (out/hearts-paper). Each step leaves the newest model in bfloat16, the log and the curve in
# $RUN/small, what is worth carrying home. The build alone takes about a minute of the first step.
set -euo pipefail
cd "$(dirname "$0")/.."
run=${RUN:-out/hearts-paper} minutes=${MINUTES:-8} wheels=out/wheels site=$PWD/out/gpu-site
case "${1:-}" in
pack)
  version=$2
  shift 2
  read -ra tools <<<"$(python3 -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')"
  python3 -m pip download -q --no-deps --only-binary=:all: --python-version "$version" -c constraints.txt -d "$wheels" \
    "${tools[@]}" "$@"
  du -sh "$wheels"
  ;;
step)
  shift
  # Beside the machine's own packages, torch among them, wherever its python3 has those from.
  export PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH}
  if [ ! -e "$site/.installed" ]; then
    mkdir -p "$site"
    if compgen -G "$wheels/*.whl" >/dev/null; then
      python3 -m pip install -q --no-index --no-deps --upgrade --target "$site" "$wheels"/*.whl
    fi
    python3 -m pip install -q --no-index --no-deps --no-build-isolation --upgrade --target "$site" .
    touch "$site/.installed"
  fi
  code=0
  python3 -m trickformer train hearts --preset paper --out "$run" --stop-after "$minutes" --resume "$@" || code=$?
  [ -d "$run" ] || exit "$code"
  python3 - "$run" <<'PYTHON'
import shutil
import sys
from pathlib import Path

import torch

from trickformer.models.gpt2 import GPT2PolicyValueModel, save

run = Path(sys.argv[1])
small = run / "small"
small.mkdir(exist_ok=True)
for name in ("config.toml", "run.json", "log.jsonl", "curve.csv", "curve.png"):
    if (run / name).exists():
        shutil.copy(run / name, small)
models = [p for p in run.glob("model-*") if p.name.removeprefix("model-").isdigit()]
if models:
    last = max(models, key=lambda p: int(p.name.removeprefix("model-")))
    save(GPT2PolicyValueModel.from_pretrained(last), small / last.name, torch.bfloat16, (last / "README.md").read_text())
PYTHON
  exit "$code"
  ;;
*)
  sed -n '2,11p' "$0" >&2
  exit 2
  ;;
esac
