"""Results of BSR-UCT with several samplers of layouts and several budgets, and the object of `--json`."""

from __future__ import annotations

from typing import Any

import numpy as np

from trickformer.studies.mines.exact import best_value
from trickformer.studies.mines.plan import MinesComparison
from trickformer.tournaments.intervals import interval
from trickformer.tournaments.run import TournamentRun
from trickformer.tournaments.statistics import p_value

_TRACTABLE = 200_000  # largest number of layouts and of positions for which the best play is computed


def result(run: TournamentRun) -> dict[str, Any]:
    """Compute the object that `--json` prints.

    Scores are shares of the safe cells. Intervals are 95%, over games. A budget in seconds is CPU time;
    `seconds_per_move` is wall time. `inconsistent` is the share of the drawn layouts that contradict the view.
    `won` is the share of games in which all safe cells were opened, `drawn_per_move` the number of layouts drawn for a
    move. `differences` has, for each sampler but the first, its score minus that of the first sampler on the same
    boards, with the p value of Wilcoxon's test; `difference` is the entry of the second sampler.

    Args:
        run: Games of the comparison.
    """
    config: MinesComparison = run.config
    samplers = config.methods
    game: Any = run.game
    opened = np.zeros((len(config.specs), config.games))
    # Moves, seconds, layouts that the search drew (`searched`), and those that contradict the view (`illegal`).
    totals = np.zeros((len(config.specs), 4))
    for r in run.records:
        player = r.seating[0]
        opened[player, r.deal] = r.scores[0]
        totals[player] += r.decisions[0], r.seconds[0], r.searched[0], r.illegal[0]
    opened = opened.reshape(len(samplers), len(config.budgets), config.games)
    scores = opened / game.safe
    totals = totals.reshape(len(samplers), len(config.budgets), 4)
    rows = []
    for j, budget in enumerate(config.budgets):
        players = {}
        for i, sampler in enumerate(samplers):
            moves, seconds = totals[i, j, :2]
            drawn, inconsistent = totals[i, j, 2:]
            players[sampler] = {
                "score": float(scores[i, j].mean()),
                "ci95": interval(scores[i, j], (0.0, 1.0)),
                "won": float((scores[i, j] == 1).mean()),
                "seconds_per_move": seconds / moves,
                "drawn_per_move": drawn / moves,
                "inconsistent": inconsistent / drawn if drawn else None,
            }
        row: dict[str, Any] = {"simulations" if config.simulations else "seconds": budget, "players": players}
        if len(samplers) > 1:
            row["differences"] = {
                sampler: _difference(opened[i, j], opened[0, j], game.safe) for i, sampler in enumerate(samplers) if i
            }
            row["difference"] = row["differences"][samplers[1]]
        rows.append(row)
    about = config.model_dump(
        include={"board", "mines", "first_move", "cascade", "domain", "c", "widening", "games", "seed"}
    )
    return about | {
        "beliefs": samplers,
        "optimal": best_value(game, _TRACTABLE),
        "rows": rows,
        "versions": run.builds,
    }


def _difference(opened: np.ndarray, opened_by_first: np.ndarray, safe: int) -> dict[str, Any]:
    """Compare the cells that two samplers opened on the same boards, float64 [games] each, of `safe` cells."""
    # Subtract numbers of cells, not shares: rounding must not separate equal differences in Wilcoxon's test.
    difference = (opened - opened_by_first) / safe
    return {
        "score": float(difference.mean()),
        "ci95": interval(difference, (-1.0, 1.0)),
        "p": p_value(difference),
    }
