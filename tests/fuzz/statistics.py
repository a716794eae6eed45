"""What libFuzzer prints, as numbers, and the table of all targets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_PROGRESS = re.compile(r"cov: (\d+) ft: (\d+) corp: (\d+)")
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s+(\d+)")
_DONE = re.compile(r"Done (\d+) runs in (\d+) second")
_COUNT = re.compile(r"^#(\d+)\s", re.MULTILINE)


@dataclass
class Outcome:
    """How the fuzzing of a target ended.

    Attributes:
        name: The target.
        seconds: Wall seconds of libFuzzer, without imports.
        executions: Inputs that were read.
        edges: Edges that were reached, as libFuzzer counts them.
        features: Edges with their counts, and results of comparisons.
        corpus: Inputs that reached something new.
        finds: What went wrong, a line each.
    """

    name: str
    seconds: int = 0
    executions: int = 0
    edges: int = 0
    features: int = 0
    corpus: int = 0
    finds: list[str] = field(default_factory=list)

    @property
    def folder(self) -> str:
        """Name of the folders of its corpus and its finds."""
        return re.sub(r"[^A-Za-z0-9]+", "-", self.name)


def read_statistics(text: str, outcome: Outcome) -> None:
    """Take the numbers from what libFuzzer has printed."""
    if progress := _PROGRESS.findall(text):
        outcome.edges = int(progress[-1][0])
        outcome.features, outcome.corpus = map(int, progress[-1][1:])
    counts = _EXECUTED.findall(text) or _COUNT.findall(text)
    outcome.executions = int(counts[-1]) if counts else 0
    if done := _DONE.findall(text):
        outcome.seconds = int(done[-1][1])


def row(outcome: Outcome) -> str:
    """Format an outcome as a row of the table."""
    numbers = [outcome.seconds, outcome.executions, outcome.edges, outcome.features, outcome.corpus, len(outcome.finds)]
    return f"| {outcome.name} | {' | '.join(f'{n:,}' for n in numbers)} |"


def table(outcomes: list[Outcome]) -> str:
    """Format the outcomes in Markdown, and list the finds."""
    seconds, executions = sum(o.seconds for o in outcomes), sum(o.executions for o in outcomes)
    head = "| target | seconds | executions | edges | features | corpus | finds |"
    lines = [head, "|---|---:|---:|---:|---:|---:|---:|", *map(row, outcomes)]
    lines.append(f"| all | {seconds:,} | {executions:,} | | | | {sum(len(o.finds) for o in outcomes):,} |")
    return "\n".join([*lines, "", *(f"- {outcome.name}: {find}" for outcome in outcomes for find in outcome.finds)])
