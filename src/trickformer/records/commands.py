"""`trickformer records check|convert`; review/commands.py adds the others.

Commands import their modules when they run.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from trickformer.plumbing import config as configs
from trickformer.plumbing import terminal
from trickformer.plumbing.text import count_noun, to_json

app = typer.Typer(help="Show, check, convert and review games on record, our own and those of other programs.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="Run folder or file of games, or - for standard input.")]


@app.command(epilog="Example: trickformer records check out/match")
def check(file: File, as_json: configs.Json = False) -> None:
    """Replay every game. Exit code 1 if a result differs, or a game is damaged, missing or cannot be checked."""
    from trickformer.plumbing import lines
    from trickformer.records import check as checks
    from trickformer.records import files
    from trickformer.records.skat.check import AGREES, BROKEN_OFF, DAMAGED, DIFFERS, NOT_ISKO

    counts: Counter[str] = Counter()
    notable = []
    path = files.place(file)
    faults = lines.checksum_faults(path)
    for finding in checks.check_all(files.games(path), faults.changed):
        counts[finding.status] += 1
        if finding.status != AGREES or finding.notes:
            notable.append(finding)
    statuses = (AGREES, BROKEN_OFF, DIFFERS, DAMAGED)
    if as_json:
        findings = [{f: getattr(finding, f) for f in finding.__slots__} for finding in notable]
        counted = {s: counts[s] for s in (*statuses, NOT_ISKO, checks.NOT_INSTALLED)}
        print(to_json({"games": counts.total()} | counted | {"missing": faults.missing, "findings": findings}))
    else:
        for finding in notable:
            terminal.out(str(finding) if finding.status == NOT_ISKO else f"{finding.status}: {finding}")
        if faults.missing:
            terminal.out(f"missing: {count_noun(faults.missing, 'game')} of the run; restore {path} from a copy")
        statuses += tuple(status for status in (NOT_ISKO, checks.NOT_INSTALLED) if counts[status])
        plurals = {AGREES: "agree", DIFFERS: "differ"}
        words = {status: status if counts[status] == 1 else plurals.get(status, status) for status in statuses}
        total = f"{counts.total()} game{'s' * (counts.total() != 1)}"
        print(f"{total}: " + ", ".join(f"{counts[status]} {words[status]}" for status in statuses))
    is_bad = faults.missing or any(counts[status] for status in (DIFFERS, DAMAGED, checks.NOT_INSTALLED))
    raise typer.Exit(int(bool(is_bad)))


@app.command(epilog="Example: trickformer records convert games.sgf games.jsonl")
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Run folder or file of games, or - for standard input.")],
    target: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="New file: .jsonl for ours, .sgf for ISS (Skat), .json for hanab.live."),
    ],
    game: Annotated[int | None, typer.Option(min=1, help="Number of the only game to convert, from 1.")] = None,
) -> None:
    """Convert games to self-contained JSON lines, Skat games to ISS records or a Hanabi game to hanab.live's JSON."""
    from trickformer.records import files

    print(f"{count_noun(files.convert(files.place(source), target, game), 'game')} written to {target}")
