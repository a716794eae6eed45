#!/usr/bin/env bash
# Holds the C++ rules of Hearts equal to OpenSpiel's on a million random hands over all 256 settings of the options:
# whose turn it is, what is legal, what each seat knows, scores. The result is docs/results/differential.md.
set -euo pipefail
cd "$(dirname "$0")/.."
"${PYTHON:-.venv/bin/python}" -m trickformer.differential --hands 1_000_000 --seed 20261121 "$@"
