#!/usr/bin/env bash
# The figures of hanabi-small in docs/results/hanabi.md, for two players: with a copy of itself, on the same decks as `smart`,
# and at one table with `smart`; and the same of `rollout` with hanabi-small as prior. Half an hour on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
game=hanabi
. runs/match.bash
match hanabi-argmax-smart argmax:checkpoint=hanabi-small partner:style=smart 1000
match hanabi-rollout-smart rollout:prior=argmax:checkpoint=hanabi-small partner:style=smart 1000
match hanabi-rollout-mixed rollout:prior=argmax:checkpoint=hanabi-small partner:style=smart 500 --mixed
"${VENV:-.venv}"/bin/python - <<'PYTHON'
import numpy as np

from trickformer import games, players
from trickformer.tournaments.play import play
from trickformer.tournaments.plan import Hand

game = games.load("hanabi")
table = [players.make(spec, game) for spec in ("argmax:checkpoint=hanabi-small", "partner:style=smart")]
for seating in ((0, 1), (1, 0)):
    scores = [r.scores[0] for r in play(game, table, [Hand(deal, seating) for deal in range(1000)], 1, 112)]
    error = 1.96 * np.std(scores) / len(scores) ** 0.5
    print(f"seats {seating}, 0 argmax and 1 smart: {np.mean(scores):.2f} +- {error:.2f} on {len(scores)} decks")
PYTHON
