"""Report and figure of a comparison by thinking time, made from its JSON object."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from trickformer.plumbing.report import Report, ReportFigure, ReportTable
from trickformer.plumbing.tables import format_difference, p_value, seconds

SUMMARY, PLOT = "summary.json", "plot.png"
_METHOD = (
    "All players meet the same boards. A score is the share of the cells without a mine that were opened, won the "
    "share of games with all of them; intervals are 95%, over games (Student's t with Hall's correction for skewness); "
    "p is Wilcoxon's over games. "
    "Inconsistent is the share of the layouts drawn in the search that contradict what was seen."
)
_KEY = (
    "belief: sampler of mine layouts. rejection: draws layouts until one fits the board. metropolis: a random walk "
    "over layouts, anew for each draw. inherited: the same walk, continued from one simulation to the next. exact: "
    "draws from the counts of all layouts that fit. score: share of the cells without a mine that were opened, mean "
    "over games. "
    "won: share of games that opened all of them. wall time a move: mean over moves; other programs on the "
    "machine lengthen it. draws a move: layouts used in the search, one for each step of a simulation in "
    "the tree (exact: one for each simulation); rejected ones do not count. inconsistent: share of these layouts that "
    "contradict the board."
)
_OPTIONS_KEY = (
    "c: exploration constant of UCT. domain: layouts to propose, those that the rule of the first move allows (rule) "
    "or all of the board (board). widening: exponent w of progressive widening, n visits try n^w cells; none: all "
    "cells."
)
_DIFFERENCE_KEY = "Differences on the same boards; p: Wilcoxon's signed-rank test that both are equal."
_COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#805ad5")


def make_report(result: dict[str, Any]) -> Report:
    """Make the report of a comparison.

    Args:
        result: Object that `results.result` returns.
    """
    return Report(
        result,
        _heading(result),
        _tables(result),
        keys=[_KEY, *[_DIFFERENCE_KEY] * (len(result["beliefs"]) - 1)],
        title="BSR-UCT at Mines",
        notes=_notes(result),
        figures=[ReportFigure("score by thinking time", PLOT, partial(plot, result))],
        method=[_METHOD],
        builds=result["versions"],
    )


def _heading(result: dict[str, Any]) -> str:
    """Name the board and the games in one line."""
    cascade = ", cascade" if result.get("cascade") else ""  # absent from results of version 0.2
    return (
        f"Mines {result['board']}, {result['mines']} mines, first move {result['first_move']}{cascade}: "
        f"{result['games']:,} games each, seed {result['seed']}; options c {result['c']}, domain {result['domain']}, "
        f"widening {result['widening'] or 'none'}"
    )


def _notes(result: dict[str, Any]) -> list[str]:
    """List the remarks below the tables."""
    return [_OPTIONS_KEY, *([] if result["optimal"] is None else [f"Best play scores {result['optimal']:.4f}."])]


def _tables(result: dict[str, Any]) -> list[tuple[str, ReportTable]]:
    """List the results by budget and belief, and the differences between the first belief and each other one."""
    budget = _budget(result)
    limit = "CPU seconds a move" if budget == "seconds" else f"{budget} a move"
    head = [
        f"{limit}, belief",
        "score",
        "95% interval",
        "won",
        "wall time a move",
        "draws a move",
        "inconsistent",
    ]
    rows = []
    for row in result["rows"]:
        for name, player in row["players"].items():
            inconsistent = player["inconsistent"]
            rows.append(
                [
                    f"{row[budget]:g}, {name}",
                    f"{player['score']:.4f}",
                    _interval(player["ci95"]),
                    f"{player['won']:.1%}",
                    seconds(player["seconds_per_move"]),
                    f"{player['drawn_per_move']:,.0f}",
                    "" if inconsistent is None else f"{inconsistent:.3%}",
                ]
            )
    titled: list[tuple[str, ReportTable]] = [("", (head, rows))]
    first, *others = result["beliefs"]
    for other in others:
        pairs = [
            (f"{row[budget]:g}", format_difference(d["score"], 4), _interval(d["ci95"], "+"), p_value(d["p"]))
            for row in result["rows"]
            for d in [row["differences"][other]]
        ]
        titled.append((f"{other} minus {first}", ((limit, "score", "95% interval", "p"), pairs)))
    return titled


def _budget(result: dict[str, Any]) -> str:
    return "seconds" if "seconds" in result["rows"][0] else "simulations"


def _interval(ci95: list[float] | None, sign: str = "") -> str:
    return "" if ci95 is None else f"[{ci95[0]:{sign}.4f}, {ci95[1]:{sign}.4f}]"


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw the score by thinking time with intervals, and the best play if it is known, and save a PNG.

    Args:
        result: Contents of summary.json.
        path: The PNG.
    """
    from trickformer.plumbing.figures import STYLE, add_legend, drawing, save

    budget = _budget(result)
    x = [row[budget] for row in result["rows"]]
    with drawing(figsize=(6, 3.6), style=STYLE) as (figure, axes):
        for name, colour in zip(result["beliefs"], _COLOURS):
            players = [row["players"][name] for row in result["rows"]]
            mean = [p["score"] for p in players]
            bounds = [p["ci95"] or (p["score"], p["score"]) for p in players]
            axes.fill_between(x, [b[0] for b in bounds], [b[1] for b in bounds], color=colour, alpha=0.15, linewidth=0)
            axes.plot(x, mean, "o-", color=colour, markersize=4, label=name)
        if result["optimal"] is not None:
            axes.axhline(result["optimal"], color="#718096", linewidth=1, linestyle=(0, (4, 3)), label="best play")
        axes.set_xscale("log", base=2)
        axes.set_xticks(x, [f"{v:g}" for v in x])
        axes.set_xlabel("CPU seconds a move" if budget == "seconds" else "simulations a move")
        axes.set_ylabel("share of safe cells opened\n(higher is better), 95% intervals")
        axes.set_title(f"{result['board']}, {result['mines']} mines", loc="left", fontweight="bold", fontsize=10.5)
        axes.grid(axis="y", color="#edf2f7")
        add_legend(figure, axes)
        save(figure, path)
