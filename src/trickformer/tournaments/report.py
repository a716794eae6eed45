"""The report of a tournament, made from its JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trickformer.plumbing.folder import RESULT
from trickformer.plumbing.report import Report, ReportTable
from trickformer.plumbing.tables import SAW_STATE, p_value, seconds
from trickformer.tournaments import gains
from trickformer.tournaments.results import TournamentResults

PLOT, GAINS = "plot.png", "gains.png"


def write(results: TournamentResults, folder: Path) -> None:
    """Write result.json, report.md and the figures. Raises TrickformerError if the disk refuses."""
    from trickformer.tournaments.plot import plot

    result = results.result()
    make_report(result).write(folder, RESULT)
    plot(results, folder / PLOT)
    if "gains" in result:
        gains.plot(result["gains"], list(who(result)), folder / GAINS)


def tables(result: dict[str, Any]) -> list[tuple[str, ReportTable]]:
    """Titles and cells of the tables of a result."""
    names = list(who(result))
    if "rows" in result:
        return [("", _match_table(result)), *_summary(result, names)]
    ratings = [(names[r["player"]], _format_signed(r["rating"]), _interval(r["ci95"])) for r in result["ratings"]]
    cross = [
        (names[i], *("" if i == j else _format_signed(d) for j, d in enumerate(row)))
        for i, row in enumerate(result["differences"])
    ]
    found: list[tuple[str, ReportTable]] = [
        (
            "Rating (points a hand better than the field, least squares, sum 0)",
            (("", "rating", "95% interval"), ratings),
        ),
        ("Difference in score, row minus column", (("", *names), cross)),
    ]
    found += _summary(result, names)
    return found + [(" against ".join(_names(m)), _match_table(m)) for m in result["matches"]]


def _summary(result: dict[str, Any], names: list[str]) -> list[tuple[str, ReportTable]]:
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


def _match_table(result: dict[str, Any]) -> ReportTable:
    rows = result["rows"].values()
    a, b = _names(result)
    cells: list[Sequence[str]] = [
        (a, *(f"{r['a']:.2f}" for r in rows)),
        (b, *(f"{r['b']:.2f}" for r in rows)),
        (f"{a} − {b}", *(_format_signed(r["difference"]) for r in rows)),
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
        if both := m.get("mixed"):
            low, high = both["ci95"]
            score = f"{both['score']:.2f}" + ("" if low is None else f" [{low:.2f}, {high:.2f}]")
            lost = f"{_format_signed(both['difference'])} {_interval(both['difference_ci95'])}".strip()
            lines.append(f"{a} and {b} at one table: {score}; less the mean of their own teams: {lost}")
    lines += gains.notes(result.get("gains", []), list(who(result)))
    use = result["seconds_per_turn"]
    for key in use if isinstance(use, dict) else range(len(use)):
        name = key.upper() if isinstance(key, str) else f"P{key + 1}"
        mean, batch, illegal = (result[f][key] for f in ("seconds_per_turn", "batch", "illegal"))
        line = f"{name}: no turn" if mean is None else f"{name}: {seconds(mean)} a turn in batches of {batch:.1f}"
        if illegal["searched"]:
            share = illegal["illegal"] / illegal["searched"]
            line += f"; {illegal['illegal']:,} of {illegal['searched']:,} histories illegal ({share:.2%})"
        if "clock" in result and (turns := result["turns"][key]):
            over = result["overran"][key]
            line += (
                f"; {over:,} of {turns:,} turns ({over / turns:.2%}) took longer than the {result['clock']:g} s given"
            )
        if key in result["sees_state"]:
            line += f"; {SAW_STATE}"
        line += "".join(f"; {caveat}" for caveat in result["caveats"].get(str(key), ()))
        lines.append(line)
    lines += warnings(result)
    if result["deals"] < result["scheduled_deals"]:
        lines.append(f"INCOMPLETE: {result['deals']} of {result['scheduled_deals']} deals are finished")
    return lines


_FAULTS = {"crash": "crashes", "illegal": "illegal answers", "timeout": "time-outs", "protocol": "broken messages"}


def warnings(result: dict[str, Any]) -> list[str]:
    """A line for each engine that broke the protocol, or was started again."""
    names = list(who(result))
    lines: list[str] = []
    for key, faults in result.get("engine_faults", {}).items():
        name = names[int(key)] if key.isdigit() else key.upper()
        counts = ", ".join(f"{faults[kind]:,} {words}" for kind, words in _FAULTS.items() if kind in faults)
        lines.append(f"warning: the engine {name} was started again {faults['restarts']:,} times: {counts}")
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


def make_report(result: dict[str, Any]) -> Report:
    """Make the report of a tournament's result."""
    sample = (
        "One sample is a deal, played by a team of each. A − B is the difference of the two games"
        if result.get("teams")
        else "One sample is a deal with all its seatings. A − B is the mean over a deal's seatings of the mean of "
        "A's seats minus the mean of B's"
    )
    method = (
        f"{sample}; the interval is a bootstrap over deals, p the Wilcoxon signed-rank test over deals. Seconds a turn "
        "are wall seconds inside the player, forced moves included."
    )
    worst = "`trickformer records worst` on this folder lists its deals, the worst of A first, and their games."
    specs = result["resolved"].values() if isinstance(result["resolved"], dict) else result["resolved"]
    read = ", ".join(f"`{name}` {digest[:12]}" for name, digest in result.get("files", {}).items())
    gained = [("what searches say they gain", GAINS)] if "gains" in result else []
    return Report(
        result,
        heading(result),
        tables(result),
        title="Tournament",
        names=who(result),
        notes=notes(result),
        figures=[("differences", PLOT), *gained],
        method=[method, worst, *([f"Files by SHA-256: {read}."] if read else [])],
        resolved=dict(zip(who(result), specs)),
        builds=result["versions"],
    )


def _interval(ci95: Sequence[float | None]) -> str:
    low, high = ci95
    return "" if low is None or high is None else f"[{_format_signed(low)}, {_format_signed(high)}]"


def _format_signed(x: float) -> str:
    return f"{round(x, 2) + 0.0:+.2f}"  # never -0.00
