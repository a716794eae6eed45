#!/usr/bin/env bash
# The networks and tournaments behind docs/results/search.md, on two-player Hanabi and The Crew. Seed 1, deals fixed here.
#   runs/search.sh train FORM [HINTS]     a belief network of `smart`: pomdp for sparta, hmm for rule_search
#   runs/search.sh single BELIEF [HINTS]  sparta on exact, counting, seq2seq or bft against its blueprint, 300 deals
#   runs/search.sh multi RANGE [HINTS]    sparta for both seats, hands up to RANGE, against sparta for one, 24 deals, 100 worlds
#   runs/search.sh crew one|all           sparta on The Crew, one seat beside rules or all beside pimc, 20 games a mission
#   runs/search.sh public BELIEF [HINTS]  rule_search on exact, seq2seq or bft against its blueprint, 300 deals
#   runs/search.sh rl one|both [HINTS]    rl_search of one seat or of both against its blueprint, 24 deals, by a network that
#                                         it trains first
# Decisions are judged anew by 200 exact samples. A run that was stopped goes on where it was. One core each.
set -euo pipefail
cd "$(dirname "$0")/.."
begin() {  # FOLDER COMMAND OPTION ...
  local out="out/search/$1" resume=()
  [ -e "$out/config.toml" ] && resume=(--resume)
  .venv/bin/trickformer "${@:2}" --out "$out" "${resume[@]}"
}
network() { case "$2" in seq2seq|bft) echo ",checkpoint=out/search/$1-${3:-8}" ;; esac; }  # FORM BELIEF [HINTS]
usage() { sed -n '2,10p' "$0" >&2; exit 2; }
rl() {
  local how=
  case "$of" in one) ;; both) how=,multi=true ;; *) usage ;; esac
  [ -e "out/search/values-$hints/model.safetensors" ] || begin "values-$hints" obl train "$game" --seed 20261121
  begin "rl-$of-$hints" tournament "$game" --a "rl_search:checkpoint=out/search/values-$hints$how" --b partner:style=smart \
    --deals 24 --seed 1
}
what=${1:-help} of=${2:-} hints=${3:-8}
[ -n "$of" ] || what=help
game="hanabi(max_information_tokens=$hints)"
case "$what" in
  train)
    begin "$of-$hints" belief train --form "$of" --variant "5-card-$hints-hint" --seed 20261121 ;;
  single)
    begin "single-$of-$hints" tournament "$game" --a "sparta:belief=$of,assess=200$(network pomdp "$of" "$hints")" \
      --b partner:style=smart --deals 300 --seed 1 ;;
  multi)
    begin "multi-$of-$hints" tournament "$game" --a "sparta:worlds=100,multi=true,range_max=$of" --b sparta:worlds=100 \
      --deals 24 --seed 1 ;;
  crew)
    case "$of" in one) how= beside=rules ;; all) how=,multi=true beside=pimc ;; *) usage ;; esac
    begin "crew-$of" crew evaluate --player "sparta:worlds=400$how" --player "$beside" --games 20 --random-games 0 --seed 1 ;;
  public)
    begin "public-$of-$hints" tournament "$game" --a "rule_search:belief=$of,assess=200$(network hmm "$of" "$hints")" \
      --b partner:style=smart --deals 300 --seed 1 ;;
  rl) rl ;;
  *) usage ;;
esac
