"""Report of a training: iterations, losses, matches and the best model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from trickformer.base import Game, TrickformerError
from trickformer.checkpoints.folders import BEST, LATEST, write_pointer
from trickformer.plumbing.folder import RESULT, RunFolder
from trickformer.plumbing.isa import rounding
from trickformer.plumbing.report import Report, ReportFigure, ReportTable
from trickformer.plumbing.tables import format_difference, format_interval
from trickformer.plumbing.text import short_unit
from trickformer.selfplay.charts import LOSSES, iteration_ends, losses
from trickformer.selfplay.results import (
    OPPONENTS,
    TrainingResults,
    describe_match,
)

PLOT = "training.png"
_BLUE, _GREY = "#2b6cb0", "#718096"
_RED = "#c05621"
_LOSS_KEY = (
    "hands: played for the iteration, held-out hands included; steps: gradient steps. Losses: cross-entropy in nats a "
    "token (policy, value); squared error of action values in squared units of v(o), the value of a hand's outcome "
    "to a seat, where an error common to all actions counts less."
)
_HELD_OUT = (
    ("policy_loss", "policy loss"),
    ("value_loss", "value loss"),
    ("regret", "regret"),
    ("calibration_error", "calibration error"),
    ("legal_share", "legal share"),
    ("illegal_rate", "illegal histories"),
    ("entropy", "entropy"),
)
_HELD_OUT_KEY = (
    "regret: value of the best action minus value of the action with the highest prediction, in units of v(o). Both "
    "values are labels from searches or playouts. They are noisy, so regret does not fall to 0; calibration error: "
    "absolute difference between mean predicted and mean true value, averaged over 20 bins of the prediction, in units "
    "of v(o); legal share: probability of legal actions; illegal histories: share of hands that no deal allows, when "
    "the model continues them from the seat's first decision; entropy: of the policy over legal actions, in nats."
)
_MATCH_KEY = (
    "Mean of the model's ArgmaxVal*, which plays the best predicted value among likely actions, minus that of the "
    "opponent, over deals with all their seatings. 95% intervals are over deals, cut at the largest difference that "
    "scores allow."
)


def write(results: TrainingResults) -> None:
    """Write result.json, report.md and training.png into the run folder.

    Args:
        results: Results of the training.

    Raises:
        TrickformerError: The disk refuses.
    """
    report = make_report(results)
    report.write(results.folder, RESULT)
    report.draw(results.folder)


def write_missing_pointers(results: TrainingResults) -> None:
    """Write `best` and `latest` into a run folder of an earlier version, which wrote neither.

    The function skips a folder in which a run is active, because the run writes these files, and a read-only folder.

    Args:
        results: Results of the training.
    """
    folder, best = results.folder, results.best
    if best is None or ((folder / BEST).exists() and (folder / LATEST).exists()):
        return
    with suppress(TrickformerError), RunFolder(folder).lock():
        write_pointer(folder / BEST, best)
        write_pointer(folder / LATEST, results.models[-1])


def make_report(results: TrainingResults) -> Report:
    """Make the report of a training, finished or not.

    Args:
        results: Results of the training.
    """
    result = results.result()
    done = len(results.models)
    run = f"{result['game']}, preset {result['preset']}, seed {result['seed']}"
    heading = f"{run}: {done} of {result['iterations'] + 1} models"
    method = (
        "Losses are means over the last training steps in the log. Held-out figures are of hands that the model was "
        "not trained on. ArgmaxVal* plays a match in every seating of the same deals. The best model has the best mean "
        "against the baseline. It is the best of several estimates, so its own mean flatters it."
    )
    tables = _tables(result, results.game)
    return Report(
        result,
        heading,
        [(title, table) for title, table, _ in tables],
        keys=[key for _, _, key in tables],
        title="Training",
        notes=_notes(results),
        figures=[ReportFigure("losses and matches by iteration", PLOT, partial(plot, results))],
        method=[method],
        builds=result["versions"],
    )


def _notes(results: TrainingResults) -> list[str]:
    """Return the lines below the tables: the best model, warnings, and whether the run is incomplete."""
    result, lines = results.result(), list[str]()
    # Instruction set architectures (ISAs) on which the hands were played.
    isas = dict.fromkeys(b["self_play_isa"] for b in result["versions"] if isinstance(b.get("self_play_isa"), str))
    if len({rounding(isa) for isa in isas}) > 1:
        lines.append(f"the hands were played on instruction sets that round differently: {', '.join(isas)}")
    if result["best"] is not None:
        lines.append(describe_best(results))
    for model in result["models"]:
        lines += [f"warning: iteration {model['iteration']}: {text}" for text in model.get("warnings", ())]
    if not result["finished"]:
        lines.append(f"INCOMPLETE: {_describe_place(result['under_way'])}")
    return lines


def describe_best(results: TrainingResults) -> str:
    """Name the best model and its match against the baseline.

    Args:
        results: Results with at least one model.
    """
    path = results.folder / f"model-{results.best}"
    entries = [e for e in results.matches if e["iteration"] == results.best and e["opponent"] == "baseline"]
    if not entries:
        return f"best model: {path}, the last one, for no model has met the baseline"
    match = describe_match(entries[-1], results.config.baseline, results.game)
    return f"best model: {path} ({match})"


def _describe_place(entry: dict[str, Any] | None) -> str:
    """Describe how far a run has come, by the last entry of its log."""
    if entry is None:
        return "nothing is finished yet"
    at = datetime.fromtimestamp(entry["time"], UTC)
    stage = entry["stage"].replace("_", " ")
    return f"the last entry of the log is of iteration {entry['iteration']}, stage {stage}, {at:%Y-%m-%d %H:%M:%S} UTC"


def _tables(result: dict[str, Any], game: Game) -> list[tuple[str, ReportTable, str]]:
    """Make the tables, each with a title and an explanation of its columns."""
    models, tables = result["models"], list[tuple[str, ReportTable, str]]()
    if not models:
        return tables
    losses = [(key, name) for key, name in LOSSES if any(key in m for m in models)]
    head = ("iteration", "hands", "steps", *(f"{name} loss" for _, name in losses))
    rows = [
        (
            str(m["iteration"]),
            *(f"{m[key]:,}" if key in m else "" for key in ("hands", "steps")),
            *(f"{m[key]:.4f}" if key in m else "" for key, _ in losses),
        )
        for m in models
    ]
    tables.append(("Training", (head, rows), _LOSS_KEY + describe_unit(game)))
    measured = [m for m in models if "held_out" in m]
    if measured:
        keys = [(key, name) for key, name in _HELD_OUT if any(key in m["held_out"] for m in measured)]
        rows = [
            (str(m["iteration"]), *(f"{m['held_out'][key]:.4f}" if key in m["held_out"] else "" for key, _ in keys))
            for m in measured
        ]
        head = ("iteration", *(name for _, name in keys))
        tables.append(("Held-out hands", (head, rows), _HELD_OUT_KEY))
    compared = [m for m in models if "matches" in m]
    if compared:
        names = {"previous": "the previous model", "baseline": result["baseline"]}
        heads = [f"against {names[o]}, 95% interval" for o in OPPONENTS]
        rows = [(str(m["iteration"]), *(_cell(m["matches"].get(o)) for o in OPPONENTS)) for m in compared]
        better = "higher" if result["higher_is_better"] else "lower"
        title = f"Matches, {game.score_unit} ({better} is better)"
        tables.append((title, (("iteration", *heads), rows), _MATCH_KEY))
    return tables


def describe_unit(game: Game) -> str:
    """Return a sentence, after a space, about the size of one unit of v(o); empty if the game names no other unit.

    Args:
        game: Game of the training.
    """
    size, unit = game.worth
    if unit == Game.worth[1]:
        return ""
    noun = short_unit(unit)
    return f" One unit of v(o) is {size:g} {noun.removesuffix('s') if size == 1 else noun}."


def _cell(match: dict[str, Any] | None) -> str:
    """Format a match's difference with its interval; empty without a match."""
    if match is None:
        return ""
    return f"{format_difference(match['difference'])} {format_interval(match['low'], match['high'])}".rstrip()


def plot(results: TrainingResults, path: Path) -> None:
    """Draw the losses by training step and the matches by iteration, as PNG.

    Args:
        results: Results of the training.
        path: File of the picture.

    Raises:
        TrickformerError: The disk refuses.
    """
    from trickformer.plumbing.figures import add_legend, drawing, save

    with drawing(1, 2, figsize=(10, 3.8)) as (figure, (left, right)):
        for (key, name), color in zip(LOSSES, (_BLUE, _RED, _GREY)):
            for i, points in enumerate(losses(results, key)):
                steps, values = [step for step, _ in points], [loss for _, loss in points]
                left.plot(steps, values, color=color, marker=".", label=name if i == 0 else None)
        ends = [end for i, end in enumerate(iteration_ends(results)) if results.stage_entries("learn", i)]
        for end in ends:
            left.axvline(end, color=_GREY, linewidth=0.6, alpha=0.5)
        left.set_xlabel("training steps (lines: a new iteration)")
        left.set_ylabel("training loss")
        left.spines[["top", "right"]].set_visible(False)
        if any(e.get("stage") == "learn" for e in results.entries):
            left.legend(frameon=False)
        matches = {o: [e for e in results.matches if e["opponent"] == o] for o in OPPONENTS}
        plot_matches(right, results.game, results.config.baseline, matches)
        add_legend(figure, right)
        save(figure, path)


def plot_matches(axes: Any, game: Game, baseline: str, matches: Mapping[str, Sequence[dict[str, Any]]]) -> None:
    """Draw the differences of matches by iteration with their intervals.

    Args:
        axes: Axes of Matplotlib.
        game: The game.
        baseline: Spec of the baseline.
        matches: Entries of the log for matches, by opponent.
    """
    from matplotlib.ticker import MaxNLocator

    names = {"previous": "the previous iteration", "baseline": baseline}
    for opponent, color in zip(OPPONENTS, (_GREY, _BLUE)):
        if not (entries := matches.get(opponent)):
            continue
        x = [e["iteration"] for e in entries]
        axes.plot(x, [e["difference"] for e in entries], "o-", color=color, label=f"against {names[opponent]}")
        with_interval = [e for e in entries if e["low"] is not None]
        x, low = [e["iteration"] for e in with_interval], [e["low"] for e in with_interval]
        axes.fill_between(x, low, [e["high"] for e in with_interval], color=color, alpha=0.15, linewidth=0)
    axes.axhline(0, color="black", linewidth=0.8)
    better = "above" if game.higher_is_better else "below"
    axes.set_xlabel("iteration")
    axes.set_ylabel(f"{game.score_unit} (the model is better {better} 0)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
