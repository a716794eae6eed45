# Sourced by the scripts of results: plays a tournament of $game, or continues it.
match() {  # FOLDER A B DEALS [OPTIONS]
  "${VENV:-.venv}"/bin/trickformer tournament "$game" --a "$2" --b "$3" --deals "$4" --seed 1 --workers 2 --out "out/results/$1" --resume \
    --json "${@:5}"
}
