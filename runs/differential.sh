#!/usr/bin/env bash
# Compares the C++ rules with OpenSpiel's. Hearts: a million random hands over all 256 settings of the options: whose turn it is,
# what is legal, what each seat knows, scores. Hanabi: 100,000 games of each of three variants and 10,000 of others, the same,
# with every observation bit for bit. The result is docs/results/differential.md.
set -euo pipefail
cd "$(dirname "$0")/.."
"${VENV:-.venv}"/bin/python -m trickformer.audit.differential --hands 1_000_000 --seed 20261121
"${VENV:-.venv}"/bin/python -m trickformer.audit.differential --game hanabi --hands 100_000 --seed 20261121
