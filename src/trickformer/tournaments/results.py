"""What a tournament has shown: the statistics of its finished deals, and the JSON object of `--json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from trickformer.base import Game, TrickformerError
from trickformer.tournaments import gains, plan
from trickformer.tournaments.rate import rate
from trickformer.tournaments.run import TournamentRun
from trickformer.tournaments.statistics import (
    MixedTeamScore,
    Row,
    deals_to_resolve,
    extrapolate,
    match,
    score_mixed_teams,
)
from trickformer.tournaments.store import HandRecord


class TournamentResults:
    """The statistics of a run over its finished deals: those whose every hand is in the records."""

    def __init__(self, run: TournamentRun):
        """Raises TrickformerError where no deal is finished."""
        self.run = run
        self.game: Game = run.game
        n = len(run.config.specs)
        self.pairs = plan.pairs(n)
        self.sets = {pair: plan.seatings(self.game, pair) for pair in self.pairs}
        by_hand = {r.hand: r for r in run.records}
        own = dict.fromkeys(seating for seatings in self.sets.values() for seating in seatings)
        # Where scores are shared, tables are mixed on request only.
        self.teams = all(len(set(seating)) == 1 for seating in own)
        self._mixtures = {pair: plan.mixtures(self.game, pair) for pair in self.pairs if run.config.mixed}
        want = [*own, *(seating for seatings in self._mixtures.values() for seating in seatings)]
        self.deals = [d for d in range(run.config.deals) if all(plan.Hand(d, seating) in by_hand for seating in want)]
        if not self.deals:
            raise TrickformerError("no deal of this run is finished in all its seatings; continue it with --resume")
        self.records = [by_hand[plan.Hand(d, s)] for d in self.deals for s in want]
        self.rows: dict[tuple[int, int], list[Row]] = {}
        for pair, seatings in self.sets.items():
            scores = [[by_hand[plan.Hand(d, s)].scores for s in seatings] for d in self.deals]
            kinds = np.array(seatings) == pair[1]
            scores = np.array(scores, dtype=np.float64)
            self.rows[pair] = match(scores, kinds.astype(int), run.config.seed, self.game.by_seats)
        self.mixed: dict[tuple[int, int], MixedTeamScore] = {}
        for pair, seatings in self._mixtures.items():
            together = [[by_hand[plan.Hand(d, s)].scores[0] for s in seatings] for d in self.deals]
            teams = [[by_hand[plan.Hand(d, s)].scores[0] for s in self.sets[pair]] for d in self.deals]
            self.mixed[pair] = score_mixed_teams(
                np.array(together, dtype=float), np.array(teams, dtype=float), run.config.seed
            )

    def result(self) -> dict[str, Any]:
        """The object that `--json` prints. Differences are A - B in the game's units a hand, seconds are wall
        seconds inside act a turn, `batch` the mean number of views a call. By a clock, `overran` are the turns that
        took longer than `clock` seconds."""
        config = self.run.config
        head: dict[str, Any] = {"game": config.game}
        if config.players is None:
            pair = self.pairs[0]
            head |= {"a": self.run.typed[0], "b": self.run.typed[1]}
            body = self._match(pair)
            use = {key: use_of(self.records, i) for i, key in enumerate("ab")}
            resolved: Any = dict(zip("ab", config.specs))
        else:
            head |= {"players": self.run.typed}
            body = self._round_robin()
            use = {str(i): use_of(self.records, i) for i in range(len(config.specs))}
            resolved = config.specs
        if self.teams:
            head["teams"] = True
        summaries = [self._summary(i) for i in range(len(config.specs))]
        if any(summaries):
            head["summary"] = summaries
        if said := gains.summarize_gains(self._own(), len(config.specs)):
            head["gains"] = said
        tail: dict[str, Any] = {
            "seconds_per_turn": {k: u["seconds"] for k, u in use.items()},
            "seed": config.seed,
            "batch": {k: u["batch"] for k, u in use.items()},
            "turns": {k: u["turns"] for k, u in use.items()},
            "illegal": {k: {"illegal": u["illegal"], "searched": u["searched"]} for k, u in use.items()},
            "sees_state": [list(use)[i] for i in self.run.sees_state],
            "caveats": {k: self.run.caveats[i] for i, k in enumerate(use) if self.run.caveats[i]},
            "scheduled_deals": config.deals,
            "resolved": resolved,
            "files": self.run.files,
            "versions": self.run.builds,
        }
        if faults := {k: u["faults"] for k, u in use.items() if u["faults"]}:
            tail["engine_faults"] = faults
        if config.clock is not None:
            tail |= {"clock": config.clock, "overran": {k: u["overran"] for k, u in use.items()}}
        if config.players is not None:  # by player: lists in the order of `players`
            for key in ("seconds_per_turn", "batch", "turns", "illegal", "overran"):
                if key in tail:
                    tail[key] = list(tail[key].values())
            tail["sees_state"] = self.run.sees_state
        about = {"deals": len(self.deals), "higher_is_better": self.game.higher_is_better}
        return head | about | body | tail

    def _match(self, pair: tuple[int, int]) -> dict[str, Any]:
        rows = self.rows[pair]
        body: dict[str, Any] = {
            "rows": {
                r.label: {
                    "a": r.a,
                    "b": r.b,
                    "difference": r.difference,
                    "ci95": list(r.ci95) if r.ci95 else [None, None],
                    "p": r.p,
                }
                for r in rows
            },
        }
        extra: dict[str, Any] = {"deals_to_resolve": deals_to_resolve(rows[0].deals)}
        if pair in self.mixed:
            m = self.mixed[pair]
            extra["mixed"] = {
                "score": m.score,
                "ci95": list(m.ci95 or (None, None)),
                "difference": m.difference,
                "difference_ci95": list(m.difference_ci95 or (None, None)),
            }
        target = self.game.plays_to
        if target is not None:
            extra["extrapolation"] = {"to": target, "difference": extrapolate(rows[0], target)}
        return body | extra

    def _round_robin(self) -> dict[str, Any]:
        n, specs = len(self.run.config.specs), self.run.typed
        differences = np.zeros((n, n, len(self.deals)))
        for (i, j), rows in self.rows.items():
            differences[i, j] = rows[0].deals
            differences[j, i] = 0.0 - rows[0].deals
        ratings = rate(differences, self.game.higher_is_better, self.run.config.seed)
        return {
            "ratings": [
                {
                    "player": r.player,
                    "spec": specs[r.player],
                    "rating": r.rating,
                    "ci95": list(r.ci95) if r.ci95 else [None, None],
                }
                for r in ratings
            ],
            "differences": differences.mean(axis=2).tolist(),
            "matches": [{"a": specs[i], "b": specs[j], "players": [i, j]} | self._match((i, j)) for i, j in self.pairs],
        }

    def _own(self) -> list[HandRecord]:
        """Hands that tell of a player: of teams, those in which it sat in every seat."""
        return [r for r in self.records if not self.teams or len(set(r.seating)) == 1]

    def _summary(self, player: int) -> dict[str, float | None]:
        records = self._own()
        seats = [[p for p, holder in enumerate(r.seating) if holder == player] for r in records]
        held = [(r.history, own) for r, own in zip(records, seats) if own]
        return self.game.summary([history for history, _ in held], [own for _, own in held])


def use_of(records: Sequence[HandRecord], player: int) -> dict[str, Any]:
    """What a player did in these hands: its turns, with seconds and batch of each, and what its searches generated."""

    def total(field: str) -> float:
        return sum(
            value for r in records for value, holder in zip(getattr(r, field) or (), r.seating) if holder == player
        )

    turns, calls = int(total("decisions")), total("calls")
    return {
        "turns": turns,
        "seconds": total("seconds") / turns if turns else None,
        "batch": turns / calls if calls else None,
        "illegal": int(total("illegal")),
        "searched": int(total("searched")),
        "overran": int(total("overran")),
        "faults": _count_faults(records, player),
    }


def _count_faults(records: Sequence[HandRecord], player: int) -> dict[str, int]:
    """The faults of a program by kind, and `restarts` in all; empty if there were none."""
    faults = Counter[str]()
    for record in records:
        for counts, holder in zip(record.faults or (), record.seating):
            if holder == player:
                faults.update(counts)
    return dict(faults) | ({"restarts": faults.total()} if faults else {})
