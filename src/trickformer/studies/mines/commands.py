"""`trickformer mines ...`. Commands import what they need when they run."""

from __future__ import annotations

from typing import Any

import typer

from trickformer.plumbing import config as configs
from trickformer.studies.mines.plan import MinesComparison, OptimalPlay, SamplerAgreement

app = typer.Typer(help="Mines: optimal play, players by thinking time, and how layouts are drawn.")


@app.command(epilog="Example: trickformer mines exact --board 4x4 --mines 6")
@configs.options(OptimalPlay)
def exact(*, config: configs.File = None, as_json: configs.Json = False, **given: Any) -> None:
    """Solve a small board, or a position of any board that few layouts explain, and value every first move."""
    settings = configs.load(OptimalPlay, config, given)
    from trickformer.plumbing.report import Report
    from trickformer.studies.mines import exact as solver

    found = solver.solve(settings)
    rows = [(m["move"], f"{m['value']:.4f}", f"{m['expected_moves']:.4f}") for m in found["moves"]]
    where = found["position"] or f"first move {found['first_move_rule']}"
    heading = (
        f"Mines {found['board']}, {found['mines']} mines, {where}: best is {found['first_move']}, {found['value']:.4f}"
    )
    Report(found, heading, [("", (("cell", "score at the end", "cells opened from here on"), rows))]).print(as_json)


@app.command(epilog="Example: trickformer mines table --board 4x4 --mines 6 --seconds 0.001 0.004 --out out/mines")
@configs.options(MinesComparison)
def table(
    *, config: configs.File = None, resume: configs.Resume = False, as_json: configs.Json = False, **given: Any
) -> None:
    """Play BSR-UCT by belief and thinking time on the same boards, and report scores with intervals."""
    settings = configs.load(MinesComparison, config, given, resume)
    from trickformer.studies.mines import report, results
    from trickformer.tournaments import run

    found = results.result(run.tournament(settings, resume))
    made = report.make_report(found)
    made.publish(as_json, settings.out, report.SUMMARY, lambda folder: report.draw(found, folder))


@app.command(epilog="Example: trickformer mines agree --board 4x4 --mines 6")
@configs.options(SamplerAgreement)
def agree(
    *, config: configs.File = None, resume: configs.Resume = False, as_json: configs.Json = False, **given: Any
) -> None:
    """Test at random positions whether rejection, Metropolis and exact draws have the same distribution."""
    settings = configs.load(SamplerAgreement, config, given, resume)
    from trickformer.studies.mines import agree as measure

    result = measure.agree(settings, resume)
    made = measure.make_report(result)
    made.publish(as_json, settings.out, measure.SUMMARY, lambda folder: measure.draw(result, folder))
