"""What searches say they gain over their blueprints, beside what exact samples of the same positions say (Figure 2 of
the Belief Fine-Tuning paper).

A search that chooses the best of many actions in a sample of worlds overrates it a little even where its belief is
exact, because the exact samples are others than those it chose by. What is more than that is its belief's doing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trickformer.plumbing.tables import mean_and_error, plus_minus
from trickformer.tournaments.store import HandRecord

_WIDTH = 6  # moves that are one point of the plot


def summarize_gains(records: Sequence[HandRecord], players: int) -> list[dict[str, Any] | None]:
    """By player, None where it says nothing of gains; an empty list where nobody does. Figures are points a hand in
    which it sat, summed over its decisions: means over hands, with standard errors in which a deal with all its
    seatings is one sample. `excess` is what was said minus what exact samples say, of the decisions that have both."""
    every = [_of([r for r in records if player in r.seating], player) for player in range(players)]
    return every if any(every) else []


def _of(records: list[HandRecord], player: int) -> dict[str, Any] | None:
    deals = _number_deals(records)
    hands = [
        [claim for claims, holder in zip(r.gains or (), r.seating) if holder == player for claim in claims]
        for r in records
    ]
    claims = [(deal, *claim) for deal, hand in zip(deals, hands) for claim in hand]
    if not claims:
        return None
    both = [[(said, exact) for _, said, exact in hand if exact is not None] for hand in hands]
    result: dict[str, Any] = {
        "decisions": len(claims),
        "deviations": sum(said != 0 for _, _, said, _ in claims),
        "said": mean_and_error([sum(said for _, said, _ in hand) for hand in hands], deals),
    }
    if any(both):
        result["compared"] = sum(map(len, both))
        result["exact"] = mean_and_error([sum(exact for _, exact in hand) for hand in both], deals)
        result["excess"] = mean_and_error([sum(said - exact for said, exact in hand) for hand in both], deals)
    result["by_move"] = []
    for first in range(0, max(move for _, move, *_ in claims) + 1, _WIDTH):
        own = [claim for claim in claims if first <= claim[1] < first + _WIDTH]
        if own:
            compared = [(deal, exact) for deal, _, _, exact in own if exact is not None]
            said = mean_and_error([said for _, _, said, _ in own], [deal for deal, *_ in own])
            exact = mean_and_error([exact for _, exact in compared], [deal for deal, _ in compared])
            result["by_move"].append({"move": first, "said": said, "exact": exact})
    return result


def _number_deals(records: list[HandRecord]) -> list[int]:
    """Return a number for the deal of each record: equal if and only if the deals are."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(r.deal_name for r in records))}
    return [numbers[r.deal_name] for r in records]


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
    """Writes a PNG: the mean gain of a decision by the number of moves before it, as the searches said it and by exact
    samples. Raises TrickformerError where the disk refuses."""
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
