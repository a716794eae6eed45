"""The sentence that sums up a tournament: which player is better, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from trickformer.base import game_name
from trickformer.tournaments.intervals import FEWEST_SEQUENTIAL
from trickformer.tournaments.names import short_names
from trickformer.tournaments.power import FEWEST_RANKS


def labels(result: dict[str, Any]) -> list[str]:
    """Name the players of a result: "A (gomcts)" and "B (random)" in a match of two, else their short names.

    Args:
        result: Object of `TournamentResults.result`.
    """
    return label_players(result["players"], two="rows" in result)


def label_players(specs: Sequence[str], two: bool) -> list[str]:
    """Name players: "A (gomcts)" and "B (random)" in a match of two, else by their short names.

    Args:
        specs: Specs as they were typed.
        two: Whether it is a match of two players, A and B.
    """
    names = short_names(specs)
    if not two:
        return names
    alike = len(set(specs)) == 1
    heads = [spec.partition(":")[0] for spec in specs]
    return [f"{letter} ({name})" for letter, name in zip("AB", heads if alike else names)]


def conclude(result: dict[str, Any]) -> str:
    """Sum up a result in a sentence.

    Args:
        result: Object of `TournamentResults.result`.
    """
    names = labels(result)
    if "rows" in result:
        return _Pair(result, result["matches"][0], names).sentence()
    if result.get("gauntlet"):
        return _conclude_gauntlet(result, names)
    return _conclude_round_robin(result, names)


class _Pair:
    """A match of two players. Differences are A - B."""

    def __init__(self, result: dict[str, Any], match: dict[str, Any], names: Sequence[str]) -> None:
        row = match["rows"]["All"]
        self.a, self.b = (names[i] for i in match["players"])
        self.row, self.difference = row, row["difference"]
        self.low, self.high = row["ci95"]
        self.sign = 1 if result["higher_is_better"] else -1
        self.deals = result["deals"]
        self.won = result["unit"] == "games won"  # whether scores are shares of games won instead of points
        self.bound, self.sequential = result["bound"], result["sequential"]
        self.game = game_name(result["game"]).replace("_", " ").title()
        self.unit = "percentage points" if self.won else result["unit"]

    @property
    def winner(self) -> int:
        """1 if the interval shows that A is better, -1 if B is, 0 if it shows neither.

        With too few deals for p < 0.05 the result is 0, so that the sentence does not contradict the p value.
        """
        if self.too_few or self.low is None or self.low <= 0 <= self.high:
            return 0
        return self.sign if self.difference > 0 else -self.sign

    @property
    def too_few(self) -> bool:
        """True if too few deals have a difference other than 0 for p < 0.05 in Wilcoxon's test."""
        return self.row["different_deals"] < FEWEST_RANKS and not self.sequential

    def sentence(self) -> str:
        if self.deals == 1:
            return f"One deal says nothing about the difference: in it, {self._scores()}."
        deals = f"{self.deals:,} deals"
        if self.low is None:
            return self._without_interval(deals)
        if not self.winner:
            return self._leave_open(deals)
        ends = self.interval(magnitude=not self.won)
        if self.won:
            return f"{self._scores()}; 95% interval of the difference {ends} percentage points over {deals}."
        better = "better" if self.winner > 0 else "worse"
        return f"{self._scores()}, which is {better} in {self.game}; 95% interval {ends} over {deals}."

    def interval(self, magnitude: bool = False) -> str:
        """Format the interval of A - B, or of its magnitude."""
        ends = [self.low, self.high]
        if magnitude:
            ends = sorted(map(abs, ends))
            return " to ".join(map(self.amount, ends))
        return " to ".join(("+" if end > 0 else "-" if end < 0 else "") + self.amount(abs(end)) for end in ends)

    def amount(self, x: float) -> str:
        """Format a difference, which is not negative, in `unit`."""
        if self.won:
            return f"{100 * x:.1f}"
        return f"{x:.1f}" if abs(self.difference) >= 1 else f"{x:.2f}"

    def _scores(self) -> str:
        """Describe the scores of A and B."""
        if self.won:
            return f"{self.a} wins {self.row['a']:.1%} of its games and {self.b} {self.row['b']:.1%}"
        if self.difference == 0:
            return f"{self.a} scores the same as {self.b}"
        side = "higher" if self.difference > 0 else "lower"
        return f"{self.a} scores {self.amount(abs(self.difference))} {self.unit} {side} than {self.b}"

    def _without_interval(self, deals: str) -> str:
        if self.sequential and self.deals < FEWEST_SEQUENTIAL:
            return f"{deals} are too few for an interval that holds at every look; so far, {self._scores()}."
        if self.difference == 0:
            return f"{self.a} and {self.b} scored the same in each of {deals}."
        few = f" {deals.capitalize()} are too few to show which player is better." if self.too_few else ""
        return f"{self._scores()} in each of {deals}; deals that all agree allow no interval.{few}"

    def _leave_open(self, deals: str) -> str:
        ends, unit = self.interval(), self.unit
        if self.bound and -self.bound <= self.low <= self.high <= self.bound:
            within = f"{100 * self.bound:g}" if self.won else f"{self.bound:g}"
            return (
                f"{self.a} and {self.b} differ by at most {within} {unit}; 95% interval of A − B {ends} over {deals}."
            )
        shown = "are too few to show" if self.too_few else "do not show"
        return f"{deals} {shown} which player is better: {self._scores()}, 95% interval of A − B {ends} {unit}."


def _conclude_round_robin(result: dict[str, Any], names: Sequence[str]) -> str:
    best = result["ratings"][0]["player"]
    others = [_rival(result, match, best, names) for match in result["matches"] if best in match["players"]]
    close = [name for name, pair in others if pair.winner <= 0]
    if result["deals"] == 1:
        return "One deal says nothing about the players."
    deals = f"{result['deals']:,} deals"
    if not close:
        name, least = min(others, key=lambda other: abs(other[1].difference))
        return (
            f"{names[best]} is the best of {len(names)} players: it beats every other player, {name} by the smallest "
            f"margin: {least.amount(abs(least.difference))} {least.unit}; 95% interval {least.interval(True)} over "
            f"{deals}."
        )
    top = result["ratings"][0]["rating"]
    leaders = [names[int(r["player"])] for r in result["ratings"] if math.isclose(r["rating"], top, abs_tol=1e-9)]
    tied = len(leaders) > 1
    lead = f"{_join(leaders)} {'lead' if tied else 'leads'}"
    equal = ", with equal ratings" if tied else ""
    if result["deals"] < FEWEST_RANKS and not result["sequential"]:
        return f"{deals} are too few to show which player is the best; {lead} so far{equal}."
    others_close = [name for name in close if name not in leaders]
    rest = f", but {_join(others_close)} may be as good" if others_close else ""
    return f"{deals} do not show which player is the best: {lead}{equal}{rest}."


def _conclude_gauntlet(result: dict[str, Any], names: Sequence[str]) -> str:
    if result["deals"] == 1:
        return f"One deal says nothing about {names[0]}."
    by_winner: dict[int, list[str]] = {1: [], -1: [], 0: []}
    rivals = [_rival(result, match, 0, names) for match in result["matches"]]
    if any(pair.too_few for _, pair in rivals):
        return (
            f"{result['deals']:,} deals are too few to show whether {names[0]} is better or worse than "
            f"{_join([name for name, _ in rivals])}."
        )
    for name, pair in rivals:
        by_winner[pair.winner].append(name)
    parts = [f"better than {_join(by_winner[1])}"] if by_winner[1] else []
    parts += [f"worse than {_join(by_winner[-1])}"] if by_winner[-1] else []
    parts += [f"neither shown to be better nor worse than {_join(by_winner[0])}"] if by_winner[0] else []
    return f"{names[0]} is {'; '.join(parts)}, by 95% intervals over {result['deals']:,} deals."


def _rival(result: dict[str, Any], match: dict[str, Any], player: int, names: Sequence[str]) -> tuple[str, _Pair]:
    """Return the name of the other player of a match, and the match with `player` as A."""
    if match["players"][0] != player:
        row = match["rows"]["All"]
        low, high = row["ci95"]
        swapped = {"difference": -row["difference"], "ci95": [None, None] if low is None else [-high, -low]}
        match = {"players": match["players"][::-1], "rows": {"All": row | swapped}}
    other: int = match["players"][1]
    return names[other], _Pair(result, match, names)


def _join(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
