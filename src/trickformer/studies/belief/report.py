"""What an evaluation of beliefs found: tables, calibration, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from trickformer.belief.hanabi.config import Evaluation
from trickformer.plumbing.folder import RunFolder, build
from trickformer.plumbing.report import Report, ReportTable, draw_figure
from trickformer.plumbing.tables import mean_and_error, plus_minus
from trickformer.tournaments.intervals import interval

SUMMARY, PLOT = "summary.json", "calibration.png"


def result(config: Evaluation, records: list[dict[str, Any]]) -> dict[str, Any]:
    """One JSON object. Figures are means over games with their standard errors, in nats per card; differences are of
    the same games, of neighbours in the list and from the first. `where_exact` speaks of the positions whose hands
    could be listed, games weighted by their hidden cards there, `above_exact` of how much more it is than the exact
    belief's there."""
    names = config.estimators
    loss = {n: np.array([r["estimators"][n]["loss"] for r in records]) for n in names}
    cards = {n: np.array([r["estimators"][n]["cards"] for r in records]) for n in names}
    mean = {n: _ratio(loss[n], cards[n]) for n in names}
    positions = np.array([r["positions"] for r in records])
    found: dict[str, Any] = {
        "form": config.form,
        "variant": config.variant,
        "games": len(records),
        "positions": int(positions.sum()),
        "seed": config.seed,
        "config": config.model_dump(mode="json", exclude={"out", "threads"}),
        "estimators": {},
        "differences": [],
        "versions": [build()] if config.out is None else RunFolder(config.out).builds(),
    }
    exact_cards = np.array([r["exact_cards"] for r in records])
    for n in names:
        each = [r["estimators"][n] for r in records]
        missing = int(sum(e["missing"] for e in each))
        entry: dict[str, Any] = {
            "loss": mean_and_error(mean[n][~np.isnan(mean[n])]),
            "ci95": interval(mean[n][~np.isnan(mean[n])]),
            "positions_without_belief": missing,
            "seconds_a_step": float(sum(e["seconds"] for e in each) / positions.sum()),
            "notes": _total([e["notes"] for e in each if "notes" in e]),
            "calibration": _calibration([e["bins"] for e in each if "bins" in e]),
        }
        if exact_cards.any() and (n == "exact" or not missing):
            where = np.array([e["loss_where_exact"] for e in each])[exact_cards > 0]
            entry["where_exact"] = pool_losses(where, exact_cards[exact_cards > 0])
            best = np.array([r["estimators"]["exact"]["loss_where_exact"] for r in records])[exact_cards > 0]
            entry["above_exact"] = pool_losses(where - best, exact_cards[exact_cards > 0])
        found["estimators"][n] = entry
    full = [n for n in names if not found["estimators"][n]["positions_without_belief"]]
    pairs = {**dict.fromkeys(zip(full[1:], full)), **{(n, full[0]): None for n in full[1:]}}
    for a, b in pairs:
        found["differences"].append({"of": a, "minus": b} | mean_and_error(mean[a] - mean[b]))
    return found


def tables(found: dict[str, Any]) -> list[tuple[str, ReportTable]]:
    """Cross entropy by estimator, and differences."""
    where = any("where_exact" in e for e in found["estimators"].values())
    exact = ("where exact", "above exact") if where else ()
    head = ("estimator", "nats a card", *exact, "without belief", "ms a step")
    rows = []
    for name, e in found["estimators"].items():
        share = e["positions_without_belief"] / found["positions"]
        middle = ("", "") if where else ()
        if "where_exact" in e:
            middle = (
                plus_minus(e["where_exact"]),
                "" if name == "exact" else plus_minus(e["above_exact"], signed=True),
            )
        rows.append((name, plus_minus(e["loss"]), *middle, f"{share:.1%}", f"{1000 * e['seconds_a_step']:.1f}"))
    found_tables: list[tuple[str, ReportTable]] = [("", (head, rows))]
    if found["differences"]:
        pairs = [(f"{d['of']} - {d['minus']}", plus_minus(d, signed=True)) for d in found["differences"]]
        found_tables.append(("On the same games", (("difference", "nats a card"), pairs)))
    return found_tables


def notes(found: dict[str, Any]) -> list[str]:
    """What the tables do not say."""
    lines = ["Figures are means over games ± standard errors; a difference is of the same games."]
    for name, e in found["estimators"].items():
        if e["notes"]:
            lines.append(f"{name}: " + ", ".join(f"{k.replace('_', ' ')} {v:,.4g}" for k, v in e["notes"].items()))
    return lines


def heading(found: dict[str, Any]) -> str:
    """One line."""
    return (
        f"Beliefs of Hanabi {found['variant']}, {found['form']}: cross entropy per card, {found['games']} games, "
        f"{found['positions']:,} positions, seed {found['seed']}"
    )


def make_report(found: dict[str, Any]) -> Report:
    """Make the report of an evaluation's result."""
    return Report(
        found,
        heading(found),
        tables(found),
        title="Beliefs of Hanabi",
        notes=notes(found),
        figures=[("calibration", PLOT)],
        builds=found["versions"],
    )


def write(found: dict[str, Any], out: Path) -> None:
    """Write summary.json, report.md and calibration.png. Raises TrickformerError if the disk refuses."""
    make_report(found).write(out, SUMMARY)
    draw(found, out)


def draw(result: dict[str, Any], out: Path) -> None:
    """Draw the figure of an evaluation. A fault is a warning.

    Args:
        result: Result of the evaluation.
        out: Run folder.
    """
    draw_figure(lambda file: plot(result, file), out / PLOT)


def plot(found: dict[str, Any], path: Path) -> None:
    """Left the cross entropy of each estimator, right how often what is believed with some probability is so. Writes
    a PNG. Raises TrickformerError."""
    from trickformer.plumbing.figures import add_legend, plt, save

    names = list(found["estimators"])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    colours = plt.get_cmap("tab10")
    for i, name in enumerate(names):
        e = found["estimators"][name]
        mean, ends = e["loss"]["mean"], e["ci95"]
        if ends:
            left.plot(ends, [-i, -i], color=colours(i % 10))
        if mean is not None:
            left.plot(mean, -i, "o", color=colours(i % 10))
        kept = [b for b in e["calibration"] if b["n"] >= 20]
        right.plot(
            [b["said"] for b in kept], [b["so"] for b in kept], ".-", color=colours(i % 10), label=name, linewidth=1
        )
    left.set_yticks([-i for i in range(len(names))], names)
    left.set_xlabel("cross entropy in nats a card, 95% interval (left is better)")
    right.plot([0, 1], [0, 1], color="#a0aec0", linewidth=0.8)
    right.set_xlabel("probability that was estimated")
    right.set_ylabel("share of cases in which it was so (best: the diagonal)")
    add_legend(figure, right)
    save(figure, path)


def _ratio(loss: np.ndarray, cards: np.ndarray) -> np.ndarray:
    return np.divide(loss, cards, out=np.full(len(loss), np.nan), where=cards > 0)


def pool_losses(loss: np.ndarray, cards: np.ndarray) -> dict[str, float | None]:
    """Loss per card of all games together; its standard error as that of a ratio of sums, None for one game."""
    mean = float(loss.sum() / cards.sum())
    spread = loss - mean * cards
    n = len(loss)
    return {"mean": mean, "se": float(np.sqrt(n / (n - 1) * np.square(spread).sum()) / cards.sum()) if n > 1 else None}


def _total(found: list[dict[str, Any]]) -> dict[str, float]:
    """Notes of all stacks: sums, but the largest of what is a `last_change`."""
    total: dict[str, float] = {}
    for each in found:
        for key, value in each.items():
            total[key] = max(total.get(key, 0), value) if key == "last_change" else total.get(key, 0) + value
    return total


def _calibration(found: list[list[list[float]]]) -> list[dict[str, float]]:
    """By bins of probability: the mean said, the share that was so, and how many there were."""
    said, so, n = np.array(found).sum(axis=0)
    return [{"said": s / k, "so": t / k, "n": int(k)} for s, t, k in zip(said, so, n) if k]
