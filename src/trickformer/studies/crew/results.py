"""Results of an evaluation: successes by player and mission, and the object of `--json`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from trickformer import _core, players
from trickformer.plumbing.folder import RunFolder, resumable
from trickformer.studies.crew import STRIDE, statistics
from trickformer.studies.crew.plan import CrewEvaluation, Iterations
from trickformer.tournaments import gains
from trickformer.tournaments.columns import RecordColumns
from trickformer.tournaments.results import sum_up_work
from trickformer.tournaments.run import TournamentRun, tournament

_PIECE = 10_000  # random games in memory at a time


class CrewResults:
    """Statistics of a finished evaluation.

    Args:
        run: Games of the evaluation.
        ceiling: Result of `ceiling.answers`; None without a ceiling.
    """

    def __init__(self, run: TournamentRun, ceiling: dict[int, bool | None] | None = None):
        self.run, self.ceiling = run, ceiling
        self.config: CrewEvaluation = run.config
        self.game: Any = run.game
        self.missions = self.config.select_missions(self.game)
        shape = len(self.config.specs), len(self.missions), self.config.games
        self.won = np.zeros(shape, dtype=bool)  # [players, missions, games]
        mission_index = {mission: i for i, mission in enumerate(self.missions)}
        for r in run.records:
            self.won[r.seating[0], mission_index[r.deal % STRIDE], r.deal // STRIDE] = r.scores[0] > 0

    @cached_property
    def _columns(self) -> RecordColumns:
        return self.run.columns()

    @cached_property
    def random(self) -> np.ndarray | None:
        """Successes of uniformly random games, int [missions]; None if the plan has no random games."""
        return random_successes(self.game, self.missions, self.config) if self.config.random_games else None

    @cached_property
    def p_random_holm(self) -> list[np.ndarray]:
        """For each player, p of the test that it is better than random, float64 [missions], with Holm's correction.

        Empty without random games.
        """
        if self.random is None:
            return []
        counts, games = self.won.sum(axis=2), self.config.games
        return [
            statistics.compare_with_random(successes, games, self.random, self.config.random_games)
            for successes in counts
        ]

    def result(self) -> dict[str, Any]:
        """Return the object that `--json` prints. Rates are shares of games won; seconds are wall time of a turn."""
        summary: dict[str, Any] = {
            "game": "crew",
            "games": self.config.games,
            "seed": self.config.seed,
            "distress": self.config.distress,
            "file": self.config.file,
            "players": [self._player(i) for i in range(len(self.won))],
            "missions": [self._mission(i) for i in range(len(self.missions))],
        }
        if search_gains := gains.summarize_gains(self.run.records, len(self.won)):
            summary["gains"] = search_gains
        if len(self.won) == 2:
            c = statistics.compare(*self.won)
            summary["comparison"] = {
                "difference": c.difference,
                "ci95": list(c.ci95 or (None, None)),
                "p_wilcoxon": c.wilcoxon,
                "only_a": int(c.only_a.sum()),
                "only_b": int(c.only_b.sum()),
                "p_mcnemar": c.p_all,
            }
            for i, mission in enumerate(summary["missions"]):
                counts = {"only_a": int(c.only_a[i]), "only_b": int(c.only_b[i])}
                mission["comparison"] = counts | {"p": float(c.p[i]), "p_holm": float(c.p_holm[i])}
        return summary | {"random_games": self.config.random_games, "versions": self.run.builds}

    def _player(self, i: int) -> dict[str, Any]:
        """Summarize player i over all missions."""
        successes, games = self.won[i].sum(axis=1), self.config.games
        low, high = statistics.wilson(successes.sum(), successes.size * games)
        attempts = statistics.attempts(successes, games)
        entry: dict[str, Any] = {
            "spec": self.run.typed[i],
            "resolved": self.config.specs[i],
            "rate": float(self.won[i].mean()),
            "ci95": [float(low), float(high)],
            "attempts": {
                "expected": attempts.expected if attempts.solved.any() else None,
                "ci95": list(attempts.ci95) if attempts.solved.any() else [None, None],
                "missions": int(attempts.solved.sum()),
                "without_success": [m for m, solved in zip(self.missions, attempts.solved) if not solved],
            },
            "sees_state": i in self.run.sees_state,
            "caveats": self.run.caveats[i],
        }
        if self.p_random_holm:
            entry["ahead_of_random"] = int((self.p_random_holm[i] < 0.05).sum())
        work = sum_up_work(self._columns, i)
        entry |= {"seconds_per_turn": work["seconds"], "batch": work["batch"], "turns": work["turns"]}
        return entry | {"illegal": {"illegal": work["illegal"], "searched": work["searched"]}}

    def _mission(self, i: int) -> dict[str, Any]:
        """Summarize mission `missions[i]` for all players."""
        games = self.config.games
        players = []
        for k, won in enumerate(self.won):
            successes = int(won[i].sum())
            low, high = statistics.wilson(np.array(successes), games)
            entry = {"successes": successes, "rate": successes / games, "ci95": [float(low), float(high)]}
            players.append(entry | ({"p_random_holm": float(self.p_random_holm[k][i])} if self.p_random_holm else {}))
        mission: dict[str, Any] = {"mission": self.missions[i], "players": players}
        if self.random is not None:
            mission["random"] = int(self.random[i])
        if self.ceiling is not None:
            answers = [self.ceiling[STRIDE * game + self.missions[i]] for game in range(games)]
            mission["ceiling"] = {"won": answers.count(True), "lost": answers.count(False), "open": answers.count(None)}
        return mission


def iterations(settings: Iterations) -> dict[str, Any]:
    """Evaluate the models of a self-play run, and return the object of `--json`.

    The object is that of `CrewResults.result`, with a player for each iteration. Each player also has `p_previous`,
    Wilcoxon's p against the iteration before. Games in the folders of `--out` are not played again.

    Args:
        settings: The run and the games.

    Raises:
        UnknownNameError: If the game or a player does not exist.
        TrickformerError: If the input is bad; nothing is written then.
        Interruption: On Ctrl-C.
    """
    plans = settings.plans()
    for plan in plans:
        players.make(plan.player[0], plan.rules())
    if settings.out is not None and not any(plan.out and RunFolder(plan.out).has_run for plan in plans):
        RunFolder(settings.out).refuse_foreign_files()
    with resumable("crew iterations", settings, remedy="continue with the same command"):
        runs = [tournament(plan, bool(plan.out) and RunFolder(plan.out).has_run) for plan in plans]
    # Combine the runs into one, whose player i is the model of iteration i.
    records = [
        record.model_copy(update={"seating": (i,) * len(record.seating)})
        for i, run in enumerate(runs)
        for record in run.records
    ]
    plan = runs[0].config.with_specs([run.config.player[0] for run in runs])
    builds = [b for i, run in enumerate(runs) for b in run.builds if all(b not in r.builds for r in runs[:i])]
    typed, caveats = [run.typed[0] for run in runs], [[] for _ in runs]
    combined = CrewResults(TournamentRun(plan, typed, sees_state=[], caveats=caveats, records=records, builds=builds))
    result = combined.result()
    result["iterations"] = True
    for i, player in enumerate(result["players"]):
        player["p_previous"] = statistics.compare(combined.won[i], combined.won[i - 1]).wilcoxon if i else None
    return result


def random_successes(game: Any, missions: list[int], config: CrewEvaluation) -> np.ndarray:
    """Play games of each mission with uniformly random players, on other deals than the evaluation's, and count wins.

    Args:
        game: The Crew with its missions.
        missions: Numbers of the missions.
        config: Options with the number of random games.

    Returns:
        int [missions].
    """
    successes = []
    for mission in missions:
        book = _core.crew.Logbook([game.missions[mission]])
        first = mission << 32  # far apart, so that no two missions share a deal
        results = (
            _core.crew.random_games(book, config.seed, first + at, min(_PIECE, config.random_games - at))[1]
            for at in range(0, config.random_games, _PIECE)
        )
        successes.append(sum(int((piece > 0).sum()) for piece in results))
    return np.array(successes)
