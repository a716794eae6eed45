"""Report of an evaluation of The Crew, made from its JSON object."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from trickformer.games.crew import ranges
from trickformer.plumbing.report import Report, ReportFigure, ReportTable
from trickformer.plumbing.tables import SAW_STATE, p_value, seconds
from trickformer.tournaments import gains
from trickformer.tournaments.names import short_names

SUMMARY, PLOT = "summary.json", "missions.png"
_METHOD = (
    "A team is four copies of a player; all players meet the same deals and the same chance events, and every game of "
    "every mission is a deal of its own. Intervals of success rates are Wilson's, 95%. The games needed are the sum "
    "of 1 / rate over missions with a success, with the delta method's interval for its logarithm. Time a "
    "decision is wall time in the player, forced moves included."
)
_PAIRS = (
    "Wilcoxon's signed-rank test is over missions, on the pairs of success rates; McNemar's exact test over the pairs "
    "of games, by mission with Holm's correction."
)
_RANDOM = "Missions above random: Fisher's exact test, one-sided, with Holm's correction over missions, below 0.05."
_CEILING = (
    "Ceiling: deals that the solver, with all hands open, can win after A has allocated the tasks; in brackets "
    "those that exceed its node limit."
)


def _plot(result: dict[str, Any], path: Path) -> None:
    """Draw the figure of an evaluation, or of iterations."""
    from trickformer.studies.crew import plot

    (plot.iterations if result.get("iterations") else plot.players)(result, path)


def _heading(result: dict[str, Any]) -> str:
    """Name the games in one line."""
    extra = "" if result["distress"] == "off" else f", distress signal {result['distress']}"
    missions = ranges([m["mission"] for m in result["missions"]])
    return f"The Crew: {result['games']:,} games of each of the missions {missions}, seed {result['seed']}{extra}"


def _specs_by_letter(result: dict[str, Any]) -> dict[str, str]:
    """Return the specs by short name: A and B, or M0, M1, ... of iterations."""
    name = "M{}".format if result.get("iterations") else "AB".__getitem__
    return {name(i): player["spec"] for i, player in enumerate(result["players"])}


def _labels(result: dict[str, Any]) -> list[str]:
    """Name the players in tables: A (pimc), B (rules), or by iteration."""
    if result.get("iterations"):
        return [f"iteration {i}" for i in range(len(result["players"]))]
    names = short_names([player["spec"] for player in result["players"]])
    return [f"{letter} ({name})" for letter, name in zip("AB", names)]


def conclude(result: dict[str, Any]) -> str:
    """Sum up a result in a sentence.

    Args:
        result: Result of an evaluation.
    """
    names, players = _labels(result), result["players"]
    won = [f"{name} wins {_share(p['rate'])} of its games" for name, p in zip(names, players)]
    if result.get("iterations") and len(players) > 1:
        return f"{won[-1]}, {names[0]} {_share(players[0]['rate'])}."
    if "comparison" not in result:
        low, high = players[0]["ci95"]
        return f"{won[0]}; 95% interval {_share(low)} to {_share(high)}."
    low, high = result["comparison"]["ci95"]
    if low is None:
        return f"{won[0]} and {won[1]}; there is no interval, because {_explain_missing_interval(result)}."
    ends = f"95% interval of the difference {100 * low:+.1f} to {100 * high:+.1f} percentage points"
    sure = "" if low > 0 or high < 0 else ", which does not show which player is better"
    return f"{won[0]} and {won[1]}; {ends}{sure}."


def _explain_missing_interval(result: dict[str, Any]) -> str:
    """Return the reason why the comparison of two players has no interval."""
    if result["games"] == 1:
        return "there is only one game of each mission"
    return "the difference of both players is equal in all games of a mission"


def _tables(result: dict[str, Any]) -> list[tuple[str, ReportTable]]:
    """List the tables with their titles."""
    return [("", _players(result)), ("Success by mission", _missions(result))]


def _players(result: dict[str, Any]) -> ReportTable:
    players = result["players"]
    head = ["", "games won", "95% interval", "missions won", "games needed", "95% interval", "time a decision"]
    rows = []
    for name, p in zip(_labels(result), players):
        expected = p["attempts"]["expected"]
        time = p["seconds_per_turn"]
        row = [
            name,
            _share(p["rate"]),
            _interval(p["ci95"]),
            str(p["attempts"]["missions"]),
            "" if expected is None else _count(expected),
            "" if expected is None else f"[{', '.join(map(_count, p['attempts']['ci95']))}]",
            "" if time is None else seconds(time),
        ]
        row += [str(p["ahead_of_random"])] if "ahead_of_random" in p else []
        if "p_previous" in p:
            row.append("" if p["p_previous"] is None else p_value(p["p_previous"]))
        rows.append(row)
    head += ["missions above random"] if "ahead_of_random" in players[0] else []
    head += ["p (Wilcoxon)"] if "p_previous" in players[0] else []
    return head, rows


def _players_key(result: dict[str, Any]) -> str:
    parts = [
        "games won: share of all games.",
        f"missions won: of the {len(result['missions'])} missions, those won at least once.",
        "games needed: expected number of games to win each of these missions once, if each is repeated until it is "
        "won. Missions never won are left out. time a decision: wall time in the player, forced moves included.",
    ]
    if "ahead_of_random" in result["players"][0]:
        parts.append("missions above random: number of missions with a * in the table below.")
    if result.get("iterations"):
        parts.append("p (Wilcoxon): test over missions that an iteration and the one before are equal.")
    return " ".join(parts)


def _missions_key(result: dict[str, Any]) -> str:
    first = result["missions"][0]
    parts = [f"Columns of players: share of games won{'' if result.get('iterations') else ', with its interval'}."]
    first_name, second_name = [*_specs_by_letter(result), "", ""][:2]
    if "comparison" in first:
        parts.append(
            f"{first_name} − {second_name}: difference of these shares; above 0, {first_name} is better. p (Holm): p "
            "of McNemar's test that both are equal, corrected for the number of missions."
        )
    if "random" in first:
        parts.append(
            "random players: share of their games won. *: the player wins more often than random players (Fisher's "
            "exact test with Holm's correction, p < 0.05)."
        )
    parts += [
        "ceiling: share of deals that can be won with open hands; in brackets, share for which the solver gave up."
    ] * ("ceiling" in first)
    return " ".join(parts)


def _missions(result: dict[str, Any]) -> ReportTable:
    names = list(_specs_by_letter(result))
    first = result["missions"][0]
    head = ["mission"]
    for name in names:
        head += [name] if result.get("iterations") else [name, "95% interval"]
    head += [" − ".join(names[:2]), "p (Holm)"] if "comparison" in first else []
    head += ["random players"] if "random" in first else []
    head += ["ceiling"] if "ceiling" in first else []
    rows = []
    for m in result["missions"]:
        row = [str(m["mission"])]
        for p in m["players"]:
            ahead = "*" if p.get("p_random_holm", 1) < 0.05 else ""
            row += (
                [_share(p["rate"]) + ahead]
                if result.get("iterations")
                else [_share(p["rate"]) + ahead, _interval(p["ci95"])]
            )
        if "comparison" in m:
            c = m["comparison"]
            row += [f"{(c['only_a'] - c['only_b']) / result['games']:+.1%}", p_value(c["p_holm"])]
        if "random" in m:
            row.append(f"{m['random'] / result['random_games']:.2%}")
        if "ceiling" in m:
            c = m["ceiling"]
            row.append(
                _share(c["won"] / result["games"]) + (f" ({_share(c['open'] / result['games'])})" if c["open"] else "")
            )
        rows.append(row)
    return head, rows


def notes(result: dict[str, Any]) -> list[str]:
    """List the remarks below the tables.

    Args:
        result: Result of an evaluation.
    """
    lines = []
    if c := result.get("comparison"):
        low, high = c["ci95"]
        a, b = list(_specs_by_letter(result))[:2]
        spread = f"no interval, because {_explain_missing_interval(result)}"
        if low is not None:
            spread = f"95% interval [{low:+.2%}, {high:+.2%}]"
        lines.append(
            f"{a} − {b}: {c['difference']:+.2%} of games, {spread}; p over missions {p_value(c['p_wilcoxon'])} "
            f"(Wilcoxon), over games {p_value(c['p_mcnemar'])} (McNemar: {a} alone won {c['only_a']:,} games, {b} "
            f"alone {c['only_b']:,})"
        )
    for name, p in zip(_specs_by_letter(result), result["players"]):
        if without := p["attempts"]["without_success"]:
            lines.append(
                f"{name}: no success in {len(without)} of {len(result['missions'])} missions: {ranges(without)}"
            )
        if p["illegal"]["searched"]:
            share = p["illegal"]["illegal"] / p["illegal"]["searched"]
            searched = f"{p['illegal']['searched']:,} sequences or worlds sampled in its search"
            lines.append(f"{name}: {share:.2%} of the {searched} contradict what the seat has seen")
        if p["sees_state"]:
            lines.append(f"{name}: {SAW_STATE}")
        lines += [f"{name}: {caveat}" for caveat in p["caveats"]]
    lines += gains.notes(result.get("gains", []), list(_specs_by_letter(result)), "wins a game")
    if result["distress"] != "off":
        lines.append(
            "The logbook counts one attempt more for each mission with the distress signal; these games do not"
        )
    return lines


def make_report(result: dict[str, Any]) -> Report:
    """Make the report of a result.

    Args:
        result: Result of an evaluation.
    """
    method = [_METHOD]
    method += [_PAIRS] if "comparison" in result else []
    method += [_RANDOM] if result["random_games"] else []
    method += [_CEILING] if "ceiling" in result["missions"][0] else []
    return Report(
        result,
        _heading(result),
        _tables(result),
        keys=[_players_key(result), _missions_key(result)],
        conclusion=conclude(result),
        title="Missions of The Crew",
        names=_specs_by_letter(result),
        notes=notes(result),
        figures=[ReportFigure("success by mission", PLOT, partial(_plot, result))],
        method=[" ".join(method)],
        resolved={name: player["resolved"] for name, player in zip(_specs_by_letter(result), result["players"])},
        builds=result["versions"],
    )


def _share(x: float) -> str:
    return f"{x:.1%}"


def _interval(ci95: list[float]) -> str:
    low, high = ci95
    return f"[{low:.1%}, {high:.1%}]"


def _count(x: float) -> str:
    return f"{x:,.0f}" if x >= 1000 else f"{x:.1f}"
