#!/usr/bin/env bash
# Measures each departure from the paper's learner in Hearts, Skat or The Crew, for docs/results/gomcts.md. Each step
# trains from nothing for $MINUTES (15) on one core, with the departures of the steps before it and one more. The matches
# are of its newest model: with `rules` (500 deals, in The Crew 40 games of each mission), and of GO-MCTS with ArgmaxVal*
# ($DEALS, 50; $GAMES, 10).
# A stopped step of `train` must be removed and begun again; `match` continues.
# Usage: runs/ladder.sh hearts|skat|crew train|match [STEP ...]
#   Steps: raw masked features script values. In Hearts there is no step script, since no feature is the script's. The Crew
#   also has bootstrap, between the last two. All these by default; in Skat there is also roles. The steps more, expert and
#   guests each continue the newest model of values for another $MINUTES: as values, by expert iteration, or beside guests.
#   HANDS is the number of hands that model 0 learns from. The function `hands` has the defaults.
set -euo pipefail
cd "$(dirname "$0")/.."
trickformer="${VENV:-.venv}"/bin/trickformer minutes=${MINUTES:-15} out=out/ladder
game=${1:?hearts, skat or crew} do=${2:?train or match}
[[ $do == train || $do == match ]] || { echo "$do is neither train nor match" >&2; exit 2; }
shift 2
if [ $# = 0 ]; then
  case $game in
  hearts) set -- raw masked features values ;;
  skat) set -- raw masked features script values ;;
  crew) set -- raw masked features script bootstrap values ;;
  *) echo "unknown game $game" >&2; exit 2 ;;
  esac
fi
export OMP_NUM_THREADS=1

hands() {  # STEP; the number for model 0, fewer if hands are long or their labels slow, to leave time for self-play
  case $game-$1 in
  skat-expert) echo 1000 ;;
  crew-expert) echo 1300 ;;
  *-more | *-guests | hearts-expert) echo 0 ;;
  hearts-*) echo 20000 ;;
  crew-values) echo 10000 ;;
  *) echo 40000 ;;
  esac
}
newest() {  # FOLDER: its last model
  ls -d "$1"/model-* | sort -V | tail -1
}
# Options of the steps that continue `values`. Expert iteration in Hearts is GO-MCTS in a quarter of the decisions, and in
# Skat and The Crew hands of `rollout` with the model as prior, about as many as $MINUTES allow, learned at the rates of
# later iterations.
by_rollout() {
  echo "--bootstrap rollout:prior=argmax:checkpoint=$(newest "$out/$game-values") --expert-iteration --label-share 0" \
    "--iterations 0 --held-out 100 --bootstrap-epochs 3 --bootstrap-learning-rate 0.0015 --muon 0.01"
}
rules=$(printf ' rules%.0s' {1..7}) # bootstrap hands by random and scripted players; in Skat all steps have them, in Hearts none
options() {  # STEP
  case $game-$1 in
  *-raw) ;;
  *-masked) echo --masked ;;
  hearts-script) echo "no feature of Hearts is the script's" >&2; exit 2 ;;
  hearts-features) echo --masked --features ;;
  hearts-values | hearts-more) echo --masked --features --action-weight 100 --label-share 0.33 --label-worlds ;;
  hearts-expert) echo "$(options values)" --search-share 0.25 ;;
  hearts-guests) echo "$(options values)" --seats-kept 1 --guests rules --guests pimc:eval=uct,runs=20,worlds=20 ;;
  *-features) echo --masked --features --no-script-features ;;
  *-script) echo --masked --features ;;
  skat-roles) echo --masked --features --no-script-features --roles all ;; # beside `features`, not after `script`
  crew-bootstrap) echo --masked --features --tries 1 --bootstrap random$rules ;;
  skat-values | skat-more) echo --masked --features --action-weight 100 --label-share 0.33 --label-worlds ;;
  skat-expert) echo --masked --features --action-weight 100 "$(by_rollout)" ;;
  skat-guests) echo "$(options values)" --seats-kept 1 --guests rules ;;
  crew-expert) echo --masked --features --tries 1 --action-weight 100 "$(by_rollout)" ;;
  crew-guests) echo "$(options values)" --seats-kept 2 --guests rules ;;
  crew-values | crew-more) echo --masked --features --tries 1 --bootstrap random$rules --action-weight 100 --label-share 0.33 --label-worlds ;;
  *) echo "unknown step $1 of $game" >&2; exit 2 ;;
  esac
}

for step; do
  run=$out/$game-$step
  if [ "$do" = train ]; then
    [ ! -e "$run" ] || { echo "$run exists; remove it to train this step again" >&2; exit 2; }
    words=$(options "$step") seed=20261127 # by itself, so that an unknown step ends the script
    case $step in more | expert | guests) words+=" --start $(newest "$out/$game-values")" seed=20261128 ;; esac # new deals
    read -ra chosen <<<"$words"
    "$trickformer" train "$game" --preset paper-small --seed $seed --bootstrap-hands "${HANDS:-$(hands "$step")}" --bootstrap-epochs 1 --sequences 12000 \
      --iterations 100 --match-deals 0 --stop-after "$minutes" --out "$run" "${chosen[@]}"
  else
    model=checkpoint=$(newest "$run"),preset=paper
    by_q=argmax:${model%,preset=paper},threshold=0.05
    match() {  # NAME A B DEALS GAMES
      case $game in
      hearts | skat) "$trickformer" tournament "$game" --a "$2" --b "$3" --deals "$4" --seed 9001 --out "$run/$1" --resume --json ;;
      crew) "$trickformer" crew evaluate --player "$2" --player "$3" --games "$5" --seed 9001 --out "$run/$1" --resume --json ;;
      esac
    }
    match rules "argmax:$model" rules 500 40
    case $step in values | more | expert | guests) match rules-by-q "$by_q" rules 500 40 ;; esac
    match gomcts "gomcts:$model" "argmax:$model" "${DEALS:-50}" "${GAMES:-10}"
  fi
done
