"""Report of an evaluation of beliefs: tables, calibration, files."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from trickformer.belief.hanabi import networks
from trickformer.belief.hanabi.config import Evaluation
from trickformer.plumbing.folder import RunFolder, build
from trickformer.plumbing.report import Report, ReportFigure, ReportTable
from trickformer.plumbing.tables import mean_and_error, plus_minus
from trickformer.tournaments.intervals import interval

SUMMARY, PLOT = "summary.json", "calibration.png"
_KEY = (
    "nats a card: cross entropy, -log of the probability of the true card, over the positions at which the estimator "
    "has a belief; lower is better.{} without belief: share of positions at which the estimator has none. ms a "
    "position: computing time in milliseconds."
)
_EXACT_KEY = (
    " where exact: nats a card at the positions whose possible hands could be listed. above exact: the column where "
    "exact minus its value for the estimator exact."
)
_ESTIMATORS = {  # what each estimator computes
    "v0": "counts of unseen cards, each slot by itself",
    "counting": "counts of unseen cards, all slots jointly",
    "v1": "v0, without the cards that are expected in the other slots",
    "bb": "v1, weighted by the likelihood of the moves",
    "v2": "mixture of bb and v1",
    "particles": "sampled worlds, weighted by the likelihood of the moves",
    "rejection": "sampled worlds, dropped if a move contradicts them",
    "seq2seq": "network, without fine-tuning",
    "transformer": "transformer network",
    "bft": "network, fine-tuned at every move",
    "exact": "exact belief, if the possible hands are few enough to list",
}


def result(config: Evaluation, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Summarize the records of an evaluation in one JSON object.

    Figures are means over games with their standard errors, in nats per card. Differences are between estimators on the
    same games: each estimator minus the one before it, and minus the first. Some positions have an exact belief,
    because their hands are few enough to list. `where_exact` is the loss at these positions, with each game weighted by
    its hidden cards there. `above_exact` is that loss minus the loss of the exact belief.

    Args:
        config: Options of the evaluation.
        records: One record a game.

    Returns:
        Object that `--json` prints.
    """
    names = config.estimators
    loss = {n: np.array([r["estimators"][n]["loss"] for r in records]) for n in names}
    cards = {n: np.array([r["estimators"][n]["cards"] for r in records]) for n in names}
    mean = {n: _ratio(loss[n], cards[n]) for n in names}
    positions = np.array([r["positions"] for r in records])
    summary: dict[str, Any] = {
        "form": config.form,
        "variant": config.variant,
        "games": len(records),
        "positions": int(positions.sum()),
        "seed": config.seed,
        "config": config.model_dump(mode="json", exclude={"out", "threads"}),
        "networks": {
            option: networks.training_of(path).model_dump(mode="json", exclude={"out", "threads", "device"})
            for option in ("checkpoint", "transformer")
            if (path := getattr(config, option)) is not None
        },
        "estimators": {},
        "differences": [],
        "versions": [build()] if config.out is None else RunFolder(config.out).builds(),
    }
    exact_cards = np.array([r["exact_cards"] for r in records])
    for n in names:
        entries = [r["estimators"][n] for r in records]
        missing = int(sum(e["missing"] for e in entries))
        played = mean[n][~np.isnan(mean[n])]
        excluded = int(np.isinf(played).sum())
        entry: dict[str, Any] = {
            "loss": {"mean": math.inf, "se": None} if excluded else mean_and_error(played),
            "ci95": None if excluded else interval(played),
            "games_with_the_truth_excluded": excluded,
            "positions_without_belief": missing,
            "seconds_a_step": float(sum(e["seconds"] for e in entries) / positions.sum()),
            "notes": _total([e["notes"] for e in entries if "notes" in e]),
            "calibration": _calibration([e["bins"] for e in entries if "bins" in e]),
        }
        if exact_cards.any() and (n == "exact" or not missing):
            losses = np.array([e["loss_where_exact"] for e in entries])[exact_cards > 0]
            entry["where_exact"] = pool_losses(losses, exact_cards[exact_cards > 0])
            best = np.array([r["estimators"]["exact"]["loss_where_exact"] for r in records])[exact_cards > 0]
            valid = np.flatnonzero(np.isfinite(best))  # in the other games moves were not those of the policies
            entry["above_exact"] = pool_losses(losses[valid] - best[valid], exact_cards[exact_cards > 0][valid])
        summary["estimators"][n] = entry
    # Each estimator against the one before it, then against the first; a dict lists a pair that is both only once.
    # Only estimators with a belief at every position and finite losses are compared.
    problems = ("positions_without_belief", "games_with_the_truth_excluded")
    complete = [n for n in names if not any(summary["estimators"][n][key] for key in problems)]
    pairs = {**dict.fromkeys(zip(complete[1:], complete)), **{(n, complete[0]): None for n in complete[1:]}}
    for a, b in pairs:
        summary["differences"].append({"of": a, "minus": b} | mean_and_error(mean[a] - mean[b]))
    return summary


def _tables(summary: dict[str, Any]) -> list[tuple[str, ReportTable]]:
    """List the cross entropy by estimator, and the differences."""
    has_exact = _has_exact(summary)
    exact = ("where exact", "above exact") if has_exact else ()
    head = ("estimator", "nats a card", *exact, "without belief", "ms a position")
    rows = []
    for name, e in summary["estimators"].items():
        share = e["positions_without_belief"] / summary["positions"]
        middle = ("", "") if has_exact else ()
        if "where_exact" in e:
            middle = (
                plus_minus(e["where_exact"]),
                "" if name == "exact" else plus_minus(e["above_exact"], signed=True),
            )
        rows.append((name, plus_minus(e["loss"]), *middle, f"{share:.1%}", f"{1000 * e['seconds_a_step']:.1f}"))
    titled: list[tuple[str, ReportTable]] = [("", (head, rows))]
    if summary["differences"]:
        pairs = [(f"{d['of']} - {d['minus']}", plus_minus(d, signed=True)) for d in summary["differences"]]
        titled.append(("On the same games", (("difference", "nats a card"), pairs)))
    return titled


def _notes(summary: dict[str, Any]) -> list[str]:
    """List the remarks below the tables."""
    by_game = "Figures are means over games ± standard errors."
    by_card = (
        "nats a card: mean over games. where exact, above exact: means over the cards of all games. ±: standard error."
    )
    lines = [by_card if _has_exact(summary) else by_game, _describe_players(summary["config"])]
    for option, training in summary["networks"].items():
        lines.append(f"The network of --{option} was trained on games of {' and '.join(training['players'])}.")
    partial_names = [name for name, e in summary["estimators"].items() if e["positions_without_belief"]]
    if partial_names:
        lines.append(
            f"Not comparable in nats a card with the other estimators, because positions are missing: "
            f"{', '.join(partial_names)}."
        )
    for name, e in summary["estimators"].items():
        if e["games_with_the_truth_excluded"]:
            excluded = f"{e['games_with_the_truth_excluded']:,} of {summary['games']:,} games"
            why = ", where moves were not those of the policies that it expects. above exact: without these games"
            why = why if name == "exact" else ""
            lines.append(f"{name}: infinite, because it excluded the true cards in {excluded}{why}.")
        if e["notes"]:
            lines.append(f"{name}: {_describe_notes(e['notes'])}")
    return lines


def _describe_players(config: dict[str, Any]) -> str:
    """Describe who plays the games, which depends on the form."""
    fixed = [(i, p) for i, p in enumerate(config["players"]) if config["form"] == "hmm" or i != config["seat"]]
    if config["games_from"] is not None:
        seat = f"; in each, {config['played_by']} has seat {config['seat']}" if config["played_by"] else ""
        policies = " and ".join(f"{player} in seat {i}" for i, player in fixed)
        return f"The games come from {config['games_from']}{seat}. The beliefs expect {policies}."
    random_scripts = f"a script drawn at random for each move ({', '.join(config['others'])})"
    match config["form"]:
        case "hmm":
            return f"The games are played by {' and '.join(config['players'])}."
        case "pomdp":
            others = " and ".join(f"seat {i} by {player}" for i, player in fixed)
            return f"The games are played in seat {config['seat']} by {random_scripts}, and in {others}."
        case _:
            return f"The games are played in all seats by {random_scripts}."


def _describe_notes(notes: dict[str, float]) -> str:
    """Describe the statistics that an estimator reports about itself."""
    parts: list[str] = []
    if "fixed_points" in notes:
        parts.append(
            f"{notes['not_reached']:,.0f} of {notes['fixed_points']:,.0f} fixed-point iterations did not converge; "
            f"largest change of a probability in a last step: {notes['last_change']:.2g}"
        )
    if "infeasible_worlds" in notes:
        parts.append(f"{notes['infeasible_worlds']:,.0f} of {notes['worlds']:,.0f} drawn worlds were impossible")
    if "steps_without_worlds" in notes:
        steps = f" of {notes['steps']:,.0f}" if "steps" in notes else ""
        parts.append(f"no drawn world fitted after {notes['steps_without_worlds']:,.0f}{steps} moves")
    if "games_without_worlds" in notes:
        parts.append(f"in {notes['games_without_worlds']:,.0f} of {notes['games']:,.0f} games")
    return ", ".join(parts)


_FORMS = {
    "hmm": "hmm in the title: the policies of all seats are fixed.",
    "pomdp": "pomdp in the title: the policies of all seats but one are fixed.",
    "fosg": "fosg in the title: no seat has a fixed policy.",
}


def _heading(summary: dict[str, Any]) -> str:
    """Name the system and the games in one line."""
    return (
        f"Beliefs of Hanabi {summary['variant']}, {summary['form']}: cross entropy per card, {summary['games']} games, "
        f"{summary['positions']:,} positions, seed {summary['seed']}"
    )


def make_report(summary: dict[str, Any]) -> Report:
    """Make the report of an evaluation's result.

    Args:
        summary: Object that `result` returns.
    """
    return Report(
        summary,
        _heading(summary),
        _tables(summary),
        keys=[_key(summary), "Estimator minus estimator, in cross entropy; below 0, the first is better."],
        title="Beliefs of Hanabi",
        notes=_notes(summary),
        figures=[ReportFigure("calibration", PLOT, partial(_plot, summary))],
        builds=summary["versions"],
    )


def _has_exact(summary: dict[str, Any]) -> bool:
    """Return whether there are positions with an exact belief."""
    return any("where_exact" in estimator for estimator in summary["estimators"].values())


def _key(summary: dict[str, Any]) -> str:
    """Explain the columns and the estimators of the first table."""
    names = summary["estimators"]
    key = _KEY.format(_EXACT_KEY if _has_exact(summary) else "")
    return " ".join([key, *(f"{name}: {_ESTIMATORS[name]}." for name in names), _FORMS[summary["form"]]])


def _plot(summary: dict[str, Any], path: Path) -> None:
    """Draw the cross entropy of each estimator on the left, the calibration on the right, and save a PNG."""
    from matplotlib import colormaps

    from trickformer.plumbing.figures import add_legend, drawing, save

    names = list(summary["estimators"])
    with drawing(1, 2, figsize=(10, 4)) as (figure, axes):
        left, right = axes
        colours = colormaps["tab10"]
        for i, name in enumerate(names):
            e = summary["estimators"][name]
            mean, ends = e["loss"]["mean"], e["ci95"]
            if ends:
                left.plot(ends, [-i, -i], color=colours(i % 10))
            if mean is not None and math.isfinite(mean):
                left.plot(mean, -i, "o", color=colours(i % 10))
            bins = [b for b in e["calibration"] if b["n"] >= 20]  # the share of hits in a smaller bin is mostly noise
            right.plot(
                [b["said"] for b in bins], [b["so"] for b in bins], ".-", color=colours(i % 10), label=name, linewidth=1
            )
        left.set_yticks([-i for i in range(len(names))], names)
        left.set_xlabel("cross entropy in nats a card, 95% interval (left is better)")
        right.plot([0, 1], [0, 1], color="#a0aec0", linewidth=0.8)
        right.set_xlabel("estimated probability of a card")
        right.set_ylabel("share that was true (best: the diagonal)")
        add_legend(figure, right)
        save(figure, path)


def _ratio(loss: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Divide the loss of each game by its number of cards; NaN for a game without cards."""
    return np.divide(loss, cards, out=np.full(len(loss), np.nan), where=cards > 0)


def pool_losses(loss: np.ndarray, cards: np.ndarray) -> dict[str, float | None]:
    """Compute the loss per card of all games together.

    Args:
        loss: float64 [games], loss of each game in nats.
        cards: int64 [games], hidden cards of each game, which weight it.

    Returns:
        `mean`, and `se`, the standard error of a ratio of sums; `se` is None for one game or an infinite loss, and both
        are None without games.
    """
    if not len(loss):
        return {"mean": None, "se": None}
    mean = float(loss.sum() / cards.sum())
    if math.isinf(mean):
        return {"mean": mean, "se": None}
    residuals = loss - mean * cards
    n = len(loss)
    error = float(np.sqrt(n / (n - 1) * np.square(residuals).sum()) / cards.sum()) if n > 1 else None
    return {"mean": mean, "se": error}


def _total(stack_notes: list[dict[str, Any]]) -> dict[str, float]:
    """Add up the notes of all stacks by key, except that `last_change` gets the largest value."""
    total: dict[str, float] = {}
    for notes in stack_notes:
        for key, value in notes.items():
            total[key] = max(total.get(key, 0), value) if key == "last_change" else total.get(key, 0) + value
    return total


def _calibration(stack_bins: list[list[list[float]]]) -> list[dict[str, float]]:
    """List for each bin: the mean probability (`said`), the share of true cards (`so`) and the number of pairs (`n`).

    `stack_bins` holds `_Sum.bins` of each stack.
    """
    totals = np.array(stack_bins).sum(axis=0)
    return [{"said": p / n, "so": hits / n, "n": int(n)} for p, hits, n in totals.T if n]
