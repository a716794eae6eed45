"""What the games of an evaluation have shown: successes by player and mission, and the object of `--json`."""

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
from trickformer.tournaments.results import use_of
from trickformer.tournaments.run import TournamentRun, tournament

_PIECE = 10_000  # random games held at a time


class CrewResults:
    """The statistics of an evaluation that has been played to its end."""

    def __init__(self, run: TournamentRun, ceiling: dict[int, bool | None] | None = None):
        """ceiling: by deal, whether it could be won; None: not asked."""
        self.run, self.ceiling = run, ceiling
        self.config: CrewEvaluation = run.config
        self.game: Any = run.game
        self.missions = self.config.select_missions(self.game)
        shape = len(self.config.specs), len(self.missions), self.config.games
        self.won = np.zeros(shape, dtype=bool)  # [players, missions, games]
        row = {mission: i for i, mission in enumerate(self.missions)}
        for r in run.records:
            self.won[r.seating[0], row[r.deal % STRIDE], r.deal // STRIDE] = r.scores[0] > 0

    @cached_property
    def _columns(self) -> RecordColumns:
        return self.run.columns()

    @cached_property
    def random(self) -> np.ndarray | None:
        """Successes of uniformly random games, int [missions]; None where there are none to compare with."""
        return random_successes(self.game, self.missions, self.config) if self.config.random_games else None

    @cached_property
    def p_random_holm(self) -> list[np.ndarray]:
        """By player: whether it is ahead of random, corrected p float64 [missions]. Empty without random games."""
        if self.random is None:
            return []
        counts, games = self.won.sum(axis=2), self.config.games
        return [statistics.ahead(successes, games, self.random, self.config.random_games) for successes in counts]

    def result(self) -> dict[str, Any]:
        """The object that `--json` prints. Rates are shares of games, seconds wall seconds inside act a turn."""
        found: dict[str, Any] = {
            "game": "crew",
            "games": self.config.games,
            "seed": self.config.seed,
            "distress": self.config.distress,
            "file": self.config.file,
            "players": [self._player(i) for i in range(len(self.won))],
            "missions": [self._mission(i) for i in range(len(self.missions))],
        }
        if said := gains.summarize_gains(self.run.records, len(self.won)):
            found["gains"] = said
        if len(self.won) == 2:
            c = statistics.compare(*self.won)
            found["comparison"] = {
                "difference": c.difference,
                "ci95": list(c.ci95 or (None, None)),
                "p_wilcoxon": c.wilcoxon,
                "only_a": int(c.only_a.sum()),
                "only_b": int(c.only_b.sum()),
                "p_mcnemar": c.p_all,
            }
            for i, mission in enumerate(found["missions"]):
                counts = {"only_a": int(c.only_a[i]), "only_b": int(c.only_b[i])}
                mission["comparison"] = counts | {"p": float(c.p[i]), "p_holm": float(c.p_holm[i])}
        return found | {"random_games": self.config.random_games, "versions": self.run.builds}

    def _player(self, i: int) -> dict[str, Any]:
        successes, games = self.won[i].sum(axis=1), self.config.games
        low, high = statistics.wilson(successes.sum(), successes.size * games)
        expected = statistics.attempts(successes, games)
        found: dict[str, Any] = {
            "spec": self.run.typed[i],
            "resolved": self.config.specs[i],
            "rate": float(self.won[i].mean()),
            "ci95": [float(low), float(high)],
            "attempts": {
                "expected": expected.expected if expected.solved.any() else None,
                "ci95": list(expected.ci95) if expected.solved.any() else [None, None],
                "missions": int(expected.solved.sum()),
                "without_success": [m for m, solved in zip(self.missions, expected.solved) if not solved],
            },
            "sees_state": i in self.run.sees_state,
            "caveats": self.run.caveats[i],
        }
        if self.p_random_holm:
            found["ahead_of_random"] = int((self.p_random_holm[i] < 0.05).sum())
        use = use_of(self._columns, i)
        found |= {"seconds_per_turn": use["seconds"], "batch": use["batch"], "turns": use["turns"]}
        return found | {"illegal": {"illegal": use["illegal"], "searched": use["searched"]}}

    def _mission(self, i: int) -> dict[str, Any]:
        games = self.config.games
        players = []
        for k, won in enumerate(self.won):
            successes = int(won[i].sum())
            low, high = statistics.wilson(np.array(successes), games)
            entry = {"successes": successes, "rate": successes / games, "ci95": [float(low), float(high)]}
            players.append(entry | ({"p_random_holm": float(self.p_random_holm[k][i])} if self.p_random_holm else {}))
        found: dict[str, Any] = {"mission": self.missions[i], "players": players}
        if self.random is not None:
            found["random"] = int(self.random[i])
        if self.ceiling is not None:
            answers = [self.ceiling[STRIDE * game + self.missions[i]] for game in range(games)]
            found["ceiling"] = {"won": answers.count(True), "lost": answers.count(False), "open": answers.count(None)}
        return found


def iterations(settings: Iterations) -> dict[str, Any]:
    """Plays what is missing of the evaluations of a run of self-play, and gives the object of `--json`: that of
    Results with a player for each iteration, and each one's `p_previous`, Wilcoxon's p against the one before.

    Raises UnknownNameError or TrickformerError on bad input, before anything is written, and Interruption."""
    plans = settings.plans()
    for plan in plans:
        players.make(plan.player[0], plan.rules())
    if settings.out is not None and not any(plan.out and RunFolder(plan.out).has_run for plan in plans):
        RunFolder(settings.out).refuse_foreign_files()
    with resumable("crew iterations", settings, remedy="go on with the same command"):
        played = [tournament(plan, bool(plan.out) and RunFolder(plan.out).has_run) for plan in plans]
    records = [
        record.model_copy(update={"seating": (i,) * len(record.seating)})
        for i, run in enumerate(played)
        for record in run.records
    ]
    plan = played[0].config.with_specs([run.config.player[0] for run in played])
    builds = [b for i, run in enumerate(played) for b in run.builds if all(b not in r.builds for r in played[:i])]
    found = CrewResults(
        TournamentRun(plan, [run.typed[0] for run in played], [], [[] for _ in played], records, builds)
    )
    result = found.result()
    result["iterations"] = True
    for i, player in enumerate(result["players"]):
        player["p_previous"] = statistics.compare(found.won[i], found.won[i - 1]).wilcoxon if i else None
    return result


def random_successes(game: Any, missions: list[int], config: CrewEvaluation) -> np.ndarray:
    """Successes of `config.random_games` random games of each mission, int [missions]; deals of their own."""
    found = []
    for mission in missions:
        book = _core.crew.Logbook([game.missions[mission]])
        starts = range(0, config.random_games, _PIECE)
        pieces = (
            _core.crew.random_games(book, config.seed, (mission << 32) + at, min(_PIECE, config.random_games - at))[1]
            for at in starts
        )
        found.append(sum(int((piece > 0).sum()) for piece in pieces))
    return np.array(found)
