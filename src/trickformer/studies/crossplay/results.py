"""Results of a cross-play: scores by pair and by method.

The numbers are those of Tables 1, 3 and 5 and of Figure 4 of "Off-Belief Learning" (Hu et al. 2021). Standard errors
over decks treat all games of a deck as one sample.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from trickformer.plumbing.tables import mean_and_error
from trickformer.studies.crossplay.plan import CrossPlay
from trickformer.tournaments import plan
from trickformer.tournaments.run import TournamentRun

Cell = dict[str, float | None]


def result(run: TournamentRun) -> dict[str, Any]:
    """Compute the object that `--json` prints.

    `matrix` holds mean scores. Entry (i, j) is for teams of players i and j, and entry (i, i) for teams of player i
    alone. `se` holds the standard errors over decks. Each method has three cells: `self_play` for teams of one run,
    `cross_play` for teams of different runs, and `with` for teams that also have a run of another method. In a cell,
    `se_decks` is the standard error over decks. `se_runs` is the jackknife's standard error over the method's runs;
    None if no team is left without one of them.

    Args:
        run: Games of the cross-play.
    """
    config: CrossPlay = run.config
    game = run.game
    n, decks = len(config.players), config.games
    by_seating: dict[tuple[int, ...], np.ndarray] = {}  # float64 [decks]
    for record in run.records:
        by_seating.setdefault(record.seating, np.full(decks, np.nan))[record.deal] = record.scores[0]

    def mean_of(seatings: list[tuple[int, ...]]) -> np.ndarray:
        return np.mean([by_seating[seating] for seating in seatings], axis=0)

    scores = np.empty((n, n, decks))
    for player in range(n):
        scores[player, player] = by_seating[(player,) * game.players]
    for i, j in plan.pairs(n):
        scores[i, j] = scores[j, i] = mean_of(plan.mixtures(game, (i, j)))
    runs = config.runs(run.typed)
    methods = []
    for name, own in runs.items():
        seatings = config.strangers(game, own)
        others = {other: theirs for other, theirs in runs.items() if other != name}
        methods.append(
            {
                "method": name,
                "runs": own,
                "self_play": make_cell([(player,) for player in own], [scores[player, player] for player in own]),
                "cross_play": make_cell(seatings, [by_seating[s] for s in seatings]) if seatings else None,
                "with": {
                    other: make_cell(
                        [(i,) for i, _ in product(own, theirs)], [scores[i, j] for i, j in product(own, theirs)]
                    )
                    for other, theirs in others.items()
                },
                "summary": _summary(run, own),
            }
        )
    return {
        "game": config.game,
        "games": decks,
        "seed": config.seed,
        "players": [
            {"spec": typed, "resolved": spec, "sees_state": i in run.sees_state, "caveats": caveats}
            for i, (typed, spec, caveats) in enumerate(zip(run.typed, config.players, run.caveats))
        ],
        "matrix": scores.mean(axis=2).tolist(),
        "se": [[mean_and_error(scores[i, j])["se"] for j in range(n)] for i in range(n)],
        "methods": methods,
        "versions": run.builds,
    }


def make_cell(teams: list[tuple[int, ...]], scores: list[np.ndarray]) -> Cell:
    """Compute the mean score of some teams and its standard errors.

    Args:
        teams: Runs of the method in each team.
        scores: Scores of each team, float64 [decks].
    """
    means = np.array([team_scores.mean() for team_scores in scores])
    # The jackknife: means over the teams without one run, for each run in turn.
    without_run = [
        means[rest].mean()
        for run in sorted({run for team in teams for run in team})
        if any(rest := [run not in team for team in teams])
    ]
    k = len(without_run)
    error = float(np.sqrt((k - 1) / k * np.sum((np.array(without_run) - np.mean(without_run)) ** 2))) if k > 1 else None
    return {"mean": float(means.mean()), "se_decks": mean_and_error(np.mean(scores, axis=0))["se"], "se_runs": error}


def _summary(run: TournamentRun, players: list[int]) -> dict[str, float | None]:
    """Return the shares in `Game.summary` of the games in which one of these players holds all seats.

    Runs of a method play the same decks, so standard errors over their games would be too small and are left out.
    """
    records = [r for r in run.records if len(set(r.seating)) == 1 and r.seating[0] in players]
    summary = run.game.summary([r.history for r in records], [range(run.game.players) for _ in records])
    shares = {key: x for key, x in summary.items() if not key.startswith("mean")}
    return {key: x["mean"] if isinstance(x, dict) else x for key, x in shares.items()}
