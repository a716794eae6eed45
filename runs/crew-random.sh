#!/usr/bin/env bash
# The figures of docs/results/crew-random.md: how often uniformly random play succeeds in each mission. Some seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
"${VENV:-.venv}"/bin/python runs/crew_random.py --games 100000 --seed 1
