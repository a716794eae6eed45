"""Gains of searches over their blueprints, the policies that they improve on.

A search estimates its gain from the worlds that it has sampled from its belief. Some searches estimate it a second time
from worlds that are sampled from the exact belief. The first estimate exceeds the second a little even if the search's
belief is exact, because the search has chosen the action that is best in its own sample. A larger excess is an error of
the belief. The plot follows Figure 2 of the Belief Fine-Tuning paper.
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

_BIN_WIDTH = 6  # moves that one point of the plot covers


def summarize_gains(records: Iterable[HandRecord], players: int) -> list[dict[str, Any] | None]:
    """Sum up the gains that the searches of each player estimate.

    A gain is in points. The gain of a hand is the sum over the player's decisions. Means are over the hands in which
    the player sat; the hands of a deal are one sample of the standard error. `said` is the search's own estimate,
    `exact` the estimate from exact samples, and `excess` is `said` minus `exact`. The last two are of the decisions
    that have both estimates.

    Args:
        records: Records of hands.
        players: Number of players.

    Returns:
        An entry for each player, None if it estimates nothing; an empty list if no player estimates anything.
    """
    by_player = [_GainSums() for _ in range(players)]
    for record in records:
        for player, sums in enumerate(by_player):
            if player in record.seating:
                sums.add(record, player)
    gains = [sums.summarize() for sums in by_player]
    return gains if any(gains) else []


class _GainSums:
    """Gains of a player, in compact arrays."""

    def __init__(self) -> None:
        self._deals: dict[DealName, int] = {}  # number of each deal, in order of appearance
        # One entry for each hand: its deal, and its gains, summed over the player's decisions.
        self._deal_of_hand = array("q")
        self._hands = {key: array("d") for key in ("said", "exact", "excess")}
        # One entry for each decision: its deal, the number of moves before it, and its gains.
        self._deal, self._move = array("q"), array("q")
        self._gain, self._exact = array("d"), array("d")
        self._has_exact = array("b")

    def add(self, record: HandRecord, player: int) -> None:
        """Add a hand in which the player sat."""
        deal = self._deals.setdefault(record.deal_name, len(self._deals))
        by_seat = zip(record.gains or (), record.seating)
        estimates = [estimate for seat_gains, index in by_seat if index == player for estimate in seat_gains]
        both = [(gain, exact) for _, gain, exact in estimates if exact is not None]
        self._deal_of_hand.append(deal)
        self._hands["said"].append(sum(gain for _, gain, _ in estimates))
        self._hands["exact"].append(sum(exact for _, exact in both))
        self._hands["excess"].append(sum(gain - exact for gain, exact in both))
        for move, gain, exact in estimates:
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
        for first in range(0, int(move.max()) + 1, _BIN_WIDTH):
            in_bin = (first <= move) & (move < first + _BIN_WIDTH)
            if in_bin.any():
                entry = {"move": first, "said": mean_and_error(gain[in_bin], deal[in_bin])}
                in_bin &= has_exact
                result["by_move"].append(entry | {"exact": mean_and_error(exact[in_bin], deal[in_bin])})
        return result


def notes(
    gains: list[dict[str, Any] | None], names: Sequence[str], unit: str = "points a hand", sign: int = 1
) -> list[str]:
    """Describe the gains of each player that estimates them, a line each.

    Args:
        gains: Result of `summarize_gains`.
        names: Names of the players.
        unit: Unit of a mean score, such as points a hand. Its last word names what the gains are summed over.
        sign: 1 if higher scores are better, -1 if lower ones are. Gains are shown as changes of the score.
    """
    lines: list[str] = []
    for name, player_gains in zip(names, gains):
        if player_gains is None:
            continue
        line = f"{name} chose otherwise than its blueprint, the policy that it improves (another action, rule or "
        line += "network), in "
        line += f"{player_gains['deviations']:,} of the {player_gains['decisions']:,} decisions that it searched. "
        line += f"Summed over a {unit.split()[-1]}, its own estimates of the changes of its score are "
        line += f"{_change(player_gains['said'], sign)} {unit}"
        if "exact" in player_gains:
            line += f"; at {player_gains['compared']:,} of these positions, fresh samples give "
            line += f"{_change(player_gains['exact'], sign)}, and its estimates there minus these are "
            line += _change(player_gains["excess"], sign)
        lines.append(line + (" (± standard error)" if "±" in line else ""))
    return lines


def _change(gain: dict[str, float | None], sign: int) -> str:
    mean = gain["mean"]
    return plus_minus(gain if mean is None else {"mean": sign * mean, "se": gain["se"]}, signed=True)


def plot(gains: list[dict[str, Any] | None], names: Sequence[str], path: Path, unit: str = "points") -> None:
    """Write a PNG of the mean gain of a decision by the number of moves before it.

    Args:
        gains: Result of `summarize_gains`.
        names: Names of the players.
        path: File to write.
        unit: Unit of the gains.

    Raises:
        TrickformerError: The file cannot be written.
    """
    from trickformer.plumbing.figures import add_legend, drawing, save

    with drawing(figsize=(6.5, 3.8)) as (figure, axes):
        for i, (name, player_gains) in enumerate(zip(names, gains)):
            for key, style, source in (("said", "-", "its estimate"), ("exact", "--", "fresh samples")):
                points = [p for p in (player_gains or {}).get("by_move", []) if p[key]["mean"] is not None]
                if not points:
                    continue
                at = [p["move"] + _BIN_WIDTH / 2 for p in points]
                mean = np.array([p[key]["mean"] for p in points])
                error = np.array([p[key]["se"] or 0.0 for p in points])
                axes.plot(at, mean, style, color=f"C{i}", linewidth=1.4, label=f"{name}, {source}")
                axes.fill_between(at, mean - error, mean + error, color=f"C{i}", alpha=0.15, linewidth=0)
        axes.axhline(0, color="#718096", linewidth=0.8)
        axes.set_xlabel("moves before the decision")
        axes.set_ylabel(f"gain of a decision over the blueprint,\n{unit} (higher is better), ± standard error")
        add_legend(figure, axes)
        save(figure, path)
