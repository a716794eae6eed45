"""From a tournament to the hands that cost most: its deals, the worst of A first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trickformer.base import TrickformerError
from trickformer.plumbing.report import Report, ReportTable
from trickformer.tournaments import run as runs
from trickformer.tournaments.plan import Hand
from trickformer.tournaments.results import TournamentResults


@dataclass(frozen=True, slots=True)
class WorstHand:
    """A hand of a deal."""

    game: int  # its number in the records, counted from 1
    seating: tuple[int, ...]  # index of the player in each seat
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deal:
    """A deal of two players, A and B, with the hands that were played of it."""

    deal: int
    difference: float  # A - B, in the game's units
    games: tuple[WorstHand, ...]  # that which was worst for A first


@dataclass(frozen=True, slots=True)
class Worst:
    """The deals of a pair of a tournament, worst of A first."""

    a: str
    b: str
    higher_is_better: bool
    deals: tuple[Deal, ...]

    def data(self) -> dict[str, Any]:
        """What JSON can hold."""
        return asdict(self)


def worst(folder: Path, most: int | None = None, pair: tuple[int, int] = (0, 1)) -> Worst:
    """The finished deals of a tournament's folder, at most so many, where A did worst against B first.

    pair: the numbers of A and B among the players, from 0. Raises TrickformerError where the folder holds no tournament
    with a finished deal, or no such pair."""
    results = TournamentResults(runs.load(folder))
    specs, game = results.run.typed, results.game
    (a, b), known = pair, len(results.run.config.specs)
    if a == b or not (0 <= a < known and 0 <= b < known):
        raise TrickformerError(f"a pair is two of the players 1 to {known}, not {a + 1} and {b + 1}")
    ordered = (min(pair), max(pair))
    sign, better = (1 if a < b else -1), (1 if game.higher_is_better else -1)
    differences = {deal: sign * each for deal, each in zip(results.deals, results.rows[ordered][0].deals.tolist())}
    numbered = {record.hand: (at, record.scores) for at, record in enumerate(results.run.records, 1)}
    found = []
    for deal in sorted(differences, key=lambda deal: (better * differences[deal], deal))[:most]:
        hands = [Hand(deal, seating) for seating in results.sets[ordered]]
        games = [WorstHand(numbered[hand][0], hand.seating, numbered[hand][1]) for hand in hands]
        games.sort(key=lambda each: better * _ahead(each, pair))
        found.append(Deal(deal, differences[deal], tuple(games)))
    return Worst(specs[a], specs[b], game.higher_is_better, tuple(found))


def _ahead(game: WorstHand, pair: tuple[int, int]) -> float:
    """What the mean of A's seats is above that of B's; a mean of no seats is 0."""
    means = []
    for player in pair:
        own = [score for score, seat in zip(game.scores, game.seating) if seat == player]
        means.append(sum(own) / len(own) if own else 0.0)
    return means[0] - means[1]


def make_report(found: Worst, folder: Path) -> Report:
    """Make the report of the deals of a tournament's folder."""
    better = "higher" if found.higher_is_better else "lower"
    return Report(
        found.data(),
        f"Deals, the worst of A first; score a hand, {better} is better",
        [("", table(found))],
        names={"A": found.a, "B": found.b},
        notes=[f"A game: trickformer records show {folder} --game NUMBER --analyse SPEC"],
    )


def table(found: Worst) -> ReportTable:
    """A row a hand, deal by deal."""
    head = ("deal", "A − B", "game", "seating", "scores")
    return head, list(_rows(found))


def _rows(found: Worst) -> Iterator[tuple[str, ...]]:
    for deal in found.deals:
        for at, game in enumerate(deal.games):
            whole = (str(deal.deal), f"{deal.difference:+.2f}") if at == 0 else ("", "")
            yield *whole, str(game.game), " ".join(map(str, game.seating)), " ".join(map(str, game.scores))
