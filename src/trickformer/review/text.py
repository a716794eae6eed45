"""A review for people, on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trickformer.review.result import Curve, DecisionRating, Review, ReviewStep, SolverVerdict, WhatIf

MOST_MISTAKES = 10
_BARS = "▁▂▃▄▅▆▇█"


def print_review(review: Review, console: Console) -> None:
    """Prints the rating of each decision, the curve, the mistakes by size, and whether the hand could have been won."""
    repeats = f", each decision {review.repeats} times" if review.repeats > 1 else ""
    console.print(f"Review by {review.analyst}{repeats}; values in {review.unit}", soft_wrap=True, markup=False)
    for note in review.notes:
        console.print(f"Note: {note}", soft_wrap=True, markup=False)
    console.print(_ratings(review))
    for line in (*_curves(review.curves), *_mistakes(review), *_answers(review)):
        console.print(line, soft_wrap=True, markup=False)
    console.print()


def _ratings(review: Review) -> Table:
    table = Table(box=box.SIMPLE, show_edge=False)
    for head in ("No", "Trick", "Seat", "Done", "Value", "Best", "Value", "Lost", "±"):
        table.add_column(head, justify="left" if head in ("Done", "Best") else "right", no_wrap=True)
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
            _number(r.value),
            better.words if better else "",
            _number(better.value if better else None),
            f"{r.loss:.2f}" if r.loss else "" if r.loss is not None else "not valued",
            f"{r.error:.2f}" if r.error is not None else "",
        ]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _number(x: float | None) -> str:
    return "" if x is None else f"{round(x, 2) + 0.0:+.2f}"  # never -0.00


def bars(values: Sequence[float]) -> str:
    """Values as a row of bars, the lowest and the highest of them as low and as high as can be."""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return "".join(_BARS[round((x - low) / span * (len(_BARS) - 1))] for x in values)


def who(curve: Curve) -> str:
    """Whose curve it is."""
    return f"seat {curve.seats[0]}" if len(curve.seats) == 1 else "the team"


def _curves(curves: Iterable[Curve]) -> list[str]:
    lines = []
    for curve in curves:
        values = [point.value for point in curve.points]
        ends = f"{_number(values[0])} at first"
        if curve.result is not None:
            values.append(curve.result)
            ends += f", {_number(curve.result)} in the end; lost by own decisions {curve.lost:.2f}"
            ends += f", the rest {_number(curve.rest)}"
        lines.append(f"{who(curve)} {bars(values)} {ends}")
    return [f"Curve, from {lines[0]}", *(f"       from {line}" for line in lines[1:])] if lines else []


def _mistakes(review: Review) -> list[str]:
    found = review.mistakes
    if not any(r.actions for r in review.ratings):
        return ["No decision is rated."]
    if not found:
        return ["Mistakes: none that is sure"]
    lines = [f"{number}. {mistake(r)}" for number, r in enumerate(found[:MOST_MISTAKES], 1)]
    more = len(found) - len(lines)
    return ["Mistakes by size:", *lines, *([f"and {more} smaller ones"] if more else [])]


def mistake(r: DecisionRating) -> str:
    """A mistake in words."""
    error = f" ± {r.error:.2f}" if r.error is not None else ""
    better = r.best.words if r.best else ""
    return f"decision {r.number}{_in(r.trick)}, seat {r.seat}: {r.words}, {better} is better by {r.loss:.2f}{error}"


def _in(trick: int | None) -> str:
    return f", trick {trick}" if trick is not None else ""


def _step(step: ReviewStep) -> str:
    return f"decision {step.number}{_in(step.trick)}, seat {step.seat}: {step.words}"


def _answers(review: Review) -> list[str]:
    lines: list[str] = []
    for found in review.answers:
        lines += answer(found)
    return lines


def answer(found: SolverVerdict) -> list[str]:
    """Whether the hand could have been won, line by line."""
    if found.expected is None:
        could = {True: "yes, with open cards", False: "no, not with open cards", None: "not known"}[found.winnable]
    else:
        error = f" ± {found.error:.2f}" if found.error is not None else ""
        could = f"{'yes' if found.winnable else 'no'}, {_number(found.expected)}{error} was to be expected"
    came = {True: "it was won", False: "it was lost", None: "it was broken off"}[found.won]
    asked = f"Could it have been won by {found.whose}?"
    if found.expected is not None:
        asked = f"Could {found.whose} have been ahead of the others' mean?"
        came = {True: "it was", False: "it was not", None: "it was broken off"}[found.won]
    lines = [f"{asked} From the start {could}; {came}."]
    if found.why:
        lines.append(f"It failed in trick {found.failed_in}: {'; '.join(found.why)}")
    if found.expected is None:
        lines += [f"That changed with {_step(step)}" for step in found.turned if step != found.went]
    if found.went:
        lines.append(f"It was lost with {_step(found.went)}")
    if found.won is False and found.course and found.course[-1].winnable:
        lines.append("It was given up while it could still be won")
    if found.line:
        lines += ["This would have won:", *(f"  {trick}" for trick in found.line)]
    return lines


def print_what_if(found: WhatIf, console: Console) -> None:
    """Prints the mean of each seat with its interval, beside what came."""
    games = f"{found.games:,} game{'s' * (found.games > 1)}"
    then = f", after {found.action}" if found.action else ""
    console.print(f"{found.rules} from decision {found.number}{then}: {games}, seed {found.seed}", markup=False)
    table = Table(box=box.SIMPLE, show_edge=False)
    for head in ("Seat", "Player", "Mean", "95% interval", "Came"):
        table.add_column(head, justify="left" if head == "Player" else "right", overflow="fold")
    for seat, (spec, mean, ci95) in enumerate(zip(found.players, found.means, found.ci95)):
        interval = f"[{ci95[0]:.2f}, {ci95[1]:.2f}]" if ci95 else ""
        table.add_row(str(seat), Text(spec), f"{mean:.2f}", Text(interval), str(found.came[seat]) if found.came else "")
    console.print(table)
