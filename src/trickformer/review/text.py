"""Reviews as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trickformer import games
from trickformer.plumbing.tables import format_difference
from trickformer.plumbing.text import count_noun, short_unit
from trickformer.review.result import BLUNDER, MISTAKE, Curve, DecisionRating, Review, ReviewStep, Verdict, WhatIf

MAX_MISTAKES = 10
KEY = (
    "No: number of the decision. Done: action that was taken. Best: best action, if it is another. Value: of the "
    "action to its left. Lost: value of Best minus value of Done. ±: standard error of Lost. Decisions with one legal "
    "action are left out. A mistake is a decision with Lost above 2 standard errors, or above 0 if no ± is shown. "
    f"Its grade: inaccuracy below {MISTAKE:.0%} of the game's unit, blunder from {BLUNDER:.0%}, mistake between."
)
_BARS = "▁▂▃▄▅▆▇█"
_BARS_HEAD = (
    "Value of the best action before each decision; the last bar is the result. In each line, ▁ is the lowest and █ "
    "the highest value:"
)


def print_review(review: Review, console: Console) -> None:
    """Print the rating of each decision, the curves, the mistakes by size, and whether the hand could have been won.

    Args:
        review: Review to print.
        console: Console to print to.
    """
    repeats = f", each decision {review.repeats} times" if review.repeats > 1 else ""
    console.print(f"Review by {review.analyst}{repeats}; values in {review.unit}", soft_wrap=True, markup=False)
    for note in review.notes:
        console.print(f"Note: {note}", soft_wrap=True, markup=False)
    console.print(_ratings(review))
    if any(r.actions and not r.forced for r in review.ratings):
        console.print(KEY, soft_wrap=True, markup=False)
    for line in (*_curves(review), *_mistakes(review), *_answers(review)):
        console.print(line, soft_wrap=True, markup=False)
    console.print()


def _ratings(review: Review) -> Table:
    heads = ("No", "Trick", "Seat", "Done", "Value", "Best", "Value", "Lost", "±")
    rows: list[list[str]] = []
    for r in review.ratings:
        if r.forced or not r.actions:
            continue
        best = r.best
        better = best if best is not None and best.action != r.action else None
        cells = [
            str(r.number),
            str(r.trick or ""),
            str(r.seat),
            r.words,
            format_difference(r.value),
            better.words if better else "",
            format_difference(better.value if better else None),
            f"{r.loss:.2f}" if r.loss else "" if r.loss is not None else "not valued",
            f"{r.error:.2f}" if r.error is not None else "",
        ]
        rows.append(cells)
    shown = [i for i in range(len(heads)) if not rows or any(row[i] for row in rows)]  # without blank columns
    table = Table(box=box.SIMPLE, show_edge=False)
    for i in shown:
        is_text = heads[i] in ("Done", "Best")  # wraps in a narrow terminal, so that no number is cut
        overflow = "fold" if is_text else "ellipsis"
        table.add_column(heads[i], justify="left" if is_text else "right", no_wrap=not is_text, overflow=overflow)
    for row in rows:
        table.add_row(*(Text(row[i]) for i in shown))
    return table


def bars(values: Sequence[float]) -> str:
    """Draw values as a row of bars.

    Args:
        values: At least one value.

    Returns:
        One character for each value; the lowest and the highest value have the lowest and the highest bar.
    """
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return "".join(_BARS[round((x - low) / span * (len(_BARS) - 1))] for x in values)


def name_seats(curve: Curve) -> str:
    """Name the seat or the team of a curve.

    Args:
        curve: Curve of a review.
    """
    return f"seat {curve.seats[0]}" if len(curve.seats) == 1 else "the team"


def _curves(review: Review) -> list[str]:
    lines = []
    for curve in review.curves:
        values = [point.value for point in curve.points]
        ends = f"{format_difference(values[0])} at first"
        if curve.result is not None:
            values.append(curve.result)
            ends += f", {format_difference(curve.result)} in the end; rated decisions lost {curve.lost:.2f}"
            is_alone = len(curve.seats) == len(review.names)  # a team or one player: there are no others
            rest = "chance, hidden cards" if is_alone else "the others' play, the cards"
            ends += f", the rest ({rest}, decisions without a rating) gave {format_difference(curve.rest)}"
        lines.append(f"{name_seats(curve)} {bars(values)} {ends}")
    return [_BARS_HEAD, *(f"  {line}" for line in lines)] if lines else []


def _mistakes(review: Review) -> list[str]:
    mistakes = review.mistakes
    if not any(r.actions for r in review.ratings):
        return ["No decision is rated."]
    if not mistakes:
        return ["Mistakes: none"]
    lines = [
        f"{number}. {describe_mistake(r)} ({r.grade(review.worth)})"
        for number, r in enumerate(mistakes[:MAX_MISTAKES], 1)
    ]
    more = len(mistakes) - len(lines)
    return ["Mistakes by size:", *lines, *([f"and {more} smaller ones"] if more else [])]


def describe_mistake(r: DecisionRating) -> str:
    """Describe a mistake in one line.

    Args:
        r: Rating with a loss.
    """
    error = f" ± {r.error:.2f}" if r.error is not None else ""
    better = r.best.words if r.best else ""
    return (
        f"decision {r.number}{_in_trick(r.trick)}, seat {r.seat}: {r.words}, {better} is better by {r.loss:.2f}{error}"
    )


def _in_trick(trick: int | None) -> str:
    return f", trick {trick}" if trick is not None else ""


def _step(step: ReviewStep) -> str:
    return f"decision {step.number}{_in_trick(step.trick)}, seat {step.seat}: {step.words}"


def _answers(review: Review) -> list[str]:
    lines: list[str] = []
    for verdict in review.answers:
        lines += describe_verdict(verdict, review.unit)
    return lines


def describe_verdict(verdict: Verdict, unit: str) -> list[str]:
    """Describe whether the hand could have been won, and what lost it.

    Args:
        verdict: Verdict of the solver or of a player.
        unit: Unit of the review, such as "points, own less the others' mean".

    Returns:
        The lines of the description.
    """
    if verdict.expected is None:
        lines = [_solver_answer(verdict)]
    else:
        lines = [_player_answer(verdict, verdict.expected, short_unit(unit))]
    if verdict.why:
        lines.append(f"The mission failed in trick {verdict.failed_in}: {'; '.join(verdict.why)}")
    if verdict.expected is None:
        lines += [f"That changed with {_step(step)}" for step in verdict.turning_points if step != verdict.losing_step]
    if verdict.losing_step:
        lost = "The hand was lost" if verdict.expected is None else "The last expected lead was lost"
        lines.append(f"{lost} with {_step(verdict.losing_step)}")
    if verdict.won is False and verdict.course and verdict.course[-1].winnable:
        lines.append("The hand was given up while it could still be won")
    if verdict.line:
        lines += ["This would have won:", *(f"  {trick}" for trick in verdict.line)]
    return lines


def _solver_answer(verdict: Verdict) -> str:
    """Describe what the solver proves before the first card, and the end of the hand."""
    winnable = {
        True: f"Before the first card {verdict.whose} could win with open cards.",
        False: f"Before the first card {verdict.whose} could not win, even with open cards.",
        None: f"It is not known whether {verdict.whose} could win before the first card.",
    }[verdict.winnable]
    end = {True: "The hand was won.", False: "The hand was lost.", None: "The hand was broken off."}[verdict.won]
    return f"{winnable} {end}"


def _player_answer(verdict: Verdict, expected: float, unit: str) -> str:
    """Describe what a player expected at its seat's first decision, and the end of the hand."""
    error = f" ± {verdict.error:.2f}" if verdict.error is not None else ""
    side = "ahead of" if verdict.winnable else "behind"
    end = {
        True: "It finished ahead.",
        False: "It did not finish ahead.",
        None: "The hand was broken off.",
    }[verdict.won]
    return (
        f"At its first decision {verdict.whose} could expect to finish {abs(expected):.2f}{error} {unit} {side} "
        f"the others' mean. {end}"
    )


def print_what_if(result: WhatIf, console: Console) -> None:
    """Print each seat's mean with its 95% interval, and the scores of the hand as it was played.

    Args:
        result: Result of `what_if`.
        console: Console to print to.
    """
    n_games = count_noun(result.games, "game")
    then = f", after {result.action}" if result.action else ""
    console.print(f"{result.rules} from decision {result.number}{then}: {n_games}, seed {result.seed}", markup=False)
    table = Table(box=box.SIMPLE, show_edge=False)
    for head in ("Seat", "Player", "Mean score", "95% interval", "As played"):
        table.add_column(head, justify="left" if head == "Player" else "right", overflow="fold")
    for seat, (spec, mean, ci95) in enumerate(zip(result.players, result.means, result.ci95)):
        interval = f"[{ci95[0]:.2f}, {ci95[1]:.2f}]" if ci95 else ""
        table.add_row(
            str(seat), Text(spec), f"{mean:.2f}", Text(interval), str(result.came[seat]) if result.came else ""
        )
    console.print(table)
    key = (
        f"Mean score: in {games.load(result.rules).score_unit}. 95% interval: of the mean over games, none if all "
        "games are alike. As played: scores of the hand on record."
    )
    console.print(key, soft_wrap=True, markup=False)
