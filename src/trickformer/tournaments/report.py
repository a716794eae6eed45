"""The report of a tournament, made from its JSON object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from trickformer import games
from trickformer.base import MeanOfGames, game_name
from trickformer.plumbing.folder import RESULT
from trickformer.plumbing.report import Report, ReportFigure, ReportTable
from trickformer.plumbing.tables import SAW_STATE, format_difference, format_interval, p_value, seconds
from trickformer.plumbing.terminal import one_line
from trickformer.plumbing.text import count_noun
from trickformer.tournaments import gains
from trickformer.tournaments.conclusion import conclude, labels
from trickformer.tournaments.names import short_names
from trickformer.tournaments.plan import Tournament
from trickformer.tournaments.power import FEWEST_DEALS, FEWEST_RANKS
from trickformer.tournaments.results import SCHEMA, TournamentResults
from trickformer.tournaments.run import TournamentRun, tournament

PLOT, GAINS = "plot.png", "gains.png"
_BY_SEATS = "mean over seats"  # name of the row `Seats`

Section = tuple[str, ReportTable, str]  # title, table, explanation of its columns


def play_and_report(config: Tournament, resume: bool = False) -> TournamentResults:
    """Play a tournament, and write its report if it has a run folder.

    Args:
        config: The tournament.
        resume: Whether to continue the run in its folder.

    Raises:
        UnknownNameError: A name in the tournament does not exist.
        TrickformerError: The input is bad, or the report cannot be written.
        Interruption: Ctrl-C.
    """
    results = TournamentResults(tournament(config, resume))
    if config.out is not None:
        write(results, config.out)
    return results


def write(results: TournamentResults, folder: Path) -> None:
    """Write result.json, report.md and the figures.

    Args:
        results: Results of the tournament.
        folder: Run folder.

    Raises:
        TrickformerError: A report file cannot be written. A figure that cannot be drawn is only a warning.
    """
    report = make_report(results)
    report.write(folder, RESULT)
    report.draw(folder)


def make_report(results: TournamentResults) -> Report:
    """Make the report of a tournament.

    Args:
        results: Results of the tournament.
    """
    result = results.result()
    sections, appendix = _sections(result)
    specs = result["resolved"].values() if isinstance(result["resolved"], dict) else result["resolved"]
    figures = [ReportFigure("differences", PLOT, partial(_plot, results))]
    if "gains" in result:
        plot = partial(gains.plot, result["gains"], labels(result), unit=_score_unit(result).split()[0])
        figures.append(ReportFigure("gains that the searches estimate", GAINS, plot))
    return Report(
        result,
        _heading(result),
        [(title, table) for title, table, _ in sections],
        keys=[key for _, _, key in sections],
        appendix=appendix,
        conclusion=conclude(result),
        title="Tournament",
        names=_specs_by_name(result),
        notes=notes(result),
        figures=figures,
        method=_method(result),
        resolved=dict(zip(_specs_by_name(result), specs)),
        builds=result["versions"],
    )


def _plot(results: TournamentResults, path: Path) -> None:
    from trickformer.tournaments.plot import plot

    plot(results, path)


def make_progress_report(run: TournamentRun) -> Report:
    """Make the report of a run that has not finished a deal yet.

    Args:
        run: The run.
    """
    tables, game = len(run.records), run.config.game
    result = {"schema": SCHEMA, "game": game, "deals": 0, "scheduled_deals": run.config.deals, "tables": tables}
    conclusion = (
        f"No deal is finished yet: {tables:,} tables are played. Report again later, or continue with --resume."
    )
    return Report(result, f"{game}: 0 of {run.config.deals:,} deals, seed {run.config.seed}", [], conclusion=conclusion)


def _heading(result: dict[str, Any]) -> str:
    """Describe the tournament in one line."""
    better = "higher" if result["higher_is_better"] else "lower"
    deals = count_noun(result["deals"], "deal")
    played = f"{result['game']}: {deals}, seed {result['seed']}"
    return f"{played}; {_score_name(result)}, {better} is better"


def _is_won(result: dict[str, Any]) -> bool:
    """Return whether scores are shares of games won."""
    return result["unit"] == "games won"


def _score_unit(result: dict[str, Any]) -> str:
    """Return the unit of a mean score, such as points a hand."""
    return "wins a game" if _is_won(result) else result["unit"]


def _score_name(result: dict[str, Any]) -> str:
    """Name the score of a result, with its unit."""
    if game_name(result["game"]) == "mines":
        return f"cells opened a board, of {games.load(result['game']).worth[0]:g}"
    return "share of games won" if _is_won(result) else "score a hand"


def _specs_by_name(result: dict[str, Any]) -> dict[str, str]:
    """Return the specs that were typed, by A and B in a match of two players, otherwise by short names."""
    names = ["A", "B"] if "rows" in result else short_names(result["players"])
    return dict(zip(names, result["players"]))


def _sections(result: dict[str, Any]) -> tuple[list[Section], list[Section]]:
    """Return the sections that are always shown, and the sections that only report.md has."""
    work = ("Time and work", *_work(result))
    summary = [("How they played", _summary(result), _summary_key(result))] if "summary" in result else []
    if "rows" in result:
        return [("", _match_table(result, result["matches"][0]), _match_key(result)), *summary, work], []
    ratings = ("Rating", _ratings(result), _rating_key(result))
    matches = [(_versus(result, m), _match_table(result, m), _match_key(result)) for m in result["matches"]]
    if result.get("gauntlet"):
        return [("", _opponents(result), _opponents_key(result))], [ratings, *summary, work, *matches]
    return [ratings, ("Differences", _matrix(result), _matrix_key(result))], [*summary, work, *matches]


# A match of two players.


def _match_table(result: dict[str, Any], match: dict[str, Any]) -> ReportTable:
    rows = match["rows"].values()
    a, b = (labels(result)[i] for i in match["players"])
    cells: list[Sequence[str]] = [
        (a if "rows" in result else f"A ({a})", *(f"{r['a']:.2f}" for r in rows)),
        (b if "rows" in result else f"B ({b})", *(f"{r['b']:.2f}" for r in rows)),
        ("A − B", *(format_difference(r["difference"]) for r in rows)),
        ("95% interval", *(format_interval(*r["ci95"]) for r in rows)),
        (_p_name(result), *(p_value(r["p"]) for r in rows)),
    ]
    return ("", *(_BY_SEATS if label == "Seats" else label for label in match["rows"])), cells


def _p_name(result: dict[str, Any]) -> str:
    if result["sequential"]:
        return "p (at every look)"
    return "p (Wilcoxon)" if result["planned"] else "p (not planned)"


def _match_key(result: dict[str, Any]) -> str:
    labels_of_rows = result["matches"][0]["rows"]
    mean = "" if _is_won(result) else "mean number of " if game_name(result["game"]) == "mines" else "mean "
    sides = f"A and B: {mean}{_score_name(result)}"
    better = "above" if result["higher_is_better"] else "below"
    parts = [f"{sides}; if A − B is {better} 0, A is better."]
    if len(labels_of_rows) > 1:
        parts.append(f"All: mean over the {result['seatings']} seatings of a deal.")
        first = next(label for label in labels_of_rows if "/" in label)
        a, b = first.split("/")
        seats = "1 seat" if a == "1A" else f"{a[:-1]} seats"
        parts.append(f"{first}: tables with {seats} of A and {b[:-1]} of B, and so on.")
    if "Seats" in labels_of_rows:
        parts.append(
            f"{_BY_SEATS.capitalize()}: over all seats that a player took, as in Table 3 of the GO-MCTS paper; a table "
            "with two seats of the player counts twice."
        )
    return " ".join([*parts, _test_key(result)])


def _test_key(result: dict[str, Any]) -> str:
    if result["sequential"]:
        key = "The interval of A − B and p (that A and B are equal) hold at every look, whenever the match stops."
    else:
        key = (
            "95% interval: of A − B over deals, by Student's t, corrected for skewness and cut at the largest "
            "difference that scores allow. p: Wilcoxon's signed-rank test that A and B are equal."
        )
        if any(match["rows"]["All"]["different_deals"] < FEWEST_RANKS for match in result["matches"]):
            key += f" Fewer than {FEWEST_RANKS} deals with a difference other than 0 cannot give p < 0.05."
    if any(row["ci95"][0] is None for match in result["matches"] for row in match["rows"].values()):
        key += " No interval is shown if the deals are too few or all have the same difference."
    return key


# Several players.


def _sign(result: dict[str, Any]) -> int:
    return 1 if result["higher_is_better"] else -1


def _better(result: dict[str, Any]) -> str:
    return "higher is better" if result["higher_is_better"] else "lower is better"


def _ratings(result: dict[str, Any]) -> ReportTable:
    names, sign = labels(result), _sign(result)
    rows: list[Sequence[str]] = []
    for r in result["ratings"]:
        ends = r["ci95"] if sign > 0 or r["ci95"][0] is None else [-r["ci95"][1], -r["ci95"][0]]
        time = result["seconds_per_turn"][r["player"]]
        cells = (format_difference(sign * r["rating"]), format_interval(*ends), "" if time is None else seconds(time))
        rows.append((names[r["player"]], *cells))
    return ("", "rating", "95% interval", "time a decision"), rows


def _rating_key(result: dict[str, Any]) -> str:
    return (
        f"rating: {_score_name(result)}, minus the mean of all players, by least squares over the pairs; "
        f"{_better(result)}. The intervals are not corrected for the number of players. time a decision: wall time, "
        "forced moves included."
    )


def _matrix(result: dict[str, Any]) -> ReportTable:
    names = labels(result)
    order = [r["player"] for r in result["ratings"]]
    rows = [
        (names[i], *("" if i == j else format_difference(result["differences"][i][j]) for j in order)) for i in order
    ]
    return ("", *(names[i] for i in order)), rows


def _matrix_key(result: dict[str, Any]) -> str:
    better = "above" if result["higher_is_better"] else "below"
    score = _score_name(result).capitalize()
    return f"{score}: the row's player minus the column's player; {better} 0, the row's player is better."


def _opponents(result: dict[str, Any]) -> ReportTable:
    names, sign = labels(result), _sign(result)
    rows: list[Sequence[str]] = []
    for m in sorted(result["matches"], key=lambda m: -sign * m["rows"]["All"]["difference"]):
        r = m["rows"]["All"]
        figures = (format_difference(r["difference"]), format_interval(*r["ci95"]), p_value(r["p"]))
        rows.append((names[m["players"][1]], f"{r['a']:.2f}", f"{r['b']:.2f}", *figures))
    return ("opponent", names[0], "opponent's", "difference", "95% interval", _p_name(result)), rows


def _opponents_key(result: dict[str, Any]) -> str:
    name, better = labels(result)[0], "above" if result["higher_is_better"] else "below"
    return (
        f"{name} and opponent's: mean at their tables ({_score_name(result)}). difference: {name} minus opponent; "
        f"{better} 0, {name} is better. "
        + _test_key(result).replace("A − B", "the difference").replace("A and B", "they")
    )


def _versus(result: dict[str, Any], match: dict[str, Any]) -> str:
    a, b = (labels(result)[i] for i in match["players"])
    return f"{a} (A) against {b} (B)"


# Figures by player.

_SUMMARY_KEYS = {  # by a row that only this game has
    "soloist": "points in 36 games: 36 times the mean over seats; 36 games are a round of a tournament. all passed, "
    "soloist: shares of a player's games. won as soloist, and each contract and hand games: shares of its games as "
    "soloist. NAME won: share of the games with this contract that it won.",
    "mean score": "perfect games: share with the highest possible score. lost by strikes: share that ended with the "
    "last life. played knowing ...: shares of the cards that the player played, by its knowledge of each card from "
    "hints and visible cards. played in vain: share of these plays that did not fit and cost a life.",
    "missions won": "Shares of the games that were won.",
}


def _summary_key(result: dict[str, Any]) -> str:
    keys = {key for column in result["summary"] for key in column}
    parts = [text for key, text in _SUMMARY_KEYS.items() if key in keys] or [
        "Shares and means are over a player's games."
    ]
    if any(isinstance(x, dict) and x["se"] is not None for column in result["summary"] for x in column.values()):
        parts.append("± is a standard error.")
    return " ".join(parts)


def _summary(result: dict[str, Any]) -> ReportTable:
    columns = result["summary"]
    keys = dict.fromkeys(key for column in columns for key in column)
    rows = [(key, *(_figure(key, column.get(key)) for column in columns)) for key in keys]
    return ("", *labels(result)), rows


def _figure(key: str, x: float | MeanOfGames | None) -> str:
    if x is None:
        return ""
    if isinstance(x, dict):
        unit = ".2f" if key.startswith("mean") else ".1%"
        error = "" if x["se"] is None else f" ± {x['se']:{unit}}"
        return f"{x['mean']:{unit}}{error}, {count_noun(x['games'], 'game')}"
    return f"{x:.1f}" if key.startswith("points") else f"{x:.1%}"


def _by_player(result: dict[str, Any], field: str) -> list[Any]:
    """Return a field's values in the order of the players."""
    values = result[field]
    return list(values.values()) if isinstance(values, dict) else values


def _work(result: dict[str, Any]) -> tuple[ReportTable, str]:
    """Return the table of decisions and their times, and the explanation of its columns."""
    turns = _by_player(result, "turns")
    columns: dict[str, tuple[str, list[str]]] = {
        "decisions": ("number of them, forced moves included", [f"{n:,}" for n in turns]),
        "time a decision": ("wall time in the player", _cells(_by_player(result, "seconds_per_turn"), seconds)),
        "decisions a call": (
            "mean number of decisions, of several tables, that the player makes together",
            _cells(_by_player(result, "batch"), "{:.1f}".format),
        ),
    }
    illegal = _by_player(result, "illegal")
    if any(x["searched"] for x in illegal):
        shares = [x["illegal"] / x["searched"] if x["searched"] else None for x in illegal]
        explained = (
            "share of the move sequences (gomcts) or worlds (other searches) sampled in a search that contradict what "
            "the seat has seen, 0% is best"
        )
        columns["impossible samples"] = (explained, _cells(shares, "{:.2%}".format))
    if "clock" in result:
        late = [over / n if n else None for over, n in zip(_by_player(result, "overran"), turns)]
        explained = f"share of the decisions that took longer than {result['clock']:g} s"
        columns["over the clock"] = (explained, _cells(late, "{:.2%}".format))
    rows = list(zip(labels(result), *(cells for _, cells in columns.values())))
    key = "; ".join(f"{name}: {explained}" for name, (explained, _) in columns.items())
    return (("", *columns), rows), key + "."


def _cells(values: Sequence[Any], form: Callable[[Any], str]) -> list[str]:
    return ["" if value is None else form(value) for value in values]


# Lines below the tables.


def notes(result: dict[str, Any]) -> list[str]:
    """Return the lines below the tables.

    Args:
        result: Object of `TournamentResults.result`.
    """
    lines = [*(_match_notes(result) if "rows" in result else []), *_mixed_notes(result)]
    lines += gains.notes(result.get("gains", []), labels(result), _score_unit(result), _sign(result))
    for i, name in enumerate(labels(result)):
        lines += [f"{name}: {remark}" for remark in _remarks(result, i)]
    lines += warnings(result)
    return lines + _plan_notes(result)


def _match_notes(result: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    match = result["matches"][0]
    if (needed := match["deals_to_resolve"]) is not None:
        lines.append(
            f"A match of about {needed:,} deals has a power of 80% to show a difference of this size (p < 0.05 in "
            "Wilcoxon's test)."
        )
    far = match.get("extrapolation")
    if far and far["difference"] is not None and result["deals"] >= FEWEST_DEALS:
        lines.append(
            f"Scaled to a game of hands that ends when a player has {far['to']} points, A − B is "
            f"{far['difference']:+.1f} points: {far['to']} times A − B, divided by the larger mean score."
        )
    return lines


def _mixed_notes(result: dict[str, Any]) -> list[str]:
    """Return a line for each pair of players that formed mixed teams."""
    lines: list[str] = []
    for match in result["matches"]:
        if (mixed := match.get("mixed")) is None:
            continue
        a, b = ("A", "B") if "rows" in result else (labels(result)[i] for i in match["players"])
        low, high = mixed["ci95"]
        interval = "" if low is None else f" [{low:.2f}, {high:.2f}]"
        score = f"{mixed['score']:.2f} of games won" if _is_won(result) else f"mean score {mixed['score']:.2f}"
        change = f"{format_difference(mixed['difference'])} {format_interval(*mixed['difference_ci95'])}".strip()
        lines.append(
            f"Teams with both {a} and {b}: {score}{interval}. Difference from the mean of a team of {a} and a team of "
            f"{b}: {change}. Brackets: 95% intervals."
        )
    return lines


def _remarks(result: dict[str, Any], player: int) -> list[str]:
    """Return the caveats of a player."""
    key: Any = "ab"[player] if "rows" in result else player
    saw = [SAW_STATE] if key in result["sees_state"] else []
    return saw + list(result["caveats"].get(str(key), ()))


_FAULTS = {"crash": "crashes", "illegal": "illegal answers", "timeout": "time-outs", "protocol": "broken messages"}


def warnings(result: dict[str, Any]) -> list[str]:
    """Return a warning line for each engine that was restarted after a fault.

    Args:
        result: Object of `TournamentResults.result`.
    """
    names = dict(zip("ab" if "rows" in result else map(str, range(len(result["players"]))), labels(result)))
    lines: list[str] = []
    for key, faults in result.get("engine_faults", {}).items():
        counts = ", ".join(f"{faults[kind]:,} {words}" for kind, words in _FAULTS.items() if kind in faults)
        lines.append(f"warning: the engine {names[key]} was started again {faults['restarts']:,} times: {counts}")
    return lines


def _plan_notes(result: dict[str, Any]) -> list[str]:
    """Explain the deals if a file names them or their number is not the planned one."""
    lines: list[str] = []
    if (file := result.get("deals_from")) is not None:
        chosen = "If they were chosen by results of earlier games, interval and p do not hold for other deals."
        lines.append(f"The deals are those that {one_line(file)} names. {chosen}")
    for change in result["extensions"]:
        at = datetime.fromisoformat(change["at"]).strftime("%Y-%m-%d %H:%M UTC")
        line = f"The number of deals was changed from {change['old']:,} to {change['new']:,} on {at}"
        lines.append(line + ("." if result["planned"] else ", so p is not that of a planned test."))
    if result["decision"] is not None:
        lines.append(f"The match stopped after {result['decision']:,} deals, when {_why_stopped(result)}.")
    elif result["deals"] < result["scheduled_deals"]:
        line = f"INCOMPLETE: {result['deals']:,} of {result['scheduled_deals']:,} deals are finished"
        lines.append(line + ("." if result["sequential"] else ", and p is not yet that of the planned test."))
    return lines


def _why_stopped(result: dict[str, Any]) -> str:
    """Describe the end of a sequential match. With several pairs, each may have stopped for another of two reasons."""
    if result["bound"] and len(result["matches"]) > 1:
        return "each interval excluded 0 or lay within the bound"
    low, high = (result if "rows" in result else result["matches"][0])["rows"]["All"]["ci95"]
    if result["bound"] and low <= 0 <= high:
        within = f"{100 * result['bound']:g} percentage points" if _is_won(result) else f"{result['bound']:g}"
        return f"the interval lay within ±{within}"
    return "the interval excluded 0"


def _method(result: dict[str, Any]) -> list[str]:
    sample = (
        "One sample is a deal, which each player plays in all seats. A − B is the difference of the two games"
        if result.get("teams")
        else "One sample is a deal with all its seatings. A − B is the mean over a deal's seatings of the mean of "
        "A's seats minus the mean of B's"
    )
    test = (
        "interval and p hold at all numbers of deals at once (Wang and Ramdas 2024; Hall's correction for skewness)"
        if result["sequential"]
        else "the interval is Student's t with Hall's correction for skewness (1992), cut at the largest difference "
        "that scores allow, p the Wilcoxon signed-rank test"
    )
    worst = "`trickformer records worst` on this folder lists its deals, the worst of A first, and their games."
    read = ", ".join(f"`{name}` {digest[:12]}" for name, digest in result.get("files", {}).items())
    return [f"{sample}; {test}, over deals.", worst, *([f"Files by SHA-256: {read}."] if read else [])]
