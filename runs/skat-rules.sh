#!/usr/bin/env bash
# The figures of docs/results/skat-rules.md: what the scripted player of Skat plays and wins, and, where a log of XSkat's is
# given, that log's beside it. Some seconds.
#   runs/skat-rules.sh [FILE]
set -euo pipefail
log=${1:+$(realpath "$1")}
cd "$(dirname "$0")/.."
"${VENV:-.venv}"/bin/python runs/skat_contracts.py --games 10000 --seed 1 ${log:+--log "$log"}
