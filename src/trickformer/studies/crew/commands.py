"""`trickformer crew ...`. Commands import what they need when they run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from trickformer.plumbing import config as configs
from trickformer.studies.crew.plan import CrewEvaluation, Iterations

app = typer.Typer(help="The Crew: success by mission, and the missions themselves.")

File = Annotated[
    str, typer.Option("--file", metavar="FILE", help="TOML file of missions (default: those of the logbook).")
]


@configs.command(
    app, CrewEvaluation, example="trickformer crew evaluate --player pimc rules --games 100 --out out/crew"
)
def evaluate(
    *, config: configs.File = None, resume: configs.Resume = False, as_json: configs.Json = False, **options: Any
) -> None:
    """Let one player, or two to compare, play every mission in all four seats, and report the games won."""
    settings = configs.load(CrewEvaluation, config, options, resume)
    from trickformer.studies.crew import ceiling, report, results
    from trickformer.tournaments import run

    played = run.tournament(settings, resume)
    winnable = ceiling.answers(played.config, played.records) if settings.ceiling else None
    result = results.CrewResults(played, winnable).result()
    report.make_report(result).publish(as_json, settings.out, report.SUMMARY)


@configs.command(app, Iterations, example="trickformer crew iterations --run out/crew-small --out out/iterations")
def iterations(*, config: configs.File = None, as_json: configs.Json = False, **options: Any) -> None:
    """Measure the success by mission of each model of a self-play run. Games in --out are not played again."""
    settings = configs.load(Iterations, config, options)
    from trickformer.studies.crew import report, results

    result = results.iterations(settings)
    report.make_report(result).publish(as_json, settings.out, report.SUMMARY)


@app.command(epilog="Example: trickformer crew missions")
def missions(file: File = "", as_json: configs.Json = False) -> None:
    """List the missions, and the rules that a custom mission may have."""
    from trickformer.games import missions
    from trickformer.plumbing.report import Report, ReportTable

    pages = missions.read(file)
    result = {"missions": [page.model_dump() for page in pages], "rules": missions.RULES}
    head = ("mission", "tasks", "tokens", "communication", "allocation", "rules")
    cells = [
        (str(p.id), str(p.tasks or ""), " ".join(p.tokens), p.communication, p.allocation, ", ".join(p.rules))
        for p in sorted(pages, key=lambda page: page.id)
    ]
    rules = list(missions.RULES.items())
    shown: list[tuple[str, ReportTable]] = [("", (head, cells)), ("Rules", (("rule", "meaning"), rules))]
    notes = [
        "tasks: number of task cards.",
        "tokens set the order of tasks: " + ", ".join(missions.TILES[: missions.NO_TILE]) + ". Number n: fulfilled as "
        "the n-th of all tasks. >, >>, ...: in this order among each other. omega: last.",
        "communication: " + ", ".join(missions.COMMUNICATION) + ". In the dead zone a card is shown without saying "
        "whether it is the highest, only or lowest. from trick N: none before it.",
        "allocation: " + ", ".join(missions.ALLOCATION) + ". draft: each takes a task in turn. decision: the commander "
        "names who takes all tasks. distribution: the commander gives each task to a player. member, roles: the "
        "commander names the player, or the players, of the rule.",
        "A file of missions of your own has a table [[mission]] for each, with id and every key that differs from the "
        'defaults: tasks = 0, tokens = [], communication = "normal", rules = []. By default allocation is "draft" if '
        "there are tasks.",
    ]
    heading = f"The missions of {file or 'the logbook'}"
    Report(result, heading, shown, notes=notes, words=True).print(as_json)
