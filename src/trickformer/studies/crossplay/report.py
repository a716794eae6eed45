"""Report and figure of a cross-play, made from its JSON object."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from trickformer.games.hanabi import KNOWING
from trickformer.plumbing.report import Report, ReportFigure, ReportTable
from trickformer.plumbing.tables import SAW_STATE
from trickformer.studies.crossplay.results import Cell
from trickformer.tournaments.names import short_names

PLOT = "crossplay.png"


def _heading(result: dict[str, Any]) -> str:
    """Name the games in one line."""
    return f"{result['game']}: {result['games']:,} games of each seating, seed {result['seed']}; mean scores"


def _specs_by_name(result: dict[str, Any]) -> dict[str, str]:
    """Return the typed specs by short name."""
    specs = [player["spec"] for player in result["players"]]
    return dict(zip(short_names(specs), specs))


def _legend(result: dict[str, Any]) -> dict[str, str]:
    """Return the typed specs by short name, after the specs of each method that was named."""
    names = _specs_by_name(result)
    specs = list(names.values())
    methods = {m["method"]: ", ".join(specs[run] for run in m["runs"]) for m in result["methods"]}
    return {name: runs for name, runs in methods.items() if name not in names} | names


def _tables(result: dict[str, Any]) -> list[tuple[str, ReportTable]]:
    """List the tables with their titles."""
    methods, names = result["methods"], list(_specs_by_name(result))
    head = ("", "self-play", "cross-play", *(f"with {m['method']}" for m in methods))
    rows = [
        (
            m["method"],
            _cell(m["self_play"]),
            _cell(m["cross_play"]),
            *(_cell(m["with"].get(other["method"])) for other in methods),
        )
        for m in methods
    ]
    titled: list[tuple[str, ReportTable]] = [("", (head, rows))]
    if any(m["summary"] for m in methods):
        keys = list(methods[0]["summary"])
        shares = [
            (m["method"], *("" if m["summary"][key] is None else f"{m['summary'][key]:.1%}" for key in keys))
            for m in methods
        ]
        head = ("", *(key.removeprefix("played ") for key in keys))
        titled.append(("Play of each method in self-play", (head, shares)))
    cells = [
        (names[i], *(_number(x, e) for x, e in zip(means, errors)))
        for i, (means, errors) in enumerate(zip(result["matrix"], result["se"]))
    ]
    return [*titled, ("Row and column at one table", (("", *names), cells))]


def _keys(result: dict[str, Any]) -> list[str]:
    """Explain the columns of each table."""
    keys = [
        "Mean scores a game. self-play: the same player in all seats. cross-play: each seat has a different run of the "
        "method. with M: seats are shared by runs of the row's method and of M. ± is a standard error: over the "
        "runs of the row's method (jackknife, which leaves out one run at a time), or over decks if fewer than two "
        "runs can be left out with a team remaining."
    ]
    columns = {key for m in result["methods"] for key in m["summary"]}
    if columns and not columns & {*KNOWING}:
        keys.append("Shares are over the games of self-play.")
    elif columns:
        keys.append(
            "perfect games, lost by strikes: shares of the games of self-play. knowing ...: shares of the cards that "
            "the teams played, by what their holder knew from hints and from the cards that it saw. in vain: share of "
            "cards that did not fit."
        )
    return [
        *keys,
        "Mean score of tables with the players of the row and of the column; the diagonal is self-play. ± is a "
        "standard error over decks.",
    ]


def notes(result: dict[str, Any]) -> list[str]:
    """List the remarks below the tables.

    Args:
        result: Object that `results.result` returns.
    """
    lines: list[str] = []
    for name, player in zip(_specs_by_name(result), result["players"]):
        if player["sees_state"]:
            lines.append(f"{name}: {SAW_STATE}")
        lines += [f"{name}: {caveat}" for caveat in player["caveats"]]
    return lines


def make_report(result: dict[str, Any]) -> Report:
    """Make the report of a cross-play.

    Args:
        result: Object that `results.result` returns.
    """
    return Report(
        result,
        _heading(result),
        _tables(result),
        keys=_keys(result),
        title="Cross-play",
        names=_legend(result),
        notes=notes(result),
        figures=[ReportFigure("mean score of each pair of players", PLOT, partial(_plot, result))],
        resolved={name: player["resolved"] for name, player in zip(_specs_by_name(result), result["players"])},
        builds=result["versions"],
    )


def _plot(result: dict[str, Any], path: Path) -> None:
    """Draw the matrix of scores as a heat map, with lines between methods, and save a PNG.

    If the game reports how much players knew of the cards that they played, a second plot shows the shares by method
    (Figure 4 of "Off-Belief Learning").
    """
    from trickformer.plumbing.figures import add_legend, drawing, save

    matrix, methods = np.array(result["matrix"]), result["methods"]
    order = [player for m in methods for player in m["runs"]]
    knowledge = {m["method"]: [m["summary"].get(key) for key in KNOWING] for m in methods}
    knowledge = {name: shares for name, shares in knowledge.items() if None not in shares}
    side = 2.2 + 0.45 * len(order)  # width of the matrix, in inches
    size = side + (4.2 if knowledge else 0), max(side, 3.2)
    with drawing(1, 2 if knowledge else 1, {"font.size": 9}, figsize=size, squeeze=False) as (figure, axes):
        left = axes[0, 0]
        image = left.imshow(matrix[np.ix_(order, order)], cmap="viridis", vmin=0)
        middle = image.norm.vmax / 2
        for (row, column), score in np.ndenumerate(matrix[np.ix_(order, order)]):
            ink = "white" if score < middle else "black"  # low scores have dark cells
            left.text(column, row, f"{score:.1f}", ha="center", va="center", color=ink, fontsize=8)
        labels = [m["method"] + f" {k + 1}" * (len(m["runs"]) > 1) for m in methods for k in range(len(m["runs"]))]
        left.set_xticks(range(len(order)), labels, rotation=60, ha="right")
        left.set_yticks(range(len(order)), labels)
        for edge in np.cumsum([len(m["runs"]) for m in methods])[:-1]:
            left.axhline(edge - 0.5, color="white", linewidth=2)
            left.axvline(edge - 0.5, color="white", linewidth=2)
        left.set_title("mean score at one table (higher is better)")
        if knowledge:
            right, base = axes[0, 1], np.zeros(len(knowledge))
            for key, share in zip(KNOWING, np.array(list(knowledge.values())).T):
                right.barh(list(knowledge), share, left=base, label=key.removeprefix("played knowing "))
                base += share
            right.invert_yaxis()
            right.set(xlim=(0, 1), title="known of the cards played", xlabel="share of the cards played")
            add_legend(figure, right)
        save(figure, path)


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    error = cell["se_runs"] if cell["se_runs"] is not None else cell["se_decks"]
    return _number(cell["mean"], error)


def _number(mean: float | None, error: float | None) -> str:
    return f"{mean:.2f}" + ("" if error is None else f" ± {error:.2f}")
