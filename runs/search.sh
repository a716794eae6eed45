#!/usr/bin/env bash
# The networks and tournaments behind docs/results/search.md, on two-player Hanabi and The Crew. Seed 1, deals fixed here.
#   runs/search.sh train FORM [VARIANT]     a belief network of `smart`: pomdp for sparta, hmm for rule_search
#   runs/search.sh single BELIEF [VARIANT]  sparta on exact, counting, seq2seq or bft against its blueprint, 300 deals
#   runs/search.sh multi RANGE [VARIANT]    sparta for both seats, hands up to RANGE, against sparta for one, 100 worlds, 1,000 deals
#   runs/search.sh crew one|all             sparta on The Crew, one seat beside rules or all beside pimc, 20 games a mission
#   runs/search.sh public BELIEF [VARIANT]  rule_search on exact, seq2seq or bft against its blueprint, 300 deals
#   runs/search.sh rl one|both [VARIANT] [BELIEF]  rl_search of one seat or of both on exact, seq2seq or bft against its blueprint,
#                                           24 deals, by a network that it trains first. The runs of docs/results/search.md with
#                                           8 hints used hanabi-obl-1 instead
#   runs/search.sh figure public|rl-both [VARIANT]  gains by move of the runs on exact, seq2seq and bft in one figure
# With BLUEPRINT=obl:checkpoint=hanabi-obl, train, rl and figure are about this network in all seats: rl tunes the network
# itself, and the runs lie in out/search/obl-checkpoint-hanabi-obl. DEALS is the number of deals of rl, 24 by default; a larger
# one extends a run. SEED is the seed of these deals, 1 by default; the folders of other seeds end in -seed-SEED. OPTIONS are
# further options of rl_search, such as steps=30,worlds=300.
# VARIANT is 5-card-8-hint by default, 5-card-2-hint or 7-card-4-hint. Decisions are judged anew by 200 exact samples: hands by
# counting, weighted by what the partner did, if they are too many to list. Run the script again to continue a stopped run.
# One core each.
set -euo pipefail
cd "$(dirname "$0")/.."
root=out/search blueprint=${BLUEPRINT:-partner:style=smart} learned=
usage() { sed -n '2,18p' "$0" >&2; exit 2; }
[[ -z ${BLUEPRINT:-} || $BLUEPRINT == obl:checkpoint=* ]] || usage
if [ -n "${BLUEPRINT:-}" ]; then learned=1 root+="/${blueprint//[^[:alnum:].]/-}"; fi
begin() { "${VENV:-.venv}"/bin/trickformer "${@:2}" --out "$root/$1" --resume; }  # FOLDER COMMAND OPTION ...
network() { case "$2" in seq2seq|bft) echo ",checkpoint=$root/$1-$variant" ;; esac; }  # FORM BELIEF
rl() {
  local how=,belief=$belief,assess=200 form values=$root/values-$variant
  case "$of" in one) form=pomdp ;; both) how+=,multi=true form=hmm ;; *) usage ;; esac
  case "$belief" in exact) ;; seq2seq | bft) how+=,belief_checkpoint=$root/$form-$variant ;; *) usage ;; esac
  if [ -n "$learned" ]; then
    values=${blueprint#obl:checkpoint=} values=${values%%,*} how+=",blueprint=\"$blueprint\""
  elif [ ! -e "$values/model.safetensors" ]; then
    begin "values-$variant" obl train "$game" --seed 20261121
  fi
  begin "rl-$of-$belief-$variant${SEED:+-seed-$SEED}" tournament "$game" --deals "${DEALS:-24}" --seed "${SEED:-1}" \
    --a "rl_search:checkpoint=$values$how${OPTIONS:+,$OPTIONS}" --b "$blueprint"
}
what=${1:-help} of=${2:-} variant=${3:-5-card-8-hint} belief=${4:-exact}
[ -n "$of" ] || what=help
[[ -z $learned || $what == train || $what == rl || $what == figure ]] || usage
case "$variant" in 5-card-8-hint | 5-card-2-hint | 7-card-4-hint) ;; *) usage ;; esac
IFS=- read -r cards _ hints _ <<< "$variant"
game="hanabi(hand_size=$cards,max_information_tokens=$hints)"
case "$what" in
  train)
    players=()
    if [ -n "$learned" ]; then players=(--players "$blueprint" "$blueprint"); fi
    begin "$of-$variant" belief train --form "$of" --variant "$variant" "${players[@]}" --seed 20261121 ;;
  single)
    begin "single-$of-$variant" tournament "$game" --a "sparta:belief=$of,assess=200$(network pomdp "$of")" \
      --b partner:style=smart --deals 300 --seed 1 ;;
  multi)
    begin "multi-$of-$variant" tournament "$game" --a "sparta:worlds=100,multi=true,range_max=$of" --b sparta:worlds=100 \
      --deals 1000 --seed 1 ;;
  crew)
    case "$of" in one) how= beside=rules ;; all) how=,multi=true beside=pimc ;; *) usage ;; esac
    begin "crew-$of" crew evaluate --player "sparta:worlds=400$how" --player "$beside" --games 20 --random-games 0 --seed 1 ;;
  public)
    begin "public-$of-$variant" tournament "$game" --a "rule_search:belief=$of,assess=200$(network hmm "$of")" \
      --b partner:style=smart --deals 300 --seed 1 ;;
  rl) rl ;;
  figure)
    "${VENV:-.venv}"/bin/python - "$root/$of-$variant.png" "$root/$of-"{exact,seq2seq,bft}"-$variant" <<'PYTHON'
import sys
from pathlib import Path

from trickformer.tournaments import gains, run

beliefs = [gains.summarize_gains(run.load(Path(folder)).records, players=1)[0] for folder in sys.argv[2:]]
gains.plot(beliefs, ("exact", "Seq2Seq", "BFT"), Path(sys.argv[1]))
PYTHON
    ;;
  *) usage ;;
esac
