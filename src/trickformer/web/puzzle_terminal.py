"""Puzzles on a terminal: the position as text, actions by number or name, then the value of each action."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich import box
from rich.table import Table
from rich.text import Text

from trickformer.base import TrickformerError
from trickformer.plumbing.progress import progress
from trickformer.plumbing.terminal import SafeConsole, console, out
from trickformer.review.analyst import SOLVER
from trickformer.review.puzzles import Puzzle, PuzzleScore, describe_answer, describe_score
from trickformer.web import scenes
from trickformer.web.config import YOU, PuzzleSettings
from trickformer.web.offers import short
from trickformer.web.puzzles import REMEDY, find_by_settings
from trickformer.web.terminal import KEYS, ShownPosition, entry_text, find_action, has_suits, position_text

_HELP = "number or name of an action; log (what the seat has seen), quit"


def solve(settings: PuzzleSettings, read: Callable[[], str] | None = None) -> None:
    """Show puzzles until the last one, or until the input ends or contains quit.

    Args:
        settings: Settings of the command.
        read: Returns a line of input, and raises EOFError at the end; None reads standard input.

    Raises:
        TrickformerError: The settings are bad, or there are no puzzles.
    """
    screen, score = console(), PuzzleScore()
    units, number = set[str](), 0
    try:
        for number, puzzle in enumerate(find_by_settings(settings, progress), 1):
            if number == 1:
                print(_HELP)
                if key := KEYS.get(puzzle.hand.game.name):
                    print(key)
            action = _ask(puzzle, number, read or (lambda: input("> ")), screen)
            rated = puzzle.rating_of(action)
            score.add(rated, puzzle.solutions)
            units.add(puzzle.unit)
            out(describe_answer(rated, puzzle))
            screen.print(_rating_table(puzzle, action))
            by = "with open cards" if puzzle.judge == SOLVER else f"by {short(puzzle.judge)}"
            out(f"Values {by}, in {puzzle.unit}\n")
    except (EOFError, KeyboardInterrupt):
        print()
    if not number:
        raise TrickformerError(f"{settings.run} holds no puzzles; {REMEDY}")
    if score.answered:
        out(describe_score(score, units.pop() if len(units) == 1 else None))


def _ask(puzzle: Puzzle, number: int, read: Callable[[], str], screen: SafeConsole) -> int:
    """Show a puzzle, and return the action that the person chooses."""
    game, seat = puzzle.hand.game, puzzle.turn.seat
    symbols = has_suits(screen.encoding)
    others = ("a person" if name == YOU else short(name) for name in puzzle.hand.names)
    names = tuple(YOU if p == seat else name for p, name in enumerate(others))
    position = ShownPosition(game, puzzle.state, names, f"puzzle {number}")
    scene = scenes.show(game, puzzle.state, seat)
    screen.print(position_text(scene, position, symbols), soft_wrap=True)
    while True:
        word = read().strip()
        if word == "quit":
            raise EOFError
        if word == "log":
            for entry in scenes.log(game, puzzle.state, seat):
                screen.print(entry_text(entry, seat, symbols), soft_wrap=True)
        elif (action := find_action(position, scene, word)) is not None:
            return action
        else:
            print(_HELP, file=sys.stderr)


def _rating_table(puzzle: Puzzle, chosen: int) -> Table:
    """Make a table of the legal actions, the best first."""
    table = Table(box=box.SIMPLE, show_edge=False)
    is_sampled = any(rated.error is not None for rated in puzzle.rating.actions)
    for head in ("Action", "Value", *(["±"] if is_sampled else []), "Costs", *(["±"] if is_sampled else []), ""):
        table.add_column(head, justify="left" if head in ("Action", "") else "right", no_wrap=True)
    for rated in puzzle.rating.actions:
        marks = ["best"] if rated.action in puzzle.solutions else []
        marks += ["your choice"] if rated.action == chosen else []
        marks += ["record"] if rated.action == puzzle.turn.action else []
        errors = [f"{x:.2f}" if x is not None else "" for x in (rated.error, rated.loss_error)] if is_sampled else []
        cells = [rated.words, f"{rated.value:+.2f}", *errors[:1], f"{rated.loss:.2f}", *errors[1:], ", ".join(marks)]
        table.add_row(*map(Text, cells))
    return table
