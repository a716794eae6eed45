"""Gains of searches over their blueprints: the searches' own estimates next to estimates from exact samples.

The plot follows Figure 2 of the Belief Fine-Tuning paper. A search takes the best of many actions in a sample of worlds
and overrates it a little even if its belief is exact, because the exact samples are drawn anew. An excess beyond that
is an error of the belief.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trickformer.plumbing.tables import mean_and_error, plus_minus
from trickformer.tournaments.deals import DealName
from trickformer.tournaments.store import HandRecord

_WIDTH = 6  # moves that are one point of the plot


def summarize_gains(records: Iterable[HandRecord], players: int) -> list[dict[str, Any] | None]:
    """Sum up the gains that the searches of each player estimate.

    Figures are points a hand in which the player sat, summed over its decisions: means over hands, with standard errors
    in which a deal with all its seatings is one sample. `said` is the estimate, `exact` the gain by exact samples, and
    `excess` the estimate minus the exact gain, of the decisions that have both.

    Args:
        records: Records of hands.
        players: Number of players.

    Returns:
        An entry for each player, None if it estimates nothing; an empty list if no player estimates anything.
    """
    sums = [_GainSums() for _ in range(players)]
    for record in records:
        for player, own in enumerate(sums):
            if player in record.seating:
                own.add(record, player)
    every = [own.summarize() for own in sums]
    return every if any(every) else []


class _GainSums:
    """Gains of a player, in compact arrays: a number for each hand and for each decision."""

    def __init__(self) -> None:
        self._deals: dict[DealName, int] = {}
        self._deal_of_hand = array("q")
        self._hands = {key: array("d") for key in ("said", "exact", "excess")}  # sums over the hand's decisions
        self._deal, self._move = array("q"), array("q")  # of each decision, like the next ones
        self._gain, self._exact = array("d"), array("d")
        self._has_exact = array("b")

    def add(self, record: HandRecord, player: int) -> None:
        """Add a hand in which the player sat."""
        deal = self._deals.setdefault(record.deal_name, len(self._deals))
        claims = [
            claim for claims, holder in zip(record.gains or (), record.seating) if holder == player for claim in claims
        ]
        both = [(gain, exact) for _, gain, exact in claims if exact is not None]
        self._deal_of_hand.append(deal)
        self._hands["said"].append(sum(gain for _, gain, _ in claims))
        self._hands["exact"].append(sum(exact for _, exact in both))
        self._hands["excess"].append(sum(gain - exact for gain, exact in both))
        for move, gain, exact in claims:
            self._deal.append(deal)
            self._move.append(move)
            self._gain.append(gain)
            self._exact.append(0.0 if exact is None else exact)
            self._has_exact.append(exact is not None)

    def summarize(self) -> dict[str, Any] | None:
        """Return the entry of the player; None if it has estimated nothing."""
        if not self._move:
            return None
        gain, exact = np.array(self._gain), np.array(self._exact)
        deal, move = np.array(self._deal), np.array(self._move)
        has_exact = np.array(self._has_exact) > 0
        result: dict[str, Any] = {"decisions": len(gain), "deviations": int(np.count_nonzero(gain))}
        keys = ("said", "exact", "excess") if has_exact.any() else ("said",)
        means = {key: mean_and_error(np.array(self._hands[key]), np.array(self._deal_of_hand)) for key in keys}
        result["said"] = means.pop("said")
        if means:
            result |= {"compared": int(has_exact.sum())} | means
        result["by_move"] = []
        for first in range(0, int(move.max()) + 1, _WIDTH):
            own = (first <= move) & (move < first + _WIDTH)
            if own.any():
                entry = {"move": first, "said": mean_and_error(gain[own], deal[own])}
                own &= has_exact
                result["by_move"].append(entry | {"exact": mean_and_error(exact[own], deal[own])})
        return result


def notes(every: list[dict[str, Any] | None], names: Sequence[str], unit: str = "points", sign: int = 1) -> list[str]:
    """Describe the gains of each player that estimates them, a line each.

    Args:
        every: Result of `summarize_gains`.
        names: Names of the players.
        unit: Unit of a score.
        sign: 1 if higher scores are better, -1 if lower ones are. Gains are shown as changes of the score.
    """
    lines: list[str] = []
    for name, own in zip(names, every):
        if own is None:
            continue
        line = f"{name} left its blueprint in {own['deviations']:,} of {own['decisions']:,} decisions"
        line += f" and estimates that this changes its score by {_change(own['said'], sign)} {unit} a hand"
        if "exact" in own:
            line += f"; exact samples of {own['compared']:,} of these positions give {_change(own['exact'], sign)}"
            line += f", estimate minus exact {_change(own['excess'], sign)}"
        lines.append(line + (" (± standard error)" if "±" in line else ""))
    return lines


def _change(gain: dict[str, float | None], sign: int) -> str:
    mean = gain["mean"]
    return plus_minus(gain if mean is None else {"mean": sign * mean, "se": gain["se"]}, signed=True)


def plot(every: list[dict[str, Any] | None], names: Sequence[str], path: Path) -> None:
    """Write a PNG of the mean gain of a decision by the number of moves before it.

    Args:
        every: Result of `summarize_gains`.
        names: Names of the players.
        path: File to write.

    Raises:
        TrickformerError: The file cannot be written.
    """
    from trickformer.plumbing.figures import add_legend, plt, save

    figure, axes = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
    for i, (name, own) in enumerate(zip(names, every)):
        for key, style, by in (("said", "-", "its estimate"), ("exact", "--", "exact samples")):
            points = [p for p in (own or {}).get("by_move", []) if p[key]["mean"] is not None]
            if not points:
                continue
            at = [p["move"] + _WIDTH / 2 for p in points]
            mean = np.array([p[key]["mean"] for p in points])
            error = np.array([p[key]["se"] or 0.0 for p in points])
            axes.plot(at, mean, style, color=f"C{i}", linewidth=1.4, label=f"{name}, {by}")
            axes.fill_between(at, mean - error, mean + error, color=f"C{i}", alpha=0.15, linewidth=0)
    axes.axhline(0, color="#718096", linewidth=0.8)
    axes.set_xlabel("moves before the decision")
    axes.set_ylabel("gain of a decision over the blueprint,\npoints (higher is better), ± standard error")
    add_legend(figure, axes)
    save(figure, path)
