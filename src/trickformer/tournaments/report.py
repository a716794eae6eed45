"""The terminal's tables and the Markdown report of a tournament, both made from its JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trickformer.base import TrickformerError
from trickformer.folder import replace
from trickformer.tournaments.results import Results

RESULT, REPORT, PLOT = "result.json", "report.md", "plot.png"
Table = tuple[Sequence[str], Sequence[Sequence[str]]]  # head, rows; the first column is text, the others numbers


def write(results: Results, folder: Path) -> None:
    """Writes result.json, report.md and plot.png. Raises TrickformerError where the disk refuses."""
    from trickformer.tournaments.plot import plot

    result = results.result()
    replace(folder / RESULT, json.dumps(result, indent=2) + "\n")
    replace(folder / REPORT, markdown(result))
    try:
        plot(results, folder / PLOT)
    except OSError as e:
        raise TrickformerError(f"cannot write {folder / PLOT}: {e.strerror}") from None


def tables(result: dict[str, Any]) -> list[tuple[str, Table]]:
    """Titles and cells of the tables of a result."""
    names = list(who(result))
    if "rows" in result:
        return [("", _match_table(result)), *_summary(result, names)]
    ratings = [(names[r["player"]], _signed(r["rating"]), _interval(r["ci95"])) for r in result["ratings"]]
    cross = [
        (names[i], *("" if i == j else _signed(d) for j, d in enumerate(row)))
        for i, row in enumerate(result["differences"])
    ]
    found: list[tuple[str, Table]] = [
        (
            "Rating (points a hand better than the field, least squares, sum 0)",
            (("", "rating", "95% interval"), ratings),
        ),
        ("Difference in score, row minus column", (("", *names), cross)),
    ]
    found += _summary(result, names)
    return found + [(" against ".join(_names(m)), _match_table(m)) for m in result["matches"]]


def _summary(result: dict[str, Any], names: list[str]) -> list[tuple[str, Table]]:
    """What the game tells of its players besides scores."""
    if "summary" not in result:
        return []
    columns = result["summary"]
    rows = [(key, *(_figure(key, c[key]) for c in columns)) for key in columns[0]]
    return [("By player: games, and how they were played", (("", *names), rows))]


def _figure(key: str, x: float | None) -> str:
    if x is None:
        return ""
    return f"{x:.1f}" if key.startswith("points") else f"{x:.1%}"


def _match_table(result: dict[str, Any]) -> Table:
    rows = result["rows"].values()
    a, b = _names(result)
    cells: list[Sequence[str]] = [
        (a, *(f"{r['a']:.2f}" for r in rows)),
        (b, *(f"{r['b']:.2f}" for r in rows)),
        (f"{a} − {b}", *(_signed(r["difference"]) for r in rows)),
        ("95% interval", *(_interval(r["ci95"]) for r in rows)),
        ("p (Wilcoxon)", *(p_value(r["p"]) for r in rows)),
    ]
    return (
        "",
        *(label.replace("A", a).replace("B", b) if "/" in label else label for label in result["rows"]),
    ), cells


def _names(match: dict[str, Any]) -> tuple[str, str]:
    """A and B, or P1, P2, ... in a round robin."""
    i, j = match.get("players", (None, None))
    return ("A", "B") if i is None else (f"P{i + 1}", f"P{j + 1}")


def notes(result: dict[str, Any]) -> list[str]:
    """The lines below the tables."""
    lines = []
    for m in [result] if "rows" in result else result["matches"]:
        a, b = _names(m)
        needed = m["deals_to_resolve"]
        line = f"{a} − {b}: "
        line += (
            "no difference to resolve" if needed is None else f"{needed:,} deals resolve this difference (80% power)"
        )
        if (far := m.get("extrapolation")) and far["difference"] is not None:
            line += f"; {far['difference']:+.1f} points in a game to {far['to']}"
        lines.append(line)
    use = result["seconds_per_turn"]
    for key in use if isinstance(use, dict) else range(len(use)):
        name = key.upper() if isinstance(key, str) else f"P{key + 1}"
        mean, batch, illegal = (result[f][key] for f in ("seconds_per_turn", "batch", "illegal"))
        line = f"{name}: no turn" if mean is None else f"{name}: {seconds(mean)} a turn in batches of {batch:.1f}"
        if illegal["searched"]:
            share = illegal["illegal"] / illegal["searched"]
            line += f"; {illegal['illegal']:,} of {illegal['searched']:,} histories illegal ({share:.2%})"
        if key in result["sees_state"]:
            line += "; SAW THE TRUE STATE, hidden cards included"
        lines.append(line)
    if result["deals"] < result["scheduled_deals"]:
        lines.append(f"INCOMPLETE: {result['deals']} of {result['scheduled_deals']} deals are finished")
    return lines


def heading(result: dict[str, Any]) -> str:
    """One line: what was played."""
    better = "higher" if result["higher_is_better"] else "lower"
    played = f"{result['game']}: {result['deals']:,} deals, seed {result['seed']}"
    return f"{played}; score a hand, {better} is better"


def who(result: dict[str, Any]) -> dict[str, str]:
    """Short names, A and B or P1, P2, ..., and the specs that were typed for them."""
    if "rows" in result:
        return {"A": result["a"], "B": result["b"]}
    return {f"P{i + 1}": spec for i, spec in enumerate(result["players"])}


def terminal(result: dict[str, Any]) -> None:
    """Prints the tables to standard output."""
    show(heading(result), who(result), tables(result), notes(result))


def show(
    heading: str, who: dict[str, str], tables: list[tuple[str, Table]], notes: list[str], words: bool = False
) -> None:
    """Prints to standard output: a line, what short names stand for, tables with their titles, further lines.

    words: the tables' cells are no numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable

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
        table = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for i, name in enumerate(head):
            table.add_column(name, justify="right" if i and not words else "left", overflow="fold", no_wrap=bool(i))
        for row in rows:
            table.add_row(*(cell.replace("[", r"\[") for cell in row))
        console.print(table)
    console.print()
    for line in notes:
        console.print(line, markup=False)


def markdown(result: dict[str, Any]) -> str:
    """The report as Markdown."""
    parts = [f"# Tournament\n\n{heading(result)}\n", named(who(result)), *markdown_tables(tables(result))]
    parts.append("".join(f"- {line}\n" for line in notes(result)))
    parts.append(f"![differences]({PLOT})\n")
    sample = (
        "One sample is a deal, played by a team of each. A − B is the difference of the two games"
        if result.get("teams")
        else "One sample is a deal with all its seatings. A − B is the mean over a deal's seatings of the mean of "
        "A's seats minus the mean of B's"
    )
    parts.append(
        f"{sample}; the interval is a bootstrap over deals, p the Wilcoxon signed-rank "
        "test over deals. Seconds a turn are wall seconds inside the player, forced moves included.\n"
    )
    specs = result["resolved"].values() if isinstance(result["resolved"], dict) else result["resolved"]
    parts.append("With all options:\n")
    parts.append(named(dict(zip(who(result), specs))))
    return "\n".join([*parts, *built(result["versions"])])


def named(specs: dict[str, str]) -> str:
    """A list of short names and what they stand for."""
    return "".join(f"- {name}: `{spec}`\n" for name, spec in specs.items())


def built(versions: list[dict[str, Any]]) -> list[str]:
    """A line for each build that has played."""
    return ["Played by " + ", ".join(f"{k} {v}" for k, v in b.items() if v is not None) + ".\n" for b in versions]


def markdown_tables(tables: list[tuple[str, Table]]) -> list[str]:
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


def _interval(ci95: Sequence[float | None]) -> str:
    low, high = ci95
    return "" if low is None or high is None else f"[{_signed(low)}, {_signed(high)}]"


def _signed(x: float) -> str:
    return f"{round(x, 2) + 0.0:+.2f}"  # never -0.00


def p_value(p: float) -> str:
    """p as a table shows it."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def seconds(s: float) -> str:
    """A time in the unit that suits it."""
    for scale, unit in ((1, "s"), (1e3, "ms")):
        if s * scale >= 1:
            return f"{s * scale:.3g} {unit}"
    return f"{s * 1e6:.3g} µs"
