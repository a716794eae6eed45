"""Figures 2 and 3 of the GO-MCTS paper: success by mission, of training iterations and of players."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps

from trickformer.plumbing.figures import STYLE, add_legend, drawing, save
from trickformer.tournaments.names import short_names

_COLOURS = ("#2b6cb0", "#c05621")
_GREY = "#718096"
_FEWEST = 14  # a figure of fewer missions is as wide as one of this many


def players(result: dict[str, Any], path: Path) -> None:
    """Draw the success by mission of one or two players with intervals, and save a PNG.

    The plot also has the success of random players and the ceiling, if the result has them: the share of deals that can
    be won, and the share that is not known.

    Args:
        result: Result of an evaluation.
        path: File to write.

    Raises:
        TrickformerError: If the file cannot be written.
    """
    missions, games = result["missions"], result["games"]
    with drawing(figsize=(_width(missions), 4), style=STYLE) as (figure, axes):
        _prepare_axes(axes, result)
        at = np.arange(len(missions))
        if "ceiling" in missions[0]:
            won, unsolved = (np.array([m["ceiling"][key] / games for m in missions]) for key in ("won", "open"))
            axes.bar(at, won, width=0.86, color="#e2e8f0", label="can be won with open hands")
            if unsolved.any():
                axes.bar(at, unsolved, bottom=won, width=0.86, color="#f4f6f9", label="not known")
        if "random" in missions[0]:
            share = [m["random"] / result["random_games"] for m in missions]
            axes.plot(
                at, share, "_", color=_GREY, markersize=9, label=f"uniformly random, {result['random_games']:,} games"
            )
        offset = 0.17 * (len(result["players"]) - 1)  # keeps the intervals of two players apart
        names = short_names([player["spec"] for player in result["players"]])
        for i, (name, colour) in enumerate(zip(names, _COLOURS)):
            rate = np.array([m["players"][i]["rate"] for m in missions])
            low, high = np.array([m["players"][i]["ci95"] for m in missions]).T
            x = at + (2 * i - 1) * offset
            axes.vlines(x, low, high, color=colour, linewidth=1.6)
            axes.plot(x, rate, "o", color=colour, markersize=4.5, clip_on=False, label=name)
        add_legend(figure, axes)
        save(figure, path)


def iterations(result: dict[str, Any], path: Path) -> None:
    """Draw the success by mission and iteration, and its mean over missions, and save a PNG.

    Args:
        result: Result of `results.iterations`.
        path: File to write.

    Raises:
        TrickformerError: If the file cannot be written.
    """
    missions, count = result["missions"], len(result["players"])
    width, narrow = _width(missions), 3  # inches
    sizes: Any = {"figsize": (width + narrow, 4), "width_ratios": (width, narrow)}
    with drawing(1, 2, STYLE, **sizes) as (figure, (left, right)):
        _prepare_axes(left, result)
        colours = colormaps["viridis_r"](np.linspace(0.05, 0.95, count))
        at = np.arange(len(missions))
        for i, colour in enumerate(colours):
            x = at + (0.6 * i / (count - 1) - 0.3 if count > 1 else 0)
            left.plot(
                x,
                [m["players"][i]["rate"] for m in missions],
                "o",
                color=colour,
                markersize=3.5,
                clip_on=False,
                label=str(i),
            )
        add_legend(figure, left, "iteration")
        rate = [p["rate"] for p in result["players"]]
        low, high = np.array([p["ci95"] for p in result["players"]]).T
        right.fill_between(range(count), low, high, color=_COLOURS[0], alpha=0.2, linewidth=0)
        right.plot(range(count), rate, "o-", color=_COLOURS[0])
        right.set_ylim(bottom=0)
        right.set_xticks(range(count))
        right.set_xlabel("iteration")
        right.set_ylabel("share of games won (higher is better)")
        right.set_title("all missions")
        save(figure, path)


def _width(missions: list[Any]) -> float:
    """Return the width of the axes of rates by mission, in inches."""
    return 0.24 * max(len(missions), _FEWEST) + 1.5


def _prepare_axes(axes: Any, result: dict[str, Any]) -> None:
    """Prepare axes for rates by mission."""
    numbers = [m["mission"] for m in result["missions"]]
    axes.set_xticks(range(len(numbers)), [str(n) for n in numbers], fontsize=8)
    margin = max(0, _FEWEST - len(numbers)) / 2  # centres a few missions
    axes.set_xlim(-0.7 - margin, len(numbers) - 0.3 + margin)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("mission")
    axes.set_ylabel(f"share of {result['games']:,} games won (higher is better)")
    axes.grid(axis="y", color="#edf2f7")
    axes.set_axisbelow(True)
