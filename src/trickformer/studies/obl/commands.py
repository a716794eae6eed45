"""`trickformer obl ...`. Commands import what they need when they run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from trickformer.base import TrickformerError
from trickformer.plumbing import config as configs
from trickformer.plumbing import terminal
from trickformer.plumbing.folder import RESULT
from trickformer.studies.crossplay.plan import CrossPlay
from trickformer.studies.obl.config import ExactStudy, Toy
from trickformer.studies.obl.hanabi.config import OffBeliefTraining

app = typer.Typer(help="Off-belief learning: exact on small games, learned on the toy game and on Hanabi.")

Name = Annotated[str | None, typer.Argument(metavar="GAME", help="Same as --game.", show_default=False)]


@configs.command(app, ExactStudy, example="trickformer obl exact --game toy")
def exact(*, name: Name = None, config: configs.File = None, as_json: configs.Json = False, **options: Any) -> None:
    """Compute levels of off-belief learning exactly, with cognitive hierarchies and self-play as baselines."""
    if name is not None and options["game"] is not None:
        raise TrickformerError(f"the game is given twice, {name} and --game {options['game']}; leave one out")
    settings = configs.load(ExactStudy, config, options | ({"game": name} if name is not None else {}))
    from trickformer.studies.obl import exact as solver

    solver.make_report(solver.solve(settings)).print(as_json)


@configs.command(app, Toy, example="trickformer obl toy --out out/obl-toy")
def toy(*, config: configs.File = None, as_json: configs.Json = False, **options: Any) -> None:
    """Learn the OBL paper's toy game by each method in independent runs, cross-play the runs, and draw Figure 2."""
    settings = configs.load(Toy, config, options)
    from trickformer.studies.obl import study

    result = study.measure(settings)
    report = study.make_report(result)
    report.print(as_json)
    terminal.flush()
    if settings.out is not None:
        report.draw(settings.out)


@configs.command(
    app, CrossPlay, example="trickformer obl crossplay --players partner:style=smart partner:style=piers --games 100"
)
def crossplay(
    *, config: configs.File = None, resume: configs.Resume = False, as_json: configs.Json = False, **options: Any
) -> None:
    """Seat players with themselves, with other runs of their method and with other players, and report the scores."""
    settings = configs.load(CrossPlay, config, options, resume)
    from trickformer.studies.crossplay import report, results
    from trickformer.tournaments import run

    result = results.result(run.tournament(settings, resume))
    report.make_report(result).publish(as_json, settings.out, RESULT)


@configs.command(
    app,
    OffBeliefTraining,
    positional="game",
    example="trickformer obl train hanabi --method obl --level 1 --out out/obl-1",
)
def train(*, config: configs.File = None, resume: configs.Resume = False, **options: Any) -> None:
    """Train a network on Hanabi by off-belief learning, self-play or imitation; player obl loads the folder."""
    settings = configs.load(OffBeliefTraining, config, options, resume)
    from trickformer.studies.obl.hanabi import training

    print(training.command(settings, resume))
