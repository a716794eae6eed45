"""Deals of a tournament that cost player A most."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trickformer.base import TrickformerError
from trickformer.tournaments import run as runs
from trickformer.tournaments.results import TournamentResults

_KEY = (
    "Each line shows one hand of a deal: A's worst against B, or in cooperative and one-player games A's own. "
    "deal: number of the deal. players: player in each seat, counted from 1 as in --a and --b. scores: score of each "
    "seat. A − B: mean over all hands of the deal. record: file and line of the hand."
)


@dataclass(frozen=True, slots=True)
class DealHand:
    """One hand of a deal."""

    game: int  # line of the hand in the records, from 1
    seating: tuple[int, ...]  # index of the player in each seat
    scores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deal:
    """A deal that A and B played, with its hands."""

    deal: int
    difference: float  # A - B, in `unit`
    games: tuple[DealHand, ...]  # the worst hand for A first, hands without A last
    seed: int | None = None  # seed of the series; None for the run's own series

    @property
    def name(self) -> str:
        """Number of the deal; seed and number if the deal is from another series than the run's."""
        return str(self.deal) if self.seed is None else f"{self.seed},{self.deal}"


@dataclass(frozen=True, slots=True)
class WorstDeals:
    """Deals of two players of a tournament, the worst for A first."""

    records: str  # path of the records
    a: str
    b: str
    higher_is_better: bool
    deals: tuple[Deal, ...]
    unit: str = "points a hand"  # of a score; "games won" if a score is 1 for a game won and 0 for a game lost

    def data(self) -> dict[str, Any]:
        """Return the fields as values that JSON can hold."""
        return asdict(self)


def worst(folder: Path, most: int | None = None, pair: tuple[int, int] = (0, 1)) -> WorstDeals:
    """Find the deals where A did worst against B.

    Args:
        folder: Folder of a tournament, or its records.jsonl.
        most: Largest number of deals (default: all that are finished).
        pair: Numbers of A and B among the players, from 0.

    Returns:
        The finished deals, the worst for A first.

    Raises:
        TrickformerError: The folder holds no tournament with a finished deal, or there is no such pair.
    """
    folder = folder.parent if folder.name == runs.RECORDS else folder
    results = TournamentResults(runs.load(folder))
    specs, game = results.run.typed, results.game
    a, b = pair
    n_players = len(results.run.config.specs)
    if a == b or not (0 <= a < n_players and 0 <= b < n_players):
        raise TrickformerError(f"--a {a + 1} --b {b + 1}: give two different players from 1 to {n_players}")
    ordered = (min(pair), max(pair))
    if ordered not in results.sets:
        raise TrickformerError(f"players {a + 1} and {b + 1} have not met in this gauntlet")
    sign, better = (1 if a < b else -1), (1 if game.higher_is_better else -1)
    seatings, deals = results.sets[ordered], results.deals
    differences = (sign * results.rows[ordered][0].deals).tolist()
    numbers, scores = results.numbers(seatings), results.scores(seatings)
    order = sorted(range(len(deals)), key=lambda at: (better * differences[at], deals[at].number, deals[at].seed or -1))
    worst_deals = []
    for at in order[:most]:
        games = [
            DealHand(number, seating, tuple(map(int, hand_scores)))
            for number, seating, hand_scores in zip(numbers[at].tolist(), seatings, scores[at].tolist())
        ]
        games.sort(key=lambda each: (a not in each.seating, better * _lead(each, pair)))
        worst_deals.append(Deal(deals[at].number, differences[at], tuple(games), deals[at].seed))
    unit = results.result()["unit"]
    return WorstDeals(str(folder / runs.RECORDS), specs[a], specs[b], game.higher_is_better, tuple(worst_deals), unit)


def _lead(game: DealHand, pair: tuple[int, int]) -> float:
    """Return the mean score of A's seats minus the mean score of B's seats.

    In cooperative and one-player games, A and B never share a table. The result is then the mean score of the player
    who has the seats.
    """
    means = []
    for player in pair:
        hand_scores = [score for score, seat in zip(game.scores, game.seating) if seat == player]
        if hand_scores:
            means.append(sum(hand_scores) / len(hand_scores))
    return means[0] - sum(means[1:])


def text(result: WorstDeals) -> str:
    """Format one line for each deal: its number, the worst hand for A, the difference and the hand's record.

    Args:
        result: Result of `worst`.

    Returns:
        A header and the lines. The difference is A's mean less B's mean over all hands of the deal. The record is
        named as `FILE:LINE`.
    """
    rows = [("deal", "players", "scores", "A − B", "record")]
    for deal in result.deals:
        first = deal.games[0]
        cells = deal.name, " ".join(str(player + 1) for player in first.seating), " ".join(map(str, first.scores))
        rows.append((*cells, f"{deal.difference:+.2f}", f"{result.records}:{first.game}"))
    widths = [max(map(len, column)) for column in zip(*rows)]
    better = "higher is better" if result.higher_is_better else "lower is better"
    scores = "1 for a game won, 0 for a game lost" if result.unit == "games won" else f"{result.unit}, {better}"
    lines = [f"Deals, the worst for A first; score: {scores}", f"A  {result.a}", f"B  {result.b}", ""]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[:-1], widths)]
        lines.append("  ".join([*cells, row[-1]]))
    show = f"trickformer records show {Path(result.records).parent} --game NUMBER --analyse SPEC"
    return "\n".join([*lines, "", _KEY, f"Show a game, by the line of its record: {show}"])
