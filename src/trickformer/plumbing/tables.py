"""Tables of reports, on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

SAW_STATE = "SAW THE TRUE STATE, hidden cards included"  # of a player that is given it

# Head and rows; the first column is text, the others numbers.
TextTable: TypeAlias = tuple[Sequence[str], Sequence[Sequence[str]]]


def show(
    heading: str, who: dict[str, str], tables: list[tuple[str, TextTable]], notes: list[str], words: bool = False
) -> None:
    """Prints to standard output: a line, what short names stand for, tables with their titles, further lines.

    words: the tables' cells are no numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 200  # a pipe has no width; tables end where their cells do
    console.print(heading, markup=False)
    for name, spec in who.items():
        console.print(f"{name}  {spec}", markup=False)
    console.print()
    for title, (head, rows) in tables:
        if title:
            console.print("\n" + title, markup=False)
        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for i, name in enumerate(head):
            table.add_column(name, justify="right" if i and not words else "left", overflow="fold", no_wrap=bool(i))
        for row in rows:
            table.add_row(*(cell.replace("[", r"\[") for cell in row))
        console.print(table)
    console.print()
    for line in notes:
        console.print(line, markup=False)


def format_specs(specs: dict[str, str]) -> str:
    """A list of short names and what they stand for."""
    return "".join(f"- {name}: `{spec}`\n" for name, spec in specs.items())


def format_builds(versions: list[dict[str, Any]]) -> list[str]:
    """A line for each build that has played."""
    return ["Played by " + ", ".join(f"{k} {v}" for k, v in b.items() if v is not None) + ".\n" for b in versions]


def markdown_tables(tables: list[tuple[str, TextTable]]) -> list[str]:
    """Each title, where there is one, and each table."""
    parts = []
    for title, (head, rows) in tables:
        if title:
            parts.append(f"## {title}\n")
        lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
        parts.append("".join("| " + " | ".join(_cell(c) for c in line) + " |\n" for line in lines))
    return parts


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def mean_and_error(
    values: Sequence[float] | np.ndarray, samples: Sequence[int] | None = None
) -> dict[str, float | None]:
    """The mean and its standard error, as a JSON object has them; None where there are too few.

    samples: by value, which sample it is part of; each is one of its own if not given. The values of a sample may
    depend on each other: the error is that of a ratio of two sums over samples, to first order (Cochran, Sampling
    Techniques, 1977, 6.3)."""
    x = np.asarray(values, dtype=np.float64)
    if not len(x):
        return {"mean": None, "se": None}
    mean = float(x.mean())
    off = x - mean
    if samples is not None:
        off = np.bincount(np.unique(samples, return_inverse=True)[1], weights=off)
    n = len(off)
    return {"mean": mean, "se": float(np.sqrt((off**2).sum() * n / (n - 1)) / len(x)) if n > 1 else None}


def plus_minus(x: dict[str, float | None], signed: bool = False) -> str:
    """Such a mean with its error as a table shows it."""
    mean, error = x["mean"], x["se"]
    said = "-" if mean is None else f"{mean:{'+' if signed else ''}.3f}"
    return said if error is None else f"{said} ± {error:.3f}"


def p_value(p: float) -> str:
    """p as a table shows it."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def seconds(s: float) -> str:
    """A time in the unit that suits it."""
    for scale, unit in ((1, "s"), (1e3, "ms")):
        if s * scale >= 1:
            return f"{s * scale:.3g} {unit}"
    return f"{s * 1e6:.3g} µs"
