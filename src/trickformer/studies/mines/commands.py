"""`trickformer mines ...`. Commands import what they need when they run."""

from __future__ import annotations

from typing import Any

import typer

from trickformer.plumbing import config as configs
from trickformer.studies.mines.plan import MinesComparison, OptimalPlay, SamplerAgreement

_TIE = 1e-9  # values that differ by less are equal, up to rounding

app = typer.Typer(help="Mines: optimal play, BSR-UCT players by thinking time, and a test of layout samplers.")


@configs.command(app, OptimalPlay, example="trickformer mines exact --board 4x4 --mines 6")
def exact(*, config: configs.File = None, as_json: configs.Json = False, **options: Any) -> None:
    """Solve a small board, or a position with few consistent layouts, and evaluate every move."""
    settings = configs.load(OptimalPlay, config, options)
    from trickformer.plumbing.report import Report
    from trickformer.studies.mines import exact as solver

    solution = solver.solve(settings)
    rows = [(m["move"], f"{m['value']:.4f}", f"{m['expected_moves']:.4f}") for m in solution["moves"]]
    where = solution["position"] or f"first move {solution['first_move_rule']}"
    where += ", cascade" * solution["cascade"]
    board = f"Mines {solution['board']}, {solution['mines']} mines"
    is_only = len(solution["moves"]) == 1 or solution["moves"][1]["value"] < solution["value"] - _TIE
    article = "the" if is_only and len(solution["moves"][0]["cells"]) == 1 else "a"
    heading = (
        f"{board}, {where}: {article} best cell is {solution['first_move']}, "
        f"with a final score of {solution['value']:.4f}"
    )
    table = (("cell", "final score", "cells opened from here on"), rows)
    key = (
        "final score: mean share of the cells without a mine that are open at the end, if best play follows this cell. "
        "cells opened from here on: mean number, this cell included."
    )
    if any("(" in move["move"] for move in solution["moves"]):
        key += " (0,1): row and column of a cell, counted from 0."
    Report(solution, heading, [("", table)], keys=[key]).print(as_json)


@configs.command(
    app, MinesComparison, example="trickformer mines table --board 4x4 --mines 6 --seconds 0.001 0.004 --out out/mines"
)
def table(
    *, config: configs.File = None, resume: configs.Resume = False, as_json: configs.Json = False, **options: Any
) -> None:
    """Compare BSR-UCT players by belief and thinking time on the same boards."""
    settings = configs.load(MinesComparison, config, options, resume)
    from trickformer.studies.mines import report, results
    from trickformer.tournaments import run

    result = results.result(run.tournament(settings, resume))
    report.make_report(result).publish(as_json, settings.out, report.SUMMARY)


@configs.command(app, SamplerAgreement, example="trickformer mines agree --board 4x4 --mines 6")
def agree(
    *, config: configs.File = None, resume: configs.Resume = False, as_json: configs.Json = False, **options: Any
) -> None:
    """Test whether rejection, Metropolis and exact samplers draw mine layouts equally often."""
    settings = configs.load(SamplerAgreement, config, options, resume)
    from trickformer.studies.mines import agree as measure

    result = measure.agree(settings, resume)
    measure.make_report(result).publish(as_json, settings.out, measure.SUMMARY)
