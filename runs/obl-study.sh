#!/usr/bin/env bash
# The rows and columns of Table 1 of "Off-Belief Learning" on a Hanabi of two colours: levels 1 to 3, self-play, SAD and
# Other-Play by three seeds each, then who understands whom, with strangers: the rank bot (what Other-Play finds), the
# colour bot, clone bots and scripted players. Some four hours of a core. Run the script again to continue a stopped run.
# Levels above 1 begin with what the level below has learned and take half as many steps.
# More words are options of every training, such as the paper's network: runs/obl-study.sh --model lstm
# METHODS, BOTS and SEEDS choose among them, METHODS="obl1 obl2 obl3 iql" BOTS= for instance. A level needs those below it.
# METHODS may also name klevel1, klevel2 and so on, levels of k-level reasoning.
# $GAMES (1,000) are played at each table.
# Three seats: HANABI="hanabi(players=3,colors=2,ranks=5,hand_size=3)" OUT=out/results/obl-study-3 runs/obl-study.sh
set -euo pipefail
cd "$(dirname "$0")/.."
usage() { sed -n '2,11p' "$0" >&2; exit 2; }
obl() { "${VENV:-.venv}"/bin/trickformer obl "$@"; }
out="${OUT:-out/results/obl-study}"
game="${HANABI:-hanabi(colors=2,ranks=5,hand_size=3,max_information_tokens=4,max_life_tokens=3)}"
train() { obl train "$game" --odds --out "$out/$1" --resume "${@:2}" "${options[@]}"; }  # NAME OPTION...
above() { # METHOD LEVEL SEED
  train "$1$2-$3" --seed "$3" --method "$1" --level "$2" --below "$out/$1$(($2 - 1))-$3" --slip 0.02 --steps 4000
}
options=("$@") players=() methods=()
clone() { train "$1" --method clone --games-of partner:style=smart --buffer 10000 "${@:2}"; }  # NAME OPTION...
for method in ${METHODS-obl1 obl2 obl3 iql sad op}; do
  for seed in ${SEEDS:-0 1 2}; do
    case "$method" in
      obl1) train "obl1-$seed" --seed "$seed" ;;
      klevel1) train "klevel1-$seed" --seed "$seed" --method klevel ;;
      obl[2-9]) above obl "${method#obl}" "$seed" ;;
      klevel[2-9]) above klevel "${method#klevel}" "$seed" ;;
      iql) train "iql-$seed" --seed "$seed" --method iql ;;
      sad) train "sad-$seed" --seed "$seed" --method vdn --sad ;;
      op) train "op-$seed" --seed "$seed" --method vdn --other-play ;;
      *) usage ;;
    esac
    players+=("obl:checkpoint=$out/$method-$seed") methods+=("$method")
  done
done
for bot in ${BOTS-colour clone clone-shuffled}; do
  case "$bot" in
    colour) train colour --method vdn --other-play --colour-bonus 0.5 --hide-last-action ;;
    clone) clone clone ;;
    clone-shuffled) clone clone-shuffled --shuffle-colours ;;
    *) usage ;;
  esac
  players+=("obl:checkpoint=$out/$bot") methods+=("$bot")
done
for style in smart holmes simple piers iggi; do players+=("partner:style=$style") methods+=("$style"); done
obl crossplay --game "$game" --players "${players[@]}" --methods "${methods[@]}" --games "${GAMES:-1000}" --seed 1 \
  --out "$out/table-1" --resume
